"""Units of the columns of a sweep, in plain spelling: of what varies, and of measures."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from mbcli.models.parameter_assignments import is_parameter_path, matching_parameters
from mbcli.multibody.tree.joint import Joint
from mbcli.parsers.scenes.plant_config import RunConfig, setting_paths
from mbcli.sweeps.run_series import OF_ACTUATOR, series_unit
from mbcli.sweeps.variations import OF_INPUT, OF_STATE, RANDOM_STATE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbcli.models.loaded_model import LoadedModel
    from mbcli.sweeps.measures import Measure
    from mbcli.sweeps.variations import Variation

EITHER = " or "  # between the units of a parameter of hinges and of slides


def column_units(loaded: LoadedModel, variations: Iterable[Variation], measures: Iterable[Measure]) -> dict[str, str]:
    """{column: its unit} of those that have one; factors have none."""
    found = {v.column: _unit_of_path(loaded, v.path) for v in variations if v.operator != "*"}
    found |= {m.name: m.unit(lambda name: series_unit(loaded.plant, name)) or "" for m in measures}
    return {column: unit for column, unit in found.items() if unit}


def _unit_of_path(loaded: LoadedModel, path: str) -> str:
    if path == RANDOM_STATE:
        return ""
    if path.startswith((OF_STATE, OF_INPUT)):
        name = path.removeprefix(OF_STATE) if path.startswith(OF_STATE) else OF_ACTUATOR + path.removeprefix(OF_INPUT)
        return series_unit(loaded.plant, name) or ""
    if not is_parameter_path(path):
        return _unit_of_setting(path) if path in setting_paths() else ""
    units = {_of_element(parameter.unit, of[0]) for _, parameter, _, of in matching_parameters(loaded, path)}
    return "" if units == {"1"} else EITHER.join(sorted(units))


def _of_element(unit: str, element: Any) -> str:
    """Of "N m or N" the one that fits a joint that only turns or slides, or the actuator of one."""
    of_hinge, either, of_slide = unit.partition(EITHER)
    joint = element if isinstance(element, Joint) else element.joint() if hasattr(element, "joint") else None
    kinds = set() if joint is None else {joint.is_angular(k) for k in range(joint.num_velocities())}
    return unit if not either or len(kinds) != 1 else of_hinge if kinds.pop() else of_slide


def _unit_of_setting(path: str) -> str:
    record: Any = RunConfig()
    *records, name = path.split(".")
    for step in records:
        record = getattr(record, step)
    return str({field.name: field for field in fields(record)}[name].metadata.get("unit", ""))
