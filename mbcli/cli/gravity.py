"""`mbcli gravity`: tau_g(q)."""

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
def gravity(ctx: click.Context, derivatives: bool, **values: Any) -> None:
    """The generalized forces of gravity tau_g(q) [N m or N], as they act: M vdot + C v = tau_g + ...

    A motor that holds the model still applies -tau_g.

    \b
    mbcli gravity arm.urdf --q "0 0.5 0 -1 0 0.3 0"
    """
    more = WithDerivatives(derivatives, "tau_g", ("q",))
    Analysis(
        "gravity",
        more.evaluate(lambda plant, context, inputs: {"tau_g": plant.CalcGravityGeneralizedForces(context)}),
        more.render(lambda plant, r: named_vector(plant.GetVelocityNames(), r["tau_g"], force_units(plant))),
        component_names=lambda plant: {"tau_g": [f"tau_g:{n}" for n in plant.GetVelocityNames()]},
        needs=("q",),
        evaluate_rows=more.rows(lambda context, batch, states: {"tau_g": batch.gravity(states.q)}),
    ).run(ctx, values, {})
