"""Actuators that act through the length of a transmission, at a site or at contacts, by a law with a control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mbcli.multibody.tree.element import NamedElement
from mbcli.parsers.spec import ActuatorLaw

if TYPE_CHECKING:
    import numpy as np

    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.rigid_body import RigidBody

LENGTHS = ("sum", "path", "site", "site in site", "crank", "contact")  # by the numbers of the engine
PARTS = ("point", "sphere", "cylinder", "pulley")  # likewise
DYNAMICS = ("none", "integrator", "filter", "filterexact", "muscle")
LAWS = ("none", "affine", "muscle", "spring")


class PathElement(NamedTuple):
    """As PathPoint of a ModelSpec, on a body of a plant."""

    kind: str
    body: RigidBody
    X_BP: np.ndarray  # (4, 4)
    size: float = 0.0
    side: tuple[RigidBody, np.ndarray] | None = None


class Transmission(NamedTuple):
    """As TransmissionSpec of a ModelSpec, with joints and bodies of a plant."""

    kind: str
    gear: tuple[float, ...]
    joints: tuple[Joint, ...] = ()
    coefficients: tuple[float, ...] = ()
    path: tuple[PathElement, ...] = ()


class TransmissionActuator(NamedElement):
    """Its control is an element of u, behind those of the actuators on joints.

    Args:
        name: unique among the actuators of its model instance.
        transmission: Transmission.
        law: ActuatorLaw.
    """

    def __init__(self, name: str, transmission: Transmission, law: ActuatorLaw) -> None:
        self._name = name
        for value, known in (
            (transmission.kind, LENGTHS),
            (law.dynamics, DYNAMICS),
            (law.gain_kind, LAWS[1:3]),
            (law.bias_kind, LAWS),
        ):
            if value not in known:
                raise RuntimeError(f"actuator '{name}': '{value}' is none of {', '.join(known)}")
        for joint in transmission.joints:
            if joint.num_velocities() != 1 and not transmission.path:
                raise RuntimeError(
                    f"actuator '{name}': joint '{joint.name()}' has {joint.num_velocities()} degrees of freedom, "
                    "not one"
                )
        if len(transmission.gear) != 6:
            raise RuntimeError(f"actuator '{name}': the gear has {len(transmission.gear)} numbers, not 6")
        self._transmission, self._law = transmission, law
        self.rest_positions: list[tuple[Joint, float]] = []  # of a spring without a length at rest: where that is
        self.lacks_lengths = law.lengths is None  # its law has none before Finalize(), which finds them
        self.first_input: int | None = None  # after Finalize()
        self.first_activation: int | None = None  # likewise, of one that has an activation

    def transmission(self) -> Transmission:
        """What it acts through."""
        return self._transmission

    def law(self) -> ActuatorLaw:
        """How its force follows from control, activation, length and rate."""
        return self._law

    def replace_law(self, law: ActuatorLaw) -> None:
        """Another law, for a plant that makes its arrays anew."""
        self._law = law

    def has_activation(self) -> bool:
        """Whether its force is that of a state, which the control moves."""
        return self._law.dynamics != "none"

    def effort_unit(self) -> str:
        """Of its force: "N", "N m", or "1" at sites, where the gear has the unit."""
        kind, joints = self._transmission.kind, self._transmission.joints
        if kind in ("path", "crank", "contact"):
            return "N"
        return ("N m" if joints[0].is_angular() else "N") if kind == "sum" else "1"

    def input_start(self) -> int:
        """Index in u of the plant. RuntimeError before Finalize()."""
        if self.first_input is None:
            raise RuntimeError(f"actuator '{self._name}' has an input after Finalize() of its plant")
        return self.first_input

    def tied_elements(self) -> list[Any]:
        """The joints and bodies that it needs."""
        sides = [part.side[0] for part in self._transmission.path if part.side is not None]
        return [*self._transmission.joints, *(part.body for part in self._transmission.path), *sides]
