"""Plugin: what a model file lets act on joints and bodies in a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.common.fast_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.rigid_body import RigidBody
    from mbcli.parsers.spec import SourceLocation


@dataclass(frozen=True)
class Plugin:
    """A plugin of a plant.

    Attributes:
        kind: a name of mbcli.plugins.PLUGINS.
        model: name of the model that it is in.
        joints, links: those that it names, by their role.
        settings: of its kind.
        place: in the file.
    """

    kind: str
    model: str
    joints: Mapping[str, tuple[Joint, ...]]
    links: Mapping[str, tuple[RigidBody, ...]]
    settings: dict[str, Any]
    place: SourceLocation
