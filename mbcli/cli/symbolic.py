"""`mbcli symbolic`: closed forms of small models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.model import find_frame, load
from mbcli.cli.options import MODEL_KEYS, model_options, output_options, take, take_output
from mbcli.cli.output import document, emit
from mbcli.common.extra_packages import require_extra
from mbcli.common.json_text import to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.multibody.plant.multibody_plant import MultibodyPlant

QUANTITIES = ("M", "Cv", "tau_g", "pose")
MOST_COORDINATES = 8


@click.command()
@model_options
@click.option(
    "--quantity", type=click.Choice(QUANTITIES), multiple=True, help="The quantities to print; default: M, Cv, tau_g."
)
@click.option("--frame", "frames", metavar="NAME", multiple=True, help="Also X_WF of a body or frame, 4 x 4.")
@click.option("--latex", is_flag=True, help="Print LaTeX.")
@click.option("--exact", is_flag=True, help="Numbers as fractions: 981/100, not 9.81.")
@click.option("--no-simplify", is_flag=True, help="Print the formulas as computed: faster, longer.")
@output_options
@click.pass_context
def symbolic(
    ctx: click.Context,
    quantity: tuple[str, ...],
    frames: tuple[str, ...],
    latex: bool,
    exact: bool,
    no_simplify: bool,
    **values: Any,
) -> None:
    """Mass matrix, bias term, gravity forces and poses of a small model as formulas of its coordinates.

    M(q) vdot + C(q,v) v = tau_g(q) + tau. Needs SymPy: pip install 'mbcli[symbolic]'.

    \b
    mbcli symbolic pendulum.urdf
    mbcli symbolic pendulum.urdf --quantity pose --frame tip --latex
    """
    if "pose" in quantity and not frames:
        raise click.UsageError("--quantity pose needs --frame NAME")
    if frames and not quantity:
        quantity = ("pose",)
    model, output = take(values, MODEL_KEYS), take_output(values)
    output.output_format = output.result_format()
    if output.output_format not in (None, "text", "json"):
        raise click.UsageError("formulas come as text or JSON: --format is one of text, json")
    loaded = load(model, ctx)
    formulas = _formulas(loaded.plant, quantity or QUANTITIES[:3], frames, exact, not no_simplify)
    if output.output_format == "json":
        emit(to_json(document("symbolic", loaded, **_as_data(formulas, latex))), output)
    else:
        emit(_as_text(formulas, latex), output)


def _formulas(
    plant: MultibodyPlant, quantities: Sequence[str], frames: Sequence[str], exact: bool, simplify: bool
) -> tuple[dict[str, Any], Any, Any]:
    """Matrices of expressions by name, in the order of the quantities, and the symbols."""
    from mbcli.errors import ModelError

    plant.prefers_interpreted = True
    require_extra("sympy", "symbolic", "mbcli symbolic")
    from mbcli.multibody.plant.symbolic import SymbolicModel

    if plant.num_velocities() > MOST_COORDINATES:
        raise ModelError(
            f"the model has {plant.num_velocities()} velocities: formulas of more than {MOST_COORDINATES} are of no use"
        )
    try:
        model = SymbolicModel(plant, exact=exact, simplify=simplify)
        take_from = {"M": model.mass_matrix, "Cv": model.bias, "tau_g": model.gravity}
        result = {name: take_from[name]() for name in quantities if name in take_from}
        result |= {f"X_W_{name}": model.pose(find_frame(plant, name, "--frame")) for name in frames}
    except NotImplementedError as error:
        raise ModelError(str(error)) from None
    return result, model.q, model.v


def _as_data(formulas: tuple[dict[str, Any], Any, Any], latex: bool) -> dict[str, Any]:
    matrices, q, v = formulas
    write = _latex if latex else _plain
    result: dict[str, Any] = {"q": [str(x) for x in q], "v": [str(x) for x in v]}
    for name, M in matrices.items():
        rows = [[write(x) for x in M.row(i)] for i in range(M.rows)]
        result[name] = rows if M.cols > 1 else [row[0] for row in rows]
    return result


def _as_text(formulas: tuple[dict[str, Any], Any, Any], latex: bool) -> str:
    matrices, q, v = formulas
    if latex:
        return "\n".join(f"{_latex_name(name)} = {_latex(M)}" for name, M in matrices.items())
    lines = [f"q = {', '.join(map(str, q))}", f"v = {', '.join(map(str, v))}"]
    for name, M in matrices.items():
        lines.append("")
        for i in range(M.rows):
            for j in range(M.cols):
                place = f"{name}[{i}]" if M.cols == 1 else f"{name}[{i},{j}]"
                lines.append(f"{place} = {_plain(M[i, j])}")
    return "\n".join(lines)


def _plain(expression: Any) -> str:
    from sympy import sstr

    return sstr(expression, full_prec=False)


def _latex(expression: Any) -> str:
    from sympy import latex

    return latex(expression, full_prec=False)


def _latex_name(name: str) -> str:
    names = {"M": "M(q)", "Cv": "C(q, v) v", "tau_g": r"\tau_g(q)"}
    return names.get(name) or r"{}^{W}X^{" + name.removeprefix("X_W_").replace("_", r"\_") + "}"
