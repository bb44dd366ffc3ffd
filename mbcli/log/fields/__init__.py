"""What a run can log beside time, q and v: one file a field, and its line in NAMES.

The file of a field has

WORDS           what it is, in the help of `mbcli simulate --fields`
BY_DEFAULT      whether a run logs it that is not asked for fields
REFUSED         whether it is an error to ask for it where the model lacks it; else it is left out
DATASETS        its datasets, as the format describes them
lacks(plant)    why a log of this plant cannot have it; "" if it can
brings(plant)   names of the fields that are logged with it
columns(logged) a Field for each dataset in the logs of a LoggedPlant
rows(block)     {path of each of these: values} of a Block of samples

and no more is needed: the choices and the help of --fields, headers, rows, the check of a run that goes on, the schema
and docs/reference/log_format.md ask LOG_FIELDS. A file that lacks one of these is an error when this package is
imported.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from mbcli.common.kind_files import require_contents, require_single_owners
from mbcli.log.datasets import Field

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mbcli.log.datasets import Dataset
    from mbcli.log.fields.block import Block
    from mbcli.log.fields.logged_plant import LoggedPlant

    class LogField(Protocol):
        """The file of a field."""

        WORDS: str
        BY_DEFAULT: bool
        REFUSED: bool
        DATASETS: tuple[Dataset, ...]

        @staticmethod
        def lacks(plant: Any) -> str: ...
        @staticmethod
        def brings(plant: Any) -> tuple[str, ...]: ...
        @staticmethod
        def columns(logged: LoggedPlant) -> tuple[Field, ...]: ...
        @staticmethod
        def rows(block: Block) -> dict[str, Any]: ...


NAMES = (
    "energy",
    "compliance",
    "u",
    "effort",
    "activations",
    "targets",
    "tracking",
    "reactions",
    "sensors",
    "com",
    "momentum",
    "poses",
    "vertices",
    "constraint_error",
    "contact",
    "faces",
    "solver",
)
"""Of the fields, in the order of logs and exports."""

CONSTANTS = {"WORDS": str, "BY_DEFAULT": bool, "REFUSED": bool, "DATASETS": tuple}
OPERATIONS = ("lacks", "brings", "columns", "rows")


def checked_field(name: str, field: Any) -> LogField:
    """The file of a field. TypeError, with its name, if something is missing."""
    require_contents(f"the log field '{name}'", field, CONSTANTS, OPERATIONS)
    if not field.DATASETS:
        raise TypeError(f"the log field '{name}' has no datasets")
    return field


def fields_by_name(names: Iterable[str]) -> dict[str, LogField]:
    """Imports the file of each field. TypeError if one lacks something, or two have the same dataset."""
    found = {name: checked_field(name, import_module(f"{__name__}.{name}")) for name in names}
    require_single_owners("the log fields", {name: [d.path for d in field.DATASETS] for name, field in found.items()})
    return found


LOG_FIELDS: Mapping[str, LogField] = fields_by_name(NAMES)
"""The file of each field by its name."""

STANDARD_FIELDS = {
    dataset.path: dataset.field()
    for field in LOG_FIELDS.values()
    for dataset in field.DATASETS
    if not dataset.is_ragged and not isinstance(dataset.columns, str)
}
"""By path, the datasets with a row a sample whose columns are the same in all logs."""


def default_names() -> list[str]:
    """The fields of a run that is not asked for any."""
    return [name for name, field in LOG_FIELDS.items() if field.BY_DEFAULT]


def names_in_words() -> str:
    """All fields, each with what it is, and which ones are logged by default, as a sentence of the help."""
    listed = ", ".join(f"{name} ({field.WORDS})" for name, field in LOG_FIELDS.items())
    *others, last = [name for name, field in LOG_FIELDS.items() if not field.BY_DEFAULT]
    return f"{listed}. Default: all but {', '.join(others)} and {last}."


def declared(names: Iterable[str], logged: LoggedPlant) -> dict[str, tuple[Field, ...]]:
    """{name: the datasets of the field in the logs of a plant, each a Field}."""
    return {name: LOG_FIELDS[name].columns(logged) for name in names}
