"""Newton's and Euler's equations of every body in the steps of a run, by hand from its log; random mechanisms."""

from types import SimpleNamespace
from unittest.mock import patch

import numpy as np

from mbcli.models import load_model
from mbcli.models.loading import ModelText
from mbcli.multibody.core.step_forces import StepForces
from mbcli.simulation import simulate
from mbcli.simulation.recording import RowMaker

JOINTS = ("revolute", "revolute", "prismatic", "universal", "continuous", "fixed")
DT = 1e-3


def mechanism(
    seed, *, floating=False, rubs=False, limited=False, loop=False, plugins=False, ground=False, struts=False
):
    """SDFormat of a random tree of seven links.

    Args:
        floating: its root is free. rubs: joints have dry friction. limited: joints have limits within reach.
        loop: a ball joint connects the last link to World. plugins: wind pushes it, a fixed link too.
        ground: its links have spheres, over a plane. struts: stiff springs, dampers and a bushing connect links.
    """
    rng = np.random.default_rng(seed)
    numbers = lambda *size: " ".join(f"{x:.6f}" for x in rng.uniform(-1.0, 1.0, size))  # noqa: E731
    links, joints = [], []
    for n in range(7):
        place = f"{0.3 * rng.normal():.4f} {0.3 * rng.normal():.4f} {0.3 * n + 0.4:.4f} {numbers(3)}"
        a, b, c = rng.uniform(0.02, 0.05, 3)
        inertia = f"<ixx>{b + c}</ixx><iyy>{a + c}</iyy><izz>{a + b}</izz>"
        solid = '<collision name="c"><geometry><sphere><radius>0.15</radius></sphere></geometry></collision>'
        links.append(
            f'<link name="l{n}"><pose>{place}</pose><inertial><pose>{0.1 * rng.normal():.4f} 0.1 0 {numbers(3)}</pose>'
            f"<mass>{rng.uniform(0.5, 2.0):.4f}</mass><inertia>{inertia}</inertia></inertial>{solid if ground else ''}"
            "</link>"
        )
        if n == 0 and floating:
            continue
        kind = rng.choice(JOINTS)
        parent = f"l{rng.integers(max(0, n - 3), n)}" if n else "world"
        damping = f"<damping>{rng.uniform(0.0, 0.3):.3f}</damping>" if rng.random() < 0.6 else ""
        friction = "<friction>0.2</friction>" if rubs and rng.random() < 0.6 else ""
        stretch = f"<spring_stiffness>{rng.uniform(1, 9):.3f}</spring_stiffness>" if rng.random() < 0.4 else ""
        limit = "<lower>-0.02</lower><upper>0.02</upper>" if limited and kind != "universal" else ""
        limit = f"<limit>{limit}<effort>{rng.choice([-1, 50])}</effort></limit>" if kind != "continuous" else ""
        dynamics = f"<dynamics>{damping}{friction}{stretch}</dynamics>" if kind != "continuous" else ""
        axis = f"<xyz>{numbers(3)}</xyz>{limit}{dynamics}"
        if kind == "universal":
            axes = "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>"
        else:
            axes = "" if kind == "fixed" else f"<axis>{axis}</axis>"
        joints.append(
            f'<joint name="j{n}" type="{kind}"><pose>{numbers(3)} {numbers(3)}</pose><parent>{parent}</parent>'
            f"<child>l{n}</child>{axes}</joint>"
        )
    if loop:
        joints.append('<joint name="loop" type="ball"><parent>world</parent><child>l6</child></joint>')
    if struts:
        joints += _struts(rng)
    world = ""
    if plugins:
        world = (
            "<wind><linear_velocity>8 -3 2</linear_velocity></wind>"
            '<plugin filename="gz-sim-wind-effects-system" name="gz::sim::systems::WindEffects">'
            "<horizontal><magnitude><time_for_rise>1e-9</time_for_rise></magnitude></horizontal><vertical>"
            "<time_for_rise>1e-9</time_for_rise></vertical><force_approximation_scaling_factor>0.7</force_approximation_scaling_factor></plugin>"
        )
    windy = "<enable_wind>true</enable_wind>" if plugins else ""
    if ground:
        plane = '<collision name="p"><geometry><plane/></geometry></collision>'
        world += f'<model name="floor"><static>true</static><link name="f">{plane}</link></model>'
    model = f'<model name="m">{windy}{"".join(links)}{"".join(joints)}</model>'
    text = f'<sdf version="1.9" xmlns:drake="http://drake.mit.edu"><world name="w">{world}{model}'
    return ModelText(f"{text}</world></sdf>".encode(), "mechanism.sdf")


def _struts(rng):
    """Elements whose forces change much in a step."""

    def element(tag, prefix, **parts):
        inner = "".join(f"<drake:{prefix}_{name}>{value}</drake:{prefix}_{name}>" for name, value in parts.items())
        return f"<drake:{tag}>{inner}</drake:{tag}>"

    def three(low, high):
        return " ".join(f"{x:.3f}" for x in rng.uniform(low, high, 3))

    for k, (a, b) in enumerate(((1, 4), (2, 6), (0, 5))):
        ends = {"body_A": f"l{a}", "p_AP": three(-0.2, 0.2), "body_B": f"l{b}", "p_BQ": three(-0.2, 0.2)}
        constants = {"free_length": 0.5, "stiffness": 10.0 ** (2 + k), "damping": 10.0**k}
        yield element("linear_spring_damper", "linear_spring_damper", **ends, **constants)
    kinds = {f"{of}_{what}": three(1, 5) for of in ("torque", "force") for what in ("stiffness", "damping")}
    yield element("linear_bushing_rpy", "bushing", frameA="l3", frameC="l6", **kinds)


def run(model, duration=0.02, *, contact=False, seed=0, **options):
    """A log of every step, from a random state, with the StepForces and SampledContacts of its rows."""
    loaded = load_model(model, contact=contact, **{"dt": DT} | options.pop("loading", {}))
    plant, rng, blocks = loaded.plant, np.random.default_rng(seed), []
    rows = RowMaker.rows

    def seen(maker, samples, chosen):
        contacts = None if samples.contacts is None else samples.contacts.chosen(chosen)
        blocks.append((samples.steps.chosen(chosen), contacts))
        return rows(maker, samples, chosen)

    speeds = dict(zip(plant.GetVelocityNames(), rng.normal(size=plant.num_velocities()), strict=True))
    options.setdefault("start", speeds)
    with patch.object(RowMaker, "rows", seen):
        log = simulate(loaded, duration, log_rate=0.0, fields="effort reactions contact", **options)
    contacts = [part.of_row(k) for _, part in blocks if part is not None for k in range(len(part.offset) - 1)]
    return SimpleNamespace(
        log=log, plant=plant, steps=StepForces.joined([part for part, _ in blocks]), contacts=contacts
    )


def residuals(found, known=None):
    """(worst of bodies, worst of free axes) over the steps of run(), relative to the largest force there.

    known: (row, plant, context at the place of forces) -> {link: (moment about Bo, force) in World} of what acts beside
        weight, contact, joints and constraints; None: what the run says.
    """
    plant, log, steps = found.plant, found.log, found.steps
    context, worst, of_axes, largest = plant.CreateDefaultContext(), 0.0, 0.0, 1.0
    reactions = log.field("derived/reactions")
    for row in range(len(log.times) - 1):
        vdot = (log.v[row + 1] - log.v[row]) / DT
        np.testing.assert_allclose(steps.vdot[row], vdot, atol=1e-12 * max(1.0, abs(log.v).max()) / DT)
        plant.SetPositions(context, steps.q[row])
        plant.SetVelocities(context, steps.v[row])
        loads = steps.loads[row] if known is None else known(row, plant, context)
        contacts = found.contacts[row] if found.contacts else None
        wrenches = reactions[row].reshape(-1, 6)
        missed, size = _missed(plant, context, vdot, wrenches, loads, contacts)
        largest, worst = max(largest, size), max(worst, missed)
        of_axes = max(of_axes, _missed_on_axes(found, row, vdot, wrenches))
    return worst / largest, of_axes / largest


def _missed(plant, context, vdot, wrenches, loads, contacts):
    """The largest sum of forces or moments less rate of momentum, of any body; the largest of these."""
    g = plant.gravity_field().gravity_vector()
    sums = {body: np.zeros(6) for body in plant.elements.bodies}  # about the centre of mass of each, in World
    place = {body: _centre(context, body) for body in sums}
    for joint, F in zip(plant.elements.joints, wrenches, strict=True):
        X_WJ = joint.frame_on_child().CalcPoseInWorld(context)
        moment, force = X_WJ.rotation().matrix() @ F[:3], X_WJ.rotation().matrix() @ F[3:]
        for body, sign in ((joint.child_body(), 1.0), (joint.parent_body(), -1.0)):
            _add(sums, place, body, X_WJ.translation(), sign * moment, sign * force)
    for body, F in zip(plant.elements.bodies, loads, strict=True):
        _add(sums, place, body, body.EvalPoseInWorld(context).translation(), F[:3], F[3:])
    if contacts is not None:
        owners = [plant.geometry_bodies[g] for g in plant.compiled_geometries().ids]
        for k in range(len(contacts)):
            for side, sign in ((0, 1.0), (1, -1.0)):
                body, force = owners[contacts.solid[k, side]], sign * contacts.force[k]
                _add(sums, place, body, contacts.position[k], sign * contacts.moment[k], force)
    worst, largest = 0.0, 1.0
    for body, A in zip(plant.elements.bodies, plant.CalcSpatialAccelerationsFromVdot(context, vdot), strict=True):
        if body is plant.world_body():
            continue
        R, w = body.EvalPoseInWorld(context).rotation().matrix(), body.EvalSpatialVelocityInWorld(context).rotational()
        M = body.CalcSpatialInertiaInBodyFrame(context)
        r, m = place[body] - body.EvalPoseInWorld(context).translation(), M.get_mass()
        I = R @ M.Shift(M.get_com()).CalcRotationalInertia().CopyToFullMatrix3() @ R.T
        a = A.translational() + np.cross(A.rotational(), r) + np.cross(w, np.cross(w, r))
        rate = np.concatenate([I @ A.rotational() + np.cross(w, I @ w), m * (a - g)])
        worst, largest = max(worst, abs(sums[body] - rate).max()), max(largest, abs(sums[body]).max(), abs(rate).max())
    return worst, largest


def _add(sums, place, body, point, moment, force):
    sums[body] += np.concatenate([moment + np.cross(point - place[body], force), force])


def _centre(context, body):
    X = body.EvalPoseInWorld(context)
    return X.translation() + X.rotation().matrix() @ body.CalcCenterOfMassInBodyFrame(context)


def _missed_on_axes(found, row, vdot, wrenches):
    """How much more than effort and damping the axes carry that no limit, spring or dry friction acts on."""
    plant, log, worst = found.plant, found.log, 0.0
    model = plant.model
    special = {*model.limit_dof.tolist(), *model.friction_dof.tolist(), *model.hinge_dof.tolist()}
    efforts = log.field("derived/effort")[row] if plant.num_actuators() else ()
    for joint, F in zip(plant.elements.joints, wrenches, strict=True):
        if joint in plant.elements.loop_joints:
            continue
        if joint.num_velocities() != 1 or joint.type_name() not in ("revolute", "prismatic"):
            worst = max(worst, abs(F).max() if joint.num_velocities() == 6 else 0.0)
            continue
        d = joint.velocity_start()
        if d in special or model.dof_stiffness[d] != 0.0:
            continue
        axis = joint.revolute_axis() if joint.type_name() == "revolute" else joint.translation_axis()
        along = axis @ (F[:3] if joint.type_name() == "revolute" else F[3:])
        effort = sum(efforts[a.input_start()] for a in plant.elements.actuators if a.joint() is joint)
        after = log.v[row + 1][d]
        worst = max(worst, abs(along - effort + model.dof_damping[d] * after + model.dof_armature[d] * vdot[d]))
    return worst
