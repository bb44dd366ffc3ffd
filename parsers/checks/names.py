"""Names that make trouble: reserved ones, and characters that nobody sees."""

import re

_RESERVED = re.compile(r"__.*__|.*::.*", re.DOTALL)


def check_names(model, report):
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
