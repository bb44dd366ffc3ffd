"""From a plant to files of code: what is asked for is recorded, written, run, and left if it is proved."""

from __future__ import annotations

import functools
import os
import tempfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.codegen.code import Code, CodeFunction, harmless, identifier
from mbcli.codegen.plant_functions import PLANT_FUNCTIONS
from mbcli.codegen.proof import TOLERANCES, Proof, recorded_states, require_proved
from mbcli.codegen.target import find_target
from mbcli.codegen.ways import ways_in_body_frames
from mbcli.common.argument_names import argument
from mbcli.common.json_text import to_json
from mbcli.common.left_behind import folder_prefix
from mbcli.common.output_files import refuse_existing, refuse_missing_folder, write_in_place
from mbcli.common.suggestions import name_or_list
from mbcli.errors import ArgumentError, ModelError, OutputError
from mbcli.models.loading import find_frame
from mbcli.models.mass_motion import links_with_mass
from mbcli.tracing import MODEL_FUNCTIONS, partials, record_function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mbcli.codegen.free_parameters import FreeParameters
    from mbcli.codegen.proof import States
    from mbcli.codegen.target import Target
    from mbcli.tracing.model_functions import ModelFunction

STATES, FEW_STATES, MANY_OPERATIONS = 1000, 100, 5000  # states of a proof; fewer where the kernels take longer
LARGE, TOO_LARGE = 50_000, 2_000_000  # operations: of which the user is told, and which are refused
OF_TREES = ("forward_dynamics",)  # functions that constraints would change
OPERATIONS_OF_A_BODY = {"forward_dynamics": 480, "step": 1500, "constrained_dynamics": 640}  # about; of others:
OPERATIONS = 320
OPERATIONS_OF_AN_ELEMENT = 12  # of matrices with a column for each velocity


@dataclass(frozen=True)
class Settings:
    """How code is made.

    Args:
        target: one of TARGETS of target.py.
        real: "double" or "float", where the target has both.
        derivatives: whether each function gets another one with its first derivatives.
        name: of the files, and in C the start of the functions' names.
        states: of the proof; default: STATES, and FEW_STATES for functions of more than MANY_OPERATIONS.
        seed: of these states.
        title: of the model, from which the name of the files is made if `name` is not given.
        source: lines for the head of the files.
    """

    target: str = "c"
    real: str = "double"
    derivatives: bool = False
    name: str = ""
    states: int | None = None
    seed: int = 0
    title: str = "model"
    source: tuple[str, ...] = ()


@dataclass
class Generated:
    """files: their names; functions: what each is, as data; proofs of them, none where nothing could run them."""

    files: list[str]
    functions: list[dict[str, Any]]
    proofs: list[Proof] = field(default_factory=list)


def generate(
    context: Any,
    functions: Sequence[str],
    folder: str,
    settings: Settings = Settings(),
    *,
    free: FreeParameters | None = None,
    force: bool = False,
    tell: Callable[[str], object] = lambda line: None,
) -> Generated:
    """Writes functions of the plant of a context, with its parameters, as code into a folder.

    Args:
        functions: names of MODEL_FUNCTIONS, with a frame behind a colon where they are of one: `jacobian:tool`.
        folder: is made if it is not there, in a folder that is.
        free: parameters that stay free: each function has them as one more input, `p`.
        force: whether files may be replaced.
        tell: gets a line about what takes long.

    ArgumentError for what is not known; ModelError for a model that a record or the target cannot hold; NumericalError,
    and no file, if the code does not give what the kernels give; OutputError for a file that is there; ResourceError if
    the target needs a package that is not installed.
    """
    target = _target(settings)
    recorded = record_functions(context, [*target.needs(context), *functions], settings, free=free, tell=tell)
    return write_functions(context, recorded, folder, settings, free=free, force=force, tell=tell)


def record_functions(
    context: Any,
    functions: Sequence[str],
    settings: Settings = Settings(),
    *,
    free: FreeParameters | None = None,
    tell: Callable[[str], object] = lambda line: None,
) -> list[CodeFunction]:
    """The first half of generate(), which does not depend on the target."""
    refuse_models(context.state.plant)
    context.state.ready_parameters()
    return [each for asked in functions for each in _function(context, asked, settings, free, tell)]


def write_functions(
    context: Any,
    functions: Sequence[CodeFunction],
    folder: str,
    settings: Settings = Settings(),
    *,
    free: FreeParameters | None = None,
    force: bool = False,
    tell: Callable[[str], object] = lambda line: None,
) -> Generated:
    """The second half: code of what record_functions() gave; those that the target needs are the first."""
    target, plant = _target(settings), context.state.plant
    code = Code(
        settings.name or identifier(settings.title),
        f"{harmless(settings.title)} as code",
        settings.source,
        tuple(plant.GetPositionNames()),
        tuple(plant.GetVelocityNames()),
        tuple(functions),
        target.real or settings.real,
        free.table() if free else [],
        context,
    )
    _require_names(code, settings)
    texts: dict[str, Any] = target.write(code)
    if os.path.isdir(folder):
        left = [f"{code.name}{target.suffix}"] if target.packed else texts
        _refuse_files(folder, (*left, f"{code.name}.json", "proof.json"), force)
    else:
        refuse_missing_folder(folder)
    states = {f.name: _states(plant, context, f, settings, code.real) for f in code.functions}
    texts |= target.state_files(code, states)
    with tempfile.TemporaryDirectory(prefix=folder_prefix("codegen")) as trial:
        for name, text in texts.items():
            _write(trial, name, text)
        proofs = target.prove(code, trial, states)
        if target.packed:
            texts = target.packed(code, trial, texts)
    require_proved(proofs, states)
    for asked_name, of_states in states.items():
        if of_states.tolerance > TOLERANCES[code.real]:
            limit = f"{of_states.tolerance:.1g}"
            tell(f"{asked_name} is proved to {limit}: rounding grows by the condition of the mass matrix")
    described = [_described(f, proofs, states) for f in code.functions]
    texts[f"{code.name}.json"] = to_json(_table(code, settings, described)) + "\n"
    texts["proof.json"] = to_json(_proof(proofs, settings, code.real, states)) + "\n"
    _refuse_files(folder, texts, force)
    files = [_write(folder, name, text) for name, text in texts.items()]
    return Generated(files, described, proofs)


def refuse_models(plant: Any) -> None:
    """ModelError for what no record holds: deformable bodies and force elements of a user."""
    if plant.elements.deformable_bodies:
        raise ModelError("codegen is for rigid bodies: the model has deformable ones")
    if plant.user_force_elements:
        kind = type(plant.user_force_elements[0]).__name__
        raise ModelError(f"codegen knows no force element of a user, {kind}")


def expected_operations(model: Any, name: str, derivatives: bool) -> int:
    """About how many operations a function has, at most, before it is recorded."""
    sizes = model.sizes
    count = OPERATIONS_OF_A_BODY.get(name, OPERATIONS) * max(sizes["nbody"], sizes["nv"])  # ball joints count thrice
    depth = _depths(model)
    if name in ("mass_matrix", "com_jacobian", "jacobian"):
        count += OPERATIONS_OF_AN_ELEMENT * sum(depth)
    if name == "regressor":
        count += 10 * OPERATIONS_OF_AN_ELEMENT * sum(depth)
    if name in ("mass_matrix_factor", "constrained_dynamics"):
        count += 2 * sum(d * (d + OPERATIONS_OF_AN_ELEMENT) for d in depth)
    return count * (1 + 2 * max(depth, default=0)) if derivatives else count


def refuse_large(name: str, model: Any, asked: str = "", derivatives: bool = False) -> int:
    """expected_operations(); ModelError if they are too many. asked: the name in the message."""
    expected = expected_operations(model, name, derivatives)
    if expected > TOO_LARGE:
        raise ModelError(
            f"{asked or name}: the code would have about {expected:,} operations, of {TOO_LARGE:,} at most; "
            "models of this size are for the engine, which loops over bodies"
        )
    return expected


def _depths(model: Any) -> list[int]:
    """For each velocity, how many lie between it and World, itself included."""
    depths: list[int] = []
    for parent in model.dof_parent.tolist():
        depths.append(1 + (depths[parent] if parent >= 0 else 0))
    return depths


def _target(settings: Settings) -> Target:
    target = find_target(settings.target)
    if settings.real == "float" and not (target.has_floats or target.real):
        raise ArgumentError(
            f"{argument('real', 'float')} is for C: the target {settings.target} takes the numbers that it is given"
        )
    return target


def _function(
    context: Any, asked: str, settings: Settings, free: FreeParameters | None, tell: Callable[[str], object]
) -> list[CodeFunction]:
    name, _, of = asked.partition(":")
    plant, model = context.state.plant, context.state.model
    function = _model_function(context, asked)
    if name in OF_TREES and plant.elements.constraints:
        raise ModelError(f"{asked}: the model has constraints, whose motion follows from decisions about ranks")
    expected = refuse_large(name, model, asked, settings.derivatives)
    if expected > LARGE:
        tell(f"{asked} becomes about {expected:,} operations, which takes compilers a while")
    place: Any = None
    if function.of == "frame":
        place = int(find_frame(plant, of, argument("functions")).index())
    elif function.of == "links":
        place, _ = links_with_mass(context)
    title = identifier(f"{name}_{of}" if of else name)
    given: Any = {} if free is None else {"free": free.variable, "model_of": functools.partial(free.model, model)}
    try:
        record = record_function(function, model, place, title, ways=ways_in_body_frames(name, model, place), **given)
    except ZeroDivisionError:
        raise _singular(asked) from None
    words = function.words.replace("a frame F", f"frame {harmless(of)}") if of else function.words
    found = [CodeFunction(title, asked, words, record, function, place, free)]
    if settings.derivatives:
        derived = partials(record)
        about = f"First derivatives of {title}() by its inputs, by operations on its record."
        found.append(CodeFunction(derived.name, f"{asked} by its inputs", about, derived, function, place, free, True))
    return found


def _model_function(context: Any, asked: str) -> ModelFunction:
    """What is asked for: one of MODEL_FUNCTIONS, or of PLANT_FUNCTIONS made for the plant."""
    name, _, of = asked.partition(":")
    known = [*MODEL_FUNCTIONS, *PLANT_FUNCTIONS]
    if name not in known:
        raise ArgumentError(f"{argument('functions')}: there is no '{name}'; {name_or_list(name, known)}")
    if name == "sensors":
        return PLANT_FUNCTIONS[name](context, of)
    wants = name in MODEL_FUNCTIONS and MODEL_FUNCTIONS[name].of == "frame"
    if wants != bool(of):
        raise ArgumentError(f"{argument('functions')}: it is '{name}{':FRAME' if wants else ''}', not '{asked}'")
    return MODEL_FUNCTIONS[name] if name in MODEL_FUNCTIONS else PLANT_FUNCTIONS[name](context)


def _require_names(code: Code, settings: Settings) -> None:
    if settings.name and settings.name != identifier(settings.name):
        raise ArgumentError(
            f"{argument('name')}: '{settings.name}' is no name in C and Python, '{identifier(settings.name)}' is"
        )
    seen: dict[str, str] = {}
    for function in code.functions:
        if function.name in seen:
            both = f"'{seen[function.name]}' and '{function.asked}'"
            raise ArgumentError(f"{argument('functions')}: {both} both would be called {function.name}()")
        seen[function.name] = function.asked


def _refuse_files(folder: str, names: Iterable[str], force: bool) -> None:
    """OutputError if one of these files of a folder is there that `force` does not give free."""
    for path in (os.path.join(folder, name) for name in names):
        if os.path.isdir(os.path.dirname(path)):  # folders of its own are made
            refuse_existing(path, force)


def _write(folder: str, name: str, content: str | bytes) -> str:
    """Writes a file of a folder, which is made with those between them; its path."""
    path = os.path.join(folder, name)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_in_place(path, content if isinstance(content, bytes) else content.encode())
    except OSError as error:
        raise OutputError(f"{path}: error: cannot be written: {error.strerror}") from None
    return path


def _states(plant: Any, context: Any, function: CodeFunction, settings: Settings, real: str) -> States:
    count = settings.states
    if count is None:
        count = STATES if function.record.num_operations <= MANY_OPERATIONS else FEW_STATES
    try:
        with np.errstate(all="ignore"):
            states = recorded_states(plant, context, function, count, settings.seed, real)
    except ZeroDivisionError:
        raise _singular(function.asked) from None
    if not all(np.isfinite(each).all() for each in states.outputs):
        raise _singular(function.asked)
    return states


def _singular(asked: str) -> ModelError:
    return ModelError(
        f"{asked}: has no finite values: the mass matrix is singular, as where a joint moves no mass (`mbcli check` "
        "names it)"
    )


def _described(function: CodeFunction, proofs: Sequence[Proof], states: dict[str, States]) -> dict[str, Any]:
    record = function.record
    proof = next((p for p in proofs if p.function == function.name), None)
    result: dict[str, Any] = {
        "name": function.name,
        "asked": function.asked,
        "words": function.words,
        "operations": record.num_operations,
        "counts": dict(sorted(record.counts().items())),
        "inputs": [{"name": v.name, "shape": list(v.shape), "words": v.words} for v in record.inputs],
        "outputs": [{"name": v.name, "shape": list(v.shape), "words": v.words} for v in record.outputs],
        "proof": None,
    }
    if record.sparsity:
        result["sparsity"] = {name: {"rows": r, "columns": c} for name, (r, c) in record.sparsity.items()}
    result |= function.function.table
    if proof is not None:
        result["proof"] = {
            "states": proof.states,
            "deviation": proof.deviation,
            "tolerance": states[function.name].tolerance,
            "nanoseconds": proof.nanoseconds,
            **proof.more,
        }
    return result


def _table(code: Code, settings: Settings, functions: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": code.name,
        "target": settings.target,
        "real": code.real,
        "source": list(code.source),
        "position_names": list(code.positions),
        "velocity_names": list(code.velocities),
        **({"parameters": code.parameters} if code.parameters else {}),
        "functions": [{key: value for key, value in f.items() if key != "proof"} for f in functions],
    }


def _proof(proofs: Sequence[Proof], settings: Settings, real: str, states: dict[str, States]) -> dict[str, Any]:
    return {
        "target": settings.target,
        "real": real,
        "seed": settings.seed,
        "proved": bool(proofs),
        "functions": [
            {
                "name": p.function,
                "states": p.states,
                "deviation": p.deviation,
                "tolerance": states[p.function].tolerance,
                "nanoseconds": p.nanoseconds,
                **p.more,
            }
            for p in proofs
        ],
    }
