"""The text of an XML file whose tags have faults that common readers of robot files, as TinyXML, pass over: attributes
without a blank between them, and closing tags after the end of the root."""

from __future__ import annotations

import re

ENDS = {"<!--": "-->", "<![CDATA[": "]]>", "<?": "?>"}  # of parts of a text without tags
NO_BLANK = "there is no blank between two attributes"
CLOSED_TWICE = "a closing tag after the end of the root element"

_TAG = re.compile(r"""<(?P<close>/?)[^\s/>"'<!?]++(?:[^"'<>]|"[^"]*"|'[^']*')*+>""")
_VALUE = re.compile(r"""=\s*(?:"[^"]*"|'[^']*')""")


def with_mended_tags(text: str) -> tuple[str | None, list[tuple[str, int]]]:
    """(text, [(message, offset)]) of a text: the mended one and what was read as meant; (None, []) if nothing was."""
    parts, findings, done, depth, at = [], [], 0, 0, text.find("<")
    closed = False  # whether the root was
    while at >= 0:
        ending = next((end for mark, end in ENDS.items() if text.startswith(mark, at)), None)
        if ending is not None:
            end = text.find(ending, at)
            if end < 0:
                return None, []
            at = text.find("<", end + len(ending))
            continue
        tag = _TAG.match(text, at)
        if tag is None or (closed and not tag["close"]):
            return None, []  # another fault, which the parser names
        if closed:
            findings.append((CLOSED_TWICE, at))
            parts += [text[done:at], re.sub(r"\S", " ", tag[0])]
            done = tag.end()
        elif not tag["close"]:
            for offset in _crowded(tag):
                findings.append((NO_BLANK, offset))
                parts += [text[done:offset], " "]
                done = offset
            depth += not tag[0].endswith("/>")
        else:
            depth -= 1
        closed = depth <= 0
        at = text.find("<", tag.end())
    return ("".join([*parts, text[done:]]), findings) if findings else (None, [])


def _crowded(tag: re.Match[str]) -> list[int]:
    """The offsets at which attributes begin that follow the value of another at once."""
    values = (match.end() for match in _VALUE.finditer(tag.string, tag.start(), tag.end()))
    return [end for end in values if tag.string[end] not in "/>" and not tag.string[end].isspace()]
