"""The parts of a log: its fields, root attributes and datasets, and the header that a run gives.

docs/log_format.md describes the same for readers of the files and schemas/log.schema.json for programs; a test
holds the three together. This module needs neither h5py nor numpy.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from math import prod

from mbcli.common.quick_dataclass import dataclass

FORMAT = "mbcli-log"
FORMAT_VERSION = "1.6"
WORLDS_FORMAT = "mbcli-worlds"  # of logs of many worlds, see worlds.py
WORLDS_VERSION = "1.0"
FINAL_STATUSES = ("complete", "interrupted", "failed")
STATUSES = ("running", *FINAL_STATUSES)
SEVERITIES = ("info", "warning", "error")

ROW_GROUPS = ("state", "input", "derived", "solver")
"""The groups whose datasets have one row a sample; a reader takes everything it finds there."""

RAGGED_GROUPS = ("contact/", "faces/")
"""Paths of what a row has any number of: contacts, and of these faces with their corners."""

STATUS_BYTES = 12
MESSAGE_BYTES = 240
CLOCK_BYTES = 32
EVENT_TEXT = {"severity": 8, "code": 32, "message": MESSAGE_BYTES}
"""Sizes of the fixed-length UTF-8 texts [bytes]; longer ones are cut."""

ROOT_ATTRIBUTES = {
    "format": "text",
    "format_version": "text",
    "status": "text",
    "exit_code": "integer",
    "message": "text",
    "model_name": "text",
    "quaternion_order": "text",
    "spatial_order": "text",
    "seed": "integer",
    "deterministic": "boolean",
    "model_sha256": "text",
    "config_sha256": "text",
    "mbcli_version": "text",
    "argv": "texts",
    "kernels": "text",
    "fields": "texts",
    "python": "text",
    "platform": "text",
    "cpu": "text",
    "packages": "mapping",
    "blas": "mapping",
}
"""Root attributes and their contents; `texts` and `mapping` are JSON. `seed` is absent if the run has none."""

FIXED_DATASETS = (
    "time",
    "state/q",
    "state/v",
    "events",
    "model/resolved",
    "config/resolved",
    "run/created_utc",
    "run/finished_utc",
    "run/wall_time",
)
"""The datasets of every log, beside the declared fields, model/source/... and checkpoint/..."""

SCENE = "model/scene"
"""How the model is drawn, of a log with poses: UTF-8 of JSON (docs/pictures.md)."""

OFFSET = "contact/offset"
"""First contact of each row among the datasets under /contact, and the end of the last."""

FACES_OFFSET = "faces/offset"
"""First face of each contact, and the end of the last one's; a point has none."""

CORNERS_OFFSET = "faces/corner_offset"
"""First corner of each face among the other datasets under /faces, and the end of the last one's."""

FIELD_PATH = re.compile(rf"({'|'.join(ROW_GROUPS[1:])})/[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*")


@dataclass(frozen=True, slots=True)
class Field:
    """A quantity with one value, or one array of values, a sample.

    Args:
      path: dataset, under input/, derived/ or solver/; contact/ and faces/ for what a row has many of.
      units: UDUNITS spelling ("rad s-1", "N m", "1"); one for all columns, or one a column.
      names: one a column (the elements of row_shape in C order); default: the end of the path, numbered.
      row_shape: () for one number a sample.
      dtype: "f8", "f4" or "i8".
    """

    path: str
    units: str | tuple[str, ...] = "1"
    names: tuple[str, ...] = ()
    row_shape: tuple[int, ...] = ()
    dtype: str = "f8"

    def __post_init__(self):
        columns = prod(self.row_shape)
        fixed = self.path in ("time", "state/q", "state/v") or self.path.startswith(RAGGED_GROUPS)
        if not FIELD_PATH.fullmatch(self.path) and not fixed:
            raise ValueError(f"field path {self.path!r} is not of the form input/NAME, derived/NAME, solver/NAME")
        if self.dtype not in ("f8", "f4", "i8"):
            raise ValueError(f"field {self.path}: dtype {self.dtype!r}, expected f8, f4 or i8")
        units = (self.units,) * columns if isinstance(self.units, str) else tuple(self.units)
        names = tuple(self.names) or self._numbered_names(columns)
        if len(units) != columns or len(names) != columns:
            raise ValueError(f"field {self.path}: {columns} columns, {len(names)} names, {len(units)} units")
        if not all(units):
            raise ValueError(f"field {self.path}: a unit is empty; a number without unit has the unit '1'")
        object.__setattr__(self, "units", units)
        object.__setattr__(self, "names", names)

    def _numbered_names(self, columns):
        name = self.path.rpartition("/")[2]
        return tuple(f"{name}_{i}" for i in range(columns)) if self.row_shape else (name,)


_SPATIAL = ("angular_x", "angular_y", "angular_z", "linear_x", "linear_y", "linear_z")

STANDARD_FIELDS = {
    field.path: field
    for field in (
        Field("derived/energy_kinetic", "J"),
        Field("derived/energy_potential", "J"),
        Field("derived/energy_compliance", "J"),
        Field("derived/momentum", ("N m s",) * 3 + ("N s",) * 3, _SPATIAL, (6,)),
        Field("derived/com", "m", ("x", "y", "z"), (3,)),
        Field("derived/constraint_error", "1"),
        Field("solver/step_size", "s"),
        Field("solver/iterations", "1", dtype="i8"),
        Field("solver/residual", "1"),
        Field("solver/contacts", "1", dtype="i8"),
    )
}
"""Fields with a fixed meaning, by path. `input/u` and POSES are the others: their columns are those of the model."""

POSES = "derived/poses"
_POSE = (("qw", "1"), ("qx", "1"), ("qy", "1"), ("qz", "1"), ("x", "m"), ("y", "m"), ("z", "m"))


def poses_field(body_names: Sequence[str]) -> Field:
    """The field `derived/poses`: quaternion and place in World of each body, World's first."""
    names = tuple(f"{body}:{part}" for body in body_names for part, _ in _POSE)
    units = tuple(unit for _ in body_names for _, unit in _POSE)
    return Field(POSES, units, names, (len(names),))


_AXES = ("x", "y", "z")

VERTICES = "derived/vertices"


def vertices_field(bodies: Sequence[tuple[str, int]]) -> Field:
    """The field `derived/vertices`: places in World of the vertices of deformable bodies (name, number of vertices)."""
    names = tuple(f"{body}:{k}:{axis}" for body, count in bodies for k in range(count) for axis in _AXES)
    return Field(VERTICES, "m", names, (len(names),), "f4")


CONTACT_FIELDS = (
    Field("contact/body_a", dtype="i8"),
    Field("contact/body_b", dtype="i8"),
    Field("contact/geometry_a", dtype="i8"),
    Field("contact/geometry_b", dtype="i8"),
    Field("contact/point", "m", _AXES, (3,)),
    Field("contact/normal", "1", _AXES, (3,)),
    Field("contact/depth", "m"),
    Field("contact/force", "N", _AXES, (3,)),
    Field("contact/slip_speed", "m s-1"),
    Field("contact/separation_speed", "m s-1"),
)
"""The datasets under /contact with one value or vector a contact: row i has those from offset[i] to offset[i + 1]."""

SURFACE_FIELDS = (
    Field("contact/faces", dtype="i8"),
    Field("contact/area", "m2"),
    Field("contact/moment", "N m", _AXES, (3,)),
    Field("contact/mean_pressure", "Pa"),
    Field("contact/largest_pressure", "Pa"),
)
"""More datasets of the same length in the log of a model with compliant geometries, which touch in surfaces."""

MOMENT_FIELDS = tuple(field for field in SURFACE_FIELDS if field.path == "contact/moment")
"""The one of these that the log of a model with torsional or rolling friction has too."""

CORNER_FIELDS = (
    Field("faces/corner", "m", _AXES, (3,)),
    Field("faces/pressure", "Pa"),
)
"""The datasets under /faces with a vector or value for each corner of a face, if the log has the faces of surfaces."""

FACE_FIELDS = (Field(FACES_OFFSET, dtype="i8"), Field(CORNERS_OFFSET, dtype="i8"), *CORNER_FIELDS)
"""All datasets under /faces."""


@dataclass(frozen=True, slots=True)
class ContactNames:
    """The meaning of the numbers in body_a, body_b and in geometry_a, geometry_b.

    surfaces: whether contacts may be surfaces, which have moments; faces: whether the faces of these are logged;
    moments: whether contacts are points and may have moments.
    """

    body_names: tuple[str, ...]
    geometry_names: tuple[str, ...]
    surfaces: bool = False
    faces: bool = False
    moments: bool = False

    @property
    def fields(self) -> tuple[Field, ...]:
        """CONTACT_FIELDS, with surfaces SURFACE_FIELDS too, with moments alone MOMENT_FIELDS."""
        return CONTACT_FIELDS + (SURFACE_FIELDS if self.surfaces else MOMENT_FIELDS * self.moments)

    @property
    def face_fields(self) -> tuple[Field, ...]:
        """FACE_FIELDS if faces are logged."""
        return FACE_FIELDS * self.faces


@dataclass(frozen=True, slots=True, kw_only=True)
class LogHeader:
    """The facts of a run before its first row."""

    model_name: str
    position_names: tuple[str, ...]
    position_units: tuple[str, ...]
    velocity_names: tuple[str, ...]
    velocity_units: tuple[str, ...]
    actuator_names: tuple[str, ...] = ()
    actuator_units: tuple[str, ...] = ()
    # datasets beside time, q and v, in the order in which exports show them
    fields: tuple[Field, ...] = ()
    # of a run that logs its contacts, else None
    contact: ContactNames | None = None
    # parsers.spec.SourceFile: every file that was read
    sources: tuple = ()
    config: str = ""  # the resolved configuration, YAML with all defaults
    model: str = "{}"  # the resolved model, JSON
    scene: str = ""  # how the model is drawn, JSON; "" if the log does not have it
    argv: tuple[str, ...] = ()
    seed: int | None = None
    deterministic: bool = False
    # how kernels were made: "precompiled", "compiled" or "interpreted"; "" if it is not known
    kernels: str = ""
    # an example of the argument of checkpoint(): arrays and numbers by name. Empty: no checkpoints.
    checkpoint: Mapping = field(default_factory=dict)
    # by the same names: one unit, or one a column; "1" for those that are left out
    checkpoint_units: Mapping = field(default_factory=dict)
    # rows to come, if that is known: keeps the file of a short run small
    expected_rows: int | None = None

    def row_fields(self) -> tuple[Field, ...]:
        """Every dataset with one row a sample, `time` first."""
        q_shape, v_shape = (len(self.position_names),), (len(self.velocity_names),)
        fields = (
            Field("time", "s"),
            Field("state/q", self.position_units, self.position_names, q_shape),
            Field("state/v", self.velocity_units, self.velocity_names, v_shape),
            *self.fields,
        )
        paths = [field.path for field in fields]
        if ragged := [path for path in paths if path.startswith(RAGGED_GROUPS)]:
            raise ValueError(f"field {ragged[0]}: contacts have no row a sample, they are declared by `contact`")
        twice = sorted({path for path in paths if paths.count(path) > 1})
        if twice:
            raise ValueError(f"field {twice[0]} is declared twice")
        return fields

    def input_field(self) -> Field:
        """The field `input/u`: actuation, one column an actuator."""
        shape = (len(self.actuator_names),)
        return Field("input/u", self.actuator_units, self.actuator_names, shape)


def columns_of(path: str) -> str:
    """The dataset with the names of the columns of a field: the HDF5 dimension scale of its second dimension."""
    return f"{path.replace('/', '_')}_columns"


def stored_name(path: str, index: int) -> str:
    """The name under /model/source of the file read as number `index`: harmless in any file system."""
    return f"{index:03d}_" + re.sub(r"[^A-Za-z0-9._+-]+", "_", path.rpartition("/")[2])[-100:].lstrip(".")
