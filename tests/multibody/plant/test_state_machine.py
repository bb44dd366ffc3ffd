"""Any sequence of public calls gives what a fresh context gives, and pydrake; see state_machine.py.

MBCLI_FUZZ_SECONDS sets how long each machine runs: it is the same run every time where that is not set, and a new one
where it is. Kernels are interpreted, but in one test.
"""

import os
import time

import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test
from machine_plants import Recipe
from machine_results import OWN, RESULTS
from repository import MODELS
from state_machine import PlantMachine, constrained_recipes, recipes, robot_recipes, seeds

from mbcli.engine.constraints.constrained_motion import expect_rank
from mbcli.engine.fields.model_fields import RANK_EXPECTED
from mbcli.engine.runtime import linking
from mbcli.engine.runtime.kernel import compiled_by_default
from mbcli.engine.stepping import constrained_step, integrators, loop
from mbcli.errors import NumericalError
from mbcli.multibody import scalars
from mbcli.multibody.core.active_constraints import ActiveConstraints
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import Frame, Joint, RigidBody

SECONDS = float(os.environ.get("MBCLI_FUZZ_SECONDS", 0))
STEPS = 25
ROBOT_FILES = (
    "acrobot/Acrobot.urdf",
    "four_bar/four_bar_loop.sdf",
    "four_bar/four_bar_weld.sdf",
    "planar_gripper/planar_gripper.sdf",
    "iiwa14/iiwa14_no_collision.urdf",
    "cassie/cassie_v2.urdf",
    "allegro/allegro_hand_description_right.sdf",
)
ROBOTS = [str(MODELS / name) for name in ROBOT_FILES if (MODELS / name).exists()]

# constraints that are violated by metres give energies of which balances leave more than they may
far_off = pytest.mark.rough

# calculations that the machine does not ask for, and why not
LEFT_OUT = {
    "EvalSceneGraphInspector": "says what was registered",
    "EvalVectorInput": "gives what a port was given",
    "EvalAbstractInput": "gives what a port was given",
    "CalcOutput": "asks the output ports one after another",
    "CalcTimeDerivatives": "gives EvalTimeDerivatives to an object of the caller's",
}


@pytest.fixture(autouse=True)
def close_solutions(monkeypatch):
    """Solvers go on until solutions from different guesses are equal."""
    monkeypatch.setattr("mbcli.engine.contact.arrays.DEFAULT_TOLERANCE", 1e-12)


def run(machine, examples, seed=0, shrink=True):
    """Runs examples with a seed, and in MBCLI_FUZZ_SECONDS as many more as there is time for."""
    phases = [hypothesis.Phase.generate, *[hypothesis.Phase.shrink] * shrink]
    settings = hypothesis.settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=phases,
    )
    end = time.monotonic() + SECONDS
    machine._hypothesis_internal_use_seed = seed if SECONDS == 0 else time.time_ns()
    run_state_machine_as_test(machine, settings=settings)
    while time.monotonic() < end:
        machine._hypothesis_internal_use_seed += 1
        run_state_machine_as_test(machine, settings=settings)


def test_any_sequence_of_calls_gives_what_a_fresh_context_gives():
    class Machine(PlantMachine):
        pass

    run(Machine, 120)


@far_off
def test_any_sequence_of_calls_under_constraints_gives_what_a_fresh_context_gives():
    class Constrained(PlantMachine):
        recipes = constrained_recipes()

    run(Constrained, 60)


@pytest.mark.skipif(not ROBOTS, reason="no robots of others are here")
def test_any_sequence_of_calls_on_robots_gives_what_a_fresh_context_gives():
    class Robots(PlantMachine):
        recipes = robot_recipes(ROBOTS)

    run(Robots, 6)


@pytest.mark.peers("pydrake")
def test_any_sequence_of_calls_gives_what_pydrake_gives():
    class WithPeers(PlantMachine):
        peer = "pydrake"

    run(WithPeers, 80)


@pytest.mark.skipif(not compiled_by_default(), reason="compiled kernels are switched off")
def test_any_sequence_of_calls_gives_what_a_fresh_context_gives_compiled():
    class Compiled(PlantMachine):
        recipes = recipes(compiled=True)

    run(Compiled, 10)


# ---------------------------------------------------------------------------------------------- the machine itself


def without_call(function, name):
    """The code of a function in which do_nothing() stands for another one."""
    code = function.__code__
    assert name in code.co_names
    return code.replace(co_names=tuple("do_nothing" if n == name else n for n in code.co_names))


@pytest.fixture
def new_kernels(monkeypatch):
    """Kernels are linked anew in the test, and after it those that it changed are as they were."""
    caches = linking.load_kernels, scalars.autodiff_kernels, scalars.symbolic_kernels

    def clear():
        for cached in caches:
            cached.cache_clear()

    yield clear
    monkeypatch.undo()
    clear()


def test_the_machine_finds_forces_that_a_call_leaves_to_the_next_step(monkeypatch, new_kernels):
    """The fault that it was written for: what inverse dynamics was given as forces acted in the next step too."""
    for module, function in ((loop, loop.run_discrete), (integrators, integrators.derivative)):
        monkeypatch.setattr(function, "__code__", without_call(function, "clear_applied_forces"))
        monkeypatch.setattr(module, "do_nothing", lambda data: None, raising=False)
    new_kernels()

    class Machine(PlantMachine):
        pass

    with pytest.raises(AssertionError, match="coordinates after a step"):
        run(Machine, 100, seed=3, shrink=False)


# rods on a hinge whose tip is at a wrong distance, which few of them can ever reach
tied_rods = st.builds(
    Recipe,
    seed=seeds,
    kinds=st.just(("revolute",)),
    time_step=st.just(0.01),
    constraints=st.just(("distance",)),
    scheme=st.just("midpoint"),
)


@far_off
def test_the_machine_finds_velocities_that_a_question_leaves_in_the_state(monkeypatch, new_kernels):
    """Accelerations of a step kept the velocities of its start where crossings of singular positions keep theirs."""
    function = constrained_step.accelerations_of_constrained_step
    names = tuple("v_center" if name == "v_asked" else name for name in function.__code__.co_names)
    monkeypatch.setattr(function, "__code__", function.__code__.replace(co_names=names))
    new_kernels()

    class Tied(PlantMachine):
        recipes = tied_rods

    with pytest.raises(AssertionError, match="changes', \\['v', 'x'\\]"):
        run(Tied, 400, shrink=False)


@far_off
def test_the_machine_finds_accelerations_that_depend_on_earlier_questions(monkeypatch):
    """What the first question found out about ranks, and what later ones changed of it, was there for the next one."""

    def ask(active, context, compute):
        if active.work.ranks[RANK_EXPECTED] == 0.0:
            expect_rank(active.work, *active.chains(context).regular_rank(context.state.q))
        compute()
        if active.take_step_fault():
            raise NumericalError(active.singularity())

    monkeypatch.setattr(ActiveConstraints, "ask", ask)
    monkeypatch.setattr("state_machine.changed", lambda arrays, context: [])  # which would find it sooner

    class Tied(PlantMachine):
        recipes = tied_rods

    with pytest.raises(AssertionError):
        run(Tied, 400, shrink=False)


def public_calculations():
    """Names of the public methods that compute something in a context."""
    kinds = (MultibodyPlant, Frame, Joint, RigidBody)
    names = {name for kind in kinds for name in dir(kind) if name.startswith(("Calc", "Eval", "Map", "MakeQ"))}
    return names - set(LEFT_OUT)


def test_the_machine_asks_for_every_calculation():
    asked = {name.split()[0] for names in RESULTS for name in names}
    assert public_calculations() <= asked
    assert set(RESULTS) >= OWN
