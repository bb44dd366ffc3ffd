"""`mbcli constrained-dynamics`: accelerations under constraints, and the forces and impulses that keep them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.analysis import Analysis, analysis_command, analysis_output
from mbcli.cli.options import together, usage_errors
from mbcli.cli.output import named_vector, table
from mbcli.errors import NumericalError, UnsolvableError
from mbcli.models.units import acceleration_units, force_units
from mbcli.simulation.controllers import without_controllers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context

VIOLATED = 1e-8  # [m, m/s or 1]: errors of a state above it are more than rounding
METHODS = ("range-space", "direct", "null-space", "kokkevis")

inverse_options = together(
    click.option(
        "--exact",
        is_flag=True,
        help="Inverse dynamics under the constraints: the actuator forces that give the accelerations --vdot.",
    ),
    click.option(
        "--relaxed",
        is_flag=True,
        help="Like --exact, but as close to --vdot as possible, even with too few actuators.",
    ),
    click.option(
        "--actuated",
        metavar="LIST",
        help="Which velocities have an actuator for --exact and --relaxed; default: those of the model's actuators.",
    ),
)


@analysis_command
@click.option("--tau", metavar="LIST", help="Generalized forces, a list or NAME=VALUE pairs; default: 0.")
@click.option("--u", metavar="LIST", help="Actuation, a list or NAME=VALUE pairs; default: 0.")
@click.option("--method", type=click.Choice(METHODS), help="How the equations are solved; default: range-space.")
@inverse_options
@click.option("--vdot", metavar="LIST", help="Wanted accelerations, a list or NAME=VALUE pairs; default: 0.")
@analysis_output
def constrained_dynamics(
    ctx: click.Context,
    tau: str | None,
    u: str | None,
    vdot: str | None,
    method: str | None,
    exact: bool,
    relaxed: bool,
    actuated: str | None,
    **values: Any,
) -> None:
    """Accelerations, forces of the constraints, and the impulses that make the velocities satisfy them.

    M vdot + C v = tau + tau_g + G^T lambda with G vdot = gamma; M (v_plus - v) = G^T impulse with G v_plus = 0. Forces
    of a constraint between bodies act on its second body at its point there, in World, rotational part first.

    \b
    --method range-space   first the multipliers, along the tree (the fastest)
             direct        all unknowns at once; dependent equations are an error
             null-space    first the accelerations; the mass matrix may be singular
             kokkevis      contacts alone, by test forces; dependent ones are an error

    With --exact or --relaxed tau has the forces that actuators must give, vdot the resulting accelerations.

    position_error and velocity_error are the norms of the constraints' errors at the state. If they are not zero, a
    warning says so: accelerations and forces then belong to another motion, and `mbcli assemble` finds the nearest
    valid state.

    \b
    mbcli constrained-dynamics four_bar.urdf --state assembled.json --json
    mbcli constrained-dynamics leg.xml --constraints stand.yaml --method null-space
    mbcli constrained-dynamics four_bar.urdf --state assembled.json --exact --actuated crank
    """
    inverse = chosen_inverse(exact, relaxed, vdot=vdot, actuated=actuated)
    if inverse is not None and (method is not None or tau is not None or u is not None):
        raise click.UsageError(f"--{inverse} finds the forces: no --method, --tau, --u")

    warn = WarningOfErrors(ctx)
    chosen = inverse or method or METHODS[0]

    def evaluate(plant: MultibodyPlant, context: Context, inputs: dict[str, Any]) -> dict[str, Any]:
        from mbcli.models.constrained_motion import constrained_dynamics

        with advice_of_options(inverse), usage_errors():
            return constrained_dynamics(context, **inputs, method=chosen, actuated=words(actuated), on_errors=warn)

    Analysis(
        "constrained-dynamics",
        evaluate,
        render,
        takes=("tau", "u") if inverse is None else ("vdot",),
        columns=columns,
        by_cube=True,
        notes=lambda loaded: [] if inverse else without_controllers(loaded.plant, "constrained-dynamics"),
    ).run(ctx, values, {"tau": tau, "u": u, "vdot": vdot})


@contextmanager
def advice_of_options(inverse: str | None) -> Iterator[None]:
    """A system that a method cannot solve, with the option that can."""
    try:
        yield
    except UnsolvableError as error:
        option = "--relaxed" if inverse == "exact" else "--method null-space or range-space"
        raise NumericalError(f"{error.fact}; use {option}") from None


class WarningOfErrors:
    """Reports once that states violate their constraints."""

    def __init__(self, ctx: click.Context) -> None:
        self._silent = (ctx.obj or {}).get("verbosity", 0) < 0

    def __call__(self, errors: dict[str, float]) -> None:
        if self._silent or max(errors.values()) <= VIOLATED:
            return
        self._silent = True
        click.secho(
            f"mbcli: warning: the state violates its constraints: position error {errors['position_error']:.3g}, "
            f"velocity error {errors['velocity_error']:.3g}; `mbcli assemble` finds the nearest state that does not",
            err=True,
            fg="yellow",
        )


def chosen_inverse(exact: bool, relaxed: bool, **options: Any) -> str | None:
    """ "exact", "relaxed" or None. UsageError for both, or for options of theirs that are given with neither."""
    if exact and relaxed:
        raise click.UsageError("--exact and --relaxed exclude each other")
    for name, value in options.items():
        if not exact and not relaxed and value is not None:
            raise click.UsageError(f"--{name} is for --exact and --relaxed")
    return "exact" if exact else "relaxed" if relaxed else None


def words(text: str | None) -> list[str] | None:
    """The words of a list; None of None."""
    return None if text is None else text.replace(",", " ").split()


def columns(plant: MultibodyPlant, results: dict[str, Any]) -> dict[str, Any]:
    """The results that a row of a batch has."""
    return {name: value for name, value in results.items() if name not in ("method", "forces")}


def render(plant: MultibodyPlant, result: dict[str, Any]) -> str:
    names = plant.GetVelocityNames()
    blocks = [named_vector(names, result["vdot"], acceleration_units(plant))]
    if result["method"] in ("exact", "relaxed"):
        forces = named_vector(names, result["tau"], force_units(plant))
        blocks = [f"forces of the actuators\n{forces}", f"accelerations\n{blocks[0]}"]
    rows = [
        [entry["name"] or f"{entry['type']} at {' and '.join(entry['bodies'])}", *map(float, entry["force"])]
        for entry in result["forces"]
        if entry["force"] is not None
    ]
    if rows:
        blocks.append(table(rows, ["constraint", "tx [N m]", "ty", "tz", "fx [N]", "fy", "fz"]))
    return "\n\n".join(blocks)
