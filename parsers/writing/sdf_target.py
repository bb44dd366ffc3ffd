"""SDFormat as a format to write."""

from mbcli.parsers.sdf.sdf_actuators import NO_ACTUATOR
from mbcli.parsers.writing.arrange_sdf import arranged_for_sdf
from mbcli.parsers.writing.sayable import DYNAMICS, LIMITED, ONE_AXIS
from mbcli.parsers.writing.target import Target
from mbcli.parsers.writing.write_sdf import write_sdf
from mbcli.parsers.writing.write_xml import DRAKE_ONLY, OURS_ONLY


def _extensions(root, counts):
    says_twice = root.find(".//axis/mimic") is not None  # drake:mimic says the same
    return {
        tag: OURS_ONLY if tag == NO_ACTUATOR else DRAKE_ONLY
        for tag in counts
        if not (says_twice and tag == "drake:mimic")
    }


_TARGET = Target(
    axis_fields={
        **{kind: ONE_AXIS | {"spring_reference", "spring_stiffness", "default_position"} for kind in LIMITED},
        "screw": DYNAMICS | {"mimic", "effort", "default_position"},
        "universal": DYNAMICS | {"default_position"},
    },
    missing_shape=lambda shape: None,
    link_gravity=True,
    deformables=True,
    rpy_floating=True,
    floating_damping=True,
    second_axes_lead=True,
    weld_constraints=True,
    points=False,
    zero_effort_is_none=True,
    namespaces=(("links", "deformables", "frames", "filter_groups", "joints"),),
    actuators_have_names=False,
    model_frame_name=None,
    arranged=arranged_for_sdf,
    document=lambda model, loops: write_sdf(model),
    own_tags=(),
    extensions=_extensions,
)


def sdf_target():
    """The `Target`."""
    return _TARGET
