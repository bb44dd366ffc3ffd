"""The model that a task file names, and how it is loaded; files and mappings as nodes with places."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbcli.config.config_fields import setting
from mbcli.config.contact_laws import CONTACT_LAWS
from mbcli.errors import ArgumentError
from mbcli.models.loading import load_model
from mbcli.parsers.load_arguments import ACTUATORS
from mbcli.parsers.yaml_source import read_yaml

if TYPE_CHECKING:
    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.yaml_source import YamlNode

MAPPING = "<task>"  # in messages


@dataclass(frozen=True)
class Load:
    """How the model is loaded: arguments of load_model(), of the same meaning."""

    contact: bool = setting(False, "Whether solids touch")
    contact_approximation: str | None = setting(None, "How contact enters steps; null: lagged", choices=CONTACT_LAWS)
    ground: float | None = setting(None, "Height of a ground", unit="m")
    dt: float | None = setting(None, "Time step", unit="s", above=0)
    hold: bool = setting(False, "Whether controllers hold the joints")
    kp: float | None = setting(None, "Stiffness of these controllers", unit="N m/rad or N/m", above=0)
    kd: float | None = setting(None, "Damping of these controllers", unit="N m s/rad or N s/m", minimum=0)
    self_contact: str | None = setting(None, "Contact of one mechanism", choices=("auto", "all", "none"))
    weld: tuple[str, ...] = setting((), "Bodies that are welded to the world")
    weld_base: bool = setting(False, "Whether bases that would float are welded")
    actuators: str | None = setting(None, "What all joints get; null: what files say", choices=ACTUATORS)


class ModelOfFile:
    """A file that was read, with the model that it names.

    Args:
        root: the whole file.
        settings: a record with `model` and `load`.
        folder: from which the model is seen.
    """

    def __init__(self, root: YamlNode, settings: Any, folder: Path) -> None:
        self.root, self.settings, self._folder = root, settings, folder

    @property
    def name(self) -> str:
        """The file in messages."""
        return self.root.place.file

    @property
    def path(self) -> str | None:
        """The file, None for a mapping."""
        return None if self.name == MAPPING else self.name

    @property
    def model(self) -> Path | str | None:
        """The file of the model, or its package:// URI; None if the task names none."""
        given = self.settings.model
        return given if given is None or "://" in given else self._folder / given

    @property
    def load(self) -> dict[str, Any]:
        """The arguments of load_model() that the file states."""
        node = self.root.get("load")
        return {key: getattr(self.settings.load, key) for key in (() if node is None else node.keys())}

    @property
    def beside_load(self) -> dict[str, Any]:
        """Arguments of load_model() that follow from other keys."""
        return {}

    def states(self, section: str) -> bool:
        """Whether there is a section of this name."""
        return self.root.get(section) is not None

    def loaded(self, model: Any = None) -> Any:
        """The model of the task, or the files of another one, loaded as the task says; a LoadedModel as it is.

        ArgumentError: no file names a model; settings of `load`, and what is beside them, are for files.
        """
        options = self.load | self.beside_load
        if model is None:
            if self.model is None:
                raise ArgumentError(f'{self.name}: the task names no model: key "model", or the argument `model`')
            return load_model(self.model, **options)
        if isinstance(model, (str, os.PathLike)):
            return load_model(model, **options)
        if options:
            raise ArgumentError(f'{self.name}: "load" is for files of a model, and the model is loaded already')
        return model


def read_root(source: Any, diagnostics: Diagnostics) -> tuple[YamlNode, Path]:
    """The whole of a YAML file (a path), or of a mapping with the keys of one, and the folder that it sees files from.

    ModelError with file and line; ResourceError: the file cannot be read.
    """
    if isinstance(source, Mapping):
        root, folder = read_yaml(_as_yaml(source), diagnostics, name=MAPPING), Path()
    else:
        root, folder = read_yaml(source, diagnostics), Path(source).parent
    diagnostics.raise_if_errors()
    assert root is not None
    return root, folder


def _as_yaml(task: Mapping[str, Any]) -> bytes:
    import yaml  # late, as in read_yaml()

    try:
        return yaml.safe_dump(_plain(task), sort_keys=False, default_flow_style=False).encode()
    except yaml.YAMLError as error:
        raise ArgumentError(f"the task is not what a YAML file can have: {error}") from None


def _plain(value: Any) -> Any:
    """Mappings, tuples and numbers of numpy as YAML writes them."""
    if isinstance(value, Mapping):
        return {str(key): _plain(child) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(child) for child in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return str(value) if isinstance(value, os.PathLike) else value
