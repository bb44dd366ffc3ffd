"""`mbcli inverse-dynamics`: tau for given accelerations."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.analysis import Analysis, Completion, analysis_command, analysis_output
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
from mbcli.cli.options import Number, usage_errors
from mbcli.cli.output import named_vector, printable, table, tell
from mbcli.errors import ModelError
from mbcli.models.units import force_units

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import SimpleNamespace

    from mbcli.batch.state_reader import StateChunk
    from mbcli.engine.queries.state_batch import StateBatch
    from mbcli.math.array_types import Array, FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context

ZERO, DIFFERENTIATE = "zero", "differentiate"


@analysis_command
@click.option(
    "--vdot",
    metavar="LIST|zero|differentiate",
    help="Accelerations, a list or NAME=VALUE pairs; default of a single state: 0. For --states without columns "
    "vdot:NAME: zero, or differentiate: rates of the velocities (without these of the positions) over time.",
)
@click.option(
    "--cutoff",
    type=Number(minimum=0.0),
    metavar="HZ",
    help="With --vdot differentiate: cut-off frequency of the filter; default: a quarter of the rows per second.",
)
@click.option("--no-gravity", is_flag=True, help="Without gravity.")
@click.option("--no-springs", is_flag=True, help="Without springs on joints.")
@click.option("--no-damping", is_flag=True, help="Without joint damping.")
@click.option(
    "--reactions",
    is_flag=True,
    help="Also the spatial force in each joint, welds included, and the accelerations A_WB of bodies.",
)
@force_option
@inverse_options
@derivatives_option
@analysis_output
def inverse_dynamics(
    ctx: click.Context,
    vdot: str | None,
    cutoff: float | None,
    no_gravity: bool,
    no_springs: bool,
    no_damping: bool,
    reactions: bool,
    body_forces: tuple[str, ...],
    exact: bool,
    relaxed: bool,
    actuated: str | None,
    derivatives: bool,
    **values: Any,
) -> None:
    """Generalized forces [N m or N] that give the accelerations --vdot at a state.

    tau = M vdot + C v - tau_g - springs - damping - external forces, by recursive Newton-Euler: as if the model had no
    constraints. With --exact or --relaxed constraints carry their share of the load, and tau is zero for joints without
    an actuator. Rows of --states give accelerations as columns vdot:NAME; otherwise --vdot gives them.

    \b
    mbcli inverse-dynamics arm.urdf --q "0 0.5 0 -1 0 0.3 0" --json
    mbcli inverse-dynamics arm.urdf --states motion.csv --vdot differentiate > torques.jsonl
    mbcli inverse-dynamics four_bar.urdf --state assembled.json --exact --actuated crank
    """
    inverse = chosen_inverse(exact, relaxed, actuated=actuated)
    source = SourceOfAccelerations(ctx, vdot, cutoff, values["states"])
    vdot = source.given
    if reactions and (inverse or derivatives or no_gravity or no_springs or no_damping or values["states"]):
        raise click.UsageError("--reactions is for one state, with all forces and without constraints' methods")
    if inverse is not None and derivatives:
        raise click.UsageError(f"--derivatives and --{inverse} exclude each other")
    with_forces, warn = {}, WarningOfErrors(ctx)
    wanted = {"gravity": not no_gravity, "springs": not no_springs, "damping": not no_damping}

    def forces(plant: MultibodyPlant) -> FloatArray:
        if "F" not in with_forces:
            with_forces["F"] = parse_body_forces(plant, body_forces)
        return with_forces["F"]

    def evaluate(plant: MultibodyPlant, context: Context, inputs: dict[str, Any]) -> dict[str, Any]:
        F = forces(plant)
        result = {"tau": plant.CalcRequiredForces(context, inputs.get("vdot"), **wanted, body_forces=F)}
        return result | (reactions_of(plant, context, inputs.get("vdot"), F) if reactions else {})

    def evaluate_constrained(plant: MultibodyPlant, context: Context, inputs: dict[str, Any]) -> dict[str, Any]:
        from mbcli.models.constrained_motion import constrained_inverse_dynamics

        assert inverse is not None
        acting: dict[str, Any] = {**wanted, "body_forces": forces(plant)}
        with advice_of_options(inverse), usage_errors():
            return constrained_inverse_dynamics(
                context, **inputs, method=inverse, actuated=words(actuated), on_errors=warn, **acting
            )

    def evaluate_rows(context: Context, batch: StateBatch, states: SimpleNamespace) -> dict[str, Any]:
        plant = context.state.plant
        return {"tau": batch.inverse_dynamics(states.q, states.v, states.vdot, **wanted, body_forces=forces(plant))}

    if inverse is not None:
        Analysis(
            "inverse-dynamics",
            evaluate_constrained,
            render,
            takes=("vdot",),
            columns=columns,
            complete=source.completion(),
        ).run(ctx, values, {"vdot": vdot})
        return
    whole = not (no_gravity or no_springs or no_damping or body_forces)
    more = WithDerivatives(derivatives, "tau", ("q", "v", "vdot"), "inverse_dynamics" if whole else None)
    Analysis(
        "inverse-dynamics",
        more.evaluate(evaluate),
        more.render(render_with_reactions),
        takes=("vdot",),
        complete=source.completion(),
        component_names=lambda plant: {"tau": [f"tau:{n}" for n in plant.GetVelocityNames()]},
        evaluate_rows=more.rows(evaluate_rows, evaluate),
    ).run(ctx, values, {"vdot": vdot})


def reactions_of(
    plant: MultibodyPlant, context: Context, vdot: FloatArray | None, body_forces: FloatArray | None
) -> dict[str, Any]:
    """{"reactions": a dict for each joint, "accelerations": {body: A_WB (6,)}} of a motion."""
    import numpy as np

    from mbcli.multibody.tree import MultibodyForces

    acting = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, acting)
    if body_forces is not None:
        acting.F_Bo_W += body_forces
    vdot = np.zeros(plant.num_velocities()) if vdot is None else vdot
    A_WB = plant.CalcSpatialAccelerationsFromVdot(context, vdot)
    found = []
    joints = plant.elements.joints
    for joint, force in zip(joints, plant.CalcReactionForces(context, vdot, acting), strict=True):
        R_WM = joint.frame_on_child().CalcPoseInWorld(context).rotation().matrix()
        found.append(
            {
                "joint": joint.name(),
                "body": joint.child_body().name(),
                "frame": joint.frame_on_child().name(),
                "F_BMo_M": force.get_coeffs(),
                "F_BMo_W": np.concatenate([R_WM @ force.rotational(), R_WM @ force.translational()]),
            }
        )
    names = [body.name() for body in plant.elements.bodies]
    bodies = [{"body": name, "A_WB": A.get_coeffs()} for name, A in zip(names, A_WB, strict=True)]
    return {"reactions": found, "accelerations": bodies}


def render_with_reactions(plant: MultibodyPlant, result: dict[str, Any]) -> str:
    """Generalized forces for people, and the forces in joints if they are there."""
    text = named_vector(plant.GetVelocityNames(), result["tau"], force_units(plant))
    if "reactions" not in result:
        return text
    header = ("joint", "on body", "at frame", "moment x, y, z [N m] in W", "force x, y, z [N] in W")
    rows = []
    for each in result["reactions"]:
        parts = each["F_BMo_W"][:3], each["F_BMo_W"][3:]
        rows.append((*(printable(each[key]) for key in ("joint", "body", "frame")), *(_triple(part) for part in parts)))
    return f"{text}\n\n{table(rows, header)}"


def _triple(vector: Iterable[float]) -> str:
    return ", ".join(f"{value:.6g}" for value in vector)


class SourceOfAccelerations:
    """Where the accelerations of rows come from: their columns, a list, zero, or rates.

    Args:
        vdot, cutoff, states: values of the options --vdot, --cutoff and --states.

    Attributes:
        given: the list of --vdot, None without one.
    """

    def __init__(self, ctx: click.Context, vdot: str | None, cutoff: float | None, states: str | None) -> None:
        self.given = None if vdot in (ZERO, DIFFERENTIATE) else vdot
        self._word = vdot if vdot in (ZERO, DIFFERENTIATE) else None
        self._cutoff, self._quiet = cutoff, (ctx.obj or {}).get("verbosity", 0) < 0
        if states is None and self._word == DIFFERENTIATE:
            raise click.UsageError("--vdot differentiate is for the rows of --states: one state has no rates")
        if cutoff is not None and self._word != DIFFERENTIATE:
            raise click.UsageError("--cutoff needs --vdot differentiate")

    def completion(self) -> Completion:
        """What completes rows, of an Analysis."""
        return Completion(self._complete, ("v",) if self._word == DIFFERENTIATE else ())

    def _complete(
        self, plant: MultibodyPlant, context: Context, chunks: Iterator[StateChunk], source: str
    ) -> Iterator[StateChunk]:
        first = next(chunks, None)
        if first is None:
            return
        chunks = chain([first], chunks)
        if first.vdot is not None and (self._word is not None or self.given is not None):
            raise ModelError(f"{source}: error: the rows have accelerations, vdot: no --vdot")
        if self._word == DIFFERENTIATE:
            yield from self._differentiated(plant, context, chunks, source)
        elif self._word == ZERO:
            for chunk in chunks:
                yield replace(chunk, vdot=chunk.v * 0.0)
        elif first.vdot is None and self.given is None:
            raise ModelError(
                f"{source}: error: the rows have no accelerations: give columns vdot:NAME, --vdot differentiate for "
                "the rates of the velocities, or --vdot zero"
            )
        else:
            yield from chunks

    def _differentiated(
        self, plant: MultibodyPlant, context: Context, chunks: Iterator[StateChunk], source: str
    ) -> Iterator[StateChunk]:
        from mbcli.batch.differentiation import pieces, with_rates

        rows, cutoff = with_rates(chunks, source, self._cutoff, partial(_velocities, plant, context))
        of = "velocities" if "v" in rows.given else "positions"
        if not self._quiet:
            tell(f"mbcli: accelerations are rates of the {of}, without what is faster than {cutoff:.4g} Hz (--cutoff)")
        yield from pieces(rows)


def _velocities(plant: MultibodyPlant, context: Context, q: Array, qdot: Array) -> FloatArray:
    import numpy as np

    v = np.empty((len(q), plant.num_velocities()))
    for k, row in enumerate(q):
        plant.SetPositions(context, row)
        v[k] = plant.MapQDotToVelocity(context, qdot[k])
    return v
