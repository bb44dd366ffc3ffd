"""Where the URIs of a model's files lead, as answers that are recorded on one machine and given on another."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from mbcli.errors import ModelError, ResourceError
from mbcli.parsers.package_map import PackageMap

if TYPE_CHECKING:
    from collections.abc import Mapping

FLAGS = ("allow_outside", "missing_meshes", "missing_includes", "xacro_arguments")


class CarriedFiles(PackageMap):
    """The answers of a PackageMap.

    Args:
        asked: whose answers are recorded; None: those of `document` are given, with files below the folder `top`,
            where each lies under its path on the first machine. What was not asked there is a ResourceError.
        document: what document() gave.
    """

    def __init__(self, asked: PackageMap | None = None, document: Mapping[str, Any] | None = None) -> None:
        given = {name: getattr(asked, name) for name in FLAGS} if document is None else document
        super().__init__(**{name: given[name] for name in FLAGS[:-1]})
        self.xacro_arguments = given["xacro_arguments"]
        self._asked = asked
        self._answers: dict[str, dict[str, Any]] = {} if document is None else dict(document["answers"])
        self._top: str = "" if document is None else document["top"]

    def document(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        return {"answers": self._answers, "top": self._top, **{name: getattr(self, name) for name in FLAGS}}

    def paths(self) -> list[str]:
        """What the recorded answers lead to."""
        found = (answer.get("path") for answer in self._answers.values())
        return list(dict.fromkeys(path for path in found if path is not None))

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
        return self._path("find_nearby", uri, base_dir)

    def ambiguity(self, uri: str) -> str | None:
        return self._answer("ambiguity", uri).get("value")

    def leads_out(self, path: str, base_dir: str) -> bool:
        return bool(self._answer("leads_out", path, base_dir).get("value"))

    def _path(self, question: str, uri: str, base_dir: str | os.PathLike[str] | None) -> Any:
        answer = self._answer(question, uri, base_dir)
        if "error" in answer:
            raise ResourceError(answer["error"])
        return None if answer["path"] is None else carried_path(self._top, answer["path"])

    def _answer(self, question: str, *words: str | os.PathLike[str] | None) -> dict[str, Any]:
        key = json.dumps([question, *(original_path(self._top, os.fspath(word or "")) for word in words)])
        if key not in self._answers:
            if self._asked is None:
                raise ResourceError(f'"{words[0]}" is not in the bundle of the sweep')
            self._answers[key] = self._recorded(question, words)
        return self._answers[key]

    def _recorded(self, question: str, words: tuple[Any, ...]) -> dict[str, Any]:
        try:
            value = getattr(self._asked, question)(*words)
        except ResourceError as error:
            return {"error": str(error)}
        return {"value": value} if question in ("ambiguity", "leads_out") else {"path": value}


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
