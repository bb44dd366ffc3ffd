"""How the links of a model hang together by its joints."""

from .sdf_frames import WORLD, find_cycles


def check_tree(links, joints, nodes):
    """Every link hangs on at most one joint, nothing hangs on itself, and what moves has mass.

    links, joints: {name: LinkSpec}, {name: JointSpec}; nodes: {joint name: XML node} for the findings.
    """
    above = {}  # link -> the joint whose child it is
    sound = True
    for name, joint in joints.items():
        first = above.setdefault(joint.child, joint)
        if first is not joint:
            sound = False
            nodes[name].diagnostics.error(
                "JOINT_CHILD_LINK_INVALID",
                f'link "{joint.child}" is the child of two joints, "{first.name}" and "{name}"',
                nodes[name],
                hint="closed loops are written as constraints, which are not supported yet",
                related=(first.place,),
            )
    for cycle in find_cycles({link: joint.parent for link, joint in above.items()}):
        sound = False
        node = nodes[above[cycle[0]].name]
        chain = " -> ".join([*cycle, cycle[0]])
        node.diagnostics.error("JOINT_CYCLE", f"links are their own parents (child -> parent): {chain}", node)
    if sound:
        _check_masses(links, joints, nodes, above)


def _check_masses(links, joints, nodes, above):
    """What a joint moves must have mass somewhere, or the mass matrix is singular."""
    mass = {name: link.inertial.mass if link.inertial else 0.0 for name, link in links.items()}
    for name in _leaves_first(links, above):
        if name in above:
            mass[above[name].parent] = mass.get(above[name].parent, 0.0) + mass.get(name, 0.0)
    for name, joint in joints.items():
        if joint.type != "fixed" and joint.child != WORLD and mass[joint.child] == 0:
            nodes[name].diagnostics.warning(
                "LINK_INERTIA_INVALID",
                f'joint "{name}" moves link "{joint.child}", which has no mass, nor has what it carries',
                nodes[name],
            )


def _leaves_first(links, above):
    """The links, children before parents."""
    order = []
    children = {}
    for link, joint in above.items():
        children.setdefault(joint.parent, []).append(link)
    pending = [name for name in links if name not in above]
    if WORLD not in links and WORLD not in above:
        pending.append(WORLD)
    while pending:
        name = pending.pop()
        order.append(name)
        pending.extend(children.get(name, ()))
    return reversed(order)
