"""Each plugin of rotors, wheels, joints, propellers, wind and fluids beside its published formula at 200 random points.

The formulas are those of gz-sim's pages and sources (the reference is written out here on its own), and of gz-math for
PID controllers and limits of speed. Points reach beyond every bound; each table counts how often it does.
"""

import itertools
import math
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
from usd_texts import body as usd_body, stage_text

from mbcli.models import load_model
from mbcli.plugins import PLUGINS
from mbcli.simulation import simulate
from mbcli.simulation.plugins.moment import Moment

POINTS = 200
PERIOD = 2e-3
INERTIAL = """<inertial><pose>{com} 0 0 0</pose><mass>{mass}</mass><inertia><ixx>0.5</ixx><iyy>0.4</iyy><izz>0.3</izz>
<ixy>0.05</ixy></inertia></inertial>"""


def link(name, com="0 0 0", mass=2, pose="0 0 0 0 0 0", more=""):
    return f'<link name="{name}"><pose>{pose}</pose>{INERTIAL.format(com=com, mass=mass)}{more}</link>'


def joint(name, parent, child, axis="0 0 1", kind="continuous"):
    return f"""<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>
<axis><xyz>{axis}</xyz></axis></joint>"""


def plugin(kind, **settings):
    values = ((tag, value if isinstance(value, list) else [value]) for tag, value in settings.items())
    tags = "".join(f"<{tag}>{value}</{tag}>" for tag, each in values for value in each)
    return f'<plugin filename="x" name="gz::sim::systems::{kind}">{tags}</plugin>'


class Alone:
    """The law of the one plugin of a model, asked at states of the plant without a run."""

    def __init__(self, tmp_path, model, world="", wind=(0.0, 0.0, 0.0), suffix=".sdf"):
        path = tmp_path / f"m{suffix}"
        if suffix == ".sdf":
            model = f'<sdf version="1.9"><world name="w">{world}<model name="m">{model}</model></world></sdf>'
        path.write_text(model)
        self.plant = load_model(str(path), contact=False, dt=PERIOD).plant
        (element,) = self.plant.elements.plugins
        self.law = PLUGINS[element.kind].Law(element)
        self.memory = self.law.memory.copy()
        self._efforts = {a.joint().velocity_start(): a.input_start() for a in self.plant.elements.actuators}
        driven = {j.velocity_start(): n for n, j in enumerate(self.law.driven)}
        pushed = list(dict.fromkeys(self.law.pushed))
        self._moment = Moment(self.plant.CreateDefaultContext(), PERIOD, 0.0, self._efforts, driven, pushed)
        self._moment.wind = np.array(wind)
        self._context = self.plant.CreateDefaultContext()

    def joint(self, name):
        return self.plant.GetJointByName(name)

    def act(self, rng, commands=(), time=0.0):
        """What comes of a random state: {body: wrench about its origin}, {joint: effort or velocity}, q, v."""
        q, v = rng.normal(size=self.plant.num_positions()), 3.0 * rng.normal(size=self.plant.num_velocities())
        for body in self.plant.elements.bodies[1:]:
            if body.has_quaternion_dofs():
                start = body.floating_positions_start()
                q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
        self.plant.SetPositions(self._context, q)
        self.plant.SetVelocities(self._context, v)
        self._moment.begin(time, q, v)
        self.law.act(self._moment, list(commands), self.memory)
        joints = self.plant.elements.joints
        return SimpleNamespace(
            wrench={self.plant.elements.bodies[f.link].name(): f.force.copy() for f in self._moment.forces},
            effort={
                j.name(): self._moment.u[self._efforts[d]] for j in joints if (d := j.velocity_start()) in self._efforts
            },
            drive={j.name(): self._moment.aims[n] for n, j in enumerate(self.law.driven) if n in self._moment.aims},
            q={j.name(): q[j.position_start()] for j in joints if j.num_positions() == 1},
            v={j.name(): v[j.velocity_start()] for j in joints if j.num_velocities() == 1},
        )

    def motion(self, name):
        """(R, origin, w, velocity of the origin) of a body in World."""
        body = self.plant.GetBodyByName(name)
        X, V = body.EvalPoseInWorld(self._context), body.EvalSpatialVelocityInWorld(self._context)
        return X.rotation().matrix(), X.translation(), V.rotational(), V.translational()


def close(found, expected, size=1.0):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * size)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


# ------------------------------------------------------------------------------------------ rotors and propellers


@pytest.mark.parametrize("turning", ["cw", "ccw", None])
def test_a_rotor(tmp_path, rng, turning):
    s = {"motorConstant": 2e-4, "momentConstant": 0.03, "rotorDragCoefficient": 3e-3, "rollingMomentCoefficient": 2e-3}
    s |= {"timeConstantUp": 0.01, "timeConstantDown": 0.04, "maxRotVelocity": 60, "rotorVelocitySlowdownSim": 7}
    s |= {"turningDirection": turning} if turning else {}
    rotor = link("rotor", com="0.1 -0.2 0.3", pose="0.5 0.2 0.1 0.3 0.2 0.1")
    model = link("body") + rotor + joint("j", "body", "rotor", "0.2 0.3 0.9")
    wind = np.array([2.0, -1.0, 0.5])
    alone = Alone(tmp_path, model + plugin("MulticopterMotorModel", jointName="j", linkName="rotor", **s), wind=wind)
    sign, speed, kinds = (1.0 if turning == "ccw" else -1.0), 0.0, [0, 0, 0]
    axis_R = np.array([0.2, 0.3, 0.9]) / math.hypot(0.2, 0.3, 0.9)
    for _ in range(POINTS):
        asked = rng.uniform(-150.0, 150.0)
        got = alone.act(rng, [asked])
        aim = min(asked, 60.0)  # no bound below
        constant = 0.01 if aim > speed else 0.04
        kinds = [a + b for a, b in zip(kinds, (asked > 60.0, aim < -60.0, aim > speed), strict=True)]
        speed = aim + (speed - aim) * math.exp(-PERIOD / constant)
        close(got.drive["j"], sign * speed / 7.0)
        w = 7.0 * got.v["j"]
        R, _, _, velocity = alone.motion("rotor")
        air = velocity - wind
        across = air - (R @ axis_R) * (air @ (R @ axis_R))
        thrust = sign * math.copysign(w * w, w) * 2e-4
        force = R @ [0.0, 0.0, thrust] - abs(w) * 3e-3 * across
        # a force in World is put at the centre of mass of its link
        close(got.wrench["rotor"], np.concatenate([np.cross(R @ [0.1, -0.2, 0.3], force), force]))
        moment = R @ [0.0, 0.0, -sign * thrust * 0.03] - abs(w) * 2e-3 * across
        close(got.wrench["body"], np.concatenate([moment, np.zeros(3)]))
    assert min(kinds) > 30


@pytest.mark.parametrize("by_speed", [False, True])
@pytest.mark.parametrize("coefficient", [0.3, -0.2])
def test_a_thruster(tmp_path, rng, by_speed, coefficient):
    s = {"thrust_coefficient": coefficient, "fluid_density": 900, "propeller_diameter": 0.2, "deadband": 4}
    s |= {"max_thrust_cmd": 30, "min_thrust_cmd": -20} | ({"use_angvel_cmd": "true"} if by_speed else {})
    model = link("hull") + link("screw", com="0.1 0 0", pose="1 0 0 0.2 0.3 0") + joint("j", "hull", "screw", "1 0.2 0")
    alone = Alone(tmp_path, model + plugin("Thruster", joint_name="j", **s))
    assert alone.law.inputs[0].name == ("j.speed" if by_speed else "j.thrust")
    factor, kinds = coefficient * 900 * 0.2**4, [0, 0, 0]
    axis = np.array([1.0, 0.2, 0.0]) / math.hypot(1.0, 0.2)
    for _ in range(POINTS):
        command = rng.uniform(-40.0, 60.0)
        asked = float(np.clip(command, -20.0, 30.0))
        thrust, speed = asked, math.sqrt(abs(asked / factor)) * np.sign(asked * factor)
        if by_speed:
            thrust, speed = factor * asked * abs(asked), asked
        dead = abs(thrust) < 4.0
        thrust, speed = (0.0, 0.0) if dead else (thrust, speed)
        got = alone.act(rng, [command])
        close(got.drive["j"], speed)
        close(got.wrench["screw"], np.concatenate([np.zeros(3), thrust * (alone.motion("screw")[0] @ axis)]))
        kinds = [a + b for a, b in zip(kinds, (dead, command > 30.0, command < -20.0), strict=True)]
    assert min(kinds) > 5


# --------------------------------------------------------------------------------------------------- joints


def pid(gains, memory, error, rate):
    """The effort of a controller of gz-math; memory: [integral]."""
    p, i, d, high_i, low_i, high, low, offset = gains
    memory[0] += i * PERIOD * error
    if high_i >= low_i:
        memory[0] = max(low_i, min(high_i, memory[0]))
    effort = offset - p * error - memory[0] - d * rate
    return max(low, min(high, effort)) if high >= low else effort


NAMES = ("p_gain", "i_gain", "d_gain", "i_max", "i_min", "cmd_max", "cmd_min", "cmd_offset")
GAINS = {  # bounds that are met, and bounds that are none, as the upper is below the lower
    "bounded": (3.0, 40.0, 2e-3, 0.4, -0.3, 12.0, -9.0, 0.5),
    "free": (3.0, 40.0, 2e-3, -1.0, 0.0, -1.0, 0.0, -2.0),
    "pure": (5.0, 0.0, 0.0, 1.0, -1.0, 1e3, -1e3, 0.0),
}


def one_joint(kind="continuous"):
    return link("arm") + joint("j", "world", "arm", "0 1 0", kind)


@pytest.mark.parametrize("kind", ["continuous", "prismatic"])
@pytest.mark.parametrize("gains", GAINS.values(), ids=GAINS)
@pytest.mark.parametrize("coasts", [False, True])
def test_a_joint_at_a_velocity_by_efforts(tmp_path, rng, kind, gains, coasts):
    more = {"use_force_commands": "true", "disable_braking": str(coasts).lower()} | dict(zip(NAMES, gains, strict=True))
    alone = Alone(tmp_path, one_joint(kind) + plugin("JointController", joint_name="j", **more))
    memory, last, free = [0.0], 0.0, 0
    for k in range(POINTS):
        command = 0.0 if k % 10 == 0 else 3.0 * rng.normal()
        got = alone.act(rng, [command])
        error = got.v["j"] - command
        if coasts and (command == 0.0 or error * command > 0.0):  # it turns that way faster than is asked
            close(got.effort["j"], 0.0)
            free += 1
            continue
        close(got.effort["j"], pid(gains, memory, error, (error - last) / PERIOD))
        last = error
    assert not coasts or 40 < free < POINTS - 40


def test_a_joint_at_a_velocity(tmp_path, rng):
    alone = Alone(tmp_path, one_joint() + plugin("JointController", joint_name="j", initial_velocity=1.5))
    assert alone.law.inputs[0].start == 1.5
    for command in 5.0 * rng.normal(size=POINTS):
        close(alone.act(rng, [command]).drive["j"], command)


@pytest.mark.parametrize("gains", GAINS.values(), ids=GAINS)
def test_a_joint_at_a_position_by_efforts(tmp_path, rng, gains):
    settings = dict(zip(NAMES, gains, strict=True))
    alone = Alone(tmp_path, one_joint() + plugin("JointPositionController", joint_name="j", **settings))
    memory = [0.0]
    for command in 2.0 * rng.normal(size=POINTS):
        got = alone.act(rng, [command])
        close(got.effort["j"], pid(gains, memory, got.q["j"] - command, got.v["j"]))


def test_gains_of_a_position_that_are_not_stated(tmp_path, rng):
    alone = Alone(tmp_path, one_joint() + plugin("JointPositionController", joint_name="j"))
    memory, gains = [0.0], (1.0, 0.1, 0.01, 1.0, -1.0, 1000.0, -1000.0, 0.0)
    for command in 2e3 * rng.normal(size=POINTS):
        got = alone.act(rng, [command])
        close(got.effort["j"], pid(gains, memory, got.q["j"] - command, got.v["j"]))


@pytest.mark.parametrize("stated", [{}, {"cmd_max": 300, "cmd_min": -2}, {"cmd_max": 0}])
def test_a_joint_at_a_position_by_velocities(tmp_path, rng, stated):
    more = {"use_velocity_commands": "true"} | stated
    alone = Alone(tmp_path, one_joint() + plugin("JointPositionController", joint_name="j", **more))
    most = stated.get("cmd_max", math.inf)  # either way; cmd_min bounds efforts alone
    reached = 0
    for command in rng.normal(size=POINTS):
        got = alone.act(rng, [command])
        error = got.q["j"] - command
        fast = abs(error) > most * PERIOD
        close(got.drive["j"], -math.copysign(most, error) if fast else -error / PERIOD)
        reached += fast
    assert reached > 50 or not stated


@pytest.mark.parametrize("bounds", ["bounded", "free"])
def test_joints_along_a_trajectory(tmp_path, rng, bounds):
    model = one_joint() + link("b", pose="5 0 0 0 0 0") + joint("k", "world", "b", "1 0 0", "prismatic")
    first, second = GAINS[bounds], GAINS["bounded"]
    settings = {f"position_{name}": [a, b] for name, a, b in zip(NAMES, first, second, strict=True)}
    settings |= {f"velocity_{name}": [a] for name, a in zip(NAMES, second, strict=True)}  # of the first alone
    settings["initial_position"] = [0.3]
    alone = Alone(tmp_path, model + plugin("JointTrajectoryController", **settings))
    assert [command.start for command in alone.law.inputs] == [0.3, 0, 0, 0, 0, 0]
    gains = {"j": (first, second), "k": (second, (0.0, 0.0, 0.0, -1.0, 0.0, -1.0, 0.0, 0.0))}
    memory = {name: ([0.0], [0.0]) for name in gains}
    last = dict.fromkeys(gains, 0.0)
    for _ in range(POINTS):
        commands = 2.0 * rng.normal(size=6)
        got = alone.act(rng, commands)
        for name, (position, velocity, effort) in zip(gains, commands.reshape(2, 3), strict=True):
            error = got.v[name] - velocity
            expected = effort + pid(gains[name][0], memory[name][0], got.q[name] - position, got.v[name])
            expected += pid(gains[name][1], memory[name][1], error, (error - last[name]) / PERIOD)
            close(got.effort[name], expected)
            last[name] = error


@pytest.mark.parametrize("kind", ["continuous", "prismatic"])
def test_an_effort_on_a_joint(tmp_path, rng, kind):
    alone = Alone(tmp_path, one_joint(kind) + plugin("ApplyJointForce", joint_name="j"))
    for command in [0.0, *(50.0 * rng.normal(size=POINTS))]:
        close(alone.act(rng, [command]).effort["j"], command)


# ------------------------------------------------------------------------------------------------- vehicles


def limited(bounds, history, asked):
    """gz-math's limits: of jerk, acceleration and velocity, in this order. history: [last, the one before]."""
    (low, high), (slowest, fastest), (least_jerk, most_jerk) = bounds
    last, before = history
    acceleration, rate = (asked - last) / PERIOD, (last - before) / PERIOD
    acceleration = rate + PERIOD * np.clip((acceleration - rate) / PERIOD, least_jerk, most_jerk)
    acceleration = np.clip(acceleration, slowest, fastest)
    history[:] = [np.clip(last + PERIOD * acceleration, low, high), last]
    return history[0]


FREE = (-math.inf, math.inf)
LIMITS = {  # of all velocities; those that are only stated for turning differ
    "none": (FREE, FREE, FREE),
    "velocity": ((-0.5, 0.8), FREE, FREE),
    "acceleration": (FREE, (-40.0, 30.0), FREE),
    "jerk": (FREE, FREE, (-9e4, 8e4)),
    "moves from the start": ((0.2, 0.8), (-40.0, 30.0), FREE),
    "all": ((-0.5, 0.8), (-300.0, 250.0), (-9e4, 8e4)),
}


def stated(bounds, infix=""):
    names = ("velocity", "acceleration", "jerk")
    pairs = {
        f"{end}_{infix}{name}": x
        for name, ends in zip(names, bounds, strict=True)
        for end, x in zip(("min", "max"), ends, strict=True)
    }
    return {name: x for name, x in pairs.items() if math.isfinite(x)}


WHEELS = {name: f"0 {side} 0 0 0 0" for name, side in (("a", 1), ("b", 1), ("c", -1), ("d", -1))}


def car(*turned):
    parts = [link("body")] + [link(name, pose=pose) for name, pose in WHEELS.items()]
    return "".join(parts + [joint(f"j{n}", "body", n, "0 0 1" if n in turned else "0 1 0") for n in WHEELS])


@pytest.mark.parametrize("bounds", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("own", [False, True])
def test_differential_drive(tmp_path, rng, bounds, own):
    sides = {"left_joint": ["ja", "jb"], "right_joint": ["jc", "jd"], "wheel_separation": 0.6, "wheel_radius": 0.15}
    turning = ((-2.0, 1.0), (-500.0, 500.0), bounds[2]) if own else bounds
    more = stated(bounds) | (stated(turning, "angular_") if own else {})
    alone = Alone(tmp_path, car() + plugin("DiffDrive", **sides, **more))
    forward, turn = [0.0, 0.0], [0.0, 0.0]
    for _ in range(POINTS):
        v, w = rng.normal(size=2)
        got = alone.act(rng, [v, w])
        v, w = limited(bounds, forward, v), limited(turning, turn, w)
        for name in ("ja", "jb"):
            close(got.drive[name], (v - 0.3 * w) / 0.15, 1e3)
        for name in ("jc", "jd"):
            close(got.drive[name], (v + 0.3 * w) / 0.15, 1e3)


STEERING = {"left_steering_joint": "ja", "right_steering_joint": "jc", "wheel_base": 0.9, "steering_limit": 0.45}
SIZES = {"kingpin_width": 0.5, "wheel_radius": 0.15, "wheel_separation": 0.6, "steer_p_gain": 4}


@pytest.mark.parametrize("bounds", LIMITS.values(), ids=LIMITS)
def test_ackermann_steering(tmp_path, rng, bounds):
    wheels = {"left_joint": "jb", "right_joint": "jd"}
    alone = Alone(
        tmp_path, car("a", "c") + plugin("AckermannSteering", **STEERING, **SIZES, **wheels, **stated(bounds))
    )
    forward, turn, kinds = [0.0, 0.0], [0.0, 0.0], [0, 0, 0]
    least = 0.9 / math.sin(0.45)
    for k in range(POINTS):
        v, w = rng.normal(size=2) * [1.0, 0.4]
        v, w = (0.0 if k % 7 == 0 else v), (0.0 if k % 11 == 0 else w)
        got = alone.act(rng, [v, w])
        v, w = limited(bounds, forward, v), limited(bounds, turn, w)
        if abs(w) < 1e-3:
            radius = 1e9
        elif abs(v) < 1e-12:
            radius = math.copysign(least, w)
        else:
            radius = math.copysign(max(abs(v / w), least), v * w)
        kinds = [a + b for a, b in zip(kinds, (radius == 1e9, abs(radius) == least, abs(v) < 1e-12), strict=True)]
        np.testing.assert_allclose(got.drive["ja"], 4.0 * (math.atan(0.9 / (radius - 0.25)) - got.q["ja"]), atol=1e-8)
        np.testing.assert_allclose(got.drive["jc"], 4.0 * (math.atan(0.9 / (radius + 0.25)) - got.q["jc"]), atol=1e-8)
        np.testing.assert_allclose(got.drive["jb"], v * (1.0 - 0.3 / radius) / 0.15, atol=1e-7)
        np.testing.assert_allclose(got.drive["jd"], v * (1.0 + 0.3 / radius) / 0.15, atol=1e-7)
    assert kinds[1] > 20
    assert bounds[0] != FREE or bounds[1] != FREE or min(kinds) > 5


@pytest.mark.parametrize("bounds", LIMITS.values(), ids=LIMITS)
def test_steering_alone(tmp_path, rng, bounds):
    sizes = {
        "wheel_separation": 0.6,
        "steer_p_gain": 4,
        "kingpin_width": 99,
        "wheel_radius": 0,
    }  # the last two are none
    alone = Alone(
        tmp_path,
        car("a", "c") + plugin("AckermannSteering", **STEERING, **sizes, steering_only="true", **stated(bounds)),
    )
    history, beyond = [0.0, 0.0], 0
    for k in range(POINTS):
        asked = math.copysign(abs(0.7 * rng.normal()), (k // 40) % 2 - 0.5)  # long enough one way to reach the bound
        got = alone.act(rng, [asked])
        angle = limited(bounds, history, asked)
        beyond += abs(angle) > 0.45
        angle = history[0] = min(max(angle, -0.45), 0.45)  # what is beyond the bound is not remembered
        across = 0.6 * math.sin(angle) * np.array([-1.0, 1.0])
        close(
            [got.drive["ja"], got.drive["jc"]],
            4.0
            * (
                np.arctan(2 * 0.9 * math.sin(angle) / (2 * 0.9 * math.cos(angle) + across)) - [got.q["ja"], got.q["jc"]]
            ),
        )
    assert beyond > 10


# -------------------------------------------------------------------------------------------- air and water


def test_decay_of_velocities(tmp_path, rng):
    decay = "<velocity_decay><linear>0.02</linear><angular>0.05</angular></velocity_decay>"
    alone = Alone(tmp_path, link("b", com="0.3 -0.1 0.2", mass=3, more=decay))
    inertia = np.array([[0.5, 0.05, 0.0], [0.05, 0.4, 0.0], [0.0, 0.0, 0.3]])
    for _ in range(POINTS):
        got = alone.act(rng)
        R, _, w, velocity = alone.motion("b")
        arm = R @ [0.3, -0.1, 0.2]
        force = -3.0 * 0.02 / PERIOD * (velocity + np.cross(w, arm))
        moment = -0.05 / PERIOD * (R @ inertia @ R.T @ w) + np.cross(arm, force)
        close(got.wrench["b"], np.concatenate([moment, force]), 1e3)


@pytest.mark.parametrize("blows", [(3.0, -2.0, 1.5), (-3.0, 0.0, 0.0), (0.0, 0.0, -2.0), (0.0, 0.0, 0.0)])
def test_wind(tmp_path, rng, blows):
    tag = "<plugin filename='x' name='gz::sim::systems::WindEffects'><horizontal><magnitude><time_for_rise>0.2"
    tag += "</time_for_rise><sin><amplitude_percent>0.3</amplitude_percent><period>0.13</period></sin></magnitude>"
    tag += "<direction><sin><amplitude>25</amplitude><period>0.07</period></sin></direction></horizontal><vertical>"
    tag += "<time_for_rise>0.1</time_for_rise></vertical><force_approximation_scaling_factor>1.7"
    tag += "</force_approximation_scaling_factor></plugin>"
    world = f"<wind><linear_velocity>{' '.join(map(str, blows))}</linear_velocity></wind>{tag}"
    felt = "<enable_wind>true</enable_wind>"
    model = link("a", com="0.1 0.2 0", more=felt) + link("b", pose="1 0 0 0 0 0", mass=5, more=felt)
    alone = Alone(tmp_path, model + joint("j", "a", "b") + link("c", pose="9 0 0 0 0 0"), world, blows)
    for k in range(POINTS):
        time = k * PERIOD
        got = alone.act(rng, time=time)
        since = time + PERIOD
        size = (
            math.hypot(*blows[:2]) * (1.0 - math.exp(-since / 0.2)) * (1.0 + 0.3 * math.sin(2 * math.pi * time / 0.13))
        )
        direction = math.atan2(blows[1], blows[0]) + math.radians(25.0) * math.sin(2 * math.pi * time / 0.07)
        air = [size * math.cos(direction), size * math.sin(direction), blows[2] * (1.0 - math.exp(-since / 0.1))]
        for name, mass, com in (("a", 2.0, [0.1, 0.2, 0.0]), ("b", 5.0, [0.0, 0.0, 0.0])):
            R, _, _, velocity = alone.motion(name)
            force = 1.7 * mass * (air - velocity)
            close(got.wrench[name], np.concatenate([np.cross(R @ com, force), force]), 10.0)
        assert "c" not in got.wrench


def box_below(size, normal, d):
    """(volume, first moment) of a box about its centre where normal . x < d, by sums over its corners.

    With W = sum of +- (d - n . c)^4 / (24 n1 n2 n3) over corners c below the plane, the volume is W'' in d and the
    moment -dW/dn' (D. Barrow and P. Smith, Spline notation applied to a volume problem, 1979).
    """
    signs, normal = np.where(normal < 0.0, -1.0, 1.0), np.abs(normal)
    volume, moment = 0.0, np.zeros(3)
    for upper in itertools.product((0, 1), repeat=3):
        corner = (np.array(upper) - 0.5) * size
        depth = max(d - normal @ corner, 0.0)
        weight = (-1.0) ** sum(upper) / normal.prod()
        volume += weight * depth**3 / 6.0
        moment += weight * (corner * depth**3 / 6.0 + depth**4 / (24.0 * normal))
    return volume, signs * moment


def ball_below(radius, d):
    """(volume, moment along the normal) of a ball below a plane at the height d over its centre."""
    d = min(max(d, -radius), radius)
    return math.pi * (2 * radius**3 / 3 + radius**2 * d - d**3 / 3), -math.pi / 4 * (radius**2 - d**2) ** 2


@pytest.mark.parametrize("layers", [{}, {0.3: 1.2}, {-1.0: 900.0, 0.2: 300.0, 1.1: 0.0}, {0.0: 1500.0, 0.7: 0.0}])
def test_fluids(tmp_path, rng, layers):
    rows = "".join(
        f"<density_change><above_depth>{z}</above_depth><density>{rho}</density></density_change>"
        for z, rho in layers.items()
    )
    inside = f"<graded_buoyancy><default_density>1025</default_density>{rows}</graded_buoyancy>"
    inside = inside if layers else "<uniform_fluid_density>1025</uniform_fluid_density>"
    world = f'<gravity>0 0 -9.5</gravity><plugin filename="x" name="gz::sim::systems::Buoyancy">{inside}</plugin>'
    box = """<collision name="c"><pose>0.2 0.1 -0.3 0.4 0.2 0.1</pose><geometry><box><size>0.9 0.5 1.3</size></box>
</geometry></collision><collision name="s"><pose>-0.5 0 0.4 0 0 0</pose><geometry><sphere><radius>0.4</radius></sphere>
</geometry></collision>"""
    alone = Alone(tmp_path, link("b", more=box), world)
    cos, sin = np.cos([0.4, 0.2, 0.1]), np.sin([0.4, 0.2, 0.1])  # turned about x, then y, then z
    about_x = np.array([[1, 0, 0], [0, cos[0], -sin[0]], [0, sin[0], cos[0]]])
    about_y = np.array([[cos[1], 0, sin[1]], [0, 1, 0], [-sin[1], 0, cos[1]]])
    about_z = np.array([[cos[2], -sin[2], 0], [sin[2], cos[2], 0], [0, 0, 1]])
    R_box = about_z @ about_y @ about_x
    levels = [*layers, 1e3]  # the last above all
    densities = [1025.0, *layers.values()]
    for _ in range(POINTS):
        got = alone.act(rng)
        R, origin, _, _ = alone.motion("b")
        mass, moment = 0.0, np.zeros(3)  # about the origin of the link, in World
        below = 0.0, np.zeros(3)
        for level, density in zip(levels, densities, strict=True):
            arm = R @ [0.2, 0.1, -0.3]
            # beyond the box all of it is below
            reach = np.abs(R_box.T @ R.T @ [0.0, 0.0, 1.0]) @ [0.45, 0.25, 0.65]
            volume, first = box_below(
                np.array([0.9, 0.5, 1.3]), R_box.T @ R.T[:, 2], min(level - origin[2] - arm[2], reach)
            )
            first = R @ R_box @ first + volume * arm
            centre = R @ [-0.5, 0.0, 0.4]
            part, along = ball_below(0.4, level - origin[2] - centre[2])
            upto = volume + part, first + part * centre + along * np.array([0.0, 0.0, 1.0])
            mass += density * (upto[0] - below[0])
            moment += density * (upto[1] - below[1])
            below = upto
        force = np.array([0.0, 0.0, 9.5])
        expected = np.concatenate([np.cross(moment, force), mass * force])
        np.testing.assert_allclose(got.wrench["b"], expected, rtol=1e-6, atol=1e-4)


@pytest.mark.skipif(find_spec("pxr") is None, reason="usd-core is not installed")
def test_damping_of_rigid_bodies_of_usd(tmp_path, rng):
    """PhysX takes a part of velocities per second: of the mass, and of the moments of inertia."""
    more = "float physxRigidBody:linearDamping = 1.5\nfloat physxRigidBody:angularDamping = 0.4"
    alone = Alone(tmp_path, stage_text(usd_body("b", (0, 0, 0), mass=3.0, more=more)), suffix=".usda")
    inertia = np.diag([0.1, 0.2, 0.25])
    for _ in range(POINTS):
        got = alone.act(rng)
        R, _, w, velocity = alone.motion("b")
        close(got.wrench["b"], np.concatenate([-0.4 * R @ inertia @ R.T @ w, -3.0 * 1.5 * velocity]))


@pytest.mark.skipif(find_spec("pxr") is None, reason="usd-core is not installed")
@pytest.mark.parametrize("damping", [0.5, 20.0, 1e5])
def test_velocities_decay_by_the_damping_of_usd(tmp_path, damping):
    path = tmp_path / "m.usda"
    more = f"float physxRigidBody:linearDamping = {damping}\nfloat physxRigidBody:angularDamping = {damping}"
    path.write_text(stage_text(usd_body("b", (0, 0, 0), inertia=(0.1, 0.1, 0.1), more=more)))
    log = simulate(str(path), 0.2, start={"b_vx": 2.0, "b_wz": 3.0}, contact=False, warn=lambda line: None)
    left = math.exp(-0.2 * damping)
    np.testing.assert_allclose(log.v[-1, [3, 2]], [2.0 * left, 3.0 * left], rtol=2e-3, atol=1e-3)
