"""What many fields answer alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.log.datasets import Dataset, Field
    from mbcli.log.fields.logged_plant import LoggedPlant


def lacks_nothing(plant: Any) -> str:
    """Every plant has it."""
    return ""


def brings_nothing(plant: Any) -> tuple[str, ...]:
    """No other field is logged with it."""
    return ()


def same_columns(datasets: tuple[Dataset, ...]) -> Callable[[LoggedPlant], tuple[Field, ...]]:
    """The columns of datasets that are the same in all logs."""
    fields = tuple(dataset.field() for dataset in datasets)
    return lambda logged: fields
