"""`mbcli constrained-dynamics`: accelerations under constraints, and the forces and impulses that keep them."""

import click

from mbcli.cli.analysis import Analysis
from mbcli.cli.forward_dynamics import require_finite
from mbcli.cli.options import batch_options, model_options, output_options, state_options
from mbcli.cli.output import named_vector, table
from mbcli.cli.units import acceleration_units


@click.command()
@model_options
@state_options
@batch_options
@click.option("--tau", metavar="LIST", help="Generalized forces, a list or NAME=VALUE pairs; default: 0.")
@click.option("--u", metavar="LIST", help="Actuation, a list or NAME=VALUE pairs; default: 0.")
@output_options
@click.pass_context
def constrained_dynamics(ctx, tau, u, **values):
    """Accelerations, forces of the constraints, and the impulses that make the velocities satisfy them.

    By the range-space method along the tree; rows that depend on others carry no force. M vdot + C v = tau + tau_g +
    G^T lambda with G vdot = gamma; M (v_plus - v) = G^T impulse with G v_plus = 0. Forces of a constraint between
    bodies act on its second body at its point there, in World, rotational part first.

    \b
    mbcli constrained-dynamics four_bar.sdf --state assembled.json --json
    """

    def evaluate(plant, context, inputs):
        from mbcli.multibody.closed_chains import ClosedChains

        vdot = plant.CalcAccelerations(context, inputs.get("tau"), inputs.get("u"))
        require_finite(plant, vdot, lambda: plant.CalcMassMatrix(context))
        chains = ClosedChains(context)
        force, wrenches = (context._multipliers(), context._constraint_forces()) if chains.nrow else ([], [])
        v_plus, impulse = chains.impulses(context._q, context._v)
        forces = [
            {"type": owner.kind, "name": owner.name, "rows": list(tie.numbers), "force": wrench}
            for tie, wrench in zip(context._rows if chains.nrow else [], wrenches, strict=True)
            for owner in [chains.owners[tie.numbers[0]]]
        ]
        return {
            "vdot": vdot,
            "lambda": force,
            "forces": forces,
            "v_plus": v_plus,
            "impulse": impulse,
            "rank": chains.rank(context._q) if chains.nrow else 0,
        }

    Analysis(
        "constrained-dynamics",
        evaluate,
        render,
        takes=("tau", "u"),
        columns=lambda plant, results: {name: value for name, value in results.items() if name != "forces"},
    ).run(ctx, values, {"tau": tau, "u": u})


def render(plant, result):
    text = named_vector(plant.GetVelocityNames(), result["vdot"], acceleration_units(plant))
    rows = [
        [entry["name"] or entry["type"], *map(float, entry["force"])]
        for entry in result["forces"]
        if entry["force"] is not None
    ]
    if rows:
        text += "\n\n" + table(rows, ["constraint", "tx [N m]", "ty", "tz", "fx [N]", "fy", "fz"])
    return text
