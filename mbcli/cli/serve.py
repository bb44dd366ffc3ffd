"""`mbcli serve`: analyses of one model, one JSON document a line in, one out."""

from __future__ import annotations

import functools
import json
import os
import sys
import threading
from contextlib import suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.model import load, models_to_load
from mbcli.cli.options import BATCH_KEYS, MODEL_KEYS, OUTPUT_KEYS, model_options, take
from mbcli.cli.output import document, printable
from mbcli.common.json_text import to_json_line
from mbcli.common.suggestions import name_or_list
from mbcli.errors import MbcliError, OutputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import BufferedIOBase
    from typing import BinaryIO, NoReturn

    from mbcli.cli.analysis import Analysis
    from mbcli.cli.options import Options
    from mbcli.models.loaded_model import LoadedModel

COMMANDS = (
    "kinematics",
    "jacobian",
    "mass-matrix",
    "inverse-dynamics",
    "forward-dynamics",
    "constrained-dynamics",
    "assemble",
    "bias",
    "gravity",
    "energy",
    "com",
    "momentum",
    "linearize",
)
MOST_BYTES = 1 << 24  # of a line
DEEPEST = 64  # lists and objects in each other
MOST_LINES = 1000  # of options that are remembered
MOST_LOADED = 4  # models with solids and grounds that are remembered
NO_FILES = ("state_file", "state_time")  # files are not read for whoever asks
NOT_ASKED = {*MODEL_KEYS, *BATCH_KEYS, *OUTPUT_KEYS, *NO_FILES, "degrees"}
BUG = 70


@click.command()
@model_options
@click.option("--socket", "socket_path", metavar="PATH", help="Listen on a Unix socket, not on stdin.")
@click.option(
    "--compiled", is_flag=True, help="Compile the calculations: faster for large models; the last digits differ."
)
@click.pass_context
def serve(ctx: click.Context, socket_path: str | None, compiled: bool, **values: Any) -> None:
    """Answer questions about a model: each line of input is a JSON document, and so is each answer.

    The model is loaded once. A document names a command and its options, without dashes; the answer is what the command
    prints with --json, in one line, with the same numbers. An `id` comes back with the answer.

    \b
    {"command": "mass-matrix", "at": {"elbow": 0.3}}
    {"command": "inverse-dynamics", "q": [0.1, 0.2], "v": [0, 1], "vdot": [0, 0], "id": 7}

    A question without an answer gets {"schema": "mbcli/error", "exit_code": ..., "message": ...}, with the exit code
    that the command would have.
    """
    model = take(values, MODEL_KEYS)
    if socket_path is None and "-" in model.models:
        raise click.UsageError("MODEL '-' is read from stdin, where the questions come from")
    questions = Questions(_loader(model, ctx, compiled))
    if socket_path is not None:
        _listen(socket_path, questions)
        return
    _answer_lines(sys.stdin.buffer, sys.stdout.buffer, questions)


def _loader(options: Options, ctx: click.Context, compiled: bool) -> Callable[[bool, float | None], LoadedModel]:
    """(whether its solids can touch, height of a ground [m]) -> the model, loaded when it is first asked for."""
    models = models_to_load(options)

    @functools.lru_cache(maxsize=MOST_LOADED)
    def loaded(contact: bool, ground: float | None) -> LoadedModel:
        found = load(options, ctx, contact=contact, ground=ground, models=models)
        found.plant.prefers_interpreted = not compiled
        return found

    loaded(False, None)
    return loaded


class Questions:
    """Answers questions about a model, each as the command would that it names: no question changes another.

    loaded: (contact, ground) -> the model.
    """

    def __init__(self, loaded: Callable[[bool, float | None], LoadedModel]) -> None:
        self._loaded = loaded
        self._lock = threading.Lock()  # a plant computes for one at a time
        # {(command, words, None, options that take texts): values}
        self._read_lines: dict[tuple[Any, ...], dict[str, Any]] = {}
        # {name: (command of click, {name in a document: option})}
        self._commands: dict[str, tuple[click.Command, dict[str, click.Option]]] = {}

    def answer(self, line: bytes) -> str:
        """The answer to a line (bytes): a document in one line, without its end."""
        identity = {}
        try:
            question = _read(line)
            if "id" in question:
                identity = {"id": question.pop("id")}
            with self._lock:
                answer = self._ask(question)
        except Exception as error:
            code, message = _fault(error)
            answer = {"schema": "mbcli/error", "schema_version": 1, "exit_code": code, "message": message}
        return to_json_line({**answer, **identity})

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        name = question.pop("command", None)
        if name not in COMMANDS:
            given = "there is no command" if name is None else f"no command {json.dumps(name)} is answered"
            raise click.UsageError(f"{given}: {name_or_list(str(name), COMMANDS)}")
        command, options = self._commands.get(name) or self._learn(name)
        words: list[str]
        texts: dict[click.Option, list[str]]
        answers: list[dict[str, Any]]
        words, texts, answers = [], {}, []
        for key, value in question.items():
            option = options.get(key.replace("_", "-"))
            if option is None:
                raise click.UsageError(f"{name} has no option {json.dumps(key)}: {name_or_list(key, options)}")
            if _takes_text(option):
                texts[option] = _as_texts(option, key, value)
            else:
                words += _as_words(option, key, value)
        assert command.callback is not None
        values = self._values(name, command, words, texts)
        with click.Context(command, info_name=name, obj={"verbosity": -1, "answer": self._collect(answers)}) as context:
            context.invoke(command.callback, **values)
        return answers[0]

    def _values(
        self, name: str, command: click.Command, words: list[str], texts: dict[click.Option, list[str]]
    ) -> dict[str, Any]:
        """The arguments of a command's function. Click reads a line once for all that differ in texts alone."""
        known = (name, *words, None, *texts)
        if known not in self._read_lines:
            line = ["-", *words, *(f"{option.opts[0]}={text}" for option, found in texts.items() for text in found)]
            if len(self._read_lines) >= MOST_LINES:
                self._read_lines.clear()
            self._read_lines[known] = command.make_context(name, line).params  # "-": in the place of a model
        given = {option.name: tuple(found) if option.multiple else found[0] for option, found in texts.items()}
        return {**self._read_lines[known], **given}

    def _collect(self, answers: list[dict[str, Any]]) -> Callable[[Analysis, Options, dict[str, str | None]], None]:
        """What Analysis.run() calls in place of printing a result."""

        def collect(analysis: Analysis, state: Options, inputs: dict[str, str | None]) -> None:
            loaded = self._loaded(analysis.loading.get("contact", False), analysis.loading.get("ground"))
            context, results = analysis.evaluate_state(loaded, state, inputs)
            answers.append(document(analysis.command, loaded, context, **results))

        return collect

    def _learn(self, name: str) -> tuple[click.Command, dict[str, click.Option]]:
        """(command of click, {name in a document: option}), once."""
        context = click.get_current_context()
        group = context.find_root().command
        assert isinstance(group, click.Group)
        command = group.get_command(context, name)
        assert command is not None  # it is one of COMMANDS
        options = {
            word.removeprefix("--"): option
            for option in command.params
            if isinstance(option, click.Option) and option.expose_value and option.name not in NOT_ASKED
            for word in option.opts
        }
        self._commands[name] = command, options
        return self._commands[name]


def _read(line: bytes) -> dict[str, Any]:
    """The document in a line."""
    if len(line) > MOST_BYTES:
        raise click.UsageError(f"the line is longer than {MOST_BYTES >> 20} MiB")
    try:
        question = json.loads(line, parse_constant=_refuse_constant)
    except RecursionError:
        raise click.UsageError("the document is nested too deep") from None
    except ValueError as error:  # of JSON, or of its encoding
        raise click.UsageError(f"not a JSON document: {error}") from None
    if _is_deeper(question, DEEPEST):
        raise click.UsageError("the document is nested too deep")
    if not isinstance(question, dict):
        raise click.UsageError('a question is an object, as {"command": "gravity"}')
    return question


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether lists and objects stand in each other over more than so many levels."""
    level = [value]
    for _ in range(levels + 1):
        level = [
            item
            for each in level
            if isinstance(each, (list, dict))
            for item in (each.values() if isinstance(each, dict) else each)
        ]
    return bool(level)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _takes_text(option: click.Option) -> bool:
    """Whether click gives a command the text of this option as it is."""
    return option.type is click.STRING and not option.is_flag and option.callback is None


def _as_words(option: click.Option, key: str, value: Any) -> list[str]:
    """The words that say a value on a command line."""
    if option.is_flag:
        if not isinstance(value, bool):
            raise click.UsageError(f"{key} is true or false, not {json.dumps(value)}")
        return [option.opts[0]] if value else []
    return [f"{option.opts[0]}={text}" for text in _as_texts(option, key, value)]


def _as_texts(option: click.Option, key: str, value: Any) -> list[str]:
    """The texts that say a value behind an option: lists are numbers in order, objects NAME=VALUE."""
    if isinstance(value, dict):
        texts = [f"{name}={_text(key, item)}" for name, item in value.items()]
    else:
        texts = [_text(key, item) for item in (value if isinstance(value, list) else [value])]
    return texts if option.multiple else [" ".join(texts)]


def _text(key: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return repr(value)
    if isinstance(value, list):  # as x,y,z
        return ",".join(_text(key, item) for item in value)
    raise click.UsageError(f"{key}: {json.dumps(value)} is neither a number nor a text")


def _fault(error: Exception) -> tuple[int, str]:
    """(exit code, message) of an error, as the command line reports it."""
    if isinstance(error, click.ClickException):
        return error.exit_code, printable(error.format_message())
    if isinstance(error, MbcliError):
        return error.exit_code, printable(str(error).removeprefix("error: "))
    return BUG, printable(f"internal error, a bug in mbcli: {type(error).__name__}: {error}")


def _answer_lines(
    questions_in: BinaryIO | BufferedIOBase, answers_out: BinaryIO | BufferedIOBase, questions: Questions
) -> None:
    """Answers each line of a stream to its end; empty ones are no questions."""
    while line := questions_in.readline(MOST_BYTES + 1):
        rest = line
        while len(rest) > MOST_BYTES and not rest.endswith(b"\n"):  # what is too long is read to its end
            rest = questions_in.readline(MOST_BYTES + 1)
        if line.strip():
            answers_out.write(questions.answer(line).encode() + b"\n")
            answers_out.flush()


def _listen(path: str, questions: Questions) -> None:
    """Answers whoever connects to a Unix socket, which only this user may, until a signal comes."""
    import socketserver

    if not hasattr(socketserver, "ThreadingUnixStreamServer"):
        raise click.UsageError("--socket: this system has no Unix sockets")
    context, variables = click.get_current_context(), copy_context()

    class Connection(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            variables.copy().run(self.answer)

        def answer(self) -> None:
            with context.scope(cleanup=False), suppress(BrokenPipeError, ConnectionResetError):  # who asked has gone
                _answer_lines(self.rfile, self.wfile, questions)

    class Server(socketserver.ThreadingUnixStreamServer):
        daemon_threads = True
        request_queue_size = 1 << 16  # who connects at once waits; the system lowers it to its own bound

    if os.path.lexists(path):
        raise OutputError(f"{path}: error: is there already; remove it if no server listens on it")
    mask = os.umask(0o177)
    try:
        server = Server(path, Connection)
    except OSError as error:
        raise OutputError(f"{path}: error: cannot listen there: {error.strerror or error}") from None
    finally:
        os.umask(mask)
    try:
        click.echo(f"mbcli: listens on {printable(path)}", err=True)
        server.serve_forever()
    finally:
        server.server_close()
        os.unlink(path)
