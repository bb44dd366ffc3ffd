"""Whether two plants are one mechanism: their equations of motion, poses and limits at random states."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from operator import methodcaller
from typing import TYPE_CHECKING

import numpy as np

from mbcli.multibody.assembly.closed_chains import ClosedChains
from mbcli.multibody.constraints.plant_system import PlantSystem
from mbcli.multibody.tree import MultibodyForces
from mbcli.multibody.tree.joint_kinds import has_quaternion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from numpy.typing import ArrayLike

    from mbcli.common.engine_process import EngineError
    from mbcli.math.array_types import Matrix, Matrix4, Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.joint_actuator import JointActuator
    from mbcli.multibody.tree.rigid_body import RigidBody
    from mbcli.parsers.writing.simple_joints import Part

NUM_STATES = 5
TOLERANCE = 1e-9  # relative to the largest number of a quantity, at least to its usual size
SMALLEST = float(np.finfo(float).tiny)
FROM_SHIFTS = 1e-6  # of mass times distance squared: what is smaller in an inertia carries the rounding of its shifts
LARGEST_MASS_MATRIX = 1000  # velocities; beyond it M is compared by its products with random vectors
NUM_PRODUCTS = 5


@dataclass
class Correspondence:
    """Which parts of two finalized plants are the same: pairs of the one and the other."""

    # (body, body, X_BA or None: the pose of the first body's frame in the second one's)
    bodies: list[tuple[RigidBody, RigidBody, Matrix4 | None]]
    joints: list[tuple[Joint, Joint]]
    num_added: int = 0  # bodies that the second plant has beside, each welded to World
    # (joint, [(joint, its Part)]): joints that follow one another
    compounds: list[tuple[Joint, list[tuple[Joint, Part]]]] = field(default_factory=list)
    equalities: list[Joint] = field(default_factory=list)  # of the first that close loops, constraints of the second
    num_constraints: int = 0  # constraints that the second plant has beside
    limits: tuple[str, ...] = ("position", "velocity", "acceleration")  # those that are compared


@dataclass
class PlantComparison:
    """deviations: {quantity: largest relative deviation}; differences: what else is not the same, sentences.

    same_order: whether coordinates come in the same order; the mechanism is the same if they do not.
    """

    deviations: dict[str, float] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)
    tolerance: float = TOLERANCE
    same_order: bool = True
    written: MultibodyPlant | None = None  # the second plant
    engines: list[str] = field(default_factory=lambda: ["mbcli"])  # that have proved it
    unproved: list[str] = field(default_factory=list)  # sentences on engines that are installed and cannot be asked

    def faults(self) -> list[str]:
        """One sentence for each difference; empty if the plants are the same."""
        beyond = [
            f"{name} deviates by {value:.3g}" for name, value in self.deviations.items() if not value <= self.tolerance
        ]
        return [*self.differences, *beyond]

    def without_answer(self, engine: str, title: str, error: EngineError) -> str | None:
        """Takes in why an engine has no numbers; returns its name if that speaks against the model, else None."""
        if error.of_the_model:
            self.differences.append(f"{title} {error}")
            return engine
        self.unproved.append(f"{title} did not prove it: it {error}")
        return None

    def note(self, name: str, one: ArrayLike, other: ArrayLike, *, usual: float = 1.0) -> None:
        """Deviations count relative to the largest number of the one, or to the usual size if that is larger."""
        one, other = np.asarray(one, float), np.asarray(other, float)
        if one.shape != other.shape:
            self.differences.append(f"{name} has {one.shape} numbers in one and {other.shape} in the other")
            return
        same = (one == other) | (np.isnan(one) & np.isnan(other))  # infinities are equal too
        with np.errstate(invalid="ignore"):
            deviation = np.where(same, 0.0, np.abs(one - other))
        scale = max(usual, np.abs(one[np.isfinite(one)]).max(initial=0.0))
        worst = float(deviation.max(initial=0.0)) / scale
        self.deviations[name] = max(self.deviations.get(name, 0.0), worst if np.isfinite(worst) else np.inf)

    def note_inertia(self, name: str, mass: float, com: ArrayLike, one: ArrayLike, other: ArrayLike) -> None:
        """Central inertias (3, 3) of one body, by the size of these."""
        offset = np.asarray(com, float)
        self.note(name, one, other, usual=max(FROM_SHIFTS * mass * float(offset @ offset), SMALLEST))


def compare_plants(
    one: MultibodyPlant, other: MultibodyPlant, same: Correspondence, *, seed: int = 0
) -> PlantComparison:
    """The `PlantComparison` of two finalized plants at NUM_STATES random states.

    same: `Correspondence` that has every body and every joint of the files; floating joints that plants add belong to
    their bodies. Compared are M(q), C(q, v) v, gravity, all generalized forces of springs, dampers and bushings, poses
    of bodies, and the numbers of joints, actuators and constraints.
    """
    result = PlantComparison()
    joints = [*same.joints, *_floating_joints(one, other, same, result)]
    _compare_counts(one, other, same, result)
    pairs = _mobile_joints(one, other, joints, same, result)
    if result.differences:
        return result
    drives, drives_there = _drives(one), _drives(other)
    for a, b in pairs:
        _compare_joints(a, [b], same, result, drives[a] + a.reflected_inertia, drives_there[b])
    for a, parts in same.compounds:
        own = [b for b, part in parts if part.follows is None]
        there = sum(drives_there[b] for b in own)
        _compare_joints(a, own, same, result, drives[a] + a.reflected_inertia, there)
    _compare_actuators(one, other, joints, same, result)
    q_map, v_map = (_CoordinateMap(one, other, pairs, same.compounds, kind) for kind in ("position", "velocity"))
    result.same_order = q_map.keeps_order() and v_map.keeps_order()
    random = np.random.default_rng(seed)
    contexts = one.CreateDefaultContext(), other.CreateDefaultContext()
    for _ in range(NUM_STATES):
        q, v = _random_state(one, pairs, random)
        one.SetPositions(contexts[0], q)
        one.SetVelocities(contexts[0], v)
        other.SetPositions(contexts[1], q_map.there(q))
        other.SetVelocities(contexts[1], v_map.there(v))
        _compare_dynamics(one, other, contexts, v_map, random, result)
        _compare_poses(contexts, same, result)
    if same.equalities:
        _compare_loops(one, other, contexts, q_map, v_map, random, result)
    return result


# ------------------------------------------------------------------------------- what belongs to what


def _floating_joints(
    one: MultibodyPlant, other: MultibodyPlant, same: Correspondence, result: PlantComparison
) -> list[tuple[Joint, Joint]]:
    """(joint, joint) of the joints that the plants themselves gave to floating bodies."""
    added = [
        {int(j.child_body().index()): j for j in plant.elements.joints if j.made_at_finalize} for plant in (one, other)
    ]
    pairs, known = [], {id(joint) for pair in same.joints for joint in pair}
    for a, b, X_BA in same.bodies:
        found = [joints.get(int(body.index())) for joints, body in zip(added, (a, b), strict=True)]
        if None in found and any(id(joint) in known for joint in found if joint is not None):
            continue  # a joint of the one file, which the other plant adds by itself
        if (found[0] is None) != (found[1] is None):
            result.differences.append(f"body '{a.name()}' floats in one and not in the other")
        elif found[0] is not None and found[1] is not None:
            pairs.append((found[0], found[1]))
            if X_BA is not None:
                result.differences.append(f"floating body '{a.name()}' has another frame")
    return pairs


def _compare_counts(one: MultibodyPlant, other: MultibodyPlant, same: Correspondence, result: PlantComparison) -> None:
    added = Counter(num_bodies=same.num_added, num_joints=same.num_added - len(same.equalities))
    added["num_constraints"] = same.num_constraints
    for joint, parts in same.compounds:
        added["num_bodies"] += len(parts) - 1
        added["num_joints"] += len(parts) - 1
        for name in ("num_positions", "num_velocities"):
            added[name] += sum(getattr(part, name)() for part, _ in parts) - getattr(joint, name)()
    counts = ("num_bodies", "num_joints", "num_positions", "num_velocities", "num_actuators", "num_constraints")
    for name in (*counts, "num_force_elements"):
        here, there = (getattr(plant, name)() for plant in (one, other))
        if here + added[name] != there:
            result.differences.append(f"{name} is {here} in one and {there} in the other")


def _mobile_joints(
    one: MultibodyPlant,
    other: MultibodyPlant,
    joints: Sequence[tuple[Joint, Joint]],
    same: Correspondence,
    result: PlantComparison,
) -> list[tuple[Joint, Joint]]:
    """The pairs that have coordinates; what is cut open in one must be in the other, or an equality there."""
    cut = [set(map(id, plant.elements.loop_joints)) for plant in (one, other)]
    pairs = []
    for joint in same.equalities:
        if id(joint) not in cut[0]:
            result.differences.append(f"joint '{joint.name()}' is an equality, but closes no loop")
    for a, b in joints:
        if (id(a) in cut[0]) != (id(b) in cut[1]):
            result.differences.append(f"the loop is cut at joint '{a.name()}' in one and not in the other")
        elif a.type_name() != b.type_name():
            result.differences.append(f"joint '{a.name()}' is {a.type_name()} in one, {b.type_name()} in the other")
        elif id(a) not in cut[0] and a.num_velocities():
            pairs.append((a, b))
    return pairs


class _CoordinateMap:
    """Coordinate k of the second plant is weight[k] times coordinate here[k] of the first one."""

    def __init__(
        self,
        one: MultibodyPlant,
        other: MultibodyPlant,
        pairs: Sequence[tuple[Joint, Joint]],
        compounds: Sequence[tuple[Joint, Sequence[tuple[Joint, Part]]]],
        kind: str,
    ) -> None:
        start, count = f"{kind}_start", {"position": "num_positions", "velocity": "num_velocities"}[kind]
        entries = []  # (here, there, weight)
        for a, b in pairs:
            entries += [(getattr(a, start)() + k, getattr(b, start)() + k, 1.0) for k in range(getattr(a, count)())]
        for a, parts in compounds:
            for b, part in parts:
                for k, weight in enumerate(part.row):
                    if weight:
                        entries.append((getattr(a, start)() + k, getattr(b, start)(), weight))
        columns = list(zip(*entries, strict=True)) or [(), (), ()]
        self.num_here, self.num_there = (getattr(plant, count)() for plant in (one, other))
        self.index_here, self.index_there = (np.array(column, int) for column in columns[:2])
        self.weight = np.array(columns[2], float)

    def there(self, values: Vector) -> Vector:
        """Coordinates of the second plant from those of the first one."""
        result = np.zeros(self.num_there)
        result[self.index_there] = self.weight * values[self.index_here]
        return result

    def forces_here(self, forces: Vector) -> Vector:
        """Generalized forces on the first plant's velocities from those on the second one's."""
        result = np.zeros(self.num_here)
        np.add.at(result, self.index_here, self.weight * forces[self.index_there])
        return result

    def matrix_here(self, M: Matrix) -> Matrix:
        """The first plant's mass matrix from the second one's."""
        taken = M[np.ix_(self.index_there, self.index_there)] * np.outer(self.weight, self.weight)
        result = np.zeros((self.num_here, self.num_here))
        np.add.at(result, np.ix_(self.index_here, self.index_here), taken)
        return result

    def keeps_order(self) -> bool:
        return bool((np.diff(self.index_there[np.argsort(self.index_here, kind="stable")]) > 0).all())


def _random_state(
    plant: MultibodyPlant, pairs: Sequence[tuple[Joint, Joint]], random: np.random.Generator
) -> tuple[Vector, Vector]:
    q, v = random.uniform(-1.5, 1.5, plant.num_positions()), random.normal(size=plant.num_velocities())
    for joint, _ in pairs:
        if has_quaternion(joint):
            start = joint.position_start()
            wxyz = random.normal(size=4)
            q[start : start + 4] = wxyz / np.linalg.norm(wxyz)
    return q, v


# ------------------------------------------------------------------------------------ what is compared


def _compare_joints(
    a: Joint,
    others: Sequence[Joint],
    same: Correspondence,
    result: PlantComparison,
    inertia: float,
    inertia_there: float,
) -> None:
    """A joint with the one, or those, that it is in the other plant, and the inertias of drives on their velocities."""

    def note(name: str, ask: Callable[[Any], ArrayLike], usual: float) -> None:
        result.note(name, np.ravel(ask(a)), np.concatenate([np.ravel(ask(b)) for b in others]), usual=usual)

    for kind in same.limits:
        for end in ("lower", "upper"):
            note(f"{kind} limits", methodcaller(f"{kind}_{end}_limits"), 1.0)
    note("turn limits", lambda joint: np.full(joint.num_velocities(), joint.turn_limit), 1.0)
    note("joint damping", lambda joint: joint.default_damping_vector(), SMALLEST)
    note("joint friction", lambda joint: joint.dry_friction, SMALLEST)
    there = max(b.reflected_inertia for b in others) + inertia_there
    result.note("joint inertia", inertia, there, usual=SMALLEST)


def _drives(plant: MultibodyPlant) -> Mapping[Joint, float]:
    """{joint: inertia [kg m^2 or kg] of its actuators, on its velocity}, 0 for a joint without any."""
    found: dict[Joint, float] = defaultdict(float)
    for actuator in plant.elements.actuators:
        found[actuator.joint()] += actuator.default_reflected_inertia()
    return found


def _compare_actuators(
    one: MultibodyPlant,
    other: MultibodyPlant,
    joints: Sequence[tuple[Joint, Joint]],
    same: Correspondence,
    result: PlantComparison,
) -> None:
    there = {id(a): b for a, b in joints} | {id(a): parts[0][0] for a, parts in same.compounds}
    of_joint: dict[int, list[JointActuator]] = {}
    for actuator in other.elements.actuators:
        of_joint.setdefault(id(actuator.joint()), []).append(actuator)
    for a in one.elements.actuators:
        found = of_joint.get(id(there.get(id(a.joint()))))
        if not found:
            result.differences.append(f"actuator '{a.name()}' is missing")
            continue
        b = found.pop(0)
        numbers = [(actuator.effort_limit(), *_gains(actuator)) for actuator in (a, b)]
        result.note("actuators", *numbers)


def _gains(actuator: JointActuator) -> tuple[float, float]:
    if not actuator.has_controller():
        return np.nan, np.nan
    gains = actuator.get_controller_gains()
    return gains.p, gains.d


def _compare_dynamics(
    one: MultibodyPlant,
    other: MultibodyPlant,
    contexts: tuple[Context, Context],
    v_map: _CoordinateMap,
    random: np.random.Generator,
    result: PlantComparison,
) -> None:
    here, there = contexts
    M = mass_matrix(one, here)
    weights = of_unit_inertia(one, here, M)

    def compare(name: str, ask: Callable[[MultibodyPlant, Context], Vector]) -> None:
        result.note(name, weights * ask(one, here), weights * v_map.forces_here(ask(other, there)))

    compare("bias", lambda plant, context: plant.CalcBiasTerm(context))
    compare("gravity", lambda plant, context: plant.CalcGravityGeneralizedForces(context))
    compare("applied forces", _applied_forces)
    if one.elements.transmission_actuators:
        _compare_transmissions(one, other, contexts, v_map, random, result)
    if M is not None:
        pair = M, v_map.matrix_here(other.CalcMassMatrix(there))
        result.note("mass matrix", *(weights[:, None] * part * weights for part in pair))
        return
    for _ in range(NUM_PRODUCTS):
        vdot = random.normal(size=one.num_velocities())
        ours = one.CalcInverseDynamics(here, vdot, MultibodyForces(one))
        theirs = other.CalcInverseDynamics(there, v_map.there(vdot), MultibodyForces(other))
        result.note("mass matrix", ours, v_map.forces_here(theirs))


def _compare_transmissions(
    one: MultibodyPlant,
    other: MultibodyPlant,
    contexts: tuple[Context, Context],
    v_map: _CoordinateMap,
    random: np.random.Generator,
    result: PlantComparison,
) -> None:
    """The forces of actuators through tendons, sites and cranks, under equal controls and activations."""
    activations = random.uniform(0.0, 1.0, len(one.activations(contexts[0])))
    controls = random.normal(size=len(one.elements.transmission_actuators))
    laws = [[actuator.law() for actuator in plant.elements.transmission_actuators] for plant in (one, other)]
    result.note("actuators that act early", *([float(law.is_early) for law in own] for own in laws))
    starts = np.cumsum([law.dynamics != "none" for law in laws[0]]) - 1
    for k, law in enumerate(laws[0]):
        if law.is_early:  # the activation after a step, which may be of another length: one that stays
            controls[k] = 0.0 if law.dynamics == "integrator" else activations[starts[k]]
    forces = []
    for plant, context in zip((one, other), contexts, strict=True):
        plant.set_activations(context, activations)
        u = np.zeros(plant.num_actuators())
        u[len(plant.elements.actuators) :] = controls
        at = plant.transmissions_at(context, u)
        forces.append(at.moments * at.forces[:, None])
    there = np.array([v_map.forces_here(row) for row in forces[1]])
    result.note("actuators through transmissions", forces[0], there)


def mass_matrix(plant: MultibodyPlant, context: Context) -> Matrix | None:
    """M, None of plants with more than LARGEST_MASS_MATRIX velocities."""
    return plant.CalcMassMatrix(context) if plant.num_velocities() <= LARGEST_MASS_MATRIX else None


def of_unit_inertia(plant: MultibodyPlant, context: Context, M: Matrix | None) -> Vector:
    """(nv,) 1 / sqrt(M_ii), so that forces and M of a finger count as those of an arm do; 1 where nothing is moved.

    About an axis on which masses lie M_ii is next to nothing beside the products of mass and distance squared that it
    is the difference of, whose rounding it carries: there a part of these counts.
    """
    inertias = np.ones(plant.num_velocities()) if M is None else np.diag(M).copy()
    for joint, whole in inertias_outboard(plant, context) if M is not None else ():
        count = joint.num_velocities()
        turning = [joint.velocity_start() + k for k in range(count) if joint.is_angular(k)]
        inertias[turning] = np.maximum(inertias[turning], FROM_SHIFTS * whole if np.isfinite(whole) else 0.0)
    return np.array([1.0 / np.sqrt(own) if own > 0.0 else 1.0 for own in inertias])


def inertias_outboard(plant: MultibodyPlant, context: Context) -> Iterator[tuple[Joint, float]]:
    """(joint of the tree, half the trace of the inertia [kg m^2] of all that it carries about the origin of M)."""
    count = plant.num_bodies()
    masses, centers, moments = np.zeros(count), np.zeros((count, 3)), np.zeros(count)
    for n, body in enumerate(plant.elements.bodies[1:], 1):
        M_BBo_B, X_WB = body.CalcSpatialInertiaInBodyFrame(context), body.EvalPoseInWorld(context).GetAsMatrix4()
        p_BoBcm_B = M_BBo_B.get_com()
        if M_BBo_B.get_mass() > 0.0:
            masses[n], centers[n] = M_BBo_B.get_mass(), X_WB[:3, :3] @ p_BoBcm_B + X_WB[:3, 3]
            moments[n] = np.trace(M_BBo_B.Shift(p_BoBcm_B).CalcRotationalInertia().CopyToFullMatrix3()) / 2.0
    for mobod in reversed(plant.forest()[0]):  # what a link carries comes after it
        a, b = mobod.inboard, mobod.link
        if mobod.joint is not None:
            joint = plant.elements.joints[mobod.joint]
            arm = centers[b] - joint.frame_on_child().CalcPoseInWorld(context).GetAsMatrix4()[:3, 3]
            yield joint, moments[b] + masses[b] * (arm @ arm)
        both = masses[a] + masses[b]
        if both > 0.0:
            arm = centers[b] - centers[a]
            moments[a] += moments[b] + masses[a] * masses[b] / both * (arm @ arm)
            centers[a] = (masses[a] * centers[a] + masses[b] * centers[b]) / both
            masses[a] = both


def _applied_forces(plant: MultibodyPlant, context: Context) -> Vector:
    """What acts without actuators: gravity, springs, dampers, bushings, as generalized forces."""
    forces = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)
    return plant.CalcGeneralizedForces(context, forces)


def _compare_poses(contexts: tuple[Context, Context], same: Correspondence, result: PlantComparison) -> None:
    poses: tuple[list[Matrix4], list[Matrix4]] = [], []
    for a, b, X_BA in same.bodies:
        X_WA, X_WB = (body.EvalPoseInWorld(c).GetAsMatrix4() for body, c in zip((a, b), contexts, strict=True))
        poses[0].append(X_WA)
        poses[1].append(X_WB if X_BA is None else X_WB @ X_BA)
    result.note("body poses", *poses)


def _compare_loops(
    one: MultibodyPlant,
    other: MultibodyPlant,
    contexts: tuple[Context, Context],
    q_map: _CoordinateMap,
    v_map: _CoordinateMap,
    random: np.random.Generator,
    result: PlantComparison,
) -> None:
    """What the equations of closed loops leave of random velocities and accelerations, where the loops are closed."""
    chains = ClosedChains(contexts[0])
    q = one.GetDefaultPositions()
    assembled = chains.assemble(q)
    if not assembled:
        result.differences.append("the loops cannot be closed: whether their equations are the same is not known")
        return
    q, v = np.asarray(assembled.q), random.normal(size=one.num_velocities())
    found = []
    for plant, context, positions, velocities in (
        (one, contexts[0], q, v),
        (other, contexts[1], q_map.there(q), v_map.there(v)),
    ):
        plant.SetPositions(context, positions)
        plant.SetVelocities(context, velocities)
        found.append(PlantSystem(context).impulses("range-space")[0])
    result.note("velocities in loops", v_map.there(found[0]), found[1])
