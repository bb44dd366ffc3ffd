"""Names that make trouble: reserved ones, and characters that nobody sees."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mbcli.parsers.checks.flat_model import FlatModel
    from mbcli.parsers.checks.report import Report

_RESERVED = re.compile(r"__.*__|.*::.*", re.DOTALL)


def check_names(model: FlatModel, report: Report) -> None:
    """RESERVED_NAME, NAME_UNPRINTABLE of links and joints."""
    for kind, elements in (("link", model.links), ("joint", model.joints)):
        for element in elements.values():
            name = element.name
            if not report.is_sound(element):
                continue
            if _RESERVED.fullmatch(name):
                message = f'the {kind} name "{name}" is reserved in SDFormat: "::" separates scopes, __x__ names frames'
                report("RESERVED_NAME", message, element.place)
            if not name.isprintable() or name != name.strip():
                message = f'the {kind} name "{name}" has characters that are not seen'
                report("NAME_UNPRINTABLE", message, element.place)
