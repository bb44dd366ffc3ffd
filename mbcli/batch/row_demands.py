"""What rows of states have to give, what they may not, and in which units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import listed
from mbcli.common.fast_dataclass import dataclass
from mbcli.common.text_tables import DEGREE, scale_to, shown
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from mbcli.common.text_tables import Unit
    from mbcli.math.array_types import Array

WORDS = {"q": "position", "v": "velocity", "vdot": "acceleration", "tau": "force", "u": "actuation"}
PLURALS = {"q": "positions", "v": "velocities", "vdot": "accelerations", "tau": "forces", "u": "actuations"}
ANGULAR = {"rad", "rad/s", "rad/s^2"}


def _ignore(line: str) -> None:
    """Nobody asked."""


@dataclass(frozen=True)
class RowDemands:
    """What a command wants of the rows of states that it reads.

    Args:
        needed: {field: (n,) bool}: components that every row has to give.
        or_none: fields of which rows may also give nothing at all.
        fixed: {field: (n,) bool}: components that options give, so that rows may not.
        units: {field: (n,) units} as text_tables.py counts; a column in another quantity is an error.
        degrees: whether angles without a unit of their own are in degrees.
        tell: takes a line on columns that are not used.
    """

    needed: Mapping[str, Array] | None = None
    or_none: Collection[str] = ()
    fixed: Mapping[str, Array] | None = None
    units: Mapping[str, Sequence[str]] | None = None
    degrees: bool = False
    tell: Callable[[str], None] = _ignore

    def check(
        self,
        given: Mapping[str, Collection[int]],
        where: str,
        names: Mapping[str, Sequence[str]],
        unknown: Sequence[str] = (),
    ) -> None:
        """ModelError if components are missing that are needed, or there that are fixed; tells what is unknown.

        Args:
            given: {field: components that rows give}.
            where: FILE:LINE.
            names: {field: names of its components}.
            unknown: columns that mean nothing, as messages have them.
        """
        for field, fixed in (self.fixed or {}).items():
            twice = [k for k in given.get(field, ()) if fixed[k]]
            if twice:
                raise ModelError(
                    f"{where}: error: the {WORDS[field]} {shown(names[field][twice[0]])} is given by the rows and by "
                    f"{argument('at')}"
                )
        for field, needed in (self.needed or {}).items():
            missing = np.array(needed, dtype=bool)
            missing[list(given.get(field, ()))] = False
            if missing.any() and not (field in self.or_none and not given.get(field)):
                raise ModelError(f"{where}: error: {self._lack(field, missing, names[field])}{_meant(unknown)}")
        if unknown:
            self.tell(f"{where}: columns that are not used: {listed(unknown)}")

    def _lack(self, field: str, missing: Array, names: Sequence[str]) -> str:
        lacking = [names[k] for k in np.flatnonzero(missing).tolist()]
        what = f"no {PLURALS[field]}" if len(lacking) == len(names) else f"no {WORDS[field]} of {listed(lacking)}"
        return (
            f"the rows give {what}: add columns, state them by {argument('at')}, or take those of the model by "
            f"{argument('fill', 'default')}"
        )

    def scale(self, target: tuple[str, int], unit: Unit | None, column: str) -> float:
        """What a column of a field's component is multiplied by; ModelError if its unit is of another quantity.

        column: "FILE:LINE: error: column NAME".
        """
        field, component = target
        base = "s" if field == "time" else None
        if base is None and self.units is not None and field in self.units:
            base = self.units[field][component]
        if unit is None and self.degrees and base in ANGULAR:
            return DEGREE
        return scale_to(base, unit, column)


def _meant(unknown: Sequence[str]) -> str:
    return f"; not known: {listed(unknown)}" if unknown else ""
