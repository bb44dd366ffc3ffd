"""A policy in a run: the same states as in an environment of its task, and one line for what does not fit."""

import json
from dataclasses import fields

import numpy as np
import pytest
from command_line import cli
from networks import onnx_file
from repository import ROOT, SAMPLES
from test_cli_every_command import is_valid

from mbcli.cli.simulate import simulate as simulate_command
from mbcli.cli.task_option import PARAMETERS
from mbcli.environments.model_of_file import Load
from mbcli.environments.network_file import NetworkFile
from mbcli.environments.policy import Policy
from mbcli.environments.task import Task
from mbcli.errors import ArgumentError, ControlError, ModelError, ResourceError
from mbcli.log import open_log
from mbcli.models import load_model
from mbcli.simulation import Worlds, resume, simulate
from mbcli.simulation.control import ControllerChoice

gymnasium = pytest.importorskip("gymnasium")

from mbcli.environments import make_environments  # noqa: E402
from mbcli.environments.policy_scores import Mean, mean_of, scores  # noqa: E402

BALANCE = ROOT / "docs" / "examples" / "balance.task.yaml"
STANDS = {
    "model": str(SAMPLES / "quadruped.urdf"),
    "period": 0.02,
    "time_limit": 4,
    "load": {"dt": 0.002, "contact": True, "ground": 0.0, "hold": True, "kp": 60, "kd": 2},
    "command": [{"term": "velocity", "name": "walk", "x": [-0.5, 1], "y": [0, 0], "turn": [-1, 1], "every": 0.1}],
    "action": {"term": "targets", "of": "all", "scale": 0.5, "delay": [0, 0.04], "strength": [0.9, 1.1]},
    "observation": [
        {"term": "command", "of": "walk"},
        {"term": "up_in_body", "body": "trunk", "noise": 0.02, "bias": 0.01},
        {"term": "velocities", "of": "all", "noise": 0.1, "delay": 0.02, "history": 3},
        {"term": "contact_forces", "bodies": ["front_left_shank", "rear_left_shank"], "scale": 0.01},
        {"term": "last_action"},
        {"term": "time"},
    ],
    "reward": [{"term": "alive", "weight": 1}],
    "start": [
        {"term": "state", "values": {"trunk_z": 0.47}},
        {"term": "normal_velocities", "of": "all", "deviation": 0.1},
    ],
}
ON_TERRAIN = STANDS | {
    "load": {"dt": 0.002, "contact": True, "hold": True, "kp": 60, "kd": 2},
    "terrain": {"levels": 2, "size": 4, "spacing": 0.1, "tiles": [{"term": "rough", "height": [0.02, 0.06]}]},
    "observation": [
        {"term": "heights_around", "body": "trunk", "ahead": [0, 0.3], "left": [-0.2, 0.2]},
        {"term": "contact_forces", "bodies": "front_left_shank", "scale": 0.01},
    ],
    "start": [{"term": "on_terrain", "body": "trunk", "radius": 0.4}],
}
MOTORS = {
    "model": str(SAMPLES / "cart_pole.sdf"),
    "period": 0.02,
    "load": {"dt": 0.005},
    "action": {"term": "motors", "of": "all", "most": 8, "stall": 12, "speed": 1.5, "delay": 0.02},
    "observation": [{"term": "positions", "of": "all", "history": 2}, {"term": "velocities", "of": "all"}],
    "reward": [{"term": "alive", "weight": 1}],
    "start": [{"term": "uniform_positions", "of": "all", "within": 0.5}],
}

pytestmark = pytest.mark.usefixtures("ready_kernels")


def weights_of(observation, action):
    return np.random.default_rng(0).normal(0.0, 0.3, (observation, action))


class Linear:
    """A policy of random weights, which keeps what it has seen."""

    def __init__(self, actions):
        self.actions, self.seen = actions, []

    def __call__(self, observations):
        self.seen.append(np.array(observations))
        return np.tanh((observations[:, :, np.newaxis] * weights_of(observations.shape[1], self.actions)).sum(axis=1))


def episode(task, policy, periods, seed, count=1):
    """States [q; v] (n, periods + 1, nq + nv) of an environment under a policy."""
    many = make_environments(task, count, seed=seed, threads=1)
    observations, _ = many.reset(seed=seed)
    rows = [np.hstack([many.worlds.q, many.worlds.v])]
    for _ in range(periods):
        observations, _, terminated, *_ = many.step(policy(observations))
        assert not terminated.any()
        rows.append(np.hstack([many.worlds.q, many.worlds.v]))
    return np.stack(rows, axis=1), many.worlds.plant


def run_of(task, network, periods, seed, **settings):
    """The log of a run under a policy, from where the task begins."""
    policy = Policy(network, task)
    model = policy.task.loaded()
    period = policy.task.settings.period
    start = policy.start(model, seed)
    return simulate(model, periods * period, start=start, controller=policy, seed=seed, log_rate=1 / period, **settings)


@pytest.mark.parametrize(
    ("task", "actions"), [(STANDS, 12), (ON_TERRAIN, 12), (MOTORS, 1)], ids=["legs", "terrain", "motors"]
)
def test_a_policy_moves_a_run_as_it_moves_an_environment(task, actions):
    policy = Linear(actions)
    expected, _ = episode(task, policy, 12, seed=5)
    in_environment, policy.seen = policy.seen, []
    log = run_of(task, policy, 12, seed=5)
    exact = "hold" in task["load"]  # of lanes, in which worlds without contact step, the last bits are others
    for k, (own, there) in enumerate(zip(policy.seen, in_environment, strict=False)):
        np.testing.assert_allclose(own, there, rtol=1e-9, atol=1e-9, err_msg=f"period {k}")
    rows = np.hstack([log["state/q"][:], log["state/v"][:]])
    np.testing.assert_allclose(rows, expected[0], rtol=0.0, atol=0.0 if exact else 1e-11)
    assert np.ptp(rows, axis=0).max() > 0.1


@pytest.fixture
def balancing(tmp_path):
    """A policy file for the task that balances a rod."""
    pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    return onnx_file(tmp_path / "policy.onnx", [[0.5], [3.0], [0.0], [0.5], [-0.6]])


@pytest.mark.parametrize(("rows", "kind"), [(None, np.float32), (1, np.float64)], ids=["any", "one"])
def test_an_onnx_file_computes_its_graph(tmp_path, rows, kind):
    pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    weights, values = weights_of(4, 2), np.random.default_rng(1).normal(size=(3, 4))
    network = NetworkFile(onnx_file(tmp_path / "a.onnx", weights, rows=rows, kind=kind))
    assert (network.width_in, network.width_out) == (4, 2)
    np.testing.assert_allclose(network(values), np.tanh(values @ weights), rtol=1e-5 if kind is np.float32 else 1e-14)
    with pytest.raises(ControlError, match=r"a.onnx: error: the network does not take an array of shape \(1, 3\)"):
        network(np.zeros((1, 3)))
    with pytest.raises(ControlError, match="gives a number that is not finite"):
        network(np.full((1, 4), np.nan))


def test_files_that_are_no_networks_are_one_line(tmp_path):
    pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"\x08\x07nothing")
    for name in ("broken.onnx", "broken.ONNX"):  # data in any case, never a program
        broken.rename(broken.with_name(name))
        broken = broken.with_name(name)
        with pytest.raises(ModelError, match=f"{name}: error: is no ONNX file"):
            NetworkFile(broken)
    with pytest.raises(ResourceError, match="there is no such file"):
        NetworkFile(tmp_path / "none.onnx")
    with pytest.raises(ModelError, match=r"has 2 inputs \(observation, memory\): one, of rows, is wanted"):
        NetworkFile(onnx_file(tmp_path / "two.onnx", weights_of(4, 2), more_inputs=["memory"]))
    with pytest.raises(ModelError, match="a network is a file with the suffix .onnx, .pt or .ts"):
        NetworkFile(tmp_path / "policy.zip")


def test_torchscript_computes_what_onnx_does(tmp_path):
    torch = pytest.importorskip("torch")
    weights, values = weights_of(4, 2), np.random.default_rng(1).normal(size=(3, 4))
    layer = torch.nn.Linear(4, 2, bias=False)
    layer.weight.data = torch.as_tensor(weights.T, dtype=torch.float32)
    path = tmp_path / "policy.pt"
    torch.jit.trace(torch.nn.Sequential(layer, torch.nn.Tanh()), torch.zeros(1, 4)).save(str(path))
    np.testing.assert_allclose(NetworkFile(path)(values), np.tanh(values @ weights), rtol=1e-5)
    (tmp_path / "weights.pt").write_bytes(b"PK nothing")
    with pytest.raises(ModelError, match="weights.pt: error: is no TorchScript file"):
        NetworkFile(tmp_path / "weights.pt")


def test_a_network_and_a_task_that_do_not_fit_are_one_line_with_both(tmp_path):
    pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    model = load_model(SAMPLES / "cart_pole.sdf", dt=0.005)
    for shape, message in (
        ((4, 1), "p.onnx: error: the network takes 4 numbers, the observation of the task has 5"),
        ((5, 2), "p.onnx: error: the network gives 2 numbers, the action of the task has 1"),
    ):
        path = onnx_file(tmp_path / "p.onnx", weights_of(*shape))
        with pytest.raises(ModelError, match=message):
            simulate(model, 0.1, controller=Policy(path, BALANCE))
    with pytest.raises(ControlError, match=r"gave an array of shape \(1, 2\), the action of the task has \(1, 1\)"):
        simulate(model, 0.1, controller=Policy(lambda seen: np.zeros((1, 2)), BALANCE))
    with pytest.raises(ArgumentError, match="period is 0.02 s: it is a whole number of time steps of 0.003 s"):
        simulate(load_model(SAMPLES / "cart_pole.sdf", dt=0.003), 0.1, controller=Policy(path, BALANCE))
    with pytest.raises(ArgumentError, match="a policy has the rate of its task"):
        simulate(model, 0.1, controller=ControllerChoice(Policy(path, BALANCE), rate=100.0))
    with pytest.raises(ArgumentError, match="p.onnx is a policy, which takes the observation of a task"):
        simulate(model, 0.1, controller=path)


def test_a_task_in_python_has_policies_too():
    class Swing(Task):
        def observe(self, worlds):
            return np.hstack([worlds.q, worlds.v])

    model = load_model(SAMPLES / "cart_pole.sdf", dt=0.005)
    with pytest.raises(ArgumentError, match="period is None"):
        Policy(lambda seen: seen[:, :1], Swing)
    log = simulate(model, 0.1, controller=Policy(lambda seen: np.ones((len(seen), 1)), Swing, period=0.02))
    assert (log["input/u"][:-1] == model.plant.GetEffortUpperLimits()).all()


def test_a_run_goes_on_with_what_the_policy_remembers(tmp_path):
    policy, task = Linear(12), STANDS
    model = Policy(policy, task).task.loaded()
    start = Policy(policy, task).start(model, 3)
    given = {"seed": 3, "controller": Policy(policy, task), "log_rate": 50.0}
    whole = simulate(model, 0.24, start=start, **given)
    simulate(model, 0.1, start=start, log=tmp_path / "a.h5", **given)
    first = list(policy.seen)
    resume(tmp_path / "a.h5", model, until=0.24, seed=3, controller=Policy(policy, task), log_rate=50.0)
    assert len(first) > 5 and np.abs(first[-1]).max() > 0.0
    with open_log(tmp_path / "a.h5") as log:
        for name in ("state/q", "state/v"):
            np.testing.assert_array_equal(log[name][:], whole[name][:])


def test_many_worlds_under_a_policy_take_the_steps_of_single_runs():
    policy, task = Linear(12), STANDS
    model = Policy(policy, task).task.loaded()
    starts = [Policy(policy, task).start(model, seed) for seed in (7, 8)]
    worlds = Worlds(model, 2, threads=1)
    worlds.reset(slice(None), *map(np.array, zip(*starts, strict=True)))
    with worlds.under_controller(Policy(policy, task), seed=7):
        rows = worlds.rollout(80, every=10)
    for k, start in enumerate(starts):
        log = simulate(model, 0.16, start=start, seed=7 + k, controller=Policy(policy, task), log_rate=50.0)
        own = np.hstack([log["state/q"][1:], log["state/v"][1:]])
        np.testing.assert_array_equal(rows[k], own)


def test_the_command_loads_the_task_starts_by_its_seed_and_verifies(tmp_path, balancing):
    log = tmp_path / "a.h5"
    command = ["simulate", "--task", BALANCE, "--controller", balancing, "-t", 1, "--seed", 4, "-o", log]
    done = cli(*command, "--json")
    assert done.code == 0 and json.loads(done.out)["time_step"] == 0.005
    assert "parameters are as the model has them" in done.err
    start = Policy(balancing, BALANCE).start(load_model(SAMPLES / "cart_pole.sdf", dt=0.005), 4)
    with open_log(log) as read:
        np.testing.assert_array_equal(read["state/q"][0], start[0])
        assert np.ptp(read["input/u"][:-1]) > 0.0 and json.loads(read.model)["controller"]["task"] == str(BALANCE)
    assert cli("log", "verify", log).code == 3  # a log asks for no files of policies and tasks
    assert cli("log", "verify", log, "--trust").code == 0
    stated = cli(*command[:-1], tmp_path / "b.h5", "--at", "slider=0.3", "--dt", 0.01, "--json").json()
    assert stated["time_step"] == 0.01


def test_options_of_policies_and_tasks_need_each_other(balancing):
    for words, message in (
        (["--task", BALANCE, SAMPLES / "cart_pole.sdf"], "--task is of a policy: --controller POLICY.onnx"),
        (["--controller", balancing, SAMPLES / "cart_pole.sdf"], "is a policy, which takes the observation of a task"),
        (
            ["--task", BALANCE, "--controller", balancing, "--controller-rate", 9],
            "--controller-rate is not for a policy",
        ),
    ):
        done = cli("simulate", *words, "--no-log", "-t", 0.1)
        assert done.code == 2 and message in done.err, done


def test_scores_are_those_of_episodes_one_after_another():
    policy = Linear(1)
    (score,) = scores([policy], BALANCE, 3, seed=2, threads=1)
    one = make_environments(BALANCE, 3, seed=2, threads=1, autoreset="disabled")
    seen, _ = one.reset(seed=2)
    returns, lengths, runs = np.zeros(3), np.zeros(3), np.ones(3, dtype=bool)
    while runs.any():
        again = one.reset(options={"mask": ~runs})[0] if not runs.all() else seen
        seen, rewards, ended, late, _ = one.step(policy(np.where(runs[:, np.newaxis], seen, again)))
        returns[runs] += rewards[runs]
        lengths[runs] += 1
        runs &= ~(ended | late)
    np.testing.assert_allclose(score.returns, returns, rtol=1e-12)
    assert score.lengths.tolist() == lengths.tolist() and score.terminated.all() and len(set(lengths)) > 1


def test_intervals_of_means_hold_the_mean_of_all_in_95_of_100_samples():
    samples = np.random.default_rng(0).normal(3.0, 2.0, (4000, 5))
    held = np.mean([mean.low <= 3.0 <= mean.high for mean in map(mean_of, samples)])
    assert abs(held - 0.95) < 3.0 * np.sqrt(0.95 * 0.05 / len(samples))
    assert mean_of(np.array([2.0])) == Mean(2.0, 2.0, 2.0)


def test_policies_are_compared_in_the_same_episodes(tmp_path, balancing):
    other = onnx_file(tmp_path / "other.onnx", np.zeros((5, 1)))
    words = ["compare", other, balancing, "--task", BALANCE, "--episodes", 4, "--seed", 1]
    done = cli(*words, "--json")
    document = done.json()
    assert done.code == 1 and is_valid("results", document)
    assert not is_valid("results", document | {"episodes": "many"})
    first, second = document["policies"]
    (difference,) = document["differences"]
    gains = np.subtract(second["returns"], first["returns"])
    assert difference["mean"] == pytest.approx(gains.mean()) and difference["low"] > 0.0 and difference["than"] == other
    assert f"{balancing} less {other}" in cli(*words).out
    same = cli("compare", balancing, balancing, "--task", BALANCE, "--episodes", 2)
    assert same.code == 0 and "no difference that these episodes show" in same.out
    assert cli("compare", balancing, "--task", BALANCE, "--episodes", 2).code == 0


def test_what_does_not_fit_a_comparison_of_policies_is_one_line(tmp_path, balancing):
    endless = tmp_path / "endless.task.yaml"
    text = BALANCE.read_text().replace("time_limit: 5", "").replace("../../sample_models", str(SAMPLES))
    endless.write_text(text)
    small = onnx_file(tmp_path / "small.onnx", np.zeros((4, 1)))
    for words, code, message in (
        ([balancing], 2, "policies are compared in a task: --task FILE"),
        ([balancing, SAMPLES / "cart_pole.sdf", "--task", BALANCE], 2, "policies are compared with policies"),
        ([SAMPLES / "cart_pole.sdf", "--episodes", 3], 2, "--episodes is for policies"),
        ([balancing, "--task", BALANCE, "--duration", 2], 2, "--duration is not for policies"),
        ([balancing, "--task", endless], 2, "episodes end by a time limit: key time_limit of the task"),
        ([small, "--task", BALANCE], 3, "the network takes 4 numbers, the observation of the task has 5"),
    ):
        done = cli("compare", *words)
        assert done.code == code and message in done.err and done.err.count("\n") == 1, done


def test_simulate_puts_the_terrain_of_a_task_into_the_model(tmp_path):
    pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    policy, task = onnx_file(tmp_path / "policy.onnx", np.zeros((4, 12)).tolist()), tmp_path / "task.yaml"
    task.write_text(json.dumps(ON_TERRAIN | {"observation": ON_TERRAIN["observation"][:1]}))
    run = ("simulate", "--task", str(task), "--controller", str(policy), "-t", "0.02", "-o", str(tmp_path / "run.h5"))
    refused = cli(*run, "--ground")
    assert refused.code == 2 and "the terrain stands in the place of a ground" in refused.err
    assert cli(*run).code == 0
    with open_log(tmp_path / "run.h5") as log:
        contact, start = json.loads(log.model)["contact"], log["state/q"][0]
    assert (contact["ground"], contact["terrain"]["rows"], contact["terrain"]["columns"]) == (None, 101, 141)
    assert abs(start[4]) == 2.0 and start[5] == 0.0


def test_each_key_of_load_is_a_parameter_of_simulate():
    assert set(PARAMETERS) == {field.name for field in fields(Load)}
    assert set(PARAMETERS.values()) <= {parameter.name for parameter in simulate_command.params}
