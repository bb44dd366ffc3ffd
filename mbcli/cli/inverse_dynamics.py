"""`mbcli inverse-dynamics`: tau for given accelerations."""

import click

from mbcli.cli.analysis import Analysis
from mbcli.cli.constrained_dynamics import (
    WarningOfErrors,
    advice_of_options,
    chosen_inverse,
    columns,
    inverse_options,
    render,
    words,
)
from mbcli.cli.derivatives import WithDerivatives, derivatives_option
from mbcli.cli.external_forces import force_option, parse_body_forces
from mbcli.cli.options import batch_options, model_options, output_options, state_options, usage_errors
from mbcli.cli.output import named_vector
from mbcli.models.units import force_units


@click.command()
@model_options
@state_options
@batch_options
@click.option("--vdot", metavar="LIST", help="Accelerations, a list or NAME=VALUE pairs; default: 0.")
@click.option("--no-gravity", is_flag=True, help="Without gravity.")
@click.option("--no-springs", is_flag=True, help="Without springs on joints.")
@click.option("--no-damping", is_flag=True, help="Without joint damping.")
@force_option
@inverse_options
@derivatives_option
@output_options
@click.pass_context
def inverse_dynamics(
    ctx, vdot, no_gravity, no_springs, no_damping, body_forces, exact, relaxed, actuated, derivatives, **values
):
    """Generalized forces [N m or N] that give the accelerations --vdot at a state.

    tau = M vdot + C v - tau_g - springs - damping - external forces, by recursive Newton-Euler: as if the model had no
    constraints. With --exact or --relaxed constraints carry their part, and tau is zero for joints without an actuator.

    \b
    mbcli inverse-dynamics arm.urdf --q "0 0.5 0 -1 0 0.3 0" --json
    mbcli inverse-dynamics arm.urdf --states motion.csv > torques.jsonl
    mbcli inverse-dynamics four_bar.urdf --state assembled.json --exact --actuated left
    """
    inverse = chosen_inverse(exact, relaxed, actuated=actuated)
    if inverse is not None and derivatives:
        raise click.UsageError(f"--derivatives and --{inverse} exclude each other")
    with_forces, warn = {}, WarningOfErrors(ctx)
    wanted = {"gravity": not no_gravity, "springs": not no_springs, "damping": not no_damping}

    def forces(plant):
        if "F" not in with_forces:
            with_forces["F"] = parse_body_forces(plant, body_forces)
        return with_forces["F"]

    def evaluate(plant, context, inputs):
        return {"tau": plant.CalcRequiredForces(context, inputs.get("vdot"), **wanted, body_forces=forces(plant))}

    def evaluate_constrained(plant, context, inputs):
        from mbcli.models.constrained_motion import constrained_inverse_dynamics

        acting = {**wanted, "body_forces": forces(plant)}
        with advice_of_options(inverse), usage_errors():
            return constrained_inverse_dynamics(
                context, **inputs, method=inverse, actuated=words(actuated), on_errors=warn, **acting
            )

    def evaluate_rows(context, batch, states):
        plant = context.state.plant
        vdot = states.v * 0.0 if states.vdot is None else states.vdot
        return {"tau": batch.inverse_dynamics(states.q, states.v, vdot, **wanted, body_forces=forces(plant))}

    if inverse is not None:
        Analysis("inverse-dynamics", evaluate_constrained, render, takes=("vdot",), columns=columns).run(
            ctx, values, {"vdot": vdot}
        )
        return
    whole = not (no_gravity or no_springs or no_damping or body_forces)
    more = WithDerivatives(derivatives, "tau", ("q", "v", "vdot"), "inverse_dynamics" if whole else None)
    Analysis(
        "inverse-dynamics",
        more.evaluate(evaluate),
        more.render(lambda plant, r: named_vector(plant.GetVelocityNames(), r["tau"], force_units(plant))),
        takes=("vdot",),
        component_names=lambda plant: {"tau": [f"tau:{n}" for n in plant.GetVelocityNames()]},
        evaluate_rows=more.rows(evaluate_rows, evaluate),
    ).run(ctx, values, {"vdot": vdot})
