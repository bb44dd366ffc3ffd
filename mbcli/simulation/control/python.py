"""Controllers of Python: a function, or an object with __call__.

They are given what their parameters name:

time      [s]
q         (nq,) positions, a copy
v         (nv,) velocities, a copy
sensors   None: the model has no sensors that a run measures
targets   what a plan wants at this time (a Motion of plans.py); None without a plan
plant     the MultibodyPlant, for kinematics and dynamics in contexts of one's own
random    numpy.random.Generator of the run's seed

A class is made once for each run, with `plant` and `random` if its constructor names them. Its method reset(), if it
has one, is called when a run begins, with what its parameters name. A run that goes on needs save(), which returns what
JSON can write, and load(value), unless the user asks for pickle.
"""

from __future__ import annotations

import base64
import inspect
import json
import pickle
import traceback
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ControlError
from mbcli.simulation.control.run_controller import RunController
from mbcli.simulation.control.saved import load_sensors, pack, unpack
from mbcli.simulation.control.watchdog import CallTooLongError, Watchdog

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.simulation.control.commands import Commands
    from mbcli.simulation.control.tick_sensors import TickSensors

GIVEN = ("time", "q", "v", "sensors", "targets", "plant", "random")
OF_CONSTRUCTORS = ("plant", "random")


class PythonController(RunController):
    """Calls a function of Python, or an object, at the ticks of a run.

    Args:
        function: the function, or the class or object.
        plant: finalized.
        commands: Commands of the run.
        seed: of its random numbers.
        limit: [s] of wall-clock time for a call.
        targets: time -> what a plan wants, or None.
        pickles: whether its state is pickled.
        name: for messages.
    """

    def __init__(
        self,
        function: Any,
        plant: MultibodyPlant,
        commands: Commands,
        *,
        seed: int,
        limit: float,
        targets: Callable[[float], Any] | None = None,
        pickles: bool = False,
        name: str = "controller",
    ) -> None:
        super().__init__(name, commands)
        self._plant, self._random = plant, np.random.default_rng(seed)
        self._targets, self._pickles = targets, pickles
        self._watchdog = Watchdog(limit)
        self._file = file_of(function)
        if inspect.isclass(function):
            given = dict(zip(OF_CONSTRUCTORS, (plant, self._random), strict=True))
            names = parameters(function, OF_CONSTRUCTORS, name)
            function = self._guarded(lambda: function(**{each: given[each] for each in names}))
        if not callable(function):
            raise ControlError(f"{name}: error: has no __call__: an object that is called is wanted")
        self._object = function
        self._call = _by_names(function, name)
        self._reset = _by_names(function.reset, name) if hasattr(function, "reset") else None
        self._fresh = True
        self._sensors: TickSensors | None = None  # once they are made, of a controller that asks for them

    def sense(self, make: Callable[[], TickSensors]) -> None:
        """make: makes what the sensors of the model give at ticks, if the function or its reset() names `sensors`."""
        functions = [self._object, *filter(None, [getattr(self._object, "reset", None)])]
        if any("sensors" in parameters(each, GIVEN, self.name) for each in functions):
            self._sensors = make()

    def call(self, time: float, q: FloatArray, v: FloatArray, u: FloatArray, desired: FloatArray) -> None:
        """A tick."""
        targets = None if self._targets is None else self._targets(time)
        sensors = None if self._sensors is None else self._sensors.at(time, q, v, u, desired)
        given = (time, q, v, sensors, targets, self._plant, self._random)
        watchdog = self._watchdog
        try:
            watchdog.calls += 1
            try:
                if self._fresh:
                    self._begin(given)
                answer = self._call(given)
            finally:
                watchdog.calls += 1
            self.commands.take(answer, u, desired)
        except ControlError as error:
            raise self._fault(error) from None
        except CallTooLongError:
            raise self._fault(f"took longer than {watchdog.limit:g} s for a call") from None
        except (Exception, SystemExit) as error:  # noqa: BLE001  whatever the user's code raises ends the run with its place
            raise self._failure(error) from None

    def _begin(self, given: tuple[Any, ...]) -> None:
        self._fresh = False
        if self._reset is not None:
            self._reset(given)

    def start(self) -> None:
        """Before the run."""
        self._watchdog.start()

    def stop(self) -> None:
        """After it."""
        self._watchdog.stop()

    # its state

    def save(self) -> dict[str, FloatArray]:
        """What a run that goes on needs: the state of its random numbers, and what it says itself."""
        state: Any = None
        if self._pickles:
            state = base64.b64encode(pickle.dumps(self._object)).decode("ascii")
        elif hasattr(self._object, "save") and not self._fresh:  # before its first call it has begun nothing
            state = self._guarded(self._object.save)
        document = {
            "random": self._random.bit_generator.state,
            "knows": self._pickles or not _may_remember(self._object) or self._has_both(),
            "pickled": self._pickles,
            "fresh": self._fresh,
            "state": state,
        }
        if self._sensors is not None:
            document["sensors"] = json.dumps(self._sensors.save())  # as a text, which may have NaN
        try:
            text = json.dumps(document, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ControlError(f"{self._place()}: error: save() returned what JSON cannot write: {error}") from None
        return pack(text, self._place(), whole=self.commands.count is not None)

    def load(self, saved: Mapping[str, FloatArray]) -> None:
        """Goes on from what save() has given."""
        document = unpack(saved, self._place())
        needs_load = document["state"] is not None and not document["pickled"]
        if not document["knows"] or (needs_load and not hasattr(self._object, "load")):
            raise self._fault("has no save() and load(), so that a run cannot go on with it")
        if document["pickled"] and not self._pickles:
            raise ControlError(f"{self._place()}: error: the state in the log is pickled: ask for pickle again")
        self._random.bit_generator.state = document["random"]
        self._fresh = document["fresh"]
        if document["pickled"]:
            self._object = self._guarded(lambda: pickle.loads(base64.b64decode(document["state"])))
            self._call = _by_names(self._object, self.name)
        elif hasattr(self._object, "load") and not self._fresh:
            self._guarded(lambda: self._object.load(document["state"]))
        load_sensors(self._sensors, document, self._place())

    def _has_both(self) -> bool:
        return hasattr(self._object, "save") and hasattr(self._object, "load")

    # what goes wrong

    def _guarded(self, function: Callable[[], Any]) -> Any:
        try:
            return function()
        except ControlError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001  as in call()
            raise self._failure(error) from None

    def _place(self) -> str:
        return self.name if self._file is None else self._file

    def _failure(self, error: BaseException) -> ControlError:
        """The ControlError with the last line of the user's file that the error came through."""
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if self._file is not None and frame.filename == self._file]
        own = own or [frame for frame in frames if "/mbcli/" not in frame.filename] or list(frames)
        place = f"{own[-1].filename}:{own[-1].lineno}" if own else self._place()
        return ControlError(f"{place}: error: the controller raised {type(error).__name__}: {error}")


def parameters(function: Any, known: tuple[str, ...], name: str) -> list[str]:
    """The parameters of a function that it must be given, of the known names. ControlError for others."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        raise ControlError(f"{name}: error: its parameters are not known: write a function of Python") from None
    names = []
    for parameter in signature.parameters.values():
        if parameter.name in known and parameter.kind is not parameter.POSITIONAL_ONLY:
            names.append(parameter.name)
        elif parameter.default is parameter.empty and parameter.kind not in (
            parameter.VAR_KEYWORD,
            parameter.VAR_POSITIONAL,
        ):
            raise ControlError(
                f"{name}: error: its parameter '{parameter.name}' is none of those that are given: {', '.join(known)}"
            )
    return names


def _by_names(function: Any, name: str) -> Callable[[tuple[Any, ...]], Any]:
    """A function of what is given, in the order of GIVEN, that calls the other one with what it names."""
    names = parameters(function, GIVEN, name)
    if not names:
        return lambda given: function()
    places = [GIVEN.index(each) for each in names]
    if len(places) == 1:
        only, key = places[0], names[0]
        return lambda given: function(**{key: given[only]})
    choose = itemgetter(*places)
    return lambda given: function(**dict(zip(names, choose(given), strict=True)))


def file_of(function: Any) -> str | None:
    """The file that a function, class or the class of an object is written in; None if that is not known."""
    for each in (function, type(function)):
        try:
            return inspect.getsourcefile(each)
        except TypeError:
            continue
    return None


def _may_remember(controller: object) -> bool:
    """Whether a controller is an object, which may have a state; a function has none."""
    return not inspect.isfunction(controller)
