"""vertices: where the vertices of deformable bodies are; poses bring the scene, which has their surfaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.log.datasets import AXES, Dataset, Field

if TYPE_CHECKING:
    from mbcli.log.fields.block import Block
    from mbcli.log.fields.logged_plant import LoggedPlant

VERTICES = "derived/vertices"

WORDS = "places of the vertices of deformable bodies; brings poses"
BY_DEFAULT = True
REFUSED = False
DATASETS = (Dataset(VERTICES, "m", "Place in World of each vertex of each deformable body.", "3 V", "f4"),)


def lacks(plant: Any) -> str:
    """It needs deformable bodies."""
    return "" if plant.elements.deformable_bodies else "the model has no deformable bodies"


def brings(plant: Any) -> tuple[str, ...]:
    """poses, where there are vertices."""
    return () if lacks(plant) else ("poses",)


def columns(logged: LoggedPlant) -> tuple[Field, ...]:
    """Three a vertex."""
    bodies = logged.plant.elements.deformable_bodies
    names = tuple(
        f"{body.full_name()}:{k}:{axis}" for body in bodies for k in range(len(body.reference)) for axis in AXES
    )
    return (Field(VERTICES, "m", names, (len(names),), "f4"),)


def rows(block: Block) -> dict[str, Any]:
    """The run has sampled them."""
    return {VERTICES: block.of_deformables()}
