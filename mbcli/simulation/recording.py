"""What a run writes to its log: the header, and the rows of a block of samples."""

import dataclasses

import numpy as np
import yaml

from mbcli.common.argument_names import argument
from mbcli.common.json_text import to_json
from mbcli.errors import ArgumentError
from mbcli.log.format import (
    POSES,
    STANDARD_FIELDS,
    VERTICES,
    ContactNames,
    LogHeader,
    poses_field,
    vertices_field,
)
from mbcli.models.description import describe
from mbcli.models.units import coordinate_units
from mbcli.multibody.stepping.compliance_energy import compliance_energies
from mbcli.pictures.model_scene import body_names, body_poses, scene_of
from mbcli.pictures.packing import scene_text
from mbcli.simulation.holding import as_document
from mbcli.simulation.recorded_contacts import contact_columns

FIELDS = {
    "energy": ("derived/energy_kinetic", "derived/energy_potential"),
    "compliance": ("derived/energy_compliance",),
    "u": ("input/u",),
    "com": ("derived/com",),
    "momentum": ("derived/momentum",),
    "poses": (POSES,),
    "vertices": (VERTICES,),
    "constraint_error": ("derived/constraint_error",),
    "contact": (),
    "faces": (),
    "solver": ("solver/iterations", "solver/residual", "solver/contacts"),
}
"""What a log can have beside q and v, and the datasets with a row a sample that a name stands for.

contact stands for those in /contact, faces for these and those in /faces.
"""

COMPLIANCE = "derived/energy_compliance"
VERTEX_UNITS = ("m", "m s-1", "m s-2")  # of places, velocities and accelerations
DEFAULT_FIELDS = ("energy", "u", "vertices", "constraint_error", "contact", "solver")


def chosen_fields(wanted, plant):
    """The fields of a log, once each, as far as the plant has them; q and v are in every log.

    wanted: names, a sequence or one text; None for those of DEFAULT_FIELDS. ArgumentError for one that is not known.
    """
    words = DEFAULT_FIELDS if wanted is None else wanted
    words = words.replace(",", " ").split() if isinstance(words, str) else list(words)
    for word in words:
        if word not in (*FIELDS, "q", "v", "time"):
            raise ArgumentError(f"{argument('fields')}: there is no '{word}'; there are {', '.join(FIELDS)}")
    if "com" in words and not plant.model.link_inertia[:, 0].any():
        raise ArgumentError(f"{argument('fields', 'com')}: the model has no mass")
    if "faces" in words:
        words.append("contact")
    soft = bool(plant.elements.deformable_bodies)
    if "vertices" in words and soft:
        words.append("poses")  # and with them the scene, which has the surfaces of the bodies
    meets = plant.meets_contact()
    missing = {
        "vertices": not soft,
        "u": not plant.num_actuators(),
        "constraint_error": not plant.elements.constraints,
        "contact": not meets,
        "compliance": not meets,
        "faces": not meets or not plant.asks_for_surfaces(),
        "solver": not meets or not plant.is_discrete(),
    }
    return [name for name in FIELDS if name in words and not missing.get(name)]


def field_paths(fields):
    return [path for name in fields for path in FIELDS[name]]


def log_header(loaded, fields, held, *, described=True, **run):
    """The LogHeader of a run in which joints are held; run has the rest: argv, seed, checkpoint, expected_rows.

    described: whether it has the model and the configuration as text, which takes longer than a short run.
    """
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
        config=yaml.safe_dump(plain_config(loaded.config), sort_keys=False) if described else "",
        model=to_json(_resolved_model(loaded, held)) if described else "",
        contact=contact_names(plant, fields),
        checkpoint_units={
            "time": "s",
            "next_step": "s",
            "q": position_units,
            "v": velocity_units,
            "rest_start": velocity_units,
            "deformables": tuple(
                unit for b in plant.elements.deformable_bodies for unit in VERTEX_UNITS for _ in range(b.num_dofs())
            ),
        },
        **run,
    )
    own = {"input/u": header.input_field()}
    if "poses" in fields:
        own[POSES] = poses_field(body_names(plant))
    if "vertices" in fields:
        bodies = plant.elements.deformable_bodies
        own[VERTICES] = vertices_field([(body.full_name(), len(body.reference)) for body in bodies])
    declared = [own[path] if path in own else STANDARD_FIELDS[path] for path in field_paths(fields)]
    scene = scene_text(scene_of(loaded)) if "poses" in fields else ""
    return dataclasses.replace(header, fields=tuple(declared), scene=scene)


def _resolved_model(loaded, held):
    document = describe(loaded, measured=False) | contact_settings(loaded) | parameter_settings(loaded)
    return document | ({"hold": as_document(held)} if held else {})


def kernels_in_words(context):
    """How the kernels of a run were made, by which its last digits can differ."""
    from mbcli.engine.runtime.precompiled import levels_of_processor, precompiled_library

    if not context.state.compiled:
        return "interpreted"
    return "compiled" if precompiled_library() is None else f"precompiled for {levels_of_processor()[0]}"


def contact_settings(loaded):
    """The settings of contact in the resolved model, beside the geometries."""
    meets = loaded.plant.meets_contact()
    if not meets:
        return {"contact": {"simulated": False, "ground": None}}
    left_out = [list(pair) for pair in loaded.without_contact]
    settings = {"simulated": True, "ground": loaded.ground, "self_contact": loaded.self_contact}
    settings["decompose"] = loaded.plant.settings.decompose_meshes
    return {"contact": settings | {"without_contact": left_out}}


def parameter_settings(loaded):
    """What was set by name, in the resolved model: not all of it shows in the elements there."""
    return {"parameters": [value.as_dict() for value in loaded.parameters]} if loaded.parameters else {}


def contact_names(plant, fields):
    """ContactNames of a log with these fields; None if it has no contacts."""
    if "contact" not in fields:
        return None
    inspector = plant.scene_graph.model_inspector()
    return ContactNames(
        tuple(body_names(plant)),
        tuple(inspector.GetName(g) for g in plant.compiled_geometries().ids),
        plant.asks_for_surfaces(),
        "faces" in fields,
        not plant.asks_for_surfaces() and plant.resists_turning(),
    )


def plain_config(config):
    """A configuration as YAML can write it."""
    return {
        field.name: plain_config(value) if dataclasses.is_dataclass(value := getattr(config, field.name)) else value
        for field in dataclasses.fields(config)
    }


class RowMaker:
    """Turns samples into rows of a log with the given fields."""

    def __init__(self, plant, fields):
        self._plant, self._paths, self._contact = plant, field_paths(fields), contact_names(plant, fields)
        self._context = plant.CreateDefaultContext()
        if self._contact is not None:
            bodies = [int(plant.geometry_bodies[g].index()) for g in plant.compiled_geometries().ids]
            self._body_of_solid = np.array(bodies)

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
        if VERTICES in self._paths:
            known[VERTICES] = np.concatenate([x[chosen].reshape(len(q), -1) for x in samples.deformables], axis=1)
        sampled = samples.contacts
        if sampled is not None:
            known["solver/iterations"], known["solver/residual"] = sampled.iterations[chosen], sampled.residual[chosen]
            known["solver/contacts"] = np.diff(sampled.offset)[chosen]
            if COMPLIANCE in self._paths:
                known[COMPLIANCE] = _sums_of_rows(compliance_energies(sampled.contacts), sampled.offset)[chosen]
        if self._contact is not None:
            columns["contact"] = contact_columns(sampled, chosen, self._body_of_solid, self._contact)
        for path in self._paths:
            columns[path] = known[path] if path in known else self._computed(path, q, v)
        return columns

    def _computed(self, path, q, v):
        """Centre of mass, momentum about the world's origin, or poses of bodies, at each state."""
        plant, context = self._plant, self._context
        result = np.empty((len(q), {"derived/com": 3, "derived/momentum": 6, POSES: 7 * plant.num_bodies()}[path]))
        for k in range(len(q)):
            plant.SetPositions(context, q[k])
            plant.SetVelocities(context, v[k])
            if path == "derived/com":
                result[k] = plant.CalcCenterOfMassPositionInWorld(context)
            elif path == POSES:
                result[k] = body_poses(plant, context).reshape(-1)
            else:
                momentum = plant.CalcSpatialMomentumInWorldAboutPoint(context, np.zeros(3))
                result[k] = momentum.get_coeffs()
        return result


def _sums_of_rows(values, offset):
    """Of values whose rows begin at the offsets."""
    rows = len(offset) - 1
    return np.bincount(np.repeat(np.arange(rows), np.diff(offset)), values, minlength=rows)
