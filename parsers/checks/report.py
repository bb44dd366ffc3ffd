"""Reports of checks: a code, the finding and its place; severities stand in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.spec import SourceLocation

    class Placed(Protocol):
        @property
        def place(self) -> SourceLocation: ...


MAX_RELATED = 10  # places listed with a finding that stands for several


class Severity(NamedTuple):
    """In `mbcli check`, and if a model is only loaded for use (None: not reported there)."""

    checked: str
    loaded: str | None = None


SEVERITIES = {
    "LINK_MASS_INVALID": Severity("error", "error"),
    "LINK_INERTIA_INVALID": Severity("error", "warning"),
    "INERTIA_WITHOUT_MASS": Severity("warning", "warning"),
    "MASSLESS_LINK_FIXED": Severity("note"),
    "LINK_WEIGHTLESS": Severity("note", "note"),
    "MODEL_WITHOUT_MASS": Severity("note", "note"),
    "MOVING_MASS_MISSING": Severity("warning", "note"),
    "FLOATING_MASS_MISSING": Severity("warning"),
    "INERTIA_IMPLAUSIBLE": Severity("warning", "warning"),
    "INERTIA_PLACEHOLDER": Severity("note"),
    "INERTIA_DEFAULT": Severity("warning"),
    "INERTIA_ALL_DEFAULT": Severity("note"),
    "INERTIA_ZERO": Severity("note"),
    "UNITS_IMPLAUSIBLE": Severity("warning"),
    "COM_OUTSIDE_GEOMETRY": Severity("warning"),
    "DENSITY_IMPLAUSIBLE": Severity("warning"),
    "INERTIA_ABOUT_ORIGIN": Severity("warning"),
    "INERTIA_AXES_SWAPPED": Severity("warning"),
    "INERTIAL_MISSING": Severity("warning"),
    "COLLISION_APART": Severity("warning"),
    "JOINT_ORIGIN_FAR": Severity("warning"),
    "JOINT_LIMIT_TRAVEL": Severity("warning"),
    "TWIN_ORIGIN": Severity("warning"),
    "TWIN_AXIS": Severity("warning"),
    "TWIN_PARENT": Severity("warning"),
    "TWIN_EFFORT": Severity("warning"),
    "TWIN_LIMITS": Severity("warning"),
    "TWIN_MASS": Severity("warning"),
    "TWIN_CENTER_OF_MASS": Severity("warning"),
    "TWIN_INERTIA": Severity("warning"),
    "JOINT_LIMIT_UNIT": Severity("warning", "warning"),
    "JOINT_LIMIT_LONG": Severity("warning"),
    "JOINT_RANGE_ZERO": Severity("warning"),
    "JOINT_DEFAULT_OUTSIDE_LIMITS": Severity("note"),
    "JOINT_LIMIT_ZERO": Severity("note"),
    "JOINT_LIMIT_IMPLAUSIBLE": Severity("note"),
    "MIMIC_EXCEEDS_LIMITS": Severity("note"),
    "MIMIC_OUTSIDE_LIMITS": Severity("warning"),
    "JOINT_COUPLED": Severity("note"),
    "MESH_UNREADABLE": Severity("warning"),
    "MESH_SIZE": Severity("warning"),
    "MESH_UNIT": Severity("note"),
    "MESH_UP_AXIS": Severity("note"),
    "HYDROELASTIC_MODULUS": Severity("warning"),
    "HYDROELASTIC_HINT": Severity("warning"),
    "HYDROELASTIC_MARGIN": Severity("warning"),
    "HYDROELASTIC_SLAB": Severity("warning"),
    "HYDROELASTIC_MESH": Severity("warning"),
    "HYDROELASTIC_RIGID_ONLY": Severity("note"),
    "LOOP_CUT": Severity("note", "note"),
    "RESERVED_NAME": Severity("note"),
    "NAME_UNPRINTABLE": Severity("warning"),
}


class Report:
    """Records the findings of checks in a `Diagnostics`."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        self._diagnostics = diagnostics
        self.thorough = diagnostics.thorough

    def __call__(
        self,
        code: str,
        message: str,
        place: SourceLocation,
        *details: str,
        hint: str | None = None,
        related: Sequence[SourceLocation] = (),
    ) -> None:
        """details: tags of children of the element at `place`, the first that it has is the place of the fault."""
        severity = SEVERITIES[code].checked if self.thorough else SEVERITIES[code].loaded
        if severity is None:
            return
        node = self._diagnostics.node_at(place, *details)
        record = getattr(self._diagnostics, severity)
        record(code, message, node, place=None if node else place, hint=hint, related=related)

    def is_sound(self, element: Placed) -> bool:
        """Whether an element was read without an error."""
        return not self._diagnostics.is_damaged(element.place)
