"""Native code keeps what Python promises: what is read-only stays, threads do not meet, signals and forks are seen."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from repository import SAMPLES, SUPPORT

from mbcli.common.turns import Turn
from mbcli.engine.runtime.kernel import ENTRIES, Written, argument_types
from mbcli.engine.runtime.linking import all_kernels
from mbcli.errors import ArgumentError
from mbcli.models import load_model
from mbcli.multibody.plant import BatchFunctions, StateFunctions
from mbcli.multibody.tree import BodyIndex
from mbcli.simulation import Worlds, world_worker
from mbcli.systems.analysis import Simulator

ARM = SAMPLES / "arm7.urdf"
PROGRAM = SUPPORT / "hostile_calls.py"


@pytest.fixture(scope="module")
def plant():
    return load_model(ARM, dt=0.002).plant


@pytest.fixture(scope="module", params=["compiled", "interpreted"])
def functions(request, plant):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MBCLI_JIT", "1" if request.param == "compiled" else "0")
        made = StateFunctions(plant)
    return made, np.linspace(0.1, 0.7, plant.num_positions()), np.linspace(-0.5, 0.5, plant.num_velocities())


def calls_of(functions, plant):
    """{name: (call of out, the shapes of its results)}"""
    f, q, v = functions
    nv, frame = len(v), plant.get_body(BodyIndex(4)).body_frame()
    square = (nv, nv)
    return {
        "inverse dynamics": (lambda out: f.inverse_dynamics(q, v, v, out=out), [(nv,)]),
        "forward dynamics": (lambda out: f.forward_dynamics(q, v, v, out=out), [(nv,)]),
        "mass matrix": (lambda out: f.mass_matrix(q, out=out), [square]),
        "bias term": (lambda out: f.bias_term(q, v, out=out), [(nv,)]),
        "gravity": (lambda out: f.gravity_forces(q, out=out), [(nv,)]),
        "pose": (lambda out: f.pose(frame)(q, out=out), [(4, 4)]),
        "velocity": (lambda out: f.velocity(frame)(q, v, out=out), [(6,)]),
        "Jacobian": (lambda out: f.jacobian(frame)(q, out=out), [(6, nv)]),
        "derivatives": (lambda out: f.inverse_dynamics_derivatives(q, v, v, out=out), [square] * 3),
        "forward derivatives": (lambda out: f.forward_dynamics_derivatives(q, v, v, out=out), [square] * 3),
        "velocity derivatives": (lambda out: f.velocity_derivatives(frame)(q, v, out=out), [(6, nv)] * 2),
        "acceleration derivatives": (lambda out: f.acceleration_derivatives(frame)(q, v, v, out=out), [(6, nv)] * 4),
    }


NAMES = list(calls_of((None, np.zeros(7), np.zeros(7)), load_model(ARM).plant))


@pytest.mark.parametrize("name", NAMES)
def test_no_function_writes_what_is_read_only_unaligned_or_shared(functions, plant, name):
    call, shapes = calls_of(functions, plant)[name]
    held = bytes(8 * int(np.prod(shapes[0])) + 8)

    def with_first(first):
        arrays = [first, *(np.zeros(shape) for shape in shapes[1:])]
        return first if len(shapes) == 1 else arrays

    fixed = np.frombuffer(held, count=int(np.prod(shapes[0]))).reshape(shapes[0])
    with pytest.raises(ArgumentError, match="read-only"):
        call(with_first(fixed))
    assert held == bytes(len(held))
    unaligned = np.frombuffer(bytearray(held), offset=1, count=fixed.size).reshape(shapes[0])
    with pytest.raises(ArgumentError, match="not aligned"):
        call(with_first(unaligned))
    for wrong in (
        np.zeros(shapes[0], dtype="f4"),
        np.zeros((*shapes[0][:-1], 2 * shapes[0][-1]))[..., ::2],
        [0.0],
        None,
    ):
        if wrong is not None or len(shapes) > 1:
            with pytest.raises(ArgumentError):
                call(with_first(wrong))
    if len(shapes) > 1:
        one = np.zeros(shapes[0])
        with pytest.raises(ArgumentError, match="share memory"):
            call([one] * len(shapes))


def test_a_read_only_mapping_of_a_file_is_refused(functions, tmp_path):
    f, q, v = functions
    np.zeros((len(v), len(v))).tofile(tmp_path / "M")
    out = np.memmap(tmp_path / "M", dtype=float, mode="r", shape=(len(v), len(v)))
    for given in (out, np.asarray(out)):
        with pytest.raises(ArgumentError, match="read-only"):
            f.mass_matrix(q, out=given)
    writable = np.memmap(tmp_path / "M", dtype=float, mode="r+", shape=out.shape)
    np.testing.assert_array_equal(f.mass_matrix(q, out=writable), f.mass_matrix(q))


def test_a_result_may_be_written_over_its_input(functions):
    f, q, v = functions
    expected, own = f.inverse_dynamics(q, v, v), v.copy()
    assert f.inverse_dynamics(q, v, own, out=own) is own
    np.testing.assert_array_equal(own, expected)
    memory = np.concatenate([v, np.zeros(3)])  # and beside it
    f.inverse_dynamics(q, v, memory[: len(v)], out=memory[3:])
    np.testing.assert_array_equal(memory[3:], expected)


def test_results_of_many_states_do_the_same(plant):
    batch, n, nv = BatchFunctions(plant), 20, plant.num_velocities()
    q, v = np.zeros((n, plant.num_positions())), np.ones((n, nv))
    outs = [np.zeros((n, nv, nv)) for _ in range(3)]
    outs[1].flags.writeable = False
    with pytest.raises(ArgumentError, match="read-only"):
        batch.inverse_dynamics_derivatives(q, v, v, out=outs)
    assert not outs[0].any()
    for wrong in ([outs[0]] * 3, [outs[0]], 1.0, [None] * 3):
        with pytest.raises(ArgumentError, match="out"):
            batch.inverse_dynamics_derivatives(q, v, v, out=wrong)
    expected = batch.inverse_dynamics_derivatives(q, v, v)
    memory = np.zeros(n * nv * nv)
    memory[: n * nv] = 1.0
    outs = [memory.reshape(n, nv, nv), *(np.zeros((n, nv, nv)) for _ in range(2))]
    batch.inverse_dynamics_derivatives(q, memory[: n * nv].reshape(n, nv), v, out=outs)
    for ours, theirs in zip(outs, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_what_an_evaluation_for_users_writes_is_marked_so():
    """Each has results, in arrays of the caller that come last."""
    all_kernels()
    users = [f for f in ENTRIES if f.__module__.endswith(("state_calls", "derivative_calls", "batch"))]
    assert len(users) > 20
    for function in users:
        types, _ = argument_types(function)
        assert isinstance(types[-1], Written), function
        marks = [isinstance(kind, Written) for kind in types]
        assert marks == sorted(marks), function


# ----------------------------------------------------------------------------------------------- threads


def in_a_thread(call):
    found = []

    def run():
        try:
            found.append(call())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0]


def test_a_context_that_a_thread_steps_is_refused_to_others(plant):
    context, found = plant.CreateDefaultContext(), []
    simulator = Simulator(plant, context)

    def monitor(_):
        found.append(in_a_thread(lambda: Simulator(plant, context).AdvanceTo(1.0)))
        found.append(in_a_thread(lambda: Simulator(plant, plant.CreateDefaultContext()).AdvanceTo(0.01)))

    simulator.set_monitor(monitor)
    simulator.AdvanceTo(0.002)
    assert isinstance(found[0], RuntimeError) and "in use by another thread" in str(found[0])
    assert not isinstance(found[1], Exception)
    simulator.clear_monitor()
    assert not isinstance(in_a_thread(lambda: simulator.AdvanceTo(0.01)), Exception)


def test_threads_with_contexts_of_their_own_get_what_one_gets(plant):
    def end(_=None):
        context = plant.CreateDefaultContext()
        plant.SetVelocities(context, np.ones(plant.num_velocities()))
        for k in range(20):
            Simulator(plant, context).AdvanceTo(0.01 * (k + 1))
        return np.concatenate([plant.GetPositions(context), plant.GetVelocities(context)])

    expected, found = end(), []
    threads = [threading.Thread(target=lambda: found.append(end())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2
    for state in found:
        np.testing.assert_array_equal(state, expected)


def test_a_turn_is_of_one_thread_which_may_take_it_again():
    turn = Turn("a thing")

    def entered():
        with turn:
            return True

    with turn, turn:
        assert isinstance(in_a_thread(entered), RuntimeError)
    assert in_a_thread(entered) is True


def test_a_forked_process_keeps_the_turns_of_the_thread_that_forks_and_no_others():
    mine, of_another, taken, done = Turn("a thing"), Turn("a thing"), threading.Event(), threading.Event()

    def entered(turn):
        with turn:
            return True

    def hold():
        with of_another:
            taken.set()
            done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    taken.wait()
    child = None
    try:
        with mine:
            child = os.fork()
            refused = child == 0 and isinstance(in_a_thread(lambda: entered(mine)), RuntimeError)
        if child == 0:  # it gave the turn back
            os._exit(0 if refused and entered(of_another) and in_a_thread(lambda: entered(mine)) is True else 1)
    finally:
        if child == 0:
            os._exit(2)
        done.set()
        holder.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# ---------------------------------------------------------------------------------------- signals and forks


def interrupted(call):
    """Seconds from a signal to the KeyboardInterrupt that it raises."""
    sent = []

    def send():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, send)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
        return time.perf_counter() - sent[0]
    finally:
        timer.cancel()
        timer.join()


@pytest.mark.parametrize(("threads", "lanes"), [(1, True), (2, True), (1, False)])
def test_worlds_see_signals_and_go_on_from_where_they_are(plant, threads, lanes):
    worlds = Worlds(plant, 17, threads=threads, lanes=lanes)
    worlds.v += 0.1
    worlds.step(3)
    assert interrupted(lambda: worlds.step(10**9)) < 5.0  # 0.02 s where nothing else runs
    steps = np.rint(worlds.time / plant.time_step()).astype(int)
    assert steps[0] > 3 and not worlds.status.any()
    again = Worlds(plant, 17, threads=1, lanes=lanes)
    again.v += 0.1
    again.step(3)
    again.step(int(steps[0]) - 3)
    np.testing.assert_array_equal(worlds.q[0], again.q[0])
    worlds.step(2)
    np.testing.assert_array_equal(np.rint(worlds.time / plant.time_step()), steps + 2)


@pytest.mark.parametrize("lanes", [True, False])
def test_pauses_change_no_bit(plant, lanes, monkeypatch):
    def ends():
        worlds = Worlds(plant, 11, threads=1, lanes=lanes)
        worlds.v += np.random.default_rng(0).normal(scale=3.0, size=worlds.v.shape)  # some reach limits
        return worlds.rollout(301)

    expected = ends()
    monkeypatch.setattr(world_worker, "FIRST_STEPS", 3)
    monkeypatch.setattr(world_worker, "MOST_STEPS", 7)
    np.testing.assert_array_equal(ends(), expected)


def test_functions_of_many_states_see_signals(plant):
    batch = BatchFunctions(plant, threads=2)
    batch.mass_matrix(np.zeros((600, plant.num_positions())))
    q = np.zeros((200_000, plant.num_positions()))

    def for_ever():
        while True:
            batch.mass_matrix(q)

    assert interrupted(for_ever) < 5.0


def test_a_forked_process_makes_threads_of_its_own(plant):
    worlds = Worlds(plant, 40, threads=2)
    worlds.step(2)
    expected = worlds.q.copy()
    worlds.step(2)
    child = os.fork()
    if child == 0:
        code = 2
        try:
            signal.alarm(60)
            worlds.reset()
            worlds.step(2)
            code = 0 if np.array_equal(worlds.q, expected) else 1
        finally:
            os._exit(code)  # never back into the test runner, which would report twice
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    worlds.step(1)  # and the parent goes on


def test_random_calls_end_no_process():
    """MBCLI_HOSTILE_CALLS=1500 for more sequences."""
    count = os.environ.get("MBCLI_HOSTILE_CALLS", "20")
    done = subprocess.run([sys.executable, PROGRAM, "1", count], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"done {count} sequences, 0 faults\n"), done.stderr[-3000:]
