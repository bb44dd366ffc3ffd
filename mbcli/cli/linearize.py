"""`mbcli linearize`: derivatives of the motion by state and actuation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.analysis import Analysis
from mbcli.cli.options import batch_options, model_options, output_options, state_options
from mbcli.cli.output import matrix

if TYPE_CHECKING:
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context


@click.command()
@model_options
@state_options
@batch_options
@click.option("--u", metavar="LIST", help="Actuation, a list or NAME=VALUE pairs; default: 0.")
@click.option("--discrete", is_flag=True, help="Linearize a step of the configured time_step, not the motion in time.")
@output_options
@click.pass_context
def linearize(ctx: click.Context, u: str | None, discrete: bool, **values: Any) -> None:
    """A, B, C, D of the plant about a state, for x = [q; v], the actuation u and the output y = x.

    xdot = f0 + A (x - x0) + B (u - u0); with --discrete the left side is the state after a step, contact included. The
    derivatives are exact to rounding, those of a step in contact to 8 digits or so. The state need not be an
    equilibrium: f0 is its rate of change.

    \b
    mbcli linearize arm.urdf --at elbow=0.3 --json
    """

    def evaluate(plant: MultibodyPlant, context: Context, inputs: dict[str, Any]) -> dict[str, Any]:
        from mbcli.errors import ModelError
        from mbcli.multibody.linearization.motion_derivatives import plant_derivatives
        from mbcli.simulation.controllers import hold_default_positions
        from mbcli.simulation.servo_controls import ServoControls

        if discrete and not plant.is_discrete():
            raise ModelError("--discrete needs a time_step greater than 0 in the configuration")

        hold_default_positions(plant, context)
        if inputs.get("u") is not None:
            plant.get_actuation_input_port().FixValue(context, ServoControls(plant).forces(inputs["u"]))
        A, B, C, D, f0, _, _ = plant_derivatives(plant, context, "actuation", "state", discrete)
        return {
            "A": A,
            "B": B,
            "C": C,
            "D": D,
            "f0": f0,
            "state_names": plant.GetStateNames(),
            "input_names": plant.GetActuatorNames(),
            "time_period": plant.time_step() if discrete else 0.0,
        }

    def render(plant: MultibodyPlant, results: dict[str, Any]) -> str:
        parts = [f"A, {results['A'].shape[0]} states", matrix(results["state_names"], results["A"])]
        parts += ["", "B, columns: " + " ".join(results["input_names"])]
        parts += [
            f"{name}  " + " ".join(f"{value: .6g}" for value in row)
            for name, row in zip(results["state_names"], results["B"], strict=True)
        ]
        return "\n".join(parts)

    Analysis(
        "linearize",
        evaluate,
        render,
        takes=("u",),
        columns=lambda plant, r: {name: r[name] for name in ("A", "B", "f0")},
    ).run(ctx, values, {"u": u})
