"""Changes and losses of a conversion, element by element."""

from __future__ import annotations

from dataclasses import dataclass

from mbcli.parsers.spec import SourceLocation


@dataclass(frozen=True, slots=True)
class Loss:
    """An element that the written file states in another form than the one read, or not at all.

    kind: "motion": it is gone, and the model moves differently or has other coordinates; "lost": it is gone, the motion
    is the same; "changed": it has another form; "extension": only programs that know Drake's elements read it.
    """

    kind: str
    code: str
    message: str
    place: SourceLocation

    def __str__(self) -> str:
        return f"{self.place}: {self.kind}: {self.message} [{self.code}]"


class Losses:
    """The losses of a conversion, each once, in the order of their finding."""

    def __init__(self) -> None:
        self._found: dict[Loss, None] = {}

    def add(self, kind: str, code: str, message: str, place: SourceLocation) -> None:
        self._found.setdefault(Loss(kind, code, message, place))

    def all(self) -> list[Loss]:
        return list(self._found)

    def of_motion(self) -> list[Loss]:
        return [loss for loss in self._found if loss.kind == "motion"]
