"""`mbcli forward-dynamics`: accelerations for given forces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.analysis import Analysis, analysis_command, analysis_output
from mbcli.cli.derivatives import WithDerivatives, derivatives_option
from mbcli.cli.external_forces import force_option, parse_body_forces
from mbcli.cli.output import named_vector
from mbcli.models.units import acceleration_units
from mbcli.simulation.controllers import without_controllers

if TYPE_CHECKING:
    from types import SimpleNamespace

    from mbcli.engine.queries.state_batch import StateBatch
    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context


@analysis_command
@click.option("--tau", metavar="LIST", help="Generalized forces, a list or NAME=VALUE pairs; default: 0.")
@click.option("--u", metavar="LIST", help="Actuation, a list or NAME=VALUE pairs; default: 0.")
@force_option
@derivatives_option
@analysis_output
def forward_dynamics(
    ctx: click.Context, tau: str | None, u: str | None, body_forces: tuple[str, ...], derivatives: bool, **values: Any
) -> None:
    """Accelerations vdot at a state under gravity, springs, joint damping and the given forces.

    By the articulated-body algorithm. --tau and --u add up.

    \b
    mbcli forward-dynamics arm.urdf --u "motor_1=5 motor_2=-2"
    """
    with_forces = {}

    def forces(plant: MultibodyPlant) -> FloatArray:
        if "F" not in with_forces:
            with_forces["F"] = parse_body_forces(plant, body_forces)
        return with_forces["F"]

    def evaluate(plant: MultibodyPlant, context: Context, inputs: dict[str, Any]) -> dict[str, Any]:
        from mbcli.multibody.stepping.missing_mass import require_finite

        vdot = plant.CalcAccelerations(context, inputs.get("tau"), inputs.get("u"), forces(plant))
        require_finite(plant, vdot, lambda: plant.CalcMassMatrix(context))
        return {"vdot": vdot}

    def evaluate_rows(context: Context, batch: StateBatch, states: SimpleNamespace) -> dict[str, Any]:
        import numpy as np

        from mbcli.multibody.stepping.missing_mass import require_finite

        plant = context.state.plant
        if plant.elements.constraints:
            return rows_under_constraints(plant, states)
        tau = batch.generalized_forces(states.tau, states.u, len(states.q))
        vdot = batch.forward_dynamics(states.q, states.v, tau, body_forces=forces(plant))
        for k in (~np.isfinite(vdot).all(axis=1)).nonzero()[0]:
            # mypy infers no lambda that has a default
            # mypy does not infer defaults of a lambda
            require_finite(plant, vdot[k], lambda k=k: batch.mass_matrix(states.q[k : k + 1])[0])  # type: ignore[misc]
        return {"vdot": vdot}

    def rows_under_constraints(plant: MultibodyPlant, states: SimpleNamespace) -> dict[str, Any]:
        context, rows = plant.CreateDefaultContext(), []
        for k, (q, v) in enumerate(zip(states.q, states.v, strict=True)):
            plant.SetPositions(context, q)
            plant.SetVelocities(context, v)
            given = {name: values[k] for name in ("tau", "u") if (values := getattr(states, name)) is not None}
            rows.append(evaluate(plant, context, given)["vdot"])
        return {"vdot": rows}

    calculation = None if body_forces else "forward_dynamics"
    more = WithDerivatives(derivatives, "vdot", ("q", "v", "tau", "u"), calculation)
    Analysis(
        "forward-dynamics",
        more.evaluate(evaluate),
        more.render(lambda plant, r: named_vector(plant.GetVelocityNames(), r["vdot"], acceleration_units(plant))),
        takes=("tau", "u"),
        component_names=lambda plant: {"vdot": [f"vdot:{n}" for n in plant.GetVelocityNames()]},
        evaluate_rows=more.rows(evaluate_rows, evaluate),
        notes=lambda loaded: without_controllers(loaded.plant, "forward-dynamics"),
    ).run(ctx, values, {"tau": tau, "u": u})
