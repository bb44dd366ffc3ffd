"""The conversions of one run of `mbcli convert`: one file, or several into a folder with a table at the end."""

from __future__ import annotations

import copy
import os
import tempfile
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.many_files import LostError, result_of, results
from mbcli.cli.model import load, read_packages
from mbcli.cli.output import document, printable, tell, warn, write_file
from mbcli.common.json_text import to_json
from mbcli.common.left_behind import folder_prefix
from mbcli.common.number_text import counted
from mbcli.errors import MbcliError, ModelError, OutputError
from mbcli.parsers.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mbcli.cli.options import Options
    from mbcli.conversion.convert_model import Converted
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.parsers.spec import ActuatorSpec
    from mbcli.parsers.writing.additions import Additions
    from mbcli.parsers.writing.losses import Loss
    from mbcli.sweeps.file_cases import Where

SERVOS = ("position", "velocity")  # kinds of --actuators
MOST_LISTED = {"motion": 10, "lost": 10}  # losses of a code that are printed without -v; of what is changed the first
BUG = 70
KINDS = ("motion", "lost", "changed", "extension")
EQUAL, EQUAL_MOTION, LOSSY = "equal", "equal motion", "lossy"
FAILED = {2: "refused", 3: "refused", 4: "missing", 5: "not proved", 6: "not written", BUG: "bug"}
COLORS = {"motion": "red", "lost": "yellow"}


class Conversions:
    """What is asked for, for every model."""

    def __init__(
        self, ctx: click.Context, options: Options, target: str, force: bool, lossy: bool, bundle: bool, as_json: bool
    ) -> None:
        self.ctx, self.options, self.target, self.force = ctx, options, target, force
        self.lossy, self.bundle, self.as_json = lossy, bundle, as_json
        self.tells = not as_json and ctx.obj["verbosity"] >= 0
        self.lists_all = ctx.obj["verbosity"] > 0
        self.kp: float | None
        self.kd: float | None
        self.kp = self.kd = None
        self.float_base = self.floor = False
        self.where: Where | None = None

    def ask(self, kp: float | None, kd: float | None, float_base: bool, floor: bool) -> None:
        """Changes of the models before they are converted."""
        self.kp, self.kd, self.float_base, self.floor = kp, kd, float_base, floor

    # ------------------------------------------------------------------------------------------- one

    def to_file(self, output: str | None) -> None:
        """Converts the one model to a file, or to stdout (None)."""
        loaded, result = self._converted(self.options, output, self._report)
        seen = len(result.losses)
        self._write(result, output, self.options)
        if self.tells:
            self._report(result.losses[seen:])
            for line in result.proof.unproved:
                warn(line)
            tell(f"mbcli: {_ending(output, result, lists_all=self.lists_all)}")
        if self.as_json:
            content = self._content(output, result)
            click.echo(to_json(document("convert", loaded, **content)))

    def _converted(
        self, options: Options, output: str | None, on_losses: Callable[[list[Loss]], object]
    ) -> tuple[LoadedModel, Converted]:
        from mbcli.conversion.convert_model import convert_model

        settings: dict[str, Any] = {}
        if options.actuators in SERVOS:
            settings = {"kp": self.kp, "kd": self.kd, "dt": 1e-3}  # steps, in which servos act
        contact = self.floor or options.self_contact is not None
        loaded = load(options, self.ctx, contact=contact, **settings)
        if len(loaded.read) != 1:
            raise ModelError(f"{options.models[0]}: error: has {len(loaded.read)} models, one can be converted")
        if self.floor:
            _put_on_floor(loaded.plant)
        return loaded, convert_model(
            loaded.plant,
            loaded.read[0],
            self.target,
            packages=read_packages(options),
            folder=os.path.dirname(output or "") or os.curdir,
            bundle=self.bundle,
            to_file=output is not None,
            lossy=self.lossy,
            additions=self._additions(loaded),
            on_losses=on_losses,
        )

    def _additions(self, loaded: LoadedModel) -> Additions:
        from mbcli.parsers.frame_names import WORLD
        from mbcli.parsers.writing.additions import Additions
        from mbcli.parsers.writing.flatten import flattened

        plant = loaded.plant
        links = [link.name for link in flattened(loaded.read[0]).links if link.name != WORLD]
        names = {plant.name_in_contact(b): link for b, link in zip(plant.elements.bodies[1:], links, strict=False)}
        apart = tuple((names[a], names[b]) for a, b in loaded.without_contact if a in names and b in names)
        return Additions(self.floor, self.float_base, self._actuators(loaded), apart, self.options.decompose)

    def _actuators(self, loaded: LoadedModel) -> tuple[ActuatorSpec, ...] | None:
        """The ActuatorSpecs that are asked for; None: those of the model."""
        if self.options.actuators is None and not loaded.commanded:
            return None
        from mbcli.models.actuator_specs import actuator_specs

        return actuator_specs(loaded)

    def _write(self, result: Converted, output: str | None, options: Options) -> None:
        if output is None:
            click.echo(result.text, nl=False)
            return
        result.copy_meshes(os.path.dirname(output) or os.curdir, read_packages(options), self.force)
        write_file(output, result.content(os.path.splitext(output)[1]), self.force)

    def _report(self, losses: list[Loss]) -> None:
        if self.tells:
            _report(losses, lists_all=self.lists_all)

    def _content(self, output: str | None, result: Converted) -> dict[str, Any]:
        proof = result.proof
        return {
            "format": self.target,
            "output": output,
            "losses": [_loss_document(loss) for loss in result.losses],
            "proof": {
                "tolerance": proof.tolerance,
                "seed": 0,
                "engines": proof.engines,
                "unproved": proof.unproved,
                "deviations": proof.deviations,
            },
        }

    # ---------------------------------------------------------------------------------------- several

    def to_folder(self, folder: str) -> int:
        """Converts each model to a file in a folder; returns the largest exit code."""
        taken: set[str] = set()
        cases = [{"file": model, "output": self._output(folder, model, taken)} for model in self.options.models]
        with tempfile.TemporaryDirectory(prefix=folder_prefix("meshes")) as made:
            given: Iterable[Any] = self._elsewhere(cases) if self.where is not None else cases
            rows = [
                self._row(case["file"], case["output"], entry, made) for case, entry in zip(cases, given, strict=True)
            ]
        code = max(row["exit_code"] for row in rows)
        if self.as_json:
            click.echo(to_json({"schema": "mbcli/convert", "schema_version": 1, "format": self.target, "files": rows}))
        else:
            click.echo(self._table(rows))
        return code

    def _row(self, model: str, output: str, entry: Any, made: str) -> dict[str, Any]:
        """What became of one of several, once it is written. entry: its row of results(), if it is not made here."""
        row: dict[str, Any] = {"model": model, "output": output, "exit_code": 0}
        try:
            os.makedirs(os.path.dirname(output), exist_ok=True)
            options = self._options_of(model)
            if self.where is None:
                result = self._converted(options, output, lambda losses: None)[1]
            else:
                result = _result(entry, model, made)
            self._write(result, output, options)
            return row | self._content(output, result)
        except MbcliError as error:
            found = error.exit_code, str(error)
        except OSError as error:
            found = OutputError.exit_code, f"{output}: error: cannot be written: {error.strerror}"
        except Exception as error:
            if "--debug" in self.ctx.obj.get("arguments", ()):
                raise
            found = BUG, f"internal error: {type(error).__name__}: {error}"
        return row | {"output": None, "exit_code": found[0], "error": found[1]}

    def _options_of(self, model: str) -> Options:
        options = copy.copy(self.options)
        options.models = (model,)
        return options

    def _elsewhere(self, cases: Sequence[Mapping[str, str]]) -> Iterator[dict[str, Any]]:
        """Rows of the models, on other processes."""
        names = ("target", "lossy", "bundle", "kp", "kd", "float_base", "floor")
        own = {name: getattr(self, name) for name in names} | {"verbosity": self.ctx.obj["verbosity"]}
        assert self.where is not None
        options = vars(self.options) | {"models": (), "own": own}
        return results("convert", cases, options, self.where, self.ctx.obj["verbosity"])

    def case(self, model: str, output: str) -> dict[str, Any]:
        """The Converted of one of several, or its error, as JSON has them."""
        try:
            return self._converted(self._options_of(model), output, lambda losses: None)[1].as_dict()
        except MbcliError as error:
            return {"exit_code": error.exit_code, "error": str(error)}

    def _output(self, folder: str, model: str, taken: set[str]) -> str:
        """The name of a new file, after the model's; the second of two of one name has that of its folder too."""
        stem = os.path.splitext(os.path.basename(model))[0].removesuffix(".dmd") or "model"
        above = os.path.basename(os.path.dirname(os.path.abspath(model)))
        names = [stem, f"{above}_{stem}", *(f"{above}_{stem}_{n}" for n in range(2, len(taken) + 3))]
        name = next(name for name in names if name not in taken)
        taken.add(name)
        suffix = FORMATS[self.target].target().suffix
        return os.path.join(folder, *([name] if self.bundle else []), name + suffix)

    def _table(self, rows: list[dict[str, Any]]) -> str:
        lines = []
        for row in rows:
            losses = Counter(loss["kind"] for loss in row.get("losses", ()))
            verdict = _verdict(row, losses)
            counts = ", ".join(f"{losses[kind]} {kind}" for kind in KINDS if losses[kind])
            if "proof" in row:
                worst = max(row["proof"]["deviations"].values(), default=0.0)
                said = f"{counts or 'no losses'}; {' and '.join(row['proof']['engines'])} agree to {worst:.1g}"
            else:
                said = row["error"].split("\n")[0]
            lines.append([printable(row["model"]), verdict, printable(said)])
        unproved = dict.fromkeys(line for row in rows for line in row.get("proof", {}).get("unproved", ()))
        found = Counter(verdict for _, verdict, _ in lines)
        total = ", ".join(f"{count} {verdict}" for verdict, count in found.most_common())
        widths = [max(len(line[k]) for line in lines) for k in range(2)]
        text = "\n".join(f"{model:{widths[0]}}  {verdict:{widths[1]}}  {said}" for model, verdict, said in lines)
        said = "".join(f"\n{printable(line)}" for line in unproved)
        return f"{text}\n\n{counted(len(rows), 'model')}: {total}{said}"


def case(options: Options, values: Mapping[str, str]) -> dict[str, Any]:
    """What Conversions.case() gives, in a process for one file of many."""
    own: dict[str, Any] = options.own
    ctx = click.Context(click.Command("convert"), info_name="convert", obj={"verbosity": own["verbosity"]})
    conversions = Conversions(ctx, options, own["target"], False, own["lossy"], own["bundle"], False)
    conversions.ask(own["kp"], own["kd"], own["float_base"], own["floor"])
    return conversions.case(values["file"], values["output"])


def _result(row: Mapping[str, Any], model: str, made: str) -> Converted:
    """What results() gave of a model. made: a folder for its meshes. Raises the error that it had."""
    from mbcli.conversion.convert_model import Converted

    try:
        result = result_of(row)
    except LostError as error:
        raise LostError(f"{model}: error: not converted: {error}") from None
    if "error" in result:
        fault = MbcliError(result["error"])
        fault.exit_code = result["exit_code"]
        raise fault
    folder = os.path.join(made, str(len(os.listdir(made))))
    os.mkdir(folder)
    return Converted.from_dict(result, folder)


def _put_on_floor(plant: MultibodyPlant) -> None:
    """Moves what floats, and has no height of its own, so that its lowest solid touches the floor."""
    import numpy as np

    from mbcli.models.placement import put_on_ground

    context = plant.CreateDefaultContext()
    put_on_ground(plant, context, 0.0, np.zeros(plant.num_positions(), bool))
    for body in plant.elements.bodies[1:]:
        if body.is_floating_base_body():
            plant.SetDefaultFreeBodyPose(body, body.EvalPoseInWorld(context))


def _verdict(row: dict[str, Any], losses: Counter[str]) -> str:
    if row["exit_code"]:
        return FAILED.get(row["exit_code"], "failed")
    return LOSSY if losses["motion"] else EQUAL_MOTION if losses else EQUAL


def _loss_document(loss: Loss) -> dict[str, Any]:
    return {
        "kind": loss.kind,
        "code": loss.code,
        "message": loss.message,
        "file": loss.place.file,
        "line": loss.place.line,
        "column": loss.place.column,
    }


def _ending(output: str | None, result: Converted, *, lists_all: bool) -> str:
    """What was written, what proved it, and what became of the elements; lists_all: whether each had its line."""
    losses = Counter(loss.kind for loss in result.losses)
    found = ", ".join(f"{losses[kind]} {kind}" for kind in KINDS if losses[kind]) or "nothing is lost or changed"
    folded = any(count > _most(kind) for (kind, _), count in _of_a_code(result.losses).items())
    more = " (mbcli -v convert lists all)" if folded and not lists_all else ""
    worst = max(result.proof.deviations.values(), default=0.0)
    to = f"to {worst:.1g}" if worst else "exactly"
    proved = f"proved by {' and '.join(result.proof.engines)} {to}"
    return f"{printable(output or 'stdout')}: written, {proved}; {found}{more}"


def _most(kind: str) -> int:
    return MOST_LISTED.get(kind, 1)


def _of_a_code(losses: list[Loss]) -> Counter[tuple[str, str]]:
    return Counter((loss.kind, loss.code) for loss in losses)


def _report(losses: list[Loss], *, lists_all: bool) -> None:
    """A line for each loss, or for some of a code, and one for the others of it."""
    for (kind, code), count in _of_a_code(losses).items():
        shown = click.style(kind, fg=COLORS.get(kind, "cyan"))
        found = [loss for loss in losses if (loss.kind, loss.code) == (kind, code)]
        most = count if lists_all else _most(kind)
        for loss in found[:most]:
            click.echo(f"{printable(str(loss.place))}: {shown}: {printable(loss.message)} [{code}]", err=True)
        if count > most:
            click.echo(f"{printable(found[0].place.file)}: {shown}: and {count - most:,} more [{code}]", err=True)
