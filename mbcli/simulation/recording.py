"""What a run writes to its log: the header, and the rows of a block of samples."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import yaml

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import StateNames
from mbcli.common.json_text import to_json
from mbcli.errors import ArgumentError
from mbcli.log.datasets import RAGGED_GROUPS
from mbcli.log.fields import LOG_FIELDS, declared, default_names
from mbcli.log.fields.block import Block
from mbcli.log.fields.contact import OFFSET
from mbcli.log.fields.logged_plant import LoggedPlant
from mbcli.log.format import ContactNames, LogHeader
from mbcli.meshes.height_grids import packed_heights
from mbcli.models.description import describe
from mbcli.models.units import coordinate_units
from mbcli.simulation.holding import as_document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from mbcli.log.datasets import Field
    from mbcli.log.fields.loaded_states import LoadedStates
    from mbcli.math.array_types import BoolArray
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.stepping.inputs import LinkForce
    from mbcli.multibody.stepping.samples import Samples
    from mbcli.multibody.tree.joint_actuator import JointActuator
    from mbcli.simulation.held_joint import Held

ALWAYS_THERE = ("q", "v", "time")
VERTEX_UNITS = ("m", "m s-1", "m s-2")  # of places, velocities and accelerations


def chosen_fields(wanted: Any, plant: MultibodyPlant) -> list[str]:
    """The fields of a log, once each, as far as the plant has them; q and v are in every log.

    wanted: names or ends of names, a sequence or one text; None for those that are logged by default. ArgumentError for
    one that is not known, or that the plant must have and lacks.
    """
    words = default_names() if wanted is None else wanted
    words = words.replace(",", " ").split() if isinstance(words, str) else list(words)
    words = [_field_of(word, plant) for word in words]
    asked = [name for name in LOG_FIELDS if name in words]
    asked += [name for field in asked for name in LOG_FIELDS[field].brings(plant)]
    for name in asked:
        if LOG_FIELDS[name].REFUSED and LOG_FIELDS[name].lacks(plant):
            raise ArgumentError(f"{argument('fields', name)}: {LOG_FIELDS[name].lacks(plant)}")
    return [name for name, field in LOG_FIELDS.items() if name in asked and not field.lacks(plant)]


def _field_of(word: str, plant: MultibodyPlant) -> str:
    """The field that a word means, itself, by its end or by a coordinate in it. ArgumentError if it means none, or
    several."""
    if word in LOG_FIELDS or word in ALWAYS_THERE:
        return word
    ends = [name for name in LOG_FIELDS if name.endswith(f"_{word}")]
    if len(ends) == 1:
        return ends[0]
    names = StateNames(plant.GetPositionNames(), plant.GetVelocityNames())
    found = names.candidates(word)
    if len(found) == 1:
        return found[0][0]
    if found:
        try:
            names.find(word)
        except LookupError as error:
            raise ArgumentError(f"{argument('fields')}: {error.args[0]}") from None
    raise ArgumentError(f"{argument('fields')}: there is no '{word}'; there are {', '.join(LOG_FIELDS)}")


def row_fields(fields: Sequence[str], logged: LoggedPlant) -> list[Field]:
    """The Field of each dataset with a row a sample that fields of a log have."""
    columns = declared(fields, logged).values()
    return [field for own in columns for field in own if not field.path.startswith(RAGGED_GROUPS)]


def logged_plant(plant: MultibodyPlant, lent: Mapping[str, Any] | None = None) -> LoggedPlant:
    """LoggedPlant of a plant; lent: by the actors of its run."""
    position_units, velocity_units, effort_units = coordinate_units(plant)
    return LoggedPlant(plant, effort_units, position_units, velocity_units, lent)


def needs_of_sensors(plant: MultibodyPlant, fields: Sequence[str]) -> set[str]:
    """What the sensors in a log with these fields are computed from, names of mbcli.sensors.NEEDED."""
    if "sensors" not in fields:
        return set()
    from mbcli.multibody.sensing.evaluation import needs_of

    return needs_of(plant.elements.sensors)


def loads_of_rows(
    plant: MultibodyPlant, context: Context, fields: Sequence[str], forces: Sequence[LinkForce]
) -> LoadedStates | None:
    """The LoadedStates from which rows of a log with these fields are computed, None if none are.

    context: of the run; forces: LinkForces that its steps take.
    """
    if "reactions" not in fields and "wrench" not in needs_of_sensors(plant, fields):
        return None
    from mbcli.log.fields.loaded_states import LoadedStates

    return LoadedStates(plant, context, forces)


def log_header(
    loaded: LoadedModel,
    fields: Sequence[str],
    held: Mapping[JointActuator, Held],
    *,
    lent: Mapping[str, Any] | None = None,
    controller: Mapping[str, Any] | None = None,
    described: bool = True,
    **run: Any,
) -> LogHeader:
    """The LogHeader of a run in which joints are held; run has the rest: argv, seed, checkpoint, expected_rows.

    lent: as of LoggedPlant.
    controller: what the log has of a controller, None without one.
    described: whether it has the model and the configuration as text, which takes longer than a short run.
    """
    plant = loaded.plant
    position_units, velocity_units, effort_units = coordinate_units(plant)
    logged = logged_plant(plant, lent)
    return LogHeader(
        model_name=loaded.description()["name"],
        position_names=tuple(plant.GetPositionNames()),
        position_units=position_units,
        velocity_names=tuple(plant.GetVelocityNames()),
        velocity_units=velocity_units,
        actuator_names=tuple(plant.GetActuatorNames()),
        actuator_units=effort_units,
        sources=tuple(loaded.sources),
        config=yaml.safe_dump(plain_config(loaded.config), sort_keys=False) if described else "",
        model=to_json(_resolved_model(loaded, held, controller)) if described else "",
        fields=tuple(row_fields(fields, logged)),
        contact=contact_names(logged, fields),
        scene=_scene_text(loaded) if "poses" in fields else "",
        checkpoint_units={
            "time": "s",
            "next_step": "s",
            "q": position_units,
            "v": velocity_units,
            "rest_start": velocity_units,
            "u": effort_units,
            "deformables": tuple(
                unit for b in plant.elements.deformable_bodies for unit in VERTEX_UNITS for _ in range(b.num_dofs())
            ),
        },
        **run,
    )


def _scene_text(loaded: LoadedModel) -> str:
    from mbcli.pictures.model_scene import scene_of
    from mbcli.pictures.packing import scene_text

    return scene_text(scene_of(loaded))


def _resolved_model(
    loaded: LoadedModel, held: Mapping[JointActuator, Held], controller: Mapping[str, Any] | None
) -> dict[str, Any]:
    document = describe(loaded, measured=False) | contact_settings(loaded) | parameter_settings(loaded)
    document |= {"hold": as_document(held)} if held else {}
    return document | ({"controller": controller} if controller else {})


def kernels_in_words(context: Context) -> str:
    """How the kernels of a run were made, by which its last digits can differ."""
    from mbcli.engine.runtime.precompiled import levels_of_processor, precompiled_library

    if not context.state.compiled:
        return "interpreted"
    return "compiled" if precompiled_library() is None else f"precompiled for {levels_of_processor()[0]}"


def contact_settings(loaded: LoadedModel) -> dict[str, Any]:
    """The settings of contact in the resolved model, beside the geometries."""
    meets = loaded.plant.meets_contact()
    if not meets:
        return {"contact": {"simulated": False, "ground": None}}
    left_out = [list(pair) for pair in loaded.without_contact]
    terrain = loaded.terrain
    settings: dict[str, Any] = {"simulated": True, "ground": loaded.ground if terrain is None else None}
    settings["self_contact"] = loaded.self_contact
    if terrain is not None:
        measures = {name: getattr(terrain, name)() for name in terrain.MEASURES}
        settings["terrain"] = measures | packed_heights(terrain.heights)
    settings["decompose"] = loaded.plant.settings.decompose_meshes
    return {"contact": settings | {"without_contact": left_out}}


def parameter_settings(loaded: LoadedModel) -> dict[str, Any]:
    """What was set by name, in the resolved model: not all of it shows in the elements there."""
    return {"parameters": [value.as_dict() for value in loaded.parameters]} if loaded.parameters else {}


def contact_names(logged: LoggedPlant, fields: Sequence[str]) -> ContactNames | None:
    """ContactNames of a log with these fields; None if it has no contacts."""
    if "contact" not in fields:
        return None
    return ContactNames(
        logged.body_names, logged.geometry_names, logged.has_surfaces, "faces" in fields, logged.has_moments
    )


def plain_config(config: Any) -> dict[str, Any]:
    """A configuration as YAML can write it."""
    return {
        field.name: plain_config(value) if dataclasses.is_dataclass(value := getattr(config, field.name)) else value
        for field in dataclasses.fields(config)
    }


class RowMaker:
    """Turns samples into rows of a log with the given fields."""

    def __init__(
        self,
        plant: MultibodyPlant,
        fields: Sequence[str],
        lent: Mapping[str, Any] | None = None,
        loads: LoadedStates | None = None,
    ) -> None:
        self._logged = logged_plant(plant, lent)
        self._logged.loads = loads
        self._paths = {name: {field.path for field in own} for name, own in declared(fields, self._logged).items()}

    def rows(self, samples: Samples, chosen: BoolArray) -> dict[str, Any]:
        """The columns of LogWriter.append() for the chosen (mask) rows of the samples."""
        block = Block(self._logged, samples, chosen)
        columns = {"time": samples.time[chosen], "q": block.q, "v": block.v}
        for name, paths in self._paths.items():
            computed = LOG_FIELDS[name].rows(block)
            if computed.keys() != paths:
                raise RuntimeError(
                    f"the log field '{name}' computes {', '.join(computed)} and declares {', '.join(sorted(paths))}"
                )
            for path, values in computed.items():
                if path.startswith(RAGGED_GROUPS):
                    columns.setdefault("contact", {})["offset" if path == OFFSET else path] = values
                else:
                    columns[path] = values
        return columns

    def sense(self, seed: int | None) -> None:
        """The sensors are those of a run; seed: of their noise, None without."""
        from mbcli.log.fields.sensor_rows import SensorRows

        self._logged.sensor_rows = SensorRows(self._logged.plant, self._logged.loads, seed)

    def go_on(self, rows: Mapping[str, Any]) -> None:
        """Rows of the log that the run goes on with, before its own."""
        if "sensors" in self._paths:
            self._logged.sensor_rows.go_on(rows)
