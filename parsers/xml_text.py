"""The text of an XML file whose declaration states its encoding or version in a way that XML readers refuse.

Robot files are written by programs and by hand, and many readers of them do not look at the declaration at all.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# so long is a declaration at most: else text that begins one again and again takes quadratic time
_PROLOG = re.compile(r"(?:\s+|<!--.*?-->|<\?xml\s[^>]{0,500}>)*+", re.DOTALL)
_DECLARATION = re.compile(r"<!--.*?(?:-->|\Z)|(<\?xml\s[^>]{0,500}>)", re.DOTALL)
_SOUND = re.compile(r"""<\?xml\s+version\s*=\s*["']1\.\d["'](?:\s+\w+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*\?>""")
_ENCODING = re.compile(r"\bencoding\s*=\s*[\"']?([A-Za-z0-9._-]{1,40})")
# They run escapes or take quadratic time: no encodings of files.
_REFUSED = frozenset({"unicode-escape", "raw-unicode-escape", "idna", "punycode", "undefined", "utf-7"})
PROLOG_BYTES = 65536  # in which the encoding is looked for
MALFORMED = "the XML declaration is malformed"


def mended(content: bytes) -> tuple[str | None, Sequence[tuple[str, str, int]]]:
    """(text, findings) of the bytes of a file: its text, blanks in the place of XML declarations.

    findings: (severity, message, offset in the text) of what was read as meant; without any there is nothing to mend,
    and the text is None.
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return None, ()
    stated = _stated_encoding(content[:PROLOG_BYTES].decode("latin-1"))
    text, finding = _decoded(content, stated)
    declarations = list(_declarations(text))
    findings = [] if finding is None else [(*finding, declarations[0].start(1) if declarations else 0)]
    malformed = [d.start(1) for n, d in enumerate(declarations) if not _is_sound(d, n)]
    if malformed:
        findings.append(("note", MALFORMED, malformed[0]))
    return (_blanked(text, declarations), findings) if findings else (None, ())


def without_declarations(text: str) -> str:
    """The text with blanks in the place of XML declarations, which may state another encoding than it gets."""
    return _blanked(text, list(_declarations(text)))


def _blanked(text: str, declarations: Iterable[re.Match[str]]) -> str:
    parts, done = [], 0
    for start, end in (declaration.span(1) for declaration in declarations):
        parts += [text[done:start], re.sub(r"\S", " ", text[start:end])]
        done = end
    return "".join([*parts, text[done:]])


def _declarations(text: str) -> Iterator[re.Match[str]]:
    """Those before the root element."""
    prolog = _PROLOG.match(text)
    return (match for match in _DECLARATION.finditer(prolog.group() if prolog else "") if match[1])


def _is_sound(declaration: re.Match[str], number: int) -> bool:
    """Whether a declaration is one, and at the start of the file."""
    return number == 0 and declaration.start(1) == 0 and _SOUND.fullmatch(declaration[1]) is not None


def _stated_encoding(head: str) -> str | None:
    """The encoding that the first declaration states, or None."""
    for declaration in _declarations(head.removeprefix("\xef\xbb\xbf")):
        stated = _ENCODING.search(declaration[1])
        if stated:
            return stated[1]
    return None


def _decoded(content: bytes, stated: str | None) -> tuple[str, tuple[str, str] | None]:
    """(text, None or (severity, message)) of the bytes of a file and the encoding that it states."""
    codec = _codec(stated or "utf-8")
    text = _try(content, codec)
    if codec is not None and text is not None and (stated is None or stated in text[:PROLOG_BYTES]):
        usual = stated is None or stated.lower() in ("utf-8", "utf8")
        name = codec.removesuffix("-sig")
        return text, None if usual else ("note", f'XML has no encoding "{stated}": it is read as {name}')
    text, used = _try(content, "utf-8-sig"), "UTF-8"
    if text is None:
        text, used = content.decode("latin-1"), "Latin-1"
    if codec is None:
        severity = "note" if used == "UTF-8" else "warning"
        return text, (severity, f'the encoding "{stated}" is unknown: the file is read as {used}')
    severity = "note" if used == "UTF-8" else "warning"
    return text, (severity, f"the file is not in {(stated or 'utf-8').upper()}: it is read as {used}")


def _codec(name: str) -> str | None:
    """Python's name of the encoding of a text; None without one."""
    try:
        codec = codecs.lookup(name).name
        b"<".decode(codec, "replace")  # only encodings of texts do that
    except (LookupError, UnicodeError):
        return None
    if codec.replace("_", "-") in _REFUSED:
        return None
    return "utf-8-sig" if codec == "utf-8" else codec


def _try(content: bytes, codec: str | None) -> str | None:
    try:
        return content.decode(codec) if codec is not None else None
    except UnicodeError:
        return None
