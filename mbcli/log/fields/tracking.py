"""tracking: how far the joints of a plan are from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.log.datasets import Dataset, Field
from mbcli.log.fields.common import brings_nothing, lacks_nothing

if TYPE_CHECKING:
    from mbcli.log.fields.block import Block
    from mbcli.log.fields.logged_plant import LoggedPlant

TARGET = "input/target"
VELOCITY = "input/target_velocity"
ACCELERATION = "input/target_acceleration"
ERROR = "derived/tracking_error"

WORDS = "motion that a trajectory wants, and errors; by default in runs with one"
BY_DEFAULT = True
REFUSED = False
DATASETS = (
    Dataset(TARGET, ("rad", "m"), "Positions of the trajectory at the time of the row, one column a joint of it.", "n"),
    Dataset(VELOCITY, ("rad s-1", "m s-1"), "Velocities of the trajectory.", "n"),
    Dataset(ACCELERATION, ("rad s-2", "m s-2"), "Accelerations of the trajectory.", "n"),
    Dataset(ERROR, ("rad", "m"), "Positions of these joints less those.", "n"),
)

brings = brings_nothing
lacks = lacks_nothing


def columns(logged: LoggedPlant) -> tuple[Field, ...]:
    """One a joint of the plan."""
    names, units, rates = logged.plan_columns()
    seconds = tuple(f"{unit.removesuffix('s-1')}s-2" for unit in rates)
    return tuple(
        Field(path, own, tuple(f"{name}_{what}" for name in names), (len(names),))
        for path, own, what in (
            (TARGET, units, "target"),
            (VELOCITY, rates, "target_velocity"),
            (ACCELERATION, seconds, "target_acceleration"),
            (ERROR, units, "error"),
        )
    )


def rows(block: Block) -> dict[str, Any]:
    """At the times of the rows."""
    plan = block.logged.lent["plan"]
    q, v, vdot = plan.motions_at(block.samples.time[block.chosen])
    return {TARGET: q, VELOCITY: v, ACCELERATION: vdot, ERROR: block.q[:, plan.places] - q}
