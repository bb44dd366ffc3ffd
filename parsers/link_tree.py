"""How the links of a model hang together by its joints."""

from .sdf_frames import find_cycles


def check_tree(links, joints, nodes):
    """Every link hangs on at most one joint, and nothing hangs on itself.

    links, joints: {name: LinkSpec}, {name: JointSpec}; nodes: {joint name: XML node} for the findings.
    """
    above = {}  # link -> the joint whose child it is
    for name, joint in joints.items():
        first = above.setdefault(joint.child, joint)
        if first is not joint:
            nodes[name].diagnostics.error(
                "JOINT_CHILD_LINK_INVALID",
                f'link "{joint.child}" is the child of two joints, "{first.name}" and "{name}"',
                nodes[name],
                hint="closed loops are written as constraints, which are not supported yet",
                related=(first.place,),
            )
    for cycle in find_cycles({link: joint.parent for link, joint in above.items()}):
        node = nodes[above[cycle[0]].name]
        chain = " -> ".join([*cycle, cycle[0]])
        node.diagnostics.error("JOINT_CYCLE", f"links are their own parents (child -> parent): {chain}", node)
