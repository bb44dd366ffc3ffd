"""Which elements of two models are the same, where a format has other names for them than the other.

Nested models become one, with MODEL__NAME for MODEL::NAME; in SDFormat actuators have no names of their own, and a
joint must not have the name of a link.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

Entry = dict[str, Any]

MODEL_FRAME = "__model__"
ADDED = "added_by_mbcli"  # of joints of floating bodies, which take what name is left

KINDS = ("bodies", "deformable_bodies", "joints", "frames", "actuators")  # in this order: some stand between others
REFERENCES = {"parent": "bodies", "child": "bodies", "body": "bodies", "joint": "joints"}
LISTS = {"bodies": ("bodies",), "joints": ("joints",), "frames": ("frames", "bodies")}


def by_name(one: Iterable[Entry], other: Iterable[Entry], kind: str) -> list[dict[str, Entry]]:
    """{name: entry} of the elements of a kind of both models.

    Where one of them has several of a name, that of their model instance, of geometries their body, is before it in
    both, and then their order counts.
    """
    lists = list(one), list(other)
    counts = [Counter(entry["name"] for entry in entries) for entries in lists]
    scope_of = _body_of(lists) if kind == "geometries" else lambda entry: entry["model_instance"]
    found: list[dict[str, Entry]] = [{}, {}]
    for entries, names in zip(lists, found, strict=True):
        for entry in entries:
            name = entry["name"]
            if any(count[name] > 1 for count in counts):
                name = f"{scope_of(entry)}::{name}"
            while name in names:
                name += "'"
            names[name] = entry
    return found


def _body_of(lists: Iterable[Sequence[Entry]]) -> Callable[[Entry], str]:
    """The function that names the body of a geometry, with its model instance where bodies of several have the name."""
    owners: dict[str, set[str]] = {}
    shared = set()
    for entries in lists:
        owners.clear()
        for entry in entries:
            owners.setdefault(entry["body"], set()).add(entry["model_instance"])
        shared |= {body for body, instances in owners.items() if len(instances) > 1}
    return lambda g: f"{g['model_instance']}::{g['body']}" if g["body"] in shared else g["body"]


class MatchedNames:
    """The names that elements of B have in A.

    renamed: (A's name, B's name) of joints whose other name no nesting explains.
    """

    def __init__(self, one: dict[str, Any], other: dict[str, Any]) -> None:
        """one, other: documents of describe() of A and B."""
        self.renamed: list[tuple[str, str]] = []
        self._new: dict[tuple[str, str, str], tuple[str, str]] = {}  # (kind, instance, name) of B: those of A
        self._names: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
        for kind in KINDS:
            ours, theirs = by_name(one[kind], self.entries(kind, other[kind]), kind)
            rest_of_ours = [e for name, e in ours.items() if not _are_one(e, theirs.get(name))]
            rest_of_theirs = [e for name, e in theirs.items() if not _are_one(e, ours.get(name))]
            self._match(kind, rest_of_ours, rest_of_theirs, _scoped_names)
            if kind in ("joints", "actuators"):
                self._match(kind, rest_of_ours, rest_of_theirs, _OF_ENDS[kind])

    def entries(self, kind: str, entries: Iterable[Entry]) -> list[Entry]:
        """Entries of B, with A's names in place of their own and of those of others."""
        return [self._entry(kind, entry) for entry in entries]

    def name(self, kind: str, instance: str, name: str) -> tuple[str, str]:
        """(model instance, name) in A of an element of B; its own if it is the same, or of B alone."""
        return self._new.get((kind, instance, name), (instance, name))

    def _entry(self, kind: str, entry: Entry) -> Entry:
        result = dict(entry)
        if kind == "geometries":
            result["model_instance"], result["body"] = self.name("bodies", entry["model_instance"], entry["body"])
            return result
        for field, of_kind in REFERENCES.items():
            if isinstance(result.get(field), str):
                result[field] = self._names[of_kind].get(result[field], result[field])
        for field, of_kinds in LISTS.items():
            for of_kind in of_kinds if isinstance(result.get(field), list) else ():
                result[field] = [self._names[of_kind].get(name, name) for name in result[field]]
        if kind in KINDS:
            result["model_instance"], result["name"] = self.name(kind, entry["model_instance"], entry["name"])
        return result

    def _match(
        self, kind: str, ours: list[Entry], theirs: list[Entry], keys_of: Callable[[Entry], Iterable[Hashable]]
    ) -> None:
        """Pairs entries that share a key which no other entry of their model has; takes them out of the lists."""
        index = [_unique(entries, keys_of) for entries in (ours, theirs)]
        for key, entry in index[0].items():
            twin = index[1].get(key)
            if twin is None or not any(entry is e for e in ours) or not any(twin is e for e in theirs):
                continue
            ours[:] = [e for e in ours if e is not entry]
            theirs[:] = [e for e in theirs if e is not twin]
            self._new[kind, twin["model_instance"], twin["name"]] = entry["model_instance"], entry["name"]
            self._names[kind][twin["name"]] = entry["name"]
            if kind == "joints" and keys_of is not _scoped_names and not entry[ADDED]:
                self.renamed.append((entry["name"], twin["name"]))


def _are_one(a: Entry, b: Entry | None) -> bool:
    """Whether two elements of one name, the second may be None, are the same by that."""
    return b is not None and a["name"] != MODEL_FRAME and a.get(ADDED) == b.get(ADDED)


def _unique(entries: Iterable[Entry], keys_of: Callable[[Entry], Iterable[Hashable]]) -> dict[Hashable, Entry]:
    """{key: entry} of the keys that one entry has."""
    found: dict[Any, list[Entry]] = {}
    for entry in entries:
        for key in keys_of(entry):
            found.setdefault(key, []).append(entry)
    return {key: sharing[0] for key, sharing in found.items() if len(sharing) == 1}


def _scoped_names(entry: Entry) -> list[tuple[str, bool | None]]:
    """The names that an element of a nested model may have in a flat one, with and without that of the whole."""
    parts = [*entry["model_instance"].split("::"), entry["name"]]
    if parts[-1] == MODEL_FRAME:
        parts.pop()
    return [("__".join(parts[k:]), entry.get(ADDED)) for k in (0, 1) if parts[k:]]


_OF_ENDS = {
    "joints": lambda joint: [(joint["parent"], joint["child"], joint["type"])],
    "actuators": lambda actuator: [actuator["joint"]],
}
