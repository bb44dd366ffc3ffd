"""Whether everything that a joint moves has mass; without it the mass matrix is singular."""

from math import isfinite

from mbcli.parsers.checks.flat_model import WORLD

from mbcli.common.topology import CUT_EARLY, CUT_FIRST, CUT_LAST, CUT_LATE, Edge, spanning_forest


def forest(model):
    """Of the plant to be: mobilized bodies, indices of the joints that close loops, names of links, joints."""
    names = [WORLD, *(name for name in model.links if name != WORLD)]
    index = {name: k for k, name in enumerate(names)}
    named = {name: joint for name, joint in model.joints.items() if joint.parent in index and joint.child in index}
    edges = [
        Edge(k, index[joint.parent], index[joint.child], _cut(joint, name in model.needed_joints))
        for k, (name, joint) in enumerate(named.items())
    ]
    mobods, loops = spanning_forest(len(names), edges)
    return mobods, loops, names, list(named.values())


def _cut(joint, is_needed):
    """The loss of a joint without its coordinates, as the plant sees it."""
    if is_needed or joint.type in ("quaternion_floating", "rpy_floating"):
        return CUT_LAST
    if any(isfinite(axis.lower) or isfinite(axis.upper) for axis in joint.axes):
        return CUT_LATE
    forces = any(axis.damping or axis.spring_stiffness for axis in joint.axes) or any(joint.damping)
    return CUT_EARLY if forces else CUT_FIRST


def check_moving_masses(model, report):
    """MOVING_MASS_MISSING for each joint, FLOATING_MASS_MISSING for each base that carries no mass at all."""
    if not report.is_sound(model):
        return
    mobods, _, names, joints = forest(model)
    inertials = [model.links[name].inertial if name in model.links else None for name in names]
    mass = [inertial.mass if inertial is not None else 0.0 for inertial in inertials]
    massless = {}  # index of a joint -> the link that it moves
    floating = []
    for mobod in reversed(mobods):  # links come before those that they carry
        mass[mobod.inboard] += mass[mobod.link]
        if mobod.joint is not None and mass[mobod.link] == 0:
            massless[mobod.joint] = names[mobod.link]
        elif mobod.joint is None and mass[mobod.link] == 0:
            floating.append(names[mobod.link])
    for k, link in sorted(massless.items()):
        joint = joints[k]
        if joint.type != "fixed":
            message = (
                f'joint "{joint.name}" moves link "{link}", and neither it nor the links that it carries have mass'
            )
            report("MOVING_MASS_MISSING", message, joint.place, hint="give the link an inertial, or fix the joint")
    for link in floating:
        message = f'nothing holds link "{link}", and neither it nor the links that it carries have mass'
        report("FLOATING_MASS_MISSING", message, model.links[link].place, hint="give it mass, or fix it to the world")
