"""poses: where all bodies are, with which a log is replayed without its model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.log.datasets import Dataset, Field
from mbcli.log.fields.common import brings_nothing, lacks_nothing

if TYPE_CHECKING:
    from mbcli.log.fields.block import Block
    from mbcli.log.fields.logged_plant import LoggedPlant

POSES = "derived/poses"
PARTS = {"qw": "1", "qx": "1", "qy": "1", "qz": "1", "x": "m", "y": "m", "z": "m"}

WORDS = "pose of each body: the log can be replayed without its model"
BY_DEFAULT = False
REFUSED = False
DATASETS = (
    Dataset(
        POSES,
        ("1", "m"),
        "Pose in World of each body, World's first: quaternion w, x, y, z, then the place of its frame.",
        "7 B",
    ),
)

lacks = lacks_nothing
brings = brings_nothing


def columns(logged: LoggedPlant) -> tuple[Field, ...]:
    """Seven a body."""
    names = tuple(f"{body}:{part}" for body in logged.body_names for part in PARTS)
    return (Field(POSES, tuple(PARTS.values()) * len(logged.body_names), names, (len(names),)),)


def rows(block: Block) -> dict[str, Any]:
    """X_WB of all bodies at each state."""
    from mbcli.log.fields.body_poses import body_poses  # numpy, which help does without

    size = len(PARTS) * block.logged.plant.num_bodies()
    return {POSES: block.at_states(size, lambda plant, context: body_poses(plant, context).reshape(-1))}
