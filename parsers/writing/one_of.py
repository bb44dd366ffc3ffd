"""Records of which exactly one field is given: its name is the kind of the thing, its value the thing."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, ClassVar


class OneOf:
    """Base of such records, which are dataclasses; `noun` is their name in messages."""

    __dataclass_fields__: ClassVar[dict[str, Any]]
    exactly_one_key: ClassVar[bool] = True
    noun: ClassVar[str]

    def __post_init__(self) -> None:
        names = [f.name for f in fields(self)]
        given = [name for name in names if getattr(self, name) is not None]
        if len(given) != 1:
            found = f"it has {' and '.join(given)}" if given else "it has none"
            raise ValueError(f"{self.noun} is exactly one of {', '.join(names)}; {found}")

    @property
    def kind(self) -> str:
        """The name of the field that is given."""
        return next(f.name for f in fields(self) if getattr(self, f.name) is not None)

    @property
    def record(self) -> Any:
        """The record of the field that is given."""
        return getattr(self, self.kind)
