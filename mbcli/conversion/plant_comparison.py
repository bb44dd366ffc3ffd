"""Whether two plants are one mechanism: their equations of motion, poses and limits at random states."""

from dataclasses import dataclass, field

import numpy as np

from mbcli.multibody.tree import MultibodyForces
from mbcli.multibody.tree.joint_kinds import has_quaternion

NUM_STATES = 5
TOLERANCE = 1e-9  # relative to the largest number of a quantity, at least to 1
LARGEST_MASS_MATRIX = 1000  # velocities; beyond it M is compared by its products with random vectors
NUM_PRODUCTS = 5


@dataclass
class Correspondence:
    """Which parts of two finalized plants are the same: pairs of the one and the other."""

    bodies: list  # (body, body, X_BA or None: the pose of the first body's frame in the second one's)
    joints: list  # (joint, joint)
    num_added: int = 0  # bodies that the second plant has beside, each welded to World


@dataclass
class PlantComparison:
    """deviations: {quantity: largest relative deviation}; differences: what else is not the same, sentences.

    same_order: whether coordinates come in the same order; the mechanism is the same if they do not.
    """

    deviations: dict = field(default_factory=dict)
    differences: list = field(default_factory=list)
    tolerance: float = TOLERANCE
    same_order: bool = True

    def faults(self):
        """One sentence for each difference; empty if the plants are the same."""
        beyond = [
            f"{name} deviates by {value:.3g}" for name, value in self.deviations.items() if not value <= self.tolerance
        ]
        return [*self.differences, *beyond]

    def note(self, name, one, other):
        one, other = np.asarray(one, float), np.asarray(other, float)
        if one.shape != other.shape:
            self.differences.append(f"{name} has {one.shape} numbers in one and {other.shape} in the other")
            return
        same = (one == other) | (np.isnan(one) & np.isnan(other))  # infinite ones among them
        with np.errstate(invalid="ignore"):
            deviation = np.where(same, 0.0, np.abs(one - other))
        scale = max(1.0, np.abs(one[np.isfinite(one)]).max(initial=0.0))
        worst = float(deviation.max(initial=0.0)) / scale
        self.deviations[name] = max(self.deviations.get(name, 0.0), worst if np.isfinite(worst) else np.inf)


def compare_plants(one, other, same, *, seed=0):
    """The `PlantComparison` of two finalized plants at NUM_STATES random states.

    same: `Correspondence` that has every body and every joint of the files; floating joints that plants add belong to
    their bodies. Compared are M(q), C(q, v) v, gravity, all generalized forces of springs, dampers and bushings, poses
    of bodies, and the numbers of joints, actuators and constraints.
    """
    result = PlantComparison()
    joints = [*same.joints, *_floating_joints(one, other, same, result)]
    _compare_counts(one, other, same.num_added, result)
    pairs = _mobile_joints(one, other, joints, result)
    if result.differences:
        return result
    for a, b in pairs:
        _compare_joints(a, b, result)
    _compare_actuators(one, other, joints, result)
    q_map, v_map = (_coordinate_map(pairs, kind) for kind in ("position", "velocit"))
    result.same_order = all(np.array_equal(*np.take(pair, np.argsort(pair[0]), axis=1)) for pair in (q_map, v_map))
    random = np.random.default_rng(seed)
    contexts = one.CreateDefaultContext(), other.CreateDefaultContext()
    for _ in range(NUM_STATES):
        q, v = _random_state(one, pairs, random)
        one.SetPositions(contexts[0], q)
        one.SetVelocities(contexts[0], v)
        other.SetPositions(contexts[1], _mapped(q, q_map))
        other.SetVelocities(contexts[1], _mapped(v, v_map))
        _compare_dynamics(one, other, contexts, v_map, random, result)
        _compare_poses(contexts, same, result)
    return result


# ------------------------------------------------------------------------------- what belongs to what


def _floating_joints(one, other, same, result):
    """(joint, joint) of the joints that the plants themselves gave to floating bodies."""
    added = [
        {int(j.child_body().index()): j for j in plant.elements.joints if j.made_at_finalize} for plant in (one, other)
    ]
    pairs = []
    for a, b, X_BA in same.bodies:
        found = [joints.get(int(body.index())) for joints, body in zip(added, (a, b), strict=True)]
        if (found[0] is None) != (found[1] is None):
            result.differences.append(f"body '{a.name()}' floats in one and not in the other")
        elif found[0] is not None:
            pairs.append(tuple(found))
            if X_BA is not None:
                result.differences.append(f"floating body '{a.name()}' has another frame")
    return pairs


def _compare_counts(one, other, num_added, result):
    counts = ("num_bodies", "num_joints", "num_positions", "num_velocities", "num_actuators", "num_constraints")
    for name in (*counts, "num_force_elements"):
        here, there = (getattr(plant, name)() for plant in (one, other))
        if here + (num_added if name in ("num_bodies", "num_joints") else 0) != there:
            result.differences.append(f"{name} is {here} in one and {there} in the other")


def _mobile_joints(one, other, joints, result):
    """The pairs that have coordinates; what is cut open in one must be in the other."""
    cut = [set(map(id, plant.elements.loop_joints)) for plant in (one, other)]
    pairs = []
    for a, b in joints:
        if (id(a) in cut[0]) != (id(b) in cut[1]):
            result.differences.append(f"the loop is cut at joint '{a.name()}' in one and not in the other")
        elif a.type_name() != b.type_name():
            result.differences.append(f"joint '{a.name()}' is {a.type_name()} in one, {b.type_name()} in the other")
        elif id(a) not in cut[0] and a.num_velocities():
            pairs.append((a, b))
    return pairs


def _coordinate_map(pairs, kind):
    """Index arrays (here, there): number `here` of the one plant is number `there` of the other."""
    start, count = ("position_start", "num_positions") if kind == "position" else ("velocity_start", "num_velocities")
    here, there = [], []
    for a, b in pairs:
        numbers = range(getattr(a, count)())
        here += [getattr(a, start)() + k for k in numbers]
        there += [getattr(b, start)() + k for k in numbers]
    return np.array(here, int), np.array(there, int)


def _mapped(values, index_map):
    here, there = index_map
    result = np.empty(len(values))
    result[there] = values[here]
    return result


def _random_state(plant, pairs, random):
    q, v = random.uniform(-1.5, 1.5, plant.num_positions()), random.normal(size=plant.num_velocities())
    for joint, _ in pairs:
        if has_quaternion(joint):
            start = joint.position_start()
            wxyz = random.normal(size=4)
            q[start : start + 4] = wxyz / np.linalg.norm(wxyz)
    return q, v


# ------------------------------------------------------------------------------------ what is compared


def _compare_joints(a, b, result):
    for kind in ("position", "velocity", "acceleration"):
        for end in ("lower", "upper"):
            ask = f"{kind}_{end}_limits"
            result.note(f"{kind} limits", getattr(a, ask)(), getattr(b, ask)())
    result.note("joint damping", a.default_damping_vector(), b.default_damping_vector())
    result.note("joint inertia", a.reflected_inertia, b.reflected_inertia)
    result.note("joint friction", a.dry_friction, b.dry_friction)


def _compare_actuators(one, other, joints, result):
    there = {id(a): b for a, b in joints}
    of_joint = {id(actuator.joint()): actuator for actuator in other.elements.actuators}
    for a in one.elements.actuators:
        b = of_joint.get(id(there.get(id(a.joint()))))
        if b is None:
            result.differences.append(f"actuator '{a.name()}' is missing")
            continue
        numbers = [
            (actuator.effort_limit(), actuator.default_reflected_inertia(), *_gains(actuator)) for actuator in (a, b)
        ]
        result.note("actuators", *numbers)


def _gains(actuator):
    if not actuator.has_controller():
        return np.nan, np.nan
    gains = actuator.get_controller_gains()
    return gains.p, gains.d


def _compare_dynamics(one, other, contexts, v_map, random, result):
    here, there = contexts

    def compare(name, ask):
        result.note(name, _mapped(ask(one, here), v_map), ask(other, there))

    compare("bias", lambda plant, context: plant.CalcBiasTerm(context))
    compare("gravity", lambda plant, context: plant.CalcGravityGeneralizedForces(context))
    compare("applied forces", _applied_forces)
    nv = one.num_velocities()
    if nv <= LARGEST_MASS_MATRIX:
        M = np.empty((nv, nv))
        from_here, to_there = v_map
        M[np.ix_(to_there, to_there)] = one.CalcMassMatrix(here)[np.ix_(from_here, from_here)]
        result.note("mass matrix", M, other.CalcMassMatrix(there))
        return
    for _ in range(NUM_PRODUCTS):
        vdot = random.normal(size=nv)
        ours = one.CalcInverseDynamics(here, vdot, MultibodyForces(one))
        result.note(
            "mass matrix",
            _mapped(ours, v_map),
            other.CalcInverseDynamics(there, _mapped(vdot, v_map), MultibodyForces(other)),
        )


def _applied_forces(plant, context):
    """What acts without actuators: gravity, springs, dampers, bushings, as generalized forces."""
    forces = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)
    return plant.CalcGeneralizedForces(context, forces)


def _compare_poses(contexts, same, result):
    poses = [[], []]
    for a, b, X_BA in same.bodies:
        X_WA, X_WB = (body.EvalPoseInWorld(c).GetAsMatrix4() for body, c in zip((a, b), contexts, strict=True))
        poses[0].append(X_WA)
        poses[1].append(X_WB if X_BA is None else X_WB @ X_BA)
    result.note("body poses", *poses)
