"""`mbcli energy`: energies and powers at a state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.analysis import Analysis, analysis_command, analysis_output
from mbcli.cli.output import table

if TYPE_CHECKING:
    from types import SimpleNamespace

    from mbcli.engine.queries.state_batch import StateBatch
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context


@analysis_command
@click.option("--bodies", "per_body", is_flag=True, help="Also for each body (without --states).")
@analysis_output
def energy(ctx: click.Context, per_body: bool, **values: Any) -> None:
    """Kinetic and potential energy [J] and power [W] at a state.

    The kinetic energy counts the reflected inertia of actuators, the potential energy gravity (zero at the world's
    origin) and springs. The conservative power is the rate at which gravity and springs give energy to the motion. The
    non-conservative power is that of other forces of force elements, as CalcNonConservativePower() counts it. Damping
    of joints has its own line.

    \b
    mbcli energy robot.urdf --random 3 --bodies
    """
    if per_body and values["states"] is not None:
        raise click.UsageError("--bodies is for one state")

    def evaluate(plant: MultibodyPlant, context: Context, inputs: dict[str, Any]) -> dict[str, Any]:
        result = {
            "kinetic": plant.CalcKineticEnergy(context),
            "potential": plant.CalcPotentialEnergy(context),
            "conservative_power": plant.CalcConservativePower(context),
            "nonconservative_power": plant.CalcNonConservativePower(context),
            "joint_damping_power": plant.CalcJointDampingPower(context),
        }
        if per_body:
            result["bodies"] = plant.CalcBodyEnergies(context)
        return result

    def evaluate_rows(context: Context, batch: StateBatch, states: SimpleNamespace) -> dict[str, Any]:
        energy, power = batch.energy(states.q, states.v)
        names = ("kinetic", "potential", "conservative_power", "nonconservative_power", "joint_damping_power")
        return dict(zip(names, (*energy.T, *power.T), strict=True))

    Analysis("energy", evaluate, render, evaluate_rows=evaluate_rows).run(ctx, values, {})


def render(plant: MultibodyPlant, results: dict[str, Any]) -> str:
    lines = [
        ["kinetic energy", results["kinetic"], "J"],
        ["potential energy", results["potential"], "J"],
        ["conservative power", results["conservative_power"], "W"],
        ["non-conservative power", results["nonconservative_power"], "W"],
        ["power of joint damping", results["joint_damping_power"], "W"],
    ]
    text = table(lines)
    if "bodies" in results:
        rows = [[name, e["kinetic"], e["potential"]] for name, e in results["bodies"].items()]
        text += "\n\n" + table(rows, ["body", "kinetic [J]", "potential [J]"])
    return text
