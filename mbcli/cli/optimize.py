"""`mbcli optimize`: the efforts that cost least over a time, as a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mbcli.cli.output import document, emit, number, refuse_given_inputs, table, warn
from mbcli.cli.plan_option import words_of_run
from mbcli.common.json_text import to_json
from mbcli.common.number_text import counted

if TYPE_CHECKING:
    from mbcli.optimal_control.plan import Plan

WHY = {
    "converged": "no step is left that would make it cheaper",
    "iterations": "there are no more iterations: --iterations",
    "stuck": "no step was found that makes it cheaper, though one was expected",
}

SAME = 1e-9  # [rad, m, rad/s or m/s]: motions that differ less are the same


@click.command()
@click.argument("model", required=False, metavar="[MODEL]")
@click.option(
    "--task",
    required=True,
    metavar="FILE",
    help="What is wanted: costs, limits of efforts, horizon and start (docs/how-to/control.md).",
)
@click.option("--iterations", type=click.IntRange(min=1), metavar="N", help="At most, in place of those of the file.")
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="That step; default: all processors.")
@click.option("-o", "--output", metavar="FILE", help="The log of the plan to write, of a run of `simulate` under it.")
@click.option("--force", is_flag=True, help="Replace an existing log.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def optimize(
    ctx: click.Context,
    model: str | None,
    task: str,
    iterations: int | None,
    threads: int | None,
    output: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """The efforts that cost least over a time, within limits, from a first guess, and the feedback about them.

    The search is differential dynamic programming with limits of efforts, on derivatives of the steps of `simulate`,
    contact included. What it finds is the best near the guess, not the best of all, and never dearer than the guess. If
    nothing cheaper is found and the guess is not the best itself, the exit code is 5 and no log is written.

    \b
    mbcli optimize --task swing.control.yaml -o plan.h5
    mbcli simulate cart_pole.sdf --dt 0.005 --controller plan.h5 --push "rod=2,0,0 from 1 to 1.1"
    """
    from mbcli.optimal_control.control_file import loaded_for, read_control
    from mbcli.optimal_control.optimizing import plan_of

    if output is not None:
        refuse_given_inputs(output)
    file = read_control(task)
    loaded = loaded_for(file, model)
    stated, _ = file.start(loaded)
    command = () if output is None else words_of_run(file, model, stated, output)
    plan = plan_of(file, loaded, log=output, force=force, iterations=iterations, threads=threads, command=command)
    if not plan.converged:
        warn(f"the search has not converged: {WHY[plan.status]}")
    if as_json:
        emit(to_json(document("optimize", loaded, task=task, **plan.as_dict())))
        return
    emit("\n".join(_lines(plan)))


def _lines(plan: Plan) -> list[str]:
    rows = [[name, number(plan.start_costs[name]), number(cost)] for name, cost in plan.costs.items()]
    rows.append(["in all", number(plan.start_cost), number(plan.cost)])
    lines = [
        f"{counted(len(plan.iterations), 'iteration')}: {WHY[plan.status]}",
        "",
        table(rows, ["cost", "of the guess", "of the plan"]),
        "",
        f"a run of simulate under its efforts {_differs(plan.difference)} the plan",
    ]
    if plan.feedback_difference is not None:
        lines.append(
            f"plan: {plan.log}, a run under its efforts and gains, which {_differs(plan.feedback_difference)} it"
        )
    return lines


def _differs(difference: float) -> str:
    return "is" if difference <= SAME else f"differs by up to {difference:.2g} from"
