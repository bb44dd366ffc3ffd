"""optimize(): a control file in, a plan out, which simulate() runs again."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import NumericalError
from mbcli.log import open_log
from mbcli.optimal_control.control_file import as_control, loaded_for
from mbcli.optimal_control.dynamic_programming import CONVERGED
from mbcli.optimal_control.feedback import PlanFeedback
from mbcli.optimal_control.plan import Plan, Track
from mbcli.simulation.log_target import check_log_target
from mbcli.simulation.recorded_run import RecordedRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.models.loaded_model import LoadedModel
    from mbcli.optimal_control.control_file import ControlFile

FIELDS = "u,effort,energy"  # of the log


def optimize(
    task: Any,
    model: Any = None,
    *,
    log: str | os.PathLike[str] | None = None,
    force: bool = False,
    iterations: int | None = None,
    threads: int | None = None,
) -> Plan:
    """The cheapest motion of a model over a time, found from a first guess, with the gains that lead along it.

    What is found is a least value near the guess, not the least of all. It is never dearer than the guess.

    Args:
        task: a control file (YAML, docs/how-to/control.md), or a mapping with its keys.
        model: files, as load_model() takes them, or a LoadedModel, in place of the one that the file names.
        log: the log of the plan to write: a run of simulate() under the efforts and gains; None: none is written.
        force: replaces an existing log.
        iterations: at most, in place of those of the file.
        threads: that step worlds; default: as many as there are processors.

    Returns:
        The Plan.

    Raises:
        ModelError: of the file, with line and key; of the model.
        ResourceError: a file cannot be read. OutputError: the log exists, or cannot be written.
        NumericalError: the model cannot be run under the guess; nothing cheaper was found and the guess is not optimal.
    """
    file = as_control(task)
    loaded = loaded_for(file, model)
    return plan_of(file, loaded, log=log, force=force, iterations=iterations, threads=threads)


def plan_of(
    file: ControlFile,
    loaded: LoadedModel,
    *,
    log: str | os.PathLike[str] | None = None,
    force: bool = False,
    iterations: int | None = None,
    threads: int | None = None,
    command: Sequence[str] = (),
) -> Plan:
    """As optimize(), of a file that was read and its model. command: for the log."""
    if log is not None:
        check_log_target(os.fspath(log), None, force)
    problem = file.problem(loaded, threads)
    first = problem.search.run(problem.q, problem.v, problem.u)
    if first is None:
        raise NumericalError(f"{file.name}: error: the model does not come to the horizon under the first guess")
    began = perf_counter()
    found = problem.search.improve(first, file.settings.iterations if iterations is None else iterations)
    wall_time = perf_counter() - began
    if found.status != CONVERGED and not found.iterations:
        raise NumericalError(
            f"{file.name}: error: nothing cheaper than the first guess was found, which is not optimal"
        )
    best = found.trajectory
    assert found.K is not None
    track = Track(problem.period * np.arange(len(best.q), dtype=float), best.q, best.v, best.u, found.K)
    costs = [problem.costs.by_label(np.vstack([each.running, each.end])) for each in (best, first)]
    plan = Plan(track, found.status, costs[0], costs[1], found.iterations, wall_time, 0.0)
    plan = replace(plan, difference=_difference(file, loaded, plan, gains=False))
    if log is None:
        return plan
    path = os.fspath(log)
    again = _difference(file, loaded, plan, log=path, force=force, command=command)
    return replace(plan, feedback_difference=again, log=path)


def _difference(
    file: ControlFile,
    loaded: LoadedModel,
    plan: Plan,
    *,
    gains: bool = True,
    log: str | None = None,
    force: bool = False,
    command: Sequence[str] = (),
) -> float:
    """The largest difference of the states of a plan from those of a run under it; log: to be written."""
    stated, _ = file.start(loaded)
    run = RecordedRun(
        loaded,
        until=float(plan.track.time[-1]),
        controller=PlanFeedback(plan, gains=gains),
        pose=file.settings.pose,
        start=stated or None,
        log_rate=0.0,
        fields=FIELDS if log is not None else (),
        command=command,
    )
    try:
        run.prepare()
        run.run(log, force=force, in_memory=log is None)
    finally:
        run.release()  # the plant may be the caller's
    every, track = round(file.settings.period / loaded.plant.time_step()), plan.track
    rows: Any
    with nullcontext(run.memory) if log is None else open_log(log) as rows:
        q, v = (np.asarray(rows.field(f"state/{name}"))[::every] for name in "qv")
    return float(max(np.abs(q - track.q).max(), np.abs(v - track.v).max()))
