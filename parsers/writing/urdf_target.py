"""URDF as a format to write."""

from mbcli.parsers.spec import Cone, HalfSpace, Mesh, Polyline
from mbcli.parsers.writing.arrange_urdf import arranged_for_urdf
from mbcli.parsers.writing.sayable import DYNAMICS, LIMITED, ONE_AXIS
from mbcli.parsers.writing.target import Target
from mbcli.parsers.writing.write_urdf import write_urdf
from mbcli.parsers.writing.write_xml import DRAKE_ONLY, OURS_ONLY

_SHAPES = {HalfSpace: "plane", Cone: "cone", Polyline: "polyline"}


def _missing_shape(shape):
    if isinstance(shape, Mesh) and shape.submesh is not None:
        return f"part '{shape.submesh}' of {shape.uri}"
    return _SHAPES.get(type(shape))


def _extensions(root, counts):
    return {tag: OURS_ONLY if tag == "loop_joint" else DRAKE_ONLY for tag in counts}


_TARGET = Target(
    axis_fields={
        **{kind: ONE_AXIS | {"deceleration", "jerk"} for kind in LIMITED},
        "screw": DYNAMICS | {"mimic"},
        "universal": frozenset({"damping"}),
    },
    missing_shape=_missing_shape,
    link_gravity=False,
    deformables=False,
    rpy_floating=False,
    floating_damping=False,
    second_axes_lead=False,
    weld_constraints=False,
    points=True,
    zero_effort_is_none=False,
    namespaces=(("links", "frames"), ("filter_groups",), ("joints",), ("actuators",)),
    actuators_have_names=True,
    model_frame_name="model_frame",
    arranged=arranged_for_urdf,
    document=write_urdf,
    own_tags=("loop_joint", "frame"),
    extensions=_extensions,
)


def urdf_target():
    """The `Target`."""
    return _TARGET
