"""Which model instances and frames a ModelSpec becomes, known before any is added to a plant."""

import numpy as np

from mbcli.parsers.spec import IDENTITY


def model_instances(spec, name):
    """(instance name, ModelSpec) of a model that gets a name and of those nested in it, NAME::INNER, in the order in
    which a plant numbers them: each before those in it, included models of other formats before all others."""
    found = list(_walk(spec, name))
    return sorted(found, key=lambda pair: pair[1].format == "sdf") if len(found) > 1 else found


def top_models(specs):
    """The models that stand by themselves: those of a world beside each other."""
    return [model for spec in specs for model in (spec.models if spec.is_world else (spec,))]


# Drake's own joints in SDFormat files, which connect frames as they are
_ON_FRAMES_OF_LINKS = ("planar", "quaternion_floating", "rpy_floating")


def has_joint_frame(spec, joint, end):
    """Whether a joint of a model has a frame of its own, JOINT_parent or JOINT_child, on the link at that end.

    It has where it is not in the link's frame, and in pydrake on some ends always.
    """
    if spec.format == "urdf":
        always = end == "parent" or joint.type == "planar"
    else:
        always = end == "child" and spec.format == "sdf" and joint.type not in _ON_FRAMES_OF_LINKS
    return always or not np.array_equal(joint.X_PF if end == "parent" else joint.X_CM, IDENTITY)


def _walk(spec, name):
    yield name, spec
    for inner in spec.models:
        yield from _walk(inner, f"{name}::{inner.name}")
