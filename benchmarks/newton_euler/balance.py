"""Newton's and Euler's equations of every body, and what axes carry, in the rows of a run."""

import contextlib
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np

from mbcli.engine.fields.model_fields import SCHEME_MIDDLE
from mbcli.models import load_model
from mbcli.multibody.contact.meeting_contact import allocate_contact
from mbcli.multibody.core import reaction_forces
from mbcli.multibody.core.step_forces import StepForces
from mbcli.multibody.tree import JacobianWrtVariable
from mbcli.multibody.tree.constraints import CouplerConstraint, LoopConstraint
from mbcli.simulation import simulate
from mbcli.simulation.recording import RowMaker

DT = 1e-3
EXACT, OF_CONTACT = 1e-12, 1e-5  # of the largest velocity: that of a step, and less what its contact problem left
NEAR = 0.03  # [rad or m] of its end, where a stop may act on a fast joint
STICKS = 1e-6  # [rad/s or m/s] of a joint that its friction holds, which has no direction


def run(model, duration=0.02, *, contact=False, seed=0, **options):
    """A log of every step, from a random state, with the StepForces and SampledContacts of its rows.

    Of a continuous plant, whose rows have no StepForces: rows a millisecond, vdot and loads of what acts at each.
    """
    loaded = load_model(model, contact=contact, **{"dt": DT} | options.pop("loading", {}))
    plant, rng, blocks, given = loaded.plant, np.random.default_rng(seed), [], []
    rows, through = RowMaker.rows, reaction_forces._through_joints

    def seen(maker, samples, chosen):
        contacts = None if samples.contacts is None else samples.contacts.chosen(chosen)
        blocks.append((None if samples.steps is None else samples.steps.chosen(chosen), contacts))
        return rows(maker, samples, chosen)

    def noted(plant, state, vdot, F_link, wrenches):
        given.append((vdot.copy(), F_link.copy(), list(wrenches)))
        return through(plant, state, vdot, F_link, wrenches)

    speeds = dict(zip(plant.GetVelocityNames(), rng.normal(size=plant.num_velocities()), strict=True))
    options.setdefault("start", speeds)
    fields = "effort reactions contact" + (" sensors" if plant.elements.sensors else "")
    discrete = plant.is_discrete()
    with contextlib.ExitStack() as stack:
        stack.enter_context(patch.object(RowMaker, "rows", seen))
        if not discrete:
            stack.enter_context(patch.object(reaction_forces, "_through_joints", noted))
        rate = 0.0 if discrete else 1.0 / DT
        log = simulate(loaded, duration, log_rate=rate, fields=fields, **options)
    contacts = [part.of_row(k) for _, part in blocks if part is not None for k in range(len(part.offset) - 1)]
    steps = StepForces.joined([part for part, _ in blocks]) if discrete else None
    context = plant.CreateDefaultContext()
    allocate_contact(context.state)
    solved = discrete and context.state.contact is not None  # whether steps are problems of contact
    exact = float(discrete and plant.model.step_scheme[SCHEME_MIDDLE])
    return SimpleNamespace(
        loaded=loaded,
        log=log,
        plant=plant,
        steps=steps,
        contacts=contacts,
        given=given,
        exact=exact,
        solved=solved,
        unknown=set(),
    )


def residuals(found, known=None):
    """(worst of bodies, worst of free axes) over the steps of run(), relative to the largest force there.

    known: (row, plant, context at the place of forces) -> {link: (moment about Bo, force) in World} of what acts beside
        weight, contact, joints and constraints; None: what the run says.
    """
    plant, log = found.plant, found.log
    context, worst, of_axes, largest = plant.CreateDefaultContext(), 0.0, 0.0, 1.0
    reactions = log.field("derived/reactions")
    for row in range(len(log.times) - 1):
        state = _state(found, row)
        plant.SetPositions(context, state.q)
        plant.SetVelocities(context, state.v)
        loads = state.loads if known is None else known(row, plant, context)
        wrenches = reactions[row].reshape(-1, 6)
        missed, size = _missed(plant, context, state, wrenches, loads)
        largest, worst = max(largest, size), max(worst, missed)
        of_axes = max(of_axes, _missed_on_axes(found, context, row, state, wrenches))
    return worst / largest, of_axes / largest


def _state(found, row):
    """Where a row took its forces: q, v there, velocities after it, vdot, loads, contacts, wrenches of constraints."""
    log, steps = found.log, found.steps
    if steps is None:
        vdot, F_link, wrenches = found.given[row]
        loads = F_link - _weights(found.plant, log.q[row])
        return SimpleNamespace(
            q=log.q[row],
            v=log.v[row],
            after=log.v[row],
            damped=log.v[row],
            vdot=vdot,
            loads=loads,
            contacts=None,
            wrenches=wrenches,
        )
    vdot = (log.v[row + 1] - log.v[row]) / DT
    contacts = found.contacts[row] if found.contacts else None
    near = OF_CONTACT if found.solved else EXACT
    np.testing.assert_allclose(steps.vdot[row], vdot, rtol=0.0, atol=near * max(1.0, abs(log.v).max()) / DT)
    return SimpleNamespace(
        q=steps.q[row],
        v=steps.v[row],
        after=log.v[row + 1],
        damped=log.v[row] + DT * _share_of_damping(found, row) * steps.vdot[row],
        vdot=steps.vdot[row],
        loads=steps.loads[row],
        contacts=contacts,
        wrenches=steps.wrenches[row],
    )


def _share_of_damping(found, row):
    """(nv,): which part of its change a velocity has where damping acts; none under tamsi, all in Drake's scheme.

    In trees whose forces are of the middle of the step that by which it resolves the damping, see smooth/middle.py.
    """
    plant, model, steps = found.plant, found.plant.model, found.steps
    if not plant.settings.is_convex():
        return 0.0
    share = np.ones(plant.num_velocities())
    if not found.exact:
        return share
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, steps.q[row])
    damping = DT * model.dof_damping / np.diag(plant.CalcMassMatrix(context))
    moved = np.zeros(len(model.body_root), dtype=bool)
    for i in np.flatnonzero(steps.q[row] != found.log.q[row]):
        moved[model.body_root[np.searchsorted(model.body_q[1:], i, side="right")]] = True
    middle = moved[model.body_root[model.dof_body]] | (not found.solved)
    return np.where(middle, (1.0 + damping) / (2.0 + damping), share)


def _weights(plant, q):
    """On links at their origins, (num_bodies, 6)."""
    context, loads = plant.CreateDefaultContext(), np.zeros((plant.num_bodies(), 6))
    plant.SetPositions(context, q)
    for body in plant.elements.bodies[1:]:
        mass = plant.model.link_weight[int(body.index())]  # 0 of what a file takes out of gravity
        X, force = body.EvalPoseInWorld(context), mass * plant.gravity_field().gravity_vector()
        arm = X.rotation().matrix() @ body.CalcCenterOfMassInBodyFrame(context)
        loads[int(body.index())] = [*np.cross(arm, force), *force]
    return loads


def _missed(plant, context, state, wrenches, loads):
    """The largest sum of forces or moments less rate of momentum, of any body; the largest of these."""
    sums = {body: np.zeros(6) for body in plant.elements.bodies}  # about the centre of mass of each, in World
    place = {body: _centre(context, body) for body in sums}
    for joint, F in zip(plant.elements.joints, wrenches, strict=True):
        X_WJ = joint.frame_on_child().CalcPoseInWorld(context)
        moment, force = X_WJ.rotation().matrix() @ F[:3], X_WJ.rotation().matrix() @ F[3:]
        for body, sign in ((joint.child_body(), 1.0), (joint.parent_body(), -1.0)):
            _add(sums, place, body, X_WJ.translation(), sign * moment, sign * force)
    for body, F in zip(plant.elements.bodies, loads, strict=True):
        _add(sums, place, body, body.EvalPoseInWorld(context).translation(), F[:3], F[3:])
    for body, F in zip(plant.elements.bodies, _weights(plant, state.q), strict=True):
        _add(sums, place, body, body.EvalPoseInWorld(context).translation(), F[:3], F[3:])
    _add_constraints(plant, context, state, sums, place)
    if state.contacts is not None:
        owners = [plant.geometry_bodies[g] for g in plant.compiled_geometries().ids]
        for k in range(len(state.contacts)):
            for side, sign in ((0, 1.0), (1, -1.0)):
                body, force = owners[state.contacts.solid[k, side]], sign * state.contacts.force[k]
                _add(sums, place, body, state.contacts.position[k], sign * state.contacts.moment[k], force)
    worst, largest = 0.0, max(1.0, abs(wrenches).max(initial=0.0), _largest_of_constraints(state))
    for body, A in zip(plant.elements.bodies, plant.CalcSpatialAccelerationsFromVdot(context, state.vdot), strict=True):
        if body is plant.world_body():
            continue
        R, w = body.EvalPoseInWorld(context).rotation().matrix(), body.EvalSpatialVelocityInWorld(context).rotational()
        M = body.CalcSpatialInertiaInBodyFrame(context)
        r, m = place[body] - body.EvalPoseInWorld(context).translation(), M.get_mass()
        I = R @ M.Shift(M.get_com()).CalcRotationalInertia().CopyToFullMatrix3() @ R.T
        a = A.translational() + np.cross(A.rotational(), r) + np.cross(w, np.cross(w, r))
        rate = np.concatenate([I @ A.rotational() + np.cross(w, I @ w), m * a])
        worst, largest = max(worst, abs(sums[body] - rate).max()), max(largest, abs(sums[body]).max(), abs(rate).max())
    return worst, largest


def _largest_of_constraints(state):
    """Of their wrenches: rigid stops beside rigid loops, as where a file begins beyond stops, make any force."""
    if isinstance(state.wrenches, np.ndarray):
        return abs(state.wrenches).max(initial=0.0)
    return max((abs(wrench).max() for wrench in state.wrenches if wrench is not None), default=0.0)


def _add_constraints(plant, context, state, sums, place):
    """What constraints that are no joints do to their two bodies, opposite wrenches at one point."""
    active = context.state.constraints
    if active is None:
        return
    wrenches = active.wrenches(state.wrenches) if isinstance(state.wrenches, np.ndarray) else state.wrenches
    for tie, wrench in zip(active.rows, wrenches, strict=True):
        if wrench is None or isinstance(active.row_owners[tie.numbers[0]], LoopConstraint):
            continue
        X = plant.elements.bodies[tie.successor].EvalPoseInWorld(context)
        point = X.translation() + X.rotation().matrix() @ tie.X_S[:3, 3]
        for body, sign in ((tie.successor, 1.0), (tie.predecessor, -1.0)):
            _add(sums, place, plant.elements.bodies[body], point, sign * wrench[:3], sign * wrench[3:])


def _add(sums, place, body, point, moment, force):
    sums[body] += np.concatenate([moment + np.cross(point - place[body], force), force])


def _centre(context, body):
    X = body.EvalPoseInWorld(context)
    return X.translation() + X.rotation().matrix() @ body.CalcCenterOfMassInBodyFrame(context)


def _missed_on_axes(found, context, row, state, wrenches):
    """How much else than effort, damping, springs, friction and stops the axes of the joints carry.

    What dry friction does is known by its bound and its sign alone, what a stop does by its sign. Of two joints that a
    coupling connects the two are known together.
    """
    plant, model, worst = found.plant, found.plant.model, 0.0
    rest = _along_axes(plant, context, wrenches)
    efforts = found.log.field("derived/effort")[row] if plant.num_actuators() else ()
    for actuator in plant.elements.actuators:
        rest[actuator.joint().velocity_start()] -= efforts[actuator.input_start()]
    rest += model.dof_damping * state.damped + model.dof_armature * state.vdot
    for d in np.flatnonzero(model.dof_stiffness):
        implicit = 0.25 * DT * DT * found.exact * state.vdot[d]
        rest[d] += model.dof_stiffness[d] * (state.q[model.dof_q[d]] - model.dof_nominal[d] + implicit)
    lost = set(found.unknown)
    rubbed, stops = set(model.friction_dof.tolist()), _stops(plant)
    coupled = [c for c in plant.elements.constraints if isinstance(c, CouplerConstraint)]
    rest, lost = _less_couplings(rest, coupled, lost, lost | set(stops) | rubbed)
    friction = np.zeros(len(rest))
    friction[model.friction_dof] = model.friction_loss
    for d in set(range(len(rest))) - lost:
        opposes = rest[d] * state.after[d] <= 0.0 or abs(state.after[d]) < STICKS
        beyond = max(0.0, abs(rest[d]) - friction[d]) if opposes else abs(rest[d])
        if beyond and d in stops:  # it may act near it, inwards
            lower, upper = stops[d]
            past = lower + NEAR - state.q[model.dof_q[d]] if rest[d] > 0.0 else state.q[model.dof_q[d]] - upper + NEAR
            beyond = 0.0 if past > 0.0 else beyond
        worst = max(worst, beyond)
    return worst


def _stops(plant):
    """{velocity: positions of its stops} of joints of one degree of freedom that have any."""
    found = {}
    for joint in plant.elements.joints:
        if joint not in plant.elements.loop_joints and joint.num_velocities() == 1:
            lower, upper = joint.position_lower_limits()[0], joint.position_upper_limits()[0]
            if lower > -np.inf or upper < np.inf:
                found[joint.velocity_start()] = (lower, upper)
    return found


def _less_couplings(rest, couplings, lost, unknown):
    """rest without what couplings explain of it, which is all or nothing; lost with coupled axes not known in full."""
    rows = np.zeros((len(couplings), len(rest)))
    for row, coupling in zip(rows, couplings, strict=True):
        first, second = (joint.velocity_start() for joint in coupling.joints())
        row[first], row[second] = 1.0, -coupling.gear_ratio
    coupled = set(np.flatnonzero(rows.any(axis=0)).tolist())
    known = sorted(coupled - unknown)
    if known:
        part = rows[:, known].T
        rest = rest.copy()
        rest[known] -= part @ np.linalg.lstsq(part, rest[known], rcond=None)[0]
    return rest, lost | (coupled & unknown)


def _velocities(joint):
    return range(joint.velocity_start(), joint.velocity_start() + joint.num_velocities())


def _along_axes(plant, context, wrenches):
    """(nv,): what the wrench of each joint is along its axes, by the columns of the velocity of child in parent."""
    along = np.zeros(plant.num_velocities())
    for joint, F in zip(plant.elements.joints, wrenches, strict=True):
        if joint in plant.elements.loop_joints or joint.num_velocities() == 0:
            continue
        ends = joint.frame_on_child(), joint.frame_on_parent(), joint.frame_on_child()
        S = plant.CalcJacobianSpatialVelocity(context, JacobianWrtVariable.kV, ends[0], np.zeros(3), *ends[1:])
        along[_velocities(joint)] = F @ S[:, _velocities(joint)]
    return along
