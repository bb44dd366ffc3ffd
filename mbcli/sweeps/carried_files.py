"""Where the URIs of a model's files lead, as answers that are recorded on one machine and given on another."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from mbcli.errors import ModelError, ResourceError
from mbcli.parsers.package_map import MissingFileError, PackageMap

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FLAGS = ("allow_outside", "missing_meshes", "missing_includes")
OF_XACRO = ("xacro_arguments", "xacro_arguments_are_shared")
OF_PATHS = ("package_directory", "resolve", "resolve_model", "find_nearby", "similar_file")
OTHERS = ("ambiguity", "leads_out")


class UnansweredError(Exception):
    """There are questions that were not answered yet."""


class CarriedFiles(PackageMap):
    """The answers of a PackageMap.

    Args:
        asked: whose answers are recorded; None: those of `document` are given, with files below the folder `top`,
            where each lies under its path on the first machine. What was not asked there is a ResourceError.
        document: what document() gave.

    `unanswered` has the questions that were asked and not answered, for answer() of a map that can.
    """

    def __init__(self, asked: PackageMap | None = None, document: Mapping[str, Any] | None = None) -> None:
        given = {name: getattr(asked, name) for name in (*FLAGS, *OF_XACRO)} if document is None else document
        super().__init__(**{name: given[name] for name in FLAGS})
        for name in OF_XACRO:
            setattr(self, name, given[name])
        self._asked = asked
        self._answers: dict[str, dict[str, Any]] = {} if document is None else dict(document["answers"])
        self._top: str = "" if document is None else document["top"]
        self.unanswered: dict[str, None] = {}

    def document(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        return {
            "answers": self._answers,
            "top": self._top,
            **{name: getattr(self, name) for name in (*FLAGS, *OF_XACRO)},
        }

    def paths(self) -> list[str]:
        """What the recorded answers lead to."""
        of_files = (answer for key, answer in self._answers.items() if json.loads(key)[0] != "similar_file")
        found = (answer.get("path") for answer in of_files)
        return list(dict.fromkeys(path for path in found if path is not None))

    def as_dict(self) -> dict[str, Any]:
        """What was given, for another process, where nothing of it would mean the same."""
        self.unanswered[_key("as_dict")] = None
        return super().as_dict()

    def answer(self, questions: Iterable[str]) -> bool:
        """Whether these questions are answered, from now on."""
        for key in questions:
            question, *words = json.loads(key)
            if question not in (*OF_PATHS, *OTHERS):
                return False
            found = self._answer(question, *words)
            if question == "resolve":  # what is asked next
                self._answer("ambiguity", words[0])
                if "error" in found:
                    self._answer("find_nearby", *words)
        return True

    def require_answers(self) -> None:
        """UnansweredError if questions are open."""
        if self.unanswered:
            raise UnansweredError

    def package_directory(self, name: str, base_dir: str | os.PathLike[str] | None = None) -> str:
        return self._path("package_directory", name, base_dir)

    def resolve(self, uri: str, base_dir: str | os.PathLike[str] | None = None) -> str:
        return self._path("resolve", uri, base_dir)

    def resolve_model(self, uri: str, base_dir: str | os.PathLike[str] | None = None) -> str:
        return self._path("resolve_model", uri, base_dir)

    def find_nearby(
        self,
        uri: str,
        base_dir: str | os.PathLike[str] | None = None,
        folders: dict[tuple[str, str], str | None] | None = None,
    ) -> str | None:
        if self.unanswered:  # first of all where URIs lead
            return None
        return self._path("find_nearby", uri, base_dir)

    def similar_file(self, missing: MissingFileError) -> str | None:
        return self._path("similar_file", missing.path, missing.root) if missing.path else None

    def ambiguity(self, uri: str) -> str | None:
        return self._answer("ambiguity", uri).get("value")

    def leads_out(self, path: str, base_dir: str) -> bool:
        return bool(self._answer("leads_out", path, base_dir).get("value"))

    def _path(self, question: str, uri: str, base_dir: str | os.PathLike[str] | None) -> Any:
        answer = self._answer(question, uri, base_dir)
        if "wanted" in answer:
            wanted, root = (carried_path(self._top, answer[name]) for name in ("wanted", "root"))
            raise MissingFileError(answer["error"], wanted, root, says_what_is_there=answer["says"])
        if "error" in answer:
            raise ResourceError(answer["error"])
        return None if answer["path"] is None else carried_path(self._top, answer["path"])

    def _answer(self, question: str, *words: str | os.PathLike[str] | None) -> dict[str, Any]:
        key = _key(question, *(original_path(self._top, os.fspath(word or "")) for word in words))
        if key not in self._answers:
            if self._asked is None:
                self.unanswered[key] = None
                if question in OTHERS:  # no more depends on these than what is said
                    return {"value": None}
                raise ResourceError(f'"{words[0]}" is not in the bundle of the sweep')
            self._answers[key] = self._recorded(question, words)
        return self._answers[key]

    def _recorded(self, question: str, words: tuple[Any, ...]) -> dict[str, Any]:
        asked = self._asked
        assert asked is not None
        try:
            if question == "similar_file":
                return {"path": asked.similar_file(MissingFileError("", *words))}
            value = getattr(asked, question)(*words)
        except MissingFileError as error:
            return {"error": str(error), "wanted": error.wanted, "root": error.root, "says": not error.path}
        except ResourceError as error:
            return {"error": str(error)}
        return {"value": value} if question in OTHERS else {"path": value}


def _key(question: str, *words: str) -> str:
    return json.dumps([question, *words])


def carried_path(top: str, path: str) -> str:
    """Where the file of an absolute path lies below a folder. ModelError for a path that leads out of it."""
    drive, rest = os.path.splitdrive(path)
    if not top:
        return path
    if not os.path.isabs(path) or "\0" in path or os.path.normpath(rest) != rest:
        raise ModelError(f"{path!r} in the bundle of a sweep is no path of a file")
    return os.path.join(top, drive.replace(":", "").strip("\\/"), rest.lstrip("\\/"))


def original_path(top: str, path: str) -> str:
    """The contrary of carried_path(); other paths and texts as they are."""
    return path[len(top) :] if top and path.startswith(top + os.sep) else path
