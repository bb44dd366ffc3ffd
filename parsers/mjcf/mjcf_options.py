"""<option> of MJCF files: gravity, and which parts of the physics are switched off or overridden for the whole file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mbcli.parsers.mjcf.mjcf_softness import DEFAULTS, filled, usable_softness
from mbcli.parsers.mjcf.mjcf_values import read_keyword

if TYPE_CHECKING:
    from typing import Any

    from mbcli.parsers.xml_node import Node

# what may be switched off, and what goes with it
_SWITCHES = {
    "gravity": {"gravity"},
    "constraint": {"equality", "frictionloss", "limit", "contact"},
    "equality": {"equality"},
    "frictionloss": {"frictionloss"},
    "limit": {"limit"},
    "contact": {"contact"},
    "spring": {"spring"},
    "damper": {"damper"},
    "passive": {"spring", "damper"},  # of files for earlier releases
    "actuation": {"actuation"},
    "clampctrl": {"clampctrl"},
    "filterparent": {"filterparent"},
}
# of a contact: sliding in two directions; spinning, rolling about two axes [m]
PAIR_FRICTION = (1.0, 1.0, 0.005, 0.0001, 0.0001)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a file that say something about the motion."""

    gravity: tuple[float, float, float] | None = None  # [m/s^2]; None: not stated
    disabled: frozenset[str] = frozenset()  # parts of the physics, values of _SWITCHES
    margin: float | None = None  # [m] of every contact; None: each has its own
    friction: tuple[float, ...] | None = None  # five coefficients of every contact
    time_step: float | None = None  # [s]; None: not stated
    idle_groups: frozenset[int] = frozenset()  # of actuators without force
    softness: tuple[float, ...] | None = None  # solref (2,) and solimp (5,) of every contact
    impratio: float = -1.0  # of contact, negative of a pyramidal cone

    def has(self, part: str) -> bool:
        """Whether a part of the physics is not switched off."""
        return part not in self.disabled


def read_options(root: Node) -> Options:
    """The `Options` of a file, from all its <option> elements: the last that states something holds."""
    gravity, flags, stated, time_step, ratio, cone = None, {}, {}, None, 1.0, "pyramidal"
    idle: frozenset[int] = frozenset()
    for node in root.children("option"):
        time_step = _read_step(node, time_step)
        gravity = node.vector("gravity", 3, gravity)
        _warn_of_fluids(node)
        idle = _read_groups(node, idle)
        ratio = node.number("impratio", ratio)
        cone = read_keyword(node, "cone", ("pyramidal", "elliptic"), cone)
        for name in ("o_margin", "o_friction", "o_solref", "o_solimp"):
            if node.attribute(name) is not None:
                stated[name] = node
        for flag in node.children("flag"):
            for name in (*_SWITCHES, "override"):
                value = read_keyword(flag, name, ("enable", "disable"), None)
                if value is not None:
                    flags[name] = value == "enable", flag
    off = [name for name, (enabled, _) in flags.items() if not enabled and name in _SWITCHES]
    for name in off:
        if name in _NOT_FOLLOWED:
            _tell(flags[name][1], name, _NOT_FOLLOWED[name])
    disabled: frozenset[str] = frozenset().union(*(_SWITCHES[name] for name in off))
    if "gravity" in disabled:
        gravity = (0.0, 0.0, 0.0)
    impratio = (1.0 if cone == "elliptic" else -1.0) * (ratio if ratio > 0.0 else 1.0)
    if not flags.get("override", (False, None))[0]:
        return Options(gravity, disabled, time_step=time_step, idle_groups=idle, impratio=impratio)
    margin = stated["o_margin"].number("o_margin") if "o_margin" in stated else 0.0
    friction = _five_numbers(stated["o_friction"]) if "o_friction" in stated else PAIR_FRICTION
    kinds = zip(("o_solref", "o_solimp"), DEFAULTS, strict=True)
    softness = usable_softness(*(_all_numbers(stated, *kind) for kind in kinds))
    return Options(gravity, disabled, margin, friction, time_step, idle, softness, impratio)


def _all_numbers(stated: dict[str, Node], name: str, default: tuple[float, ...]) -> tuple[float, ...]:
    node = stated.get(name)
    return default if node is None else filled(node, name, default)


def _read_groups(node: Node, before: frozenset[int]) -> frozenset[int]:
    """`actuatorgroupdisable`: numbers from 0 to 30."""
    words = (node.attribute("actuatorgroupdisable") or "").split()
    if not words:
        return before
    numbers = {int(word) if word.isascii() and word.isdigit() else -1 for word in words}
    if min(numbers) >= 0 and max(numbers) <= 30:
        return frozenset(numbers)
    message = f'"actuatorgroupdisable" in <option> must be numbers from 0 to 30, found "{" ".join(words)[:40]}"'
    node.refuse("actuatorgroupdisable", message)
    return before


def _read_step(node: Node, before: float | None) -> float | None:
    """[s] `timestep`, the default step of a run; a value that is none leaves it as it was."""
    with node.diagnostics.leaving_out(None, "it is not used"):
        step = node.number("timestep", before)
        if step is None or 0 < step < 1:
            return step
        message = f'"timestep" in <option> must be between 0 and 1 s, found {step!r}'
        node.refuse("timestep", message)
    return before


_NOT_FOLLOWED = {
    "actuation": "an actuator without controller gives what its input says",
    "clampctrl": "a range of the control limits the effort",
}


def _five_numbers(node: Node) -> tuple[float, ...]:
    text: Any = node.attribute("o_friction")  # which it has
    count = len(text.split())
    given = node.vector("o_friction", min(max(count, 1), 5), PAIR_FRICTION[:1])
    friction = (*given, *PAIR_FRICTION[len(given) :])
    if friction[0] != friction[1]:
        _tell(node, "o_friction", "the second number acts in a <pair>: other geoms have the first in all directions")
    return friction


AIR = {"density": 1.3, "viscosity": 2e-5}  # [kg/m^3], [Pa s]: at most, on the ground and in the warm


def _warn_of_fluids(node: Node) -> None:
    """Warnings; notes of a fluid as thin as air, whose forces robots hardly feel."""
    stated = {name: node.number(name, 0.0) for name in AIR}
    air = all(value <= AIR[name] for name, value in stated.items())
    for name, value in stated.items():
        if value:
            _tell(node, name, "there are no forces of a fluid", air)
    if any(node.vector("wind", 3, (0.0, 0.0, 0.0))):
        _tell(node, "wind", "there are no forces of a fluid")


def _tell(node: Node, name: str, consequence: str, harmless: bool = False) -> None:
    report = node.diagnostics.note if harmless else node.diagnostics.warning
    report(
        "ATTRIBUTE_UNSUPPORTED",
        f'attribute "{name}" in <{node.tag}> is not followed: {consequence}',
        node,
        attribute=name,
        value=node.attribute(name),
    )
