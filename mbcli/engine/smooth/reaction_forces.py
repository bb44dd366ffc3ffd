"""The forces that joints transmit between links, welds included."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.frame_motion import (
    acceleration_at,
    components,
    frame_axes,
    frame_origin,
    from_components,
    from_reference_of,
)
from mbcli.engine.smooth.kinematics import link_origin
from mbcli.engine.smooth.mass_properties import center_of_link, link_axes
from mbcli.engine.smooth.spatial import add, cross, row3, scale, set_row3, subtract, symmetric_times


@kernel
def forces_through_joints(model, data, tree, F):
    """A, F (all that is applied to the links) -> F (nlink, 6): the force on each link through its inboard joint.

    About Ro of the link's tree, or about Wo for a link that is welded to World.

    `tree` (n, 5) has a row for each joint, inboard ones first: outboard link, inboard link, frame on the child, whether
    the child is inboard, index of the joint. World's row of F becomes meaningless.
    """
    A, I = data.A, model.link_inertia
    for n in range(1, model.link_body.shape[0]):
        b, c = model.link_body[n], center_of_link(model, data, n)
        alpha, w = row3(A, b, 0), row3(data.V, b, 0)
        needed = scale(I[n, 0], acceleration_at(data, b, c, alpha, row3(A, b, 3)))
        axes = link_axes(model, data, n)
        w_L = components(axes, w)
        moment = add(symmetric_times(I, n, 4, components(axes, alpha)), cross(w_L, symmetric_times(I, n, 4, w_L)))
        moment = from_components(axes, moment)
        applied = row3(F, n, 3)
        applied_moment = add(row3(F, n, 0), cross(link_origin(model, data, n), applied))
        set_row3(F, n, 0, subtract(add(moment, cross(c, needed)), applied_moment))
        set_row3(F, n, 3, subtract(needed, applied))
    for k in range(tree.shape[0] - 1, -1, -1):
        outboard, inboard = tree[k, 0], tree[k, 1]
        force = row3(F, outboard, 3)
        # from one reference point to the other; they differ if a tree starts on a link that is welded to World
        arm = from_reference_of(model, data, scale(0.0, force), model.link_body[outboard], model.link_body[inboard])
        set_row3(F, inboard, 0, add(row3(F, inboard, 0), add(row3(F, outboard, 0), cross(arm, force))))
        set_row3(F, inboard, 3, add(row3(F, inboard, 3), force))


@kernel
def reactions_on_children(model, data, tree, F_link, F):
    """F_link of forces_through_joints() -> F (joints, 6), on the child at the origin and in the axes of its frame."""
    for k in range(tree.shape[0]):
        outboard, frame, joint = tree[k, 0], tree[k, 2], tree[k, 4]
        sign = 1.0 - 2.0 * tree[k, 3]
        r = frame_origin(model, data, frame)
        r = from_reference_of(model, data, r, model.frame_body[frame], model.link_body[outboard])
        force = row3(F_link, outboard, 3)
        moment = subtract(row3(F_link, outboard, 0), cross(r, force))
        axes = frame_axes(model, data, frame)
        set_row3(F, joint, 0, scale(sign, components(axes, moment)))
        set_row3(F, joint, 3, scale(sign, components(axes, force)))
