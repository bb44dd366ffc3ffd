"""Controllers that are other programs: lines of JSON over a pipe. docs/how-to/control.md has the protocol."""

from __future__ import annotations

import json
import math
import os
import select
import shlex
import time as clock
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common import child_processes
from mbcli.common.processors import num_processors
from mbcli.errors import ControlError, ResourceError
from mbcli.parsers.diagnostics import printable
from mbcli.simulation.control.run_controller import RunController
from mbcli.simulation.control.saved import load_sensors, pack, unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.simulation.control.commands import Commands
    from mbcli.simulation.control.tick_sensors import TickSensors

VERSION = 1
FIRST_LIMIT = 30.0  # [s] for the first answer, in which a program starts
LAST_LIMIT = 2.0  # [s] in which it ends when its input does
MOST_BYTES = 1 << 24  # of a line
SHOWN = 80  # characters of a wrong line in messages
EAGER = 1e-4  # [s] of looking for an answer before waiting for it: to be woken up can take 50 us, others want the core


class PipeController(RunController):
    """Asks a program at the ticks of a run.

    Args:
        command: as in a shell, without its expansions.
        plant: finalized.
        commands: Commands of the run.
        seed: for its random numbers.
        limit: [s] of wall-clock time for an answer.
        targets: time -> what a plan wants, or None.
    """

    def __init__(
        self,
        command: str,
        plant: MultibodyPlant,
        commands: Commands,
        *,
        seed: int,
        limit: float,
        targets: Callable[[float], Any] | None = None,
    ) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise ControlError(f"{printable(command)}: error: is not a command: {error}") from None
        if not self._words:
            raise ControlError("the command of the controller is empty")
        super().__init__(printable(os.path.basename(self._words[0])), commands)
        self._limit, self._targets = limit, targets
        self._process: Any = None
        self._input = self._output = -1
        self._read = b""
        self._greeting = {
            "mbcli_controller": VERSION,
            "positions": plant.GetPositionNames(),
            "velocities": plant.GetVelocityNames(),
            "actuators": commands.actuator_names,
            "controlled": commands.controlled,
            "time_step": plant.time_step(),
            "period": self.period,
            "seed": seed,
            "state": None,
        }
        if commands.count is not None:
            self._greeting["worlds"] = commands.count
        self._greeted = self._answers = False
        self._sensors: TickSensors | None = None
        self._senses = False  # whether the program asks for them
        self._saved: dict[str, Any] = {}

    def sense(self, make: Callable[[], TickSensors]) -> None:
        """make: makes what the sensors of the model give at ticks."""
        self._sensors = make()
        self._greeting["sensors"] = self._sensors.describe()

    def call(self, time: float, q: FloatArray, v: FloatArray, u: FloatArray, desired: FloatArray) -> None:
        """A tick."""
        self._answers = False  # as long as it has not given a command that can be taken
        self._begin()
        question: dict[str, Any] = {
            "time": np.asarray(time).tolist(),
            "q": q.tolist(),
            "v": v.tolist(),
        }
        if self._targets is not None:
            question["targets"] = self._targets(time).as_dict()
        if self._senses and self._sensors is not None:
            question["sensors"] = _as_json(self._sensors.at(time, q, v, u, desired))
        answer = self._ask(question, self._limit)
        try:
            given = answer.get("u")
            if given is not None:
                self.commands.take(given, u, desired)
            if "targets" in answer:
                self.commands.take(answer["targets"], u, desired)
            elif given is None:
                raise ControlError(f"answered without 'u' and 'targets': {_shown(json.dumps(answer))}")
        except ControlError as error:
            raise self._fault(error) from None
        self._answers = True

    # its state

    def save(self) -> dict[str, FloatArray]:
        """What the program says of its state."""
        state = None
        if self._answers and self._process is not None and self._process.poll() is None:
            state = self._ask({"save": True}, self._limit).get("state")
        document = {"state": state}
        if self._senses and self._sensors is not None:
            document["sensors"] = json.dumps(self._sensors.save())  # as a text, which may have NaN
        return pack(json.dumps(document), self.name, whole=self.commands.count is not None)

    def load(self, saved: Mapping[str, FloatArray]) -> None:
        """The state goes to the program in its first line."""
        self._saved = unpack(saved, self.name)
        self._greeting["state"] = self._saved.get("state")

    # the program

    def start(self) -> None:
        """Starts the program. ResourceError if it cannot be."""
        try:
            self._process = child_processes.start(
                self._words,
                folder=os.curdir,  # the user's command, in the user's folder
                stdin=child_processes.PIPE,
                stdout=child_processes.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise ResourceError(f"{self.name}: error: the controller cannot be started: {error.strerror}") from None
        self._input, self._output = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._input, False)
        os.set_blocking(self._output, False)
        self._eager = EAGER if num_processors() > 1 else 0.0
        self._poll, self._room = select.poll(), select.poll()
        self._poll.register(self._output, select.POLLIN | select.POLLHUP)
        self._room.register(self._input, select.POLLOUT | select.POLLERR)

    def stop(self) -> None:
        """Ends its input, and it, if it does not end by itself."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(OSError):
            process.stdin.close()
        try:
            process.wait(LAST_LIMIT)
        except child_processes.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()

    def _begin(self) -> None:
        if self._greeted:
            return
        self._greeted = True
        answer = self._ask(self._greeting, max(FIRST_LIMIT, self._limit))
        if answer.get("ready") is not True:
            raise self._fault('did not answer {"ready": true} to the first line')
        self._senses = answer.get("sensors") is True
        if self._senses and self._saved:
            load_sensors(self._sensors, self._saved, self.name)

    def _ask(self, question: Mapping[str, Any], limit: float) -> dict[str, Any]:
        """The answer to one line, a dict. ControlError without one."""
        deadline = clock.perf_counter() + limit
        self._write(json.dumps(question).encode() + b"\n", deadline, limit)
        line = self._line(deadline, limit)
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            raise self._fault(f"wrote no JSON: {_shown(line)}") from None
        if not isinstance(answer, dict):
            raise self._fault(f"wrote no JSON object: {_shown(line)}")
        if self._read:
            raise self._fault(f"wrote more than one line in answer to one: {_shown(self._read)}")
        return answer

    def _write(self, content: bytes, deadline: float, limit: float) -> None:
        while content:
            try:
                content = content[os.write(self._input, content) :]
            except BlockingIOError:
                if not self._room.poll(1000.0 * max(0.0, deadline - clock.perf_counter())):
                    raise self._too_slow(limit) from None
            except OSError:
                raise self._ended() from None

    def _line(self, deadline: float, limit: float) -> bytes:
        eager = clock.perf_counter() + self._eager
        while b"\n" not in self._read:
            try:
                part = os.read(self._output, 1 << 16)
            except BlockingIOError:
                now = clock.perf_counter()
                if now < eager:
                    continue
                if now >= deadline or not self._poll.poll(1000.0 * (deadline - now)):
                    raise self._too_slow(limit) from None
                continue
            if not part:
                raise self._ended()
            self._read += part
            if len(self._read) > MOST_BYTES:
                raise self._fault(f"wrote a line of more than {MOST_BYTES} bytes")
        line, _, self._read = self._read.partition(b"\n")
        return line

    def _too_slow(self, limit: float) -> ControlError:
        half = f", after {_shown(self._read)} without an end of the line" if self._read else ""
        return self._fault(f"did not answer within {limit:g} s{half}")

    def _ended(self) -> ControlError:
        half = f" in the middle of a line: {_shown(self._read)}" if self._read else ""
        with suppress(child_processes.TimeoutExpired):
            self._process.wait(LAST_LIMIT)
        code = self._process.poll()
        how = "closed its output" if code is None else f"ended with exit code {code}"
        if code is not None and code < 0:
            how = f"was ended by signal {-code}"
        return self._fault(f"{how}{half}")


def _as_json(sensors: Mapping[str, Any]) -> dict[str, Any]:
    """Of what is not known, null."""
    lists = {name: np.asarray(values, dtype=float).tolist() for name, values in sensors.items()}
    return {name: _finite(values) for name, values in lists.items()}


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return value if math.isfinite(value) else None


def _shown(line: bytes | str) -> str:
    text = printable(line.decode(errors="replace") if isinstance(line, bytes) else line)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
