"""A text of XML whose numbers change and nothing else: comments, order, blanks and line ends stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from mbcli.errors import ModelError

_TOKEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)|<!DOCTYPE[^>]*+>?"
    r"|</\s*+(?P<end>[^\s<>]++)\s*+>"
    r"|<(?P<start>[A-Za-z_][^\s/<>]*+)(?P<attributes>(?:[^\"'<>]|\"[^\"]*\"|'[^']*')*?)(?P<closed>/?)>",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"(?<![^\s=\"'/>])([^\s=\"'/>]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)')")


@dataclass
class Tag:
    """An element of the text.

    Attributes:
        name: with its prefix. start: where its start tag begins, inside: where that ends, content_end and end: where
            its end tag begins and ends. attributes: {name: (value, start, end)} of values.
    """

    name: str
    start: int
    inside: int
    closed: bool
    attributes: dict[str, tuple[str, int, int]]
    children: list[Tag] = field(default_factory=list)
    content_end: int = 0
    end: int = 0

    def child(self, *path: str) -> Tag | None:
        """The first element on a path of names below it."""
        found: Tag | None = self
        for name in path:
            found = next((c for c in found.children if c.name == name), None) if found is not None else None
        return found

    def below(self) -> Iterator[Tag]:
        """It and all elements below it."""
        yield self
        for child in self.children:
            yield from child.below()


class XmlText:
    """A text and changes of it, which are made together.

    Args:
        name: of the file, in messages. text: of it.
    """

    def __init__(self, name: str, text: str) -> None:
        self._name, self._text = name, text
        self._edits: list[tuple[int, int, str]] = []
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def element_at(self, line: int, column: int) -> Tag:
        """The element whose start tag is there. ModelError if none is."""
        start = self._line_starts[line - 1] + column - 1 if 0 < line <= len(self._line_starts) else -1
        found = self._element_from(start)
        if found is None:
            raise ModelError(f"{self._name}:{line}: error: the element there cannot be told apart in the text")
        return found

    def root(self) -> Tag:
        """The element that all others are in. ModelError if the text cannot be taken apart."""
        first = next((token for token in _TOKEN.finditer(self._text) if token["start"]), None)
        found = None if first is None else self._element_from(first.start())
        if found is None:
            raise ModelError(f"{self._name}: error: the elements cannot be told apart in the text")
        return found

    def _element_from(self, start: int) -> Tag | None:
        """The element whose start tag begins there."""
        waiting: list[Tag] = []
        for token in _TOKEN.finditer(self._text, max(start, 0)):
            if not waiting and token.start() != start:
                break
            if token["start"]:
                offset = token.start("attributes")
                attributes = {
                    m[1]: (
                        m[2] if m[2] is not None else m[3],
                        offset + m.start(2 if m[2] is not None else 3),
                        offset + m.end(2 if m[2] is not None else 3),
                    )
                    for m in _ATTRIBUTE.finditer(token["attributes"])
                }
                tag = Tag(token["start"], token.start(), token.end(), bool(token["closed"]), attributes)
                if waiting:
                    waiting[-1].children.append(tag)
                waiting.append(tag)
                if not tag.closed:
                    continue
                tag.content_end = tag.end = token.end()
            elif token["end"]:
                if not waiting or waiting[-1].name != token["end"]:
                    break
                waiting[-1].content_end, waiting[-1].end = token.start(), token.end()
            else:
                continue
            tag = waiting.pop()
            if not waiting:
                return tag
        return None

    def text_of(self, tag: Tag) -> str:
        return "" if tag.closed else self._text[tag.inside : tag.content_end]

    def set_attribute(self, tag: Tag, name: str, value: str) -> None:
        """Changes an attribute, or adds it at the end of the start tag."""
        if name in tag.attributes:
            _, start, end = tag.attributes[name]
            self._edits.append((start, end, value))
            return
        at = tag.inside - (2 if tag.closed else 1)
        blank = "" if self._text[at - 1].isspace() else " "
        self._edits.append((at, at, f'{blank}{name}="{value}"' + (" " if blank == "" and tag.closed else "")))

    def rename_attribute(self, tag: Tag, name: str, new: str, value: str) -> None:
        """Puts another attribute in the place of one."""
        _, start, end = tag.attributes[name]
        at = self._text.rindex(name, tag.start, start)
        self._edits.append((at, end, f"{new}={self._text[start - 1]}{value}"))

    def remove_attribute(self, tag: Tag, name: str) -> None:
        _, start, end = tag.attributes[name]
        at = self._text.rindex(name, tag.start, start)
        while self._text[at - 1].isspace():
            at -= 1
        self._edits.append((at, end + 1, ""))

    def set_text(self, tag: Tag, value: str) -> None:
        """Changes the text in an element without children, but not the blanks around it."""
        old = self.text_of(tag)
        if tag.closed:
            self._edits.append((tag.start, tag.end, f"<{tag.name}>{value}</{tag.name}>"))
            return
        start = tag.inside + len(old) - len(old.lstrip())
        end = tag.content_end - (len(old) - len(old.rstrip())) if old.strip() else tag.content_end
        self._edits.append((min(start, end), end, value))

    def add_child(self, tag: Tag, text: str, *, first: bool = False) -> None:
        """Adds an element as the last (or first) child, indented as its siblings are."""
        if tag.closed:
            at = tag.inside - 2
            while self._text[at - 1].isspace():
                at -= 1
            self._edits.append((at, tag.end, f">{text}</{tag.name}>"))
            return
        if not tag.children:
            self._edits.append((tag.inside, tag.inside, text))
            return
        neighbour = tag.children[0] if first else tag.children[-1]
        line = self._text.rfind("\n", 0, neighbour.start) + 1
        indent = self._text[line : neighbour.start]
        if indent.strip():
            at = neighbour.start if first else neighbour.end
            self._edits.append((at, at, text))
            return
        ending = "\r\n" if self._text[max(0, line - 2) : line] == "\r\n" else "\n"
        if first:
            self._edits.append((neighbour.start, neighbour.start, text + ending + indent))
        else:
            self._edits.append((neighbour.end, neighbour.end, ending + indent + text))

    def result(self) -> str:
        """The text with its changes."""
        return edited(self._text, self._edits)


def edited(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """The text in which what stands from start to end is new: (start, end, new)."""
    for start, end, new in sorted(edits, key=lambda edit: edit[0], reverse=True):
        text = text[:start] + new + text[end:]
    return text


def numbers(text: str) -> list[float] | None:
    """The numbers in a text, None if there is anything else."""
    try:
        return [float(word) for word in text.split()]
    except ValueError:
        return None


def written(values: Any) -> str:
    """Numbers as a file has them: twelve digits, no minus zero."""
    return " ".join(f"{float(value) + 0.0:.12g}" for value in values)
