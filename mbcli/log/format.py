"""The parts of a log: root attributes, datasets that every log has, and the header that a run gives.

`fields` has what a run can log beside these.

docs/reference/log_format.md describes the same for readers of the files, schemas/log.schema.json for programs; a test
holds the three together. This module needs neither h5py nor numpy.
"""

import re
from collections.abc import Mapping
from dataclasses import field

from mbcli.common.fast_dataclass import dataclass
from mbcli.log.datasets import RAGGED_GROUPS, Field
from mbcli.log.fields.contact import contact_fields
from mbcli.log.fields.faces import FACE_FIELDS
from mbcli.log.fields.u import actuation_field

FORMAT = "mbcli-log"
FORMAT_VERSION = "1.8"
WORLDS_FORMAT = "mbcli-worlds"  # of logs of many worlds, see worlds.py
WORLDS_VERSION = "1.5"
FINAL_STATUSES = ("complete", "interrupted", "failed")
STATUSES = ("running", *FINAL_STATUSES)
SEVERITIES = ("info", "warning", "error")

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
"""How the model is drawn, of a log with poses: UTF-8 of JSON (docs/how-to/pictures.md)."""


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
        """Those with one value or vector a contact."""
        return contact_fields(self.surfaces, self.moments)

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
        return actuation_field(self.actuator_names, self.actuator_units)


def columns_of(path: str) -> str:
    """The dataset with the names of the columns of a field: the HDF5 dimension scale of its second dimension."""
    return f"{path.replace('/', '_')}_columns"


def stored_name(path: str, index: int) -> str:
    """The name under /model/source of the file read as number `index`: harmless in any file system."""
    return f"{index:03d}_" + re.sub(r"[^A-Za-z0-9._+-]+", "_", path.rpartition("/")[2])[-100:].lstrip(".")
