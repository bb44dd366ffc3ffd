"""A state machine: any sequence of public calls on a random plant, each compared with a fresh context.

The fresh context is made anew for each call, from a twin of the plant to which nothing ever happened, and brought to
the same state by a Ledger: what was set, and nothing of what was computed. Where pydrake has such a plant and call, a
context of it follows and its results are compared too.
"""

import re
import warnings
from dataclasses import dataclass, replace

import numpy as np
from contact_scenes import unit_quaternions
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from machine_arrays import changed, state_arrays
from machine_changes import CHANGES, INPUTS, OWN_CHANGES, PARAMETERS
from machine_plants import APPROXIMATIONS, CONSTRAINTS, IN_PYDRAKE, Recipe, Side, library
from machine_results import OWN, RESULTS, arrays_in, numbers

NUMBER = r"-?\d[\d.e+-]*"
ROUNDING = 1e-9  # of the largest number of a result
SOLVED = 1e-5  # the same, of steps that pydrake stops at its tolerance
CLOSE = 1e-7  # the same, of steps that a solver started from different guesses
CONTEXTS = 3  # at most


@dataclass(frozen=True)
class Ledger:
    """Everything that a context's results may depend on.

    Args:
        parameters, inputs: changes (function, seed) in their order.
        at: (time, q, v); None: the default.
        before: (Ledger, count): from where the last steps went and how many they were; None: there were none.
    """

    parameters: tuple = ()
    inputs: tuple = ()
    at: tuple | None = None
    before: tuple | None = None

    def state(self, side):
        """A fresh State."""
        done = 0
        if self.before is not None and side.recipe.sampled:
            earlier, count = self.before
            state = replace(earlier, before=None).state(side)
            step(state, count)
            done = len(earlier.parameters)
        else:
            state = side.new_state()
        for function, seed in (*self.parameters[done:], *self.inputs):
            function(state, np.random.default_rng(seed))
        if self.at is not None:
            move(state, *self.at)
        return state

    def reached(self, state):
        """This ledger at the time, positions and velocities of a State."""
        plant, context = state.plant, state.context
        return replace(self, at=(context.get_time(), plant.GetPositions(context), plant.GetVelocities(context)))


def move(state, time, q, v):
    state.root.SetTime(time)
    state.plant.SetPositions(state.context, q)
    state.plant.SetVelocities(state.context, v)


def step(state, count):
    """Advances by so many steps of a discrete plant, or milliseconds."""
    h = state.plant.time_step() or 0.001
    start = round(state.context.get_time() / h)
    state.root.SetTime(start * h)
    if state.lib.library == "pydrake":
        for k in range(count):
            (state.side.diagram or state.plant).ExecuteForcedEvents(state.root)
            state.root.SetTime((start + k + 1) * h)
            normalize_quaternions(state)
        return
    simulator = state.simulator()
    simulator.Initialize()
    simulator.AdvanceTo((start + count) * h)


def normalize_quaternions(state):
    """Steps of pydrake leave quaternions as long as they become; their rotations are those of mbcli."""
    q = unit_quaternions(state.plant, state.plant.GetPositions(state.context))
    state.plant.SetPositions(state.context, q)


def outcome(function, state, seed):
    """(error or None, result)."""
    try:
        return None, function(state, np.random.default_rng(seed))
    except RuntimeError as error:  # what a plant says of a state; all else is a fault
        return error, None


def check_errors(name, error, expected):
    """AssertionError where one raised what the other did not; numbers in texts may differ by rounding."""
    found, expected = (re.sub(NUMBER, "#", repr(e)) for e in (error, expected))
    assert found == expected, name


def check_equal(name, found, expected, tolerance=ROUNDING):
    """AssertionError where two results differ by more than the tolerance times their largest number."""
    found, expected = numbers(found), numbers(expected)
    assert len(found) == len(expected), name
    for a, b in zip(found, expected, strict=True):
        scale = max(1.0, np.abs(b).max(initial=0.0))
        np.testing.assert_allclose(a.ravel(), b.ravel(), rtol=0.0, atol=tolerance * scale, err_msg=str(name))


def check_coordinates(name, state, ledger, tolerance=ROUNDING):
    time, q, v = ledger.at
    assert state.root.get_time() == time, name
    check_equal(name, state.plant.GetPositions(state.context), q, tolerance)
    check_equal(name, state.plant.GetVelocities(state.context), v, tolerance)


@dataclass
class Followed:
    """A context with its ledger, and that of pydrake which follows it, or None."""

    state: object
    ledger: Ledger
    peer: object


@st.composite
def recipes(draw, compiled=False):
    """Recipes of plants, the simplest one a pendulum."""
    time_step = draw(st.sampled_from([0.0, 0.001, 0.01]))
    approximation = draw(st.sampled_from(APPROXIMATIONS)) if time_step else "lagged"
    drive = draw(st.sampled_from(["none", "plain", "controlled"]))
    constraints = () if approximation == "tamsi" else draw(st.lists(st.sampled_from(CONSTRAINTS), max_size=2))
    return Recipe(
        seed=draw(st.integers(0, 2**16)),
        kinds=tuple(draw(st.lists(st.sampled_from((*IN_PYDRAKE, "curvilinear")), min_size=1, max_size=4))),
        time_step=time_step,
        approximation=approximation,
        springs=draw(st.booleans()),
        elements=draw(st.booleans()),
        users=draw(st.sampled_from([False, False, True])),
        drive=drive,
        limits=draw(st.booleans()),
        contact=not compiled and draw(st.booleans()),  # the rest is what compiles in seconds
        constraints=tuple(constraints) if not compiled and draw(st.integers(0, 2)) == 2 else (),
        sampled=bool(time_step) and draw(st.booleans()),
        compiled=compiled,
    )


@st.composite
def constrained_recipes(draw, compiled=False):
    """Recipes of plants under constraints, which random positions violate; their ports are not sampled."""
    time_step = draw(st.sampled_from([0.0, 0.001, 0.01]))
    return Recipe(
        seed=draw(st.integers(0, 2**16)),
        kinds=tuple(draw(st.lists(st.sampled_from(IN_PYDRAKE), min_size=1, max_size=3))),
        time_step=time_step,
        approximation=draw(st.sampled_from(APPROXIMATIONS[:3])) if time_step else "lagged",
        springs=draw(st.booleans()),
        drive=draw(st.sampled_from(["none", "plain", "controlled"])),
        limits=draw(st.sampled_from([False, False, True])),
        contact=not compiled and draw(st.sampled_from([False, False, True])),
        constraints=tuple(draw(st.lists(st.sampled_from(CONSTRAINTS), min_size=1, max_size=3))),
        compiled=compiled,
    )


@st.composite
def robot_recipes(draw, files):
    """Recipes of robots that others made, with constraints."""
    time_step = draw(st.sampled_from([0.0, 0.001]))
    return Recipe(
        seed=draw(st.integers(0, 2**16)),
        time_step=time_step,
        constraints=tuple(draw(st.lists(st.sampled_from(("ball", "distance", "loop")), max_size=1))),
        sampled=bool(time_step) and draw(st.booleans()),
        robot=draw(st.sampled_from(files)),
    )


seeds = st.integers(0, 2**16)
which = st.integers(0, CONTEXTS - 1)


def names_of(table):
    return st.sampled_from(sorted(table))


def depends_on_steps(name):
    """Whether a result follows from accelerations, which in a discrete plant are those of a step."""
    return any(word in part for part in name for word in ("Acceleration", "output port")) and not any(
        part.startswith(("CalcBias", "CalcSpatialAccelerationsFromVdot", "state output")) for part in name
    )


class PlantMachine(RuleBasedStateMachine):
    """Public calls in any order on up to three contexts of a plant."""

    recipes = recipes()
    peer = None  # the name of another library that is asked too

    @initialize(data=st.data(), seed=seeds)
    def make_plant(self, data, seed):
        recipe = data.draw(self.recipes)
        own = library("mbcli")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.side, self.twin = Side(own, recipe), Side(own, recipe)
            asked = self.peer is not None and recipe.is_in_pydrake()
            self.peer_side = Side(library(self.peer), recipe) if asked else None
        peer = self.peer_side and self.peer_side.new_state()
        self.followed = [Followed(self.side.new_state(), Ledger(), peer)]
        first = [*INPUTS] if recipe.sampled else ["fix_desired_states"]
        for name in first:
            self.change(INPUTS, name, seed, 0)
        self.change(CHANGES, "set_positions_and_velocities", seed, 0)

    def one(self, k):
        return self.followed[k % len(self.followed)]

    # ------------------------------------------------------------------------------------------------ results

    @rule(name=names_of(RESULTS), seed=seeds, k=which)
    def ask(self, name, seed, k):
        """A question gives what it does in a fresh context, and changes nothing here and in other contexts."""
        contexts = [followed.state.context for followed in self.followed]
        before = [state_arrays(context) for context in contexts]
        self.compare(self.one(k), name, RESULTS[name], seed, is_known_to_peer=name not in OWN)
        for arrays, context in zip(before, contexts, strict=True):
            assert not changed(arrays, context), (name, "changes", changed(arrays, context))

    @rule(name=st.sampled_from(sorted(name for name in RESULTS if depends_on_steps(name))), seed=seeds, k=which)
    def ask_for_a_step(self, name, seed, k):
        """As ask(), of what takes a step or an acceleration to answer."""
        self.ask(name, seed, k)

    def compare(self, one, name, function, seed, is_known_to_peer=True, may_raise=True):
        """Calls it in the context and in a fresh one, compares; returns the fresh State."""
        fresh = one.ledger.state(self.twin)
        error, found = outcome(function, one.state, seed)
        expected_error, expected = outcome(function, fresh, seed)
        if error is not None or expected_error is not None:
            check_errors(name, error, expected_error)
            assert may_raise, (name, error)
        check_equal(name, found, expected, self.rounding())
        if one.peer is not None and error is None and is_known_to_peer:
            self.compare_with_peer(one, name, function, seed, expected)
        self.side.received += arrays_in(found)
        return fresh

    def compare_with_peer(self, one, name, function, seed, expected):
        recipe, rounding = self.side.recipe, ()  # pydrake has crashed in steps that are not compared
        if depends_on_steps(name):
            if recipe.time_step and not recipe.steps_like_pydrake():
                return
            rounding = (SOLVED if recipe.solves() else ROUNDING,)
        of_peer = function(one.peer, np.random.default_rng(seed))
        check_equal((name, self.peer), expected, of_peer, *rounding)

    # ------------------------------------------------------------------------------------------------ changes

    @rule(name=names_of(CHANGES), seed=seeds, k=which)
    def change_state(self, name, seed, k):
        self.change(CHANGES, name, seed, k)

    @rule(name=names_of(PARAMETERS), seed=seeds, k=which)
    def change_parameter(self, name, seed, k):
        self.change(PARAMETERS, name, seed, k)

    @rule(name=names_of(INPUTS), seed=seeds, k=which)
    def change_input(self, name, seed, k):
        self.change(INPUTS, name, seed, k)

    def change(self, kind, name, seed, k):
        one = self.one(k)
        if self.peer and name in OWN_CHANGES:
            return
        fresh = self.compare(one, name, kind[name], seed, may_raise=False)
        if kind is PARAMETERS:
            one.ledger = replace(one.ledger, parameters=(*one.ledger.parameters, (kind[name], seed)))
        elif kind is INPUTS:
            one.ledger = replace(one.ledger, inputs=(*one.ledger.inputs, (kind[name], seed)))
        one.ledger = one.ledger.reached(fresh)
        check_coordinates(name, one.state, one.ledger)
        if one.peer is not None:
            check_coordinates((name, self.peer), one.peer, one.ledger)

    def rounding(self):
        return CLOSE if self.side.recipe.solves() else ROUNDING

    @rule(count=st.integers(1, 3), k=which)
    def advance(self, count, k):
        one = self.one(k)
        fresh = one.ledger.state(self.twin)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of starts off the constraints, and limits in continuous plants
            error, _ = outcome(lambda state, rng: step(state, count), one.state, 0)
            expected_error, _ = outcome(lambda state, rng: step(state, count), fresh, 0)
        check_errors("steps", error, expected_error)
        earlier, one.ledger = one.ledger, one.ledger.reached(fresh)
        check_coordinates("coordinates after a step", one.state, one.ledger, self.rounding())
        move(one.state, *one.ledger.at)  # what differs by rounding would grow
        if error is None:
            one.ledger = replace(one.ledger, before=(earlier, count))
            self.advance_peer(one, count)
        elif one.peer is not None:
            move(one.peer, *one.ledger.at)

    @rule(name=names_of(RESULTS), seed=seeds, count=st.integers(1, 3), k=which)
    def ask_and_advance(self, name, seed, count, k):
        """What a call leaves behind must not act in the next step."""
        self.ask(name, seed, k)
        self.advance(count, k)

    def advance_peer(self, one, count):
        if one.peer is None:
            return
        if self.side.recipe.steps_like_pydrake():
            if self.side.recipe.time_step:
                step(one.peer, count)
            tolerance = SOLVED if self.side.recipe.solves() else ROUNDING
            _, q, v = one.ledger.at
            check_equal(f"v after a step, {self.peer}", v, one.peer.plant.GetVelocities(one.peer.context), tolerance)
            check_equal(f"q after a step, {self.peer}", q, one.peer.plant.GetPositions(one.peer.context), tolerance)
        move(one.peer, *one.ledger.at)

    # ------------------------------------------------------------------------------------------------ contexts

    @precondition(lambda self: len(self.followed) < CONTEXTS)
    @rule(k=which)
    def clone(self, k):
        one = self.one(k)
        self.followed.append(Followed(one.state.clone(), one.ledger, one.peer and one.peer.clone()))

    @precondition(lambda self: len(self.followed) < CONTEXTS)
    @rule(seed=seeds)
    def make_context(self, seed):
        peer = self.peer_side and self.peer_side.new_state()
        self.followed.append(Followed(self.side.new_state(), Ledger(), peer))
        for name in [*INPUTS] if self.side.recipe.sampled else ["fix_desired_states"]:
            self.change(INPUTS, name, seed, len(self.followed) - 1)

    @precondition(lambda self: len(self.followed) > 1)
    @rule(k=which, source=which)
    def copy_context(self, k, source):
        one, other = self.one(k), self.one(source)
        one.state.root.SetTimeStateAndParametersFrom(other.state.root)
        one.ledger = replace(other.ledger, inputs=one.ledger.inputs)
        if one.peer is not None:
            one.peer.root.SetTimeStateAndParametersFrom(other.peer.root)

    @rule()
    def spoil(self):
        """What was passed or returned earlier is the caller's own."""
        self.side.spoil()
