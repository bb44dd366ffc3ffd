"""`mbcli bias`: C(q,v)v."""

from __future__ import annotations

from typing import Any

import click

from mbcli.cli.analysis import Analysis, analysis_command, analysis_output
from mbcli.cli.derivatives import WithDerivatives, derivatives_option
from mbcli.cli.output import named_vector
from mbcli.models.units import force_units


@analysis_command
@derivatives_option
@analysis_output
def bias(ctx: click.Context, derivatives: bool, **values: Any) -> None:
    """The bias term C(q,v)v [N m or N]: Coriolis, centripetal and gyroscopic forces, no gravity.

    \b
    mbcli bias arm.urdf --random 1
    """
    more = WithDerivatives(derivatives, "Cv", ("q", "v"))
    Analysis(
        "bias",
        more.evaluate(lambda plant, context, inputs: {"Cv": plant.CalcBiasTerm(context)}),
        more.render(lambda plant, r: named_vector(plant.GetVelocityNames(), r["Cv"], force_units(plant))),
        component_names=lambda plant: {"Cv": [f"Cv:{n}" for n in plant.GetVelocityNames()]},
        evaluate_rows=more.rows(lambda context, batch, states: {"Cv": batch.bias_term(states.q, states.v)}),
    ).run(ctx, values, {})
