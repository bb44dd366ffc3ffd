"""How the links of a model hang together by its joints."""

from mbcli.multibody.topology import Edge, spanning_forest

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
        check_masses(links, joints, nodes)


def check_masses(links, joints, nodes):
    """What a joint moves must have mass somewhere, or the mass matrix is singular; loops are cut as in the plant.

    links, joints, nodes: as for `check_tree`.
    """
    names = [WORLD, *(name for name in links if name != WORLD)]
    index = {name: i for i, name in enumerate(names)}
    moved = list(joints.values())
    mobods, _ = spanning_forest(
        len(names), [Edge(i, index[joint.parent], index[joint.child]) for i, joint in enumerate(moved)]
    )
    mass = [links[name].inertial.mass if name in links and links[name].inertial else 0.0 for name in names]
    massless = {}  # index of a joint -> the link that it moves
    for mobod in reversed(mobods):  # links come before what they carry
        mass[mobod.inboard] += mass[mobod.link]
        if mobod.joint is not None and mass[mobod.link] == 0:
            massless[mobod.joint] = names[mobod.link]
    for i, link in sorted(massless.items()):
        joint = moved[i]
        if joint.type != "fixed":
            nodes[joint.name].diagnostics.warning(
                "LINK_INERTIA_INVALID",
                f'joint "{joint.name}" moves link "{link}", which has no mass, nor has what it carries',
                nodes[joint.name],
            )
