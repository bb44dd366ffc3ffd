"""What `mbcli simulate` writes to its log: the header of a run, and the rows of a block of samples."""

import dataclasses

import click
import numpy as np

from mbcli.cli.units import coordinate_units

FIELDS = {
    "energy": ("derived/energy_kinetic", "derived/energy_potential"),
    "u": ("input/u",),
    "com": ("derived/com",),
    "momentum": ("derived/momentum",),
    "constraint_error": ("derived/constraint_error",),
}
"""Names that --fields takes, and the datasets that they stand for."""

DEFAULT_FIELDS = ("energy", "u", "constraint_error")


def parse_fields(text, plant):
    """The names in --fields, once each, as far as the plant has them; q and v are in every log."""
    words = DEFAULT_FIELDS if text is None else text.replace(",", " ").split()
    for word in words:
        if word not in (*FIELDS, "q", "v", "time"):
            raise click.UsageError(f"--fields: there is no '{word}'; there are {', '.join(FIELDS)}")
    if "com" in words and not plant._model.link_inertia[:, 0].any():
        raise click.UsageError("--fields com: the model has no mass")
    missing = {"u": not plant.num_actuators(), "constraint_error": not plant._constraints}
    return [name for name in FIELDS if name in words and not missing.get(name)]


def field_paths(fields):
    return [path for name in fields for path in FIELDS[name]]


def log_header(loaded, fields, **run):
    """The LogHeader of a run; run has what the model does not say: argv, seed, checkpoint, expected_rows."""
    import yaml

    from mbcli.cli.inspect import describe
    from mbcli.cli.output import to_json
    from mbcli.log.format import STANDARD_FIELDS, LogHeader

    plant = loaded.plant
    position_units, velocity_units, effort_units = coordinate_units(plant)
    header = LogHeader(
        model_name=loaded.description()["name"],
        position_names=tuple(plant.GetPositionNames()),
        position_units=position_units,
        velocity_names=tuple(plant.GetVelocityNames()),
        velocity_units=velocity_units,
        actuator_names=tuple(plant.GetActuatorNames()),
        actuator_units=effort_units,
        sources=tuple(loaded.sources),
        config=yaml.safe_dump(plain_config(loaded.config), sort_keys=False),
        model=to_json(describe(loaded)),
        **run,
    )
    declared = [header.input_field() if path == "input/u" else STANDARD_FIELDS[path] for path in field_paths(fields)]
    return dataclasses.replace(header, fields=tuple(declared))


def plain_config(config):
    """A configuration as YAML can write it."""
    return {
        field.name: plain_config(value) if dataclasses.is_dataclass(value := getattr(config, field.name)) else value
        for field in dataclasses.fields(config)
    }


class RowMaker:
    """Turns samples into rows of a log with the given fields."""

    def __init__(self, plant, fields):
        self._plant, self._paths = plant, field_paths(fields)
        self._context = plant.CreateDefaultContext()

    def rows(self, samples, chosen):
        """The columns of LogWriter.append() for the chosen (mask) rows of the samples."""
        q, v = samples.q[chosen], samples.v[chosen]
        energy = samples.energy[chosen]
        columns = {"time": samples.time[chosen], "q": q, "v": v}
        known = {
            "derived/energy_kinetic": energy[:, 0],
            "derived/energy_potential": energy[:, 1],
            "input/u": samples.u[chosen],
            "derived/constraint_error": samples.constraint_error[chosen],
        }
        for path in self._paths:
            columns[path] = known[path] if path in known else self._computed(path, q, v)
        return columns

    def _computed(self, path, q, v):
        """Centre of mass, or momentum about the world's origin, at each state."""
        plant, context = self._plant, self._context
        result = np.empty((len(q), 3 if path == "derived/com" else 6))
        for k in range(len(q)):
            plant.SetPositions(context, q[k])
            plant.SetVelocities(context, v[k])
            if path == "derived/com":
                result[k] = plant.CalcCenterOfMassPositionInWorld(context)
            else:
                momentum = plant.CalcSpatialMomentumInWorldAboutPoint(context, np.zeros(3))
                result[k] = momentum.get_coeffs()
        return result
