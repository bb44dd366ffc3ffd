"""`mbcli linearize`: derivatives of the motion by state and actuation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.analysis import Analysis
from mbcli.cli.options import (
    GroundCommand,
    batch_options,
    ground_option,
    model_options,
    output_options,
    state_options,
)
from mbcli.cli.output import matrix

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context


@click.command(cls=GroundCommand)
@model_options
@state_options
@batch_options
@click.option("--u", metavar="LIST", help="Actuation, a list or NAME=VALUE pairs; default: 0.")
@click.option("--discrete", is_flag=True, help="Linearize a step of the configured time_step, not the motion in time.")
@ground_option
@output_options
@click.pass_context
def linearize(ctx: click.Context, u: str | None, discrete: bool, ground: float | None, **values: Any) -> None:
    """A, B, C, D of the plant about a state, for x = [q; v], the actuation u and the output y = x.

    xdot = f0 + A (x - x0) + B (u - u0); with --discrete the left side is the state after a step of `simulate`: solids
    touch, joints meet their limits, inputs end at effort limits. u means what it means there: controls of servos, else
    efforts. The derivatives are exact to rounding, those of a step in contact to 8 digits or so. Where a contact, a
    limit or friction switches just at the state a step has none: exit code 5. The state need not be an equilibrium: f0
    is its rate of change. Controllers of actuators act as in runs, but for effort limits without --discrete.

    \b
    mbcli linearize arm.urdf --at elbow=0.3 --json
    mbcli linearize cart.sdf --discrete --at hinge=3.14
    """
    if ground is not None and not discrete:
        raise click.UsageError("--ground needs --discrete: motion in time is without contact")

    def evaluate(plant: MultibodyPlant, context: Context, inputs: dict[str, Any]) -> dict[str, Any]:
        from mbcli.errors import ModelError
        from mbcli.multibody.linearization.motion_derivatives import plant_derivatives
        from mbcli.simulation.controllers import efforts_at_state, hold_default_positions

        if discrete and not plant.is_discrete():
            raise ModelError("--discrete needs a time_step greater than 0 in the configuration")

        hold_default_positions(plant, context)
        actuation, slopes = actuation_of(plant, inputs.get("u"), discrete)
        by_state = None
        if not discrete:  # a step has the controllers in itself
            held, by_state = efforts_at_state(plant, plant.GetPositions(context), plant.GetVelocities(context))
            actuation = actuation + held
        plant.get_actuation_input_port().FixValue(context, actuation)
        A, B, C, D, f0, _, _ = plant_derivatives(plant, context, "actuation", "state", discrete)
        A = A if by_state is None else A + B @ by_state
        return {
            "A": A,
            "B": B * slopes,
            "C": C,
            "D": D * slopes,
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
        loading={"contact": discrete, "ground": ground},
        by_cube=True,
        notes=lambda loaded: differences_from_runs(loaded, discrete),
    ).run(ctx, values, {"u": u})


def actuation_of(plant: MultibodyPlant, given: FloatArray | None, in_step: bool) -> tuple[FloatArray, FloatArray]:
    """The actuation (nu,) [N m or N] that inputs (nu,) are, of a step as a run limits it; by what it changes with each.

    given: as --u of `simulate` has it; None: nothing is asked.
    """
    import numpy as np

    from mbcli.multibody.stepping.inputs import constant_input
    from mbcli.simulation.effort_limits import clamped, not_beyond
    from mbcli.simulation.servo_controls import ServoControls

    servos = ServoControls(plant)
    values = np.full(plant.num_actuators(), np.nan) if given is None else given
    u = servos.forces(values)
    slopes = servos.slopes(values)
    if not in_step:
        return u, slopes
    return clamped(plant, constant_input(u)).values[0], slopes * not_beyond(plant, u)


def differences_from_runs(loaded: LoadedModel, in_step: bool) -> list[str]:
    """What a linearization of a step has not of a run, and what contact leaves out."""
    from mbcli.common.coordinate_names import listed
    from mbcli.models.loading import notes_on_contact

    if not in_step:
        return []
    plant, lines = loaded.plant, notes_on_contact(loaded)
    if plant.elements.plugins:
        lines.append("linearize is without the plugins of the model, which act in runs")
    if plant.asks_to_be_held:
        lines.append(
            "linearize is without the controllers with which the configuration holds and drives joints in runs"
        )
    if plant.activation_names():
        names = listed(plant.activation_names())
        lines.append(f"linearize: activations stay at their defaults, they are no part of the state: {names}")
    return lines
