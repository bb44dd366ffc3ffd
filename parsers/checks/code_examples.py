"""What a table of codes is made of: meanings, and examples that are cut from small models."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

# the text around the example of each format
FRAMES = {
    "urdf": '<robot name="r"><link name="a">{inertial}</link>{example}</robot>',
    "sdf": '<sdf version="1.9"><model name="m"><link name="a"><inertial/></link>{example}</model></sdf>',
    "mjcf": "<mujoco>{example}</mujoco>",
    "text": "{example}",
}
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


class Code(NamedTuple):
    """An example is None if it would need other files."""

    meaning: str
    example: str | None = None
    format: str = "urdf"

    def document(self) -> str:
        """The example as a whole file, for `input_format`."""
        return FRAMES[self.format].replace("{inertial}", INERTIAL).replace("{example}", self.example or "")

    @property
    def input_format(self) -> str:
        return "urdf" if self.format == "text" else self.format


def hinge(inside: str = "", *, child: str = "b", kind: str = "revolute", limit: str = 'lower="-1" upper="1"') -> str:
    return (
        f'<link name="{child}">{INERTIAL}</link><joint name="j" type="{kind}"><parent link="a"/>'
        f'<child link="{child}"/><limit {limit}/>{inside}</joint>'
    )


def massive(moments: Sequence[float], mass: str = "1", rest: str = "") -> str:
    xx, yy, zz = moments
    return (
        f'<link name="b"><inertial><mass value="{mass}"/><inertia ixx="{xx}" iyy="{yy}" izz="{zz}"/></inertial>{rest}'
        '</link><joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
    )


def _arm(side: str, y: float, *, com: float = 0.0, lower: float = -1.0, upper: float = 2.0, rest: str = "") -> str:
    """Two links of one arm; the other one mirrors it if y, com and limits do."""
    inertial = INERTIAL.replace("<mass", f'<origin xyz="0 {com} 0"/><mass')
    links = "".join(f'<link name="{side}_{part}">{inertial}</link>' for part in ("upper", "lower"))
    joints = "".join(
        f'<joint name="{side}_{name}" type="revolute"><parent link="{parent}"/><child link="{side}_{part}"/>'
        f'<origin xyz="0 {y} 0"/><limit lower="{lower}" upper="{upper}" effort="9" velocity="9"/>'
        '<axis xyz="1 0 0"/></joint>'
        for name, parent, part in (("shoulder", "a", "upper"), ("elbow", f"{side}_upper", "lower"))
    )
    old, _, new = rest.partition("|")
    return (links + joints).replace(old, new) if rest else links + joints


def arms(rest: str) -> str:
    """A left arm and one that mirrors it but for OLD|NEW."""
    return _arm("left", 0.2, com=0.1) + _arm("right", -0.2, com=-0.1, lower=-2.0, upper=1.0, rest=rest)


SPHERE = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'


def touching(shape: str, properties: str) -> str:
    return (
        f'<link name="b"><collision><geometry>{shape}</geometry><drake:proximity_properties>{properties}'
        "</drake:proximity_properties></collision></link>"
    )


BALL = '<sphere radius="0.1"/>'
RIGID = '<drake:rigid_hydroelastic/><drake:mesh_resolution_hint value="{}"/>'
COMPLIANT = '<drake:compliant_hydroelastic/><drake:hydroelastic_modulus value="{}"/>'


def elastic(properties: str = "", wall: str = "") -> str:
    return (
        '<link name="soft"><collision name="c"><geometry><box><size>1 1 1</size></box></geometry></collision>'
        f"<drake:deformable_properties>{properties}</drake:deformable_properties>{wall}</link>"
    )


MESH = '<mesh filename="package://nowhere/x.obj"/>'
FIXED = '<joint name="j" type="fixed"><parent link="a"/><child link="b"/>'
