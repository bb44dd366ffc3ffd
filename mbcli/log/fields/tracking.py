"""tracking: how far the joints of a plan are from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.log.datasets import Dataset, Field
from mbcli.log.fields.common import brings_nothing, lacks_nothing

if TYPE_CHECKING:
    from mbcli.log.fields.block import Block
    from mbcli.log.fields.logged_plant import LoggedPlant

TARGET = "input/target"
ERROR = "derived/tracking_error"

WORDS = "positions that a trajectory wants, and errors; by default in runs with one"
BY_DEFAULT = True
REFUSED = False
DATASETS = (
    Dataset(TARGET, ("rad", "m"), "Positions of the trajectory at the time of the row, one column a joint of it.", "n"),
    Dataset(ERROR, ("rad", "m"), "Positions of these joints less those.", "n"),
)

brings = brings_nothing
lacks = lacks_nothing


def columns(logged: LoggedPlant) -> tuple[Field, ...]:
    """One a joint of the plan."""
    names, units = logged.plan_columns()
    return tuple(
        Field(path, units, tuple(f"{name}_{what}" for name in names), (len(names),))
        for path, what in ((TARGET, "target"), (ERROR, "error"))
    )


def rows(block: Block) -> dict[str, Any]:
    """At the times of the rows."""
    plan, times = block.logged.plan, block.samples.time[block.chosen]
    target = plan.positions_at(times)
    return {TARGET: target, ERROR: block.q[:, plan.places] - target}
