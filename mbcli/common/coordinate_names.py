"""Coordinates and actuators by name, as options, columns and keys give them.

The whole name, `model_joint_q`, always does. A part of it after some `_`, with or without the part after the last one,
does if only one name has it: `joint_q`, `joint`; what is called `elbow_joint` is `elbow` too, where nothing else is,
and `elbow_joint_w` is `elbow_w`. Among positions and velocities `joint` is the position. A name that can mean several
coordinates means none.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from mbcli.common.suggestions import closest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_LISTED = 6  # names in a message
KINDS = ("_joint", "_link", "_motor")  # what files of robots put behind the names of their elements


class AmbiguousNameError(LookupError):
    """A name can mean several coordinates."""


class NamedCoordinates:
    """Names of one quantity, by which its components are found.

    Args:
        names: one a component.
        what: the quantity in messages: "position", "velocity", "actuator".
    """

    def __init__(self, names: Iterable[str], what: str) -> None:
        self.names, self.what = list(names), what

    def find(self, name: str) -> int:
        """Index of the component that a name means. LookupError if it means none, or several."""
        found = self.whole(name) or self.endings(name)
        if len(found) == 1:
            return found[0]
        if found:
            raise AmbiguousNameError(f"{self.what} '{name}' can mean {listed([self.names[k] for k in found])}")
        raise LookupError(f"there is no {self.what} named '{name}'{self.hint(name)}")

    def whole(self, name: str) -> list[int]:
        """Indices of the components of that very name."""
        return self._whole.get(_flat(name), [])

    def endings(self, name: str) -> list[int]:
        """Indices of the components whose name ends so, with or without its last part.

        A name without its last part comes before all that only end in it: `arm_x` means the joint, not `big_arm_x_q`.
        """
        name = _flat(name)
        return self._stems.get(name) or self._endings.get(name) or self._shortened.get(name, [])

    def endings_in_full(self, name: str) -> list[int]:
        """Indices of the components whose name ends so, last part included."""
        ending = f"_{_flat(name)}"
        return [k for k in self.endings(name) if self.names[k].endswith(ending)]

    def likely(self, name: str) -> str | None:
        """The name, or end of only one, that a wrong name probably stands for; None if none is close."""
        ends = (end for end, found in self._endings.items() if len(found) == 1)
        return closest(_flat(name), list(dict.fromkeys([*self.names, *ends])))

    def hint(self, name: str) -> str:
        """The end of a message on a wrong name: what it probably stands for, or what there is."""
        likely = self.likely(name)
        return f"; did you mean '{likely}'?" if likely else f"; there are {listed(self.names) or 'none'}"

    def says_its_last_part(self, name: str) -> bool:
        """Whether a name ends as one of these: `_w` means a velocity."""
        return _flat(name).rpartition("_")[2] in self._last_parts

    @cached_property
    def _whole(self) -> dict[str, list[int]]:
        return _indices(zip(self.names, range(len(self.names)), strict=True))

    @cached_property
    def _stems(self) -> dict[str, list[int]]:
        return _indices((stem, k) for k, name in enumerate(self.names) if (stem := name.rpartition("_")[0]))

    @cached_property
    def _endings(self) -> dict[str, list[int]]:
        return _indices(
            (ending, k)
            for k, name in enumerate(self.names)
            for ending in dict.fromkeys([*_ends(name), *_ends(name.rpartition("_")[0])])
        )

    @cached_property
    def _shortened(self) -> dict[str, list[int]]:
        """As _endings, of names without what KINDS has, which files of robots put behind the name of each joint."""
        pairs = []
        for k, name in enumerate(self.names):
            stem, _, last = name.rpartition("_")
            bare = _bare(stem, KINDS)
            pairs += [(ending, k) for short in (bare, f"{bare}_{last}") for ending in (short, *_ends(short))]
        return _indices(dict.fromkeys(pairs))

    @cached_property
    def _last_parts(self) -> set[str]:
        return {name.rpartition("_")[2] for name in self.names}


class StateNames:
    """Finds the position or the velocity that a name means."""

    def __init__(self, position_names: Iterable[str], velocity_names: Iterable[str]) -> None:
        self.q = NamedCoordinates(position_names, "position")
        self.v = NamedCoordinates(velocity_names, "velocity")

    def find(self, name: str) -> tuple[str, int]:
        """("q" or "v", index). LookupError if a name means no coordinate, or several."""
        found = self.candidates(name)
        if len(found) == 1:
            return found[0]
        if not found:
            return "", self.meant(name).find(name)  # raises
        if all(field == "q" for field, _ in found):
            return "q", self.q.find(name)  # raises
        names = [f"{self.quantity(field).what} {self.quantity(field).names[k]}" for field, k in found]
        raise AmbiguousNameError(f"'{name}' can mean {listed(names)}")

    def candidates(self, name: str) -> list[tuple[str, int]]:
        """[("q" or "v", index)] of all coordinates that a name can mean.

        If a joint is called as velocities end, `w`, both its position and these velocities are meant.
        """
        found = [("q", k) for k in self.q.whole(name)] + [("v", k) for k in self.v.whole(name)]
        if found:
            return found
        positions = self.q.endings(name)
        velocities = self.v.endings_in_full(name) if positions else self.v.endings(name)
        return [("q", k) for k in positions] + [("v", k) for k in velocities]

    def quantity(self, field: str) -> NamedCoordinates:
        """The NamedCoordinates of "q" or "v"."""
        return self.q if field == "q" else self.v

    def meant(self, name: str) -> NamedCoordinates:
        """The quantity that an unknown name was meant to be of: velocities if it ends as only they do."""
        return self.v if self.v.says_its_last_part(name) and not self.q.says_its_last_part(name) else self.q


def named_by_ending(name: str, names: Iterable[str], what: str) -> str | None:
    """The one of some names that a name means: itself, else the one that ends in it after `_` or `::`; None if none.

    What is called `elbow_joint`, `forearm_link` or `elbow_motor` is `elbow` or `forearm` where nothing else is.
    AmbiguousNameError, which lists them, if several end so.
    """
    wanted, known = name.strip(), list(dict.fromkeys(names))
    of_models = [each for each in known if each.endswith(f"::{wanted}")]
    found = [wanted] if wanted in known else of_models or _ending(wanted, known) or _ending(wanted, known, KINDS)
    if len(found) > 1:
        raise AmbiguousNameError(f"{what} '{name}' can mean {listed(found)}")
    return found[0] if found else None


def element_named(name: str, elements: Iterable[Any], what: str) -> Any:
    """The body, frame or joint that a name means by named_by_ending(). LookupError, with the likely one, if none."""
    known = {element.scoped_name().get_full(): element for element in elements}
    found = named_by_ending(name, known, what)
    if found is None:
        raise LookupError(f"there is no {what} named '{name}'; {there_are(name, known)}")
    return known[found]


def there_are(name: str, names: Iterable[str]) -> str:
    """Of a name that means no element: the one that it probably stands for, or the first of all."""
    known = list(dict.fromkeys(names))
    plain = dict.fromkeys(each.rpartition("::")[2] for each in known)
    likely = closest(name, list(plain)) or closest(name, known)
    return f"did you mean '{likely}'?" if likely else f"there are {listed(list(plain)) or 'none'}"


def listed(names: Sequence[str]) -> str:
    """Names in a message: all, or the first few of many."""
    return ", ".join(names[:MOST_LISTED]) + (f", ... ({len(names)} in all)" if len(names) > MOST_LISTED else "")


def _ending(name: str, names: Iterable[str], without: tuple[str, ...] = ()) -> list[str]:
    """The names that are `name` or end in it; without: endings that are left out of them first."""
    ending = f"_{_flat(name)}"
    return [each for each in names if _bare(f"_{_flat(each)}", without).endswith(ending)]


def _bare(name: str, without: tuple[str, ...]) -> str:
    return next((name.removesuffix(end) for end in without if name.endswith(end)), name)


def _flat(name: str) -> str:
    return name.strip().replace("::", "_")


def _ends(name: str) -> list[str]:
    """The part after each `_`."""
    parts = name.split("_")
    return ["_".join(parts[k:]) for k in range(1, len(parts))]


def _indices(pairs: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    result: dict[str, list[int]] = {}
    for key, k in pairs:
        result.setdefault(key, []).append(k)
    return result
