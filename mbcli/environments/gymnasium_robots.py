"""Robots of gymnasium's MuJoCo environments, with the observations, actions and rewards of version 5.

`import mbcli.environments` registers them: `gymnasium.make("mbcli/Hopper-v0")`, `gymnasium.make_vec("mbcli/Hopper-v0",
num_envs=256)`. Their MJCF files come from the installed package gymnasium, their formulas from its documentation
(https://gymnasium.farama.org/environments/mujoco/). All quantities are those at the end of a step, while gymnasium's
positions of bodies, inertias and contact forces are those of one time step before. Forces of contact and limits follow
mbcli's laws. Robots start within the limits of their joints: gymnasium's Ant starts 0.52 rad outside of four.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mbcli.common.extra_packages import missing_package
from mbcli.common.suggestions import name_or_list
from mbcli.environments.single_environment import Environment
from mbcli.environments.task import Task
from mbcli.environments.vector_environment import VectorEnvironment
from mbcli.errors import ArgumentError, ModelError, ResourceError
from mbcli.math.cross_product import cross
from mbcli.models.loading import load_model

if TYPE_CHECKING:
    from mbcli.environments.task_worlds import TaskWorlds
    from mbcli.environments.world_random import WorldRandom
    from mbcli.math.array_types import Array, BoolArray, FloatArray, Matrix, Vector
    from mbcli.models.loaded_model import LoadedModel

UNBOUNDED = (-np.inf, np.inf)


class Robot(Task):
    """Base of the tasks. FILE: of gymnasium; FRAMES: time steps of a period; CONTROL: the largest action; NOISE: name
    of the distribution of velocities at the start; SETTINGS: arguments as of gymnasium, with their defaults.
    """

    FILE: ClassVar[str]
    FRAMES: ClassVar[int]
    CONTROL: ClassVar[float] = 1.0
    NOISE: ClassVar[str] = "uniform"
    SETTINGS: ClassVar[dict[str, Any]]

    def __init__(self, **settings: Any) -> None:
        unknown = [name for name in settings if name not in self.SETTINGS]
        if unknown:
            message = f'{type(self).__name__} has no setting "{unknown[0]}"'
            raise ArgumentError(f"{message}: {name_or_list(unknown[0], self.SETTINGS)}")
        self.set = SimpleNamespace(**{**self.SETTINGS, **settings})

    def prepare(self, worlds: TaskWorlds) -> None:
        """As of Task."""
        super().prepare(worlds)
        self._gears = worlds.plant.GetEffortUpperLimits() / self.CONTROL
        self._is_free = worlds.q.shape[1] == worlds.v.shape[1] + 1
        self._base = worlds.track("torso") if self._is_free else 0
        self._limits = worlds.plant.GetPositionLowerLimits(), worlds.plant.GetPositionUpperLimits()
        self.time_step = worlds.plant.time_step()

    def action_limits(self, worlds: TaskWorlds) -> tuple[float, float]:
        """As of Task."""
        return -self.CONTROL, self.CONTROL

    def act(self, worlds: TaskWorlds, action: FloatArray) -> None:
        """As of Task."""
        worlds.u = self._gears * action

    def qpos(self, worlds: TaskWorlds) -> Matrix:
        """Positions in the order of MuJoCo, which has a base's place before its quaternion."""
        q = worlds.q
        return np.hstack([q[:, 4:7], q[:, :4], q[:, 7:]]) if self._is_free else q

    def qvel(self, worlds: TaskWorlds) -> Matrix:
        """Velocities in the order of MuJoCo: of a base its velocity, and its angular velocity along its own axes."""
        v = worlds.v
        if not self._is_free:
            return v
        turning = np.einsum("nij,ni->nj", worlds.rotation(self._base), v[:, :3])
        return np.hstack([v[:, 3:6], turning, v[:, 6:]])

    def start(self, rng: WorldRandom, count: int) -> tuple[Matrix, Matrix]:
        """As of Task."""
        q, v = super().start(rng, count)
        noise = self.set.reset_noise_scale
        q = np.clip(q + rng.uniform(-noise, noise, q.shape[1]), *self._limits)
        if self._is_free:
            q[:, :4] /= np.linalg.norm(q[:, :4], axis=1, keepdims=True)
        moved = rng.normal(noise, v.shape[1]) if self.NOISE == "normal" else rng.uniform(-noise, noise, v.shape[1])
        return q, v + moved


class Runner(Robot):
    """A robot that is rewarded for its velocity along x. HIDDEN: how many positions a policy does not see."""

    HIDDEN: ClassVar[int] = 1
    FASTEST: ClassVar[float] = np.inf  # that a policy sees

    def act(self, worlds: TaskWorlds, action: FloatArray) -> None:
        """As of Task."""
        self._before = self._place(worlds)
        super().act(worlds, action)

    def observe(self, worlds: TaskWorlds) -> Matrix:
        """As of Task."""
        hidden = self.HIDDEN * self.set.exclude_current_positions_from_observation
        return np.hstack([self.qpos(worlds)[:, hidden:], np.clip(self.qvel(worlds), -self.FASTEST, self.FASTEST)])

    def reward(self, worlds: TaskWorlds, action: FloatArray) -> Vector:
        """As of Task."""
        velocity = (self._place(worlds) - self._before) / (self.FRAMES * self.time_step)
        healthy = getattr(self.set, "healthy_reward", 0.0) * self.is_healthy(worlds)
        effort = self.set.ctrl_cost_weight * np.square(action).sum(axis=1)
        return self.set.forward_reward_weight * velocity + healthy - effort

    def terminated(self, worlds: TaskWorlds) -> BoolArray:
        """As of Task."""
        if not getattr(self.set, "terminate_when_unhealthy", False):
            return np.zeros(len(worlds), dtype=bool)
        return ~self.is_healthy(worlds)

    def _place(self, worlds: TaskWorlds) -> Vector:
        return self.qpos(worlds)[:, 0].copy()

    def is_healthy(self, worlds: TaskWorlds) -> BoolArray:
        """(n,) whether it is in the ranges in which it is rewarded, and goes on."""
        return np.ones(len(worlds), dtype=bool)


RUNS: dict[str, Any] = {"forward_reward_weight": 1.0, "exclude_current_positions_from_observation": True}
STANDS = {**RUNS, "healthy_reward": 1.0, "terminate_when_unhealthy": True, "reset_noise_scale": 5e-3}


class HalfCheetah(Runner):
    """gymnasium's HalfCheetah-v5."""

    FILE, FRAMES, NOISE = "half_cheetah.xml", 5, "normal"
    SETTINGS = {**RUNS, "ctrl_cost_weight": 0.1, "reset_noise_scale": 0.1}


class Walker2d(Runner):
    """gymnasium's Walker2d-v5."""

    FILE, FRAMES, FASTEST = "walker2d_v5.xml", 4, 10.0
    SETTINGS = {**STANDS, "ctrl_cost_weight": 1e-3, "healthy_z_range": (0.8, 2.0), "healthy_angle_range": (-1.0, 1.0)}

    def is_healthy(self, worlds: TaskWorlds) -> BoolArray:
        """As of Runner."""
        z, angle = worlds.q[:, 1], worlds.q[:, 2]
        return _between(z, self.set.healthy_z_range) & _between(angle, self.set.healthy_angle_range)


class Hopper(Walker2d):
    """gymnasium's Hopper-v5."""

    FILE = "hopper.xml"
    SETTINGS = {
        **Walker2d.SETTINGS,
        "healthy_z_range": (0.7, np.inf),
        "healthy_angle_range": (-0.2, 0.2),
        "healthy_state_range": (-100.0, 100.0),
    }

    def is_healthy(self, worlds: TaskWorlds) -> BoolArray:
        """As of Runner."""
        state = np.hstack([worlds.q, worlds.v])[:, 2:]
        return super().is_healthy(worlds) & _between(state, self.set.healthy_state_range).all(axis=1)


class Touching(Runner):
    """A robot with a free base whose policy sees contact forces, about the centre of mass of all bodies."""

    HIDDEN = 2

    def prepare(self, worlds: TaskWorlds) -> None:
        """As of Task."""
        super().prepare(worlds)
        bodies = [body for body in worlds.plant.elements.bodies if body.default_mass() > 0.0]
        self._bodies = np.array([int(body.index()) for body in bodies])
        self._tracked = [worlds.track(body.name()) for body in bodies]
        inertias = [body.default_spatial_inertia() for body in bodies]
        self._mass = np.array([inertia.get_mass() for inertia in inertias])
        self._seen: tuple[Any, Array] = None, np.zeros(0)  # wrenches at origins, and about the center of mass
        self._center = np.array([inertia.get_com() for inertia in inertias])
        about_origin = [inertia.CalcRotationalInertia().CopyToFullMatrix3() for inertia in inertias]
        self._inertia = np.array(about_origin) - _of_points(self._mass, self._center)  # about centers of mass

    def _centers(self, worlds: TaskWorlds) -> tuple[Array, Matrix]:
        """Centers of mass (n, b, 3) of bodies, and that of all of them (n, 3), in World."""
        R_WB, p_WB, _ = worlds.motions(self._tracked)
        own = p_WB + np.einsum("nbij,bj->nbi", R_WB, self._center)
        return own, np.einsum("b,nbi->ni", self._mass / self._mass.sum(), own)

    def _contacts(self, worlds: TaskWorlds) -> Array:
        """Contact forces (n, b, 6), torques first, about the center of mass of all bodies."""
        if self._seen[0] is not worlds.contact_wrenches():  # rewards and observations want the same ones
            F = worlds.contact_wrenches()[:, self._bodies]
            arm = worlds.motions(self._tracked)[1] - self._centers(worlds)[1][:, np.newaxis]
            moved = np.concatenate([F[..., :3] + cross(arm, F[..., 3:]), F[..., 3:]], axis=2)
            self._seen = worlds.contact_wrenches(), moved
        return self._seen[1]


class Ant(Touching):
    """gymnasium's Ant-v5."""

    FILE, FRAMES, NOISE = "ant.xml", 5, "normal"
    SETTINGS = {
        **STANDS,
        "ctrl_cost_weight": 0.5,
        "contact_cost_weight": 5e-4,
        "healthy_z_range": (0.2, 1.0),
        "contact_force_range": (-1.0, 1.0),
        "reset_noise_scale": 0.1,
        "include_cfrc_ext_in_observation": True,
    }

    def observe(self, worlds: TaskWorlds) -> Matrix:
        """As of Task."""
        seen = super().observe(worlds)
        return np.hstack([seen, self._clipped(worlds)]) if self.set.include_cfrc_ext_in_observation else seen

    def reward(self, worlds: TaskWorlds, action: FloatArray) -> Vector:
        """As of Task."""
        weight = self.set.contact_cost_weight
        touching = weight * np.square(self._clipped(worlds)).sum(axis=1) if weight else 0.0
        return super().reward(worlds, action) - touching

    def _clipped(self, worlds: TaskWorlds) -> Matrix:
        return np.clip(self._contacts(worlds), *self.set.contact_force_range).reshape(len(worlds), -1)

    def is_healthy(self, worlds: TaskWorlds) -> BoolArray:
        """As of Runner."""
        low, high = self.set.healthy_z_range
        z = worlds.q[:, 6]
        return (z >= low) & (z <= high) & np.isfinite(np.hstack([worlds.q, worlds.v])).all(axis=1)


SEES = ("cinert", "cvel", "qfrc_actuator", "cfrc_ext")


class Humanoid(Touching):
    """gymnasium's Humanoid-v5."""

    FILE, FRAMES, CONTROL = "humanoid.xml", 5, 0.4
    SETTINGS = {
        **STANDS,
        "forward_reward_weight": 1.25,
        "ctrl_cost_weight": 0.1,
        "contact_cost_weight": 5e-7,
        "contact_cost_range": (-np.inf, 10.0),
        "healthy_reward": 5.0,
        "healthy_z_range": (1.0, 2.0),
        "reset_noise_scale": 1e-2,
        **{f"include_{name}_in_observation": True for name in SEES},
    }

    def observe(self, worlds: TaskWorlds) -> Matrix:
        """As of Task."""
        parts = {"cinert": self._inertias, "cvel": self._velocities, "qfrc_actuator": self._efforts}
        parts["cfrc_ext"] = self._contacts
        seen = [parts[name](worlds) for name in SEES if getattr(self.set, f"include_{name}_in_observation")]
        return np.hstack([super().observe(worlds), *(part.reshape(len(worlds), -1) for part in seen)])

    def reward(self, worlds: TaskWorlds, action: FloatArray) -> Vector:
        """As of Task."""
        return super().reward(worlds, action) - self._cost(worlds, self.set.contact_cost_weight, "contact_cost_range")

    def _cost(self, worlds: TaskWorlds, weight: float, bounds: str) -> Vector:
        squares = np.square(self._contacts(worlds)).sum(axis=(1, 2)) if weight else np.zeros(len(worlds))
        return np.clip(weight * squares, *getattr(self.set, bounds))

    def _place(self, worlds: TaskWorlds) -> Vector:
        return self._centers(worlds)[1][:, 0]

    def is_healthy(self, worlds: TaskWorlds) -> BoolArray:
        """As of Runner."""
        return _between(worlds.q[:, 6], self.set.healthy_z_range)

    def _inertias(self, worlds: TaskWorlds) -> Array:
        """Of each body about the center of all: xx, yy, zz, xy, xz, yz, mass times its place, mass, (n, b, 10)."""
        own, center = self._centers(worlds)
        place = own - center[:, np.newaxis]
        R_WB = worlds.motions(self._tracked)[0]
        whole = np.einsum("nbij,bjk,nblk->nbil", R_WB, self._inertia, R_WB) + _of_points(self._mass, place)
        six = whole[..., [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        mass = np.broadcast_to(self._mass, place.shape[:2])[..., np.newaxis]
        return np.concatenate([six, mass * place, mass], axis=2)

    def _velocities(self, worlds: TaskWorlds) -> Array:
        """Of each body, angular and at the center of all, (n, b, 6)."""
        _, p_WB, V_WB = worlds.motions(self._tracked)
        arm = self._centers(worlds)[1][:, np.newaxis] - p_WB
        return np.concatenate([V_WB[..., :3], V_WB[..., 3:] + cross(V_WB[..., :3], arm)], axis=2)

    def _efforts(self, worlds: TaskWorlds) -> Matrix:
        """Of actuators at joints, in the order of velocities without those of the base."""
        found = np.zeros(worlds.v.shape)
        for actuator in worlds.plant.elements.actuators:
            found[:, actuator.joint().velocity_start()] += worlds.u[:, actuator.input_start()]
        return found[:, 6:]


class HumanoidStandup(Humanoid):
    """gymnasium's HumanoidStandup-v5."""

    FILE = "humanoidstandup.xml"
    SETTINGS = {
        "uph_cost_weight": 1.0,
        "ctrl_cost_weight": 0.1,
        "impact_cost_weight": 0.5e-6,
        "impact_cost_range": (-np.inf, 10.0),
        "reset_noise_scale": 1e-2,
        "exclude_current_positions_from_observation": True,
        **{f"include_{name}_in_observation": True for name in SEES},
    }

    def reward(self, worlds: TaskWorlds, action: FloatArray) -> Vector:
        """As of Task; `uph_cost_weight` has no meaning, as in gymnasium."""
        effort = self.set.ctrl_cost_weight * np.square(action).sum(axis=1)
        impact = self._cost(worlds, self.set.impact_cost_weight, "impact_cost_range")
        return worlds.q[:, 6] / self.time_step - effort - impact + 1.0


class InvertedPendulum(Robot):
    """gymnasium's InvertedPendulum-v5."""

    FILE, FRAMES, CONTROL = "inverted_pendulum.xml", 2, 3.0
    SETTINGS = {"reset_noise_scale": 0.01}

    def observe(self, worlds: TaskWorlds) -> Matrix:
        """As of Task."""
        return np.hstack([worlds.q, worlds.v])

    def reward(self, worlds: TaskWorlds, action: FloatArray) -> Vector:
        """As of Task."""
        return (~self.terminated(worlds)).astype(float)

    def terminated(self, worlds: TaskWorlds) -> BoolArray:
        """As of Task."""
        return ~(np.abs(worlds.q[:, 1]) <= 0.2) | ~np.isfinite(self.observe(worlds)).all(axis=1)


class InvertedDoublePendulum(Robot):
    """gymnasium's InvertedDoublePendulum-v5."""

    FILE, FRAMES, NOISE = "inverted_double_pendulum.xml", 5, "normal"
    SETTINGS = {"healthy_reward": 10.0, "reset_noise_scale": 0.1}
    MARGIN = 0.01  # [m] of the slider's limits, in the file

    def prepare(self, worlds: TaskWorlds) -> None:
        """As of Task."""
        super().prepare(worlds)
        self._tip = worlds.track("tip")

    def observe(self, worlds: TaskWorlds) -> Matrix:
        """As of Task."""
        angles, held = worlds.q[:, 1:], np.clip(self._limit_force(worlds), -10.0, 10.0)
        return np.hstack([worlds.q[:, :1], np.sin(angles), np.cos(angles), np.clip(worlds.v, -10.0, 10.0), held])

    def reward(self, worlds: TaskWorlds, action: FloatArray) -> Vector:
        """As of Task."""
        tip, v = worlds.position(self._tip), worlds.v
        away = 0.01 * tip[:, 0] ** 2 + (tip[:, 2] - 2.0) ** 2
        return self.set.healthy_reward * ~self.terminated(worlds) - away - 1e-3 * v[:, 1] ** 2 - 5e-3 * v[:, 2] ** 2

    def terminated(self, worlds: TaskWorlds) -> BoolArray:
        """As of Task."""
        return worlds.position(self._tip)[:, 2] <= 1.0

    def _limit_force(self, worlds: TaskWorlds) -> Matrix:
        """What the limits of the slider give [N] (n, 1): what its next acceleration needs beside the rest."""
        at_limit = np.abs(worlds.q[:, 0]) > worlds.plant.GetPositionUpperLimits()[0] - self.MARGIN
        if not at_limit.any():
            return np.zeros((len(worlds), 1))
        needed = worlds.inverse_dynamics(worlds.next_step()[0])[:, 0] - worlds.u[:, 0]
        return np.where(at_limit, needed, 0.0)[:, np.newaxis]


class Reacher(Robot):
    """gymnasium's Reacher-v5."""

    FILE, FRAMES = "reacher.xml", 2
    SETTINGS = {"reward_dist_weight": 1.0, "reward_control_weight": 1.0}

    def prepare(self, worlds: TaskWorlds) -> None:
        """As of Task."""
        super().prepare(worlds)
        self._finger, self._target = worlds.track("fingertip"), worlds.track("target")

    def _away(self, worlds: TaskWorlds) -> Matrix:
        return worlds.position(self._finger) - worlds.position(self._target)

    def observe(self, worlds: TaskWorlds) -> Matrix:
        """As of Task."""
        q = worlds.q
        return np.hstack([np.cos(q[:, :2]), np.sin(q[:, :2]), q[:, 2:], worlds.v[:, :2], self._away(worlds)[:, :2]])

    def reward(self, worlds: TaskWorlds, action: FloatArray) -> Vector:
        """As of Task."""
        away = self.set.reward_dist_weight * np.linalg.norm(self._away(worlds), axis=1)
        return -away - self.set.reward_control_weight * np.square(action).sum(axis=1)

    def start(self, rng: WorldRandom, count: int) -> tuple[Matrix, Matrix]:
        """As of Task: a target anywhere within 0.2 m."""
        q, v = (np.tile(x, (count, 1)) for x in self._rest)
        q[:, :2] += rng.uniform(-0.1, 0.1, 2)
        radius, angle = np.split(rng.uniform(0.0, [1.0, 2.0 * np.pi], 2), 2, axis=1)
        q[:, 2:] = 0.2 * np.sqrt(radius) * np.hstack([np.cos(angle), np.sin(angle)])
        v[:, :2] += rng.uniform(-0.005, 0.005, 2)
        return q, v


class Pusher(Robot):
    """gymnasium's Pusher-v5."""

    FILE, FRAMES, CONTROL = "pusher_v5.xml", 5, 2.0
    SETTINGS = {"reward_near_weight": 0.5, "reward_dist_weight": 1.0, "reward_control_weight": 0.1}
    PLACES = 32  # of the object that are drawn: the first that is far enough from the goal; none is in 1 of 10^13

    def prepare(self, worlds: TaskWorlds) -> None:
        """As of Task."""
        super().prepare(worlds)
        self._seen = [worlds.track(name) for name in ("tips_arm", "object", "goal")]

    def observe(self, worlds: TaskWorlds) -> Matrix:
        """As of Task."""
        return np.hstack([worlds.q[:, :7], worlds.v[:, :7], *(worlds.position(body) for body in self._seen)])

    def reward(self, worlds: TaskWorlds, action: FloatArray) -> Vector:
        """As of Task."""
        tip, thing, goal = (worlds.position(body) for body in self._seen)
        near = self.set.reward_near_weight * np.linalg.norm(thing - tip, axis=1)
        away = self.set.reward_dist_weight * np.linalg.norm(thing - goal, axis=1)
        return -near - away - self.set.reward_control_weight * np.square(action).sum(axis=1)

    def start(self, rng: WorldRandom, count: int) -> tuple[Matrix, Matrix]:
        """As of Task: the object more than 0.17 m from the goal."""
        q, v = (np.tile(x, (count, 1)) for x in self._rest)
        drawn = np.stack([rng.uniform([-0.3, -0.2], [0.0, 0.2], 2) for _ in range(self.PLACES)], axis=1)
        first = np.argmax(np.linalg.norm(drawn, axis=2) > 0.17, axis=1)
        q[:, 7:9], q[:, 9:] = drawn[np.arange(count), first], 0.0
        v[:, :7] += rng.uniform(-0.005, 0.005, 7)
        return q, v


def _between(values: Array, bounds: tuple[float, float]) -> Array:
    return (values > bounds[0]) & (values < bounds[1])


def _of_points(mass: Vector, places: Array) -> Array:
    """Rotational inertias (..., b, 3, 3) of masses (b,) at places (..., b, 3)."""
    squares = np.square(places).sum(axis=-1)[..., np.newaxis, np.newaxis] * np.eye(3)
    return mass[:, np.newaxis, np.newaxis] * (squares - places[..., np.newaxis] * places[..., np.newaxis, :])


KINDS: tuple[type[Robot], ...] = (
    *(Ant, HalfCheetah, Hopper, Humanoid, HumanoidStandup, InvertedDoublePendulum, InvertedPendulum),
    *(Pusher, Reacher, Walker2d),
)
ROBOTS: dict[str, type[Robot]] = {kind.__name__: kind for kind in KINDS}


def robot_model(robot: str) -> LoadedModel:
    """The model of a robot, from the installed package gymnasium. ResourceError if it is not there.

    It starts within the limits of its joints; contact and limits are as soft as the file has them.
    """
    found = find_spec("gymnasium")
    if found is None or found.submodule_search_locations is None:
        raise missing_package("gymnasium", "gymnasium", f"the robot {robot}")
    path = Path(found.submodule_search_locations[0], "envs", "mujoco", "assets", _kind(robot).FILE)
    if not path.is_file():
        raise ResourceError(f"the installed gymnasium has no file {path.name} of the robot {robot}")
    loaded = load_model(path, contact=True, contact_approximation="mujoco")
    plant = loaded.plant
    q = plant.GetPositions(plant.CreateDefaultContext())
    plant.SetDefaultPositions(np.clip(q, plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()))
    return loaded


def make_robots(robot: str, num_envs: int = 1, **options: Any) -> VectorEnvironment:
    """Many worlds of a robot.

    Args:
        robot: a name of ROBOTS.
        num_envs: the number of worlds.
        options: settings of gymnasium's environment of that robot, and further arguments of VectorEnvironment.
    """
    return VectorEnvironment(*_parts(robot, num_envs, options), **options)


def make_robot(robot: str, **options: Any) -> Environment:
    """One world of a robot; options as of make_robots()."""
    model, _, task = _parts(robot, 1, options)
    return Environment(model, task, **options)


def _kind(robot: str) -> type[Robot]:
    if robot == "Swimmer":
        raise ModelError("gymnasium's Swimmer moves by its water, and mbcli has no forces of a fluid on bodies")
    if robot not in ROBOTS:
        raise ArgumentError(f'there is no robot "{robot}": {name_or_list(robot, ROBOTS)}')
    return ROBOTS[robot]


def _parts(robot: str, count: int, options: dict[str, Any]) -> tuple[LoadedModel, int, Robot]:
    """The first arguments of VectorEnvironment; settings of the robot are taken out of the options."""
    kind, model = _kind(robot), robot_model(robot)
    task = kind(**{name: options.pop(name) for name in list(options) if name in kind.SETTINGS})
    options.setdefault("period", kind.FRAMES * model.plant.time_step())
    return model, count, task
