"""The flat model of a plant of one model: its file, with the additions of directives, welds and settings."""

from dataclasses import replace

from mbcli.errors import ModelError
from mbcli.multibody.tree.joint_kinds import is_weld
from mbcli.parsers.joint_kinds import OF_PLANT
from mbcli.parsers.poses import compose, inverse
from mbcli.parsers.spec import FrameSpec, JointSpec, SourceLocation, pose


def model_of_scene(plant, model):
    """A flat ModelSpec, as `flattened` gives it, with the frames, joints and default positions of its finalized plant.

    Its links, joints and frames are in the order of the plant's. Raises ModelError if the plant has more than the
    model and additions that need no files.
    """
    links = [link.name for link in model.links if link.name != "world"]
    if plant.num_bodies() != len(links) + 1:
        raise ModelError(f"{model.place}: error: the scene has more than this model: only one can be converted")
    names = dict(enumerate(["world", *links]))
    joints = [joint for joint in plant.elements.joints if not joint.is_ephemeral()]
    known = len(model.joints)
    own = [_with_default(spec, joint) for spec, joint in zip(model.joints, joints[:known], strict=True)]
    added = [_joint(joint, names, {spec.name for spec in model.joints}, model) for joint in joints[known:]]
    places = {id(frame.place) for frame in model.frames}
    frames = [
        FrameSpec(frame.name(), names[int(frame.body().index())], _X(frame.GetFixedPoseInBodyFrame()), frame.place)
        for frame in plant.elements.frames
        if frame.place is not None and id(frame.place) not in places and not frame.is_body_frame()
    ]
    free = {names[int(body.index())]: body for body in plant.elements.bodies if _floats(body)}
    return replace(
        model,
        joints=(*own, *added),
        frames=(*model.frames, *frames),
        links=tuple(
            _with_pose(link, plant, free[link.name], model) if link.name in free else link for link in model.links
        ),
    )


def _floats(body):
    return body.index() != 0 and body.is_floating_base_body()


def _with_pose(link, plant, body, model):
    X_ModelL = compose(inverse(model.X_WModel), _X(plant.GetDefaultFreeBodyPose(body)))
    return link if abs(X_ModelL - link.X_ModelL).max() < 1e-14 else replace(link, X_ModelL=X_ModelL)


def _with_default(spec, joint):
    positions = joint.default_positions()
    if len(positions) != len(spec.axes):
        return spec
    axes = zip(spec.axes, positions, strict=True)
    return replace(spec, axes=tuple(replace(axis, default_position=float(q)) for axis, q in axes))


def _joint(joint, names, taken, model):
    name = joint.name()
    while name in taken:
        name += "_"
    taken.add(name)
    parent, child = joint.parent_body(), joint.child_body()
    X_PF = _X(joint.frame_on_parent().GetFixedPoseInBodyFrame())
    if is_weld(joint):
        X_PF = compose(X_PF, _X(joint.X_FM()))
    return JointSpec(
        name=name,
        type=OF_PLANT[joint.type_name()],
        parent=names[int(parent.index())],
        child=names[int(child.index())],
        X_PF=X_PF,
        X_CM=_X(joint.frame_on_child().GetFixedPoseInBodyFrame()),
        place=joint.place or SourceLocation(model.place.file),
    )


def _X(X_AB):
    matrix = X_AB.GetAsMatrix4()
    return pose(matrix[:3, :3], matrix[:3, 3])
