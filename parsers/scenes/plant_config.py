"""The settings of plant and simulation, and single ones changed by PATH=VALUE."""

import copy
import dataclasses
import typing
from collections.abc import Iterable
from math import inf
from typing import Any

from mbcli.common.argument_names import argument
from mbcli.common.fast_dataclass import dataclass
from mbcli.common.number_text import parse_number
from mbcli.common.suggestions import name_or_list
from mbcli.config.config_fields import ConfigRecord, ValueProblem, setting
from mbcli.config.plant_config import MultibodyPlantConfig
from mbcli.config.scene_graph_config import SceneGraphConfig
from mbcli.config.simulator_config import SimulatorConfig
from mbcli.errors import ArgumentError, ModelError

SELF_CONTACT = ("auto", "all", "none")


@dataclass(kw_only=True)
class HoldConfig(ConfigRecord):
    """The PD controllers that hold the joints of robots in a run.

    :raises ModelError: (a RuntimeError) a value is of the wrong type or out of range.
    """

    enabled: bool | None = setting(None, "Whether joints are held; null: if another of these settings is given")
    posture: str | None = setting(None, "The named posture that is held; null: the start of the run")
    kp: float | None = setting(None, "Stiffness of every joint; null: from the masses", unit="N m/rad or N/m", above=0)
    kd: float | None = setting(
        None, "Damping of every joint; null: critical, from the masses", unit="N m s/rad or N s/m", minimum=0
    )

    @property
    def is_on(self) -> bool:
        """Whether joints are held."""
        given = (self.posture, self.kp, self.kd)
        return any(value is not None for value in given) if self.enabled is None else self.enabled


@dataclass(kw_only=True)
class RunConfig(ConfigRecord):
    """Settings of one run: the plant, the simulation, how long it lasts and the seed.

    Every field is checked when it is assigned.

    :raises ModelError: (a RuntimeError) a value is of the wrong type or out of range.
    """

    random_seed: int = setting(0, "Seed of every random number of the run", minimum=0)
    simulation_duration: float = setting(
        inf, "Simulated time after which the run ends", unit="s", minimum=0, infinite=True
    )
    self_contact: str = setting(
        "auto",
        "Contact between the bodies of one mechanism: all; none; auto leaves out those that overlap at the default "
        "positions or are always in touch",
        choices=SELF_CONTACT,
    )
    hold: HoldConfig = dataclasses.field(default_factory=HoldConfig)
    drive: dict[str, float] = setting(dict, "Velocities at which joints are driven, by their names [rad/s or m/s]")
    decompose: bool = setting(
        False, "Meshes that are not convex collide by convex parts of them (extra decompose), not by their hulls"
    )
    plant_config: MultibodyPlantConfig = dataclasses.field(default_factory=MultibodyPlantConfig)
    simulator_config: SimulatorConfig = dataclasses.field(default_factory=SimulatorConfig)
    scene_graph_config: SceneGraphConfig = dataclasses.field(default_factory=SceneGraphConfig)


def apply_overrides(config: RunConfig, assignments: Iterable[str]) -> RunConfig:
    """A copy of a `RunConfig` with `PATH=VALUE` applied in turn, as `plant_config.time_step=0.002`.

    VALUE is read as a plain YAML scalar: quotes are part of it. `+X` adds to a number, `*X` multiplies it.

    :raises ArgumentError: a path that is not a setting, or a value that it does not take; the message names the
    path.
    """
    config = copy.deepcopy(config)
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        path = path.strip()
        if not equals:
            raise _fault(assignment, 'must be PATH=VALUE, as "plant_config.time_step=0.002"')
        record, name = _resolve(config, path)
        try:
            setattr(record, name, _new_value(getattr(record, name), text.strip()))
        except (ModelError, ValueProblem) as error:
            raise _fault(path, error) from None
    return config


def _fault(path: str, message: object) -> ArgumentError:
    return ArgumentError(f"{argument('overrides')} {path}: {message}")


def _new_value(before: Any, text: str) -> Any:
    """The value that VALUE says."""
    operator = text[:1]
    change = parse_number(text[1:].strip()) if operator in ("+", "*") else None
    if change is None or isinstance(before, bool) or not isinstance(before, (int, float)):
        from mbcli.parsers.yaml_source import scalar_value  # late: it imports YAML

        return scalar_value(text)
    value = before + change if operator == "+" else before * change
    return round(value) if isinstance(before, int) and value == round(value) else value


def setting_paths(record_type: Any = RunConfig, prefix: str = "") -> list[str]:
    """The path of every setting that is one value, as `apply_overrides` takes it."""
    paths = []
    for name, kind in typing.get_type_hints(record_type).items():
        if dataclasses.is_dataclass(kind):
            paths += setting_paths(kind, f"{prefix}{name}.")
        elif typing.get_origin(kind) is not dict:
            paths.append(prefix + name)
    return paths


def _resolve(config: RunConfig, path: str) -> tuple[Any, str]:
    """The record and field name that a path names."""
    if path not in setting_paths():
        raise _fault(path, f"no such setting: {_path_hint(path)}")
    *records, name = path.split(".")
    for record in records:
        config = getattr(config, record)
    return config, name


def _path_hint(path: str) -> str:
    paths = setting_paths()
    by_name = [known for known in paths if known.split(".")[-1] == path.split(".")[-1]]
    return name_or_list(by_name[0], paths) if len(by_name) == 1 else name_or_list(path, paths)
