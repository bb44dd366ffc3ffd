"""Worlds of RLlib's runners: those of one VectorEnvironment, however many runners have them."""

from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
from repository import ROOT

from mbcli.environments import make_environments
from mbcli.environments.runner_environments import RunnerEnvironments, number_runner

TASK = str(ROOT / "docs" / "examples" / "balance.task.yaml")
COUNT, SEED = 4, 3

pytestmark = pytest.mark.usefixtures("ready_kernels")


def placed(runners):
    """The environments of so many runners, as RLlib makes them: without remote runners in the process numbered 0."""
    found = []
    for index in range(1, runners + 1) if runners > 1 else [0]:
        one = RunnerEnvironments(TASK, COUNT // runners, seed=SEED)
        context = SimpleNamespace(worker_index=index, num_workers=runners if runners > 1 else 0)
        number_runner(env=one, env_context=context, env_runner=None, metrics_logger=None)
        found.append((index, one))
    return found


@pytest.mark.parametrize("runners", [1, 2, 4])
def test_what_is_drawn_is_the_same_in_any_number_of_runners(runners):
    alone, among = make_environments(TASK, COUNT, seed=SEED), placed(runners)
    masses = [text for _, one in among for text in one.parameters["body.rod.mass"]]
    assert masses == alone.parameters["body.rod.mass"] and len(set(masses)) == COUNT
    # RLlib gives each runner a seed of its own
    starts = np.concatenate([one.reset(seed=100 + index)[0] for index, one in among])
    np.testing.assert_array_equal(starts, alone.reset(seed=SEED)[0])
    ended, actions = 0, np.full((COUNT, 1), 1.0)
    for _ in range(60):
        expected = alone.step(actions)
        parts = [one.step(actions[: one.num_envs]) for _, one in among]
        for k in range(4):
            np.testing.assert_array_equal(np.concatenate([part[k] for part in parts]), expected[k])
        ended += expected[2].sum()
    assert ended  # and the next episodes are alike


def test_runners_without_a_number_all_have_the_same_worlds():
    one, other = (RunnerEnvironments(TASK, 2, seed=SEED) for _ in range(2))
    np.testing.assert_array_equal(one.reset(seed=101)[0], other.reset(seed=102)[0])
    other.take_place(1, 2)
    assert (one.reset(seed=101)[0] != other.reset(seed=102)[0]).any(axis=1).all()


@pytest.mark.skipif(find_spec("ray") is None or find_spec("tree") is None, reason="needs RLlib")
def test_a_context_of_rllib_numbers_a_runner():
    env_context = pytest.importorskip("ray.rllib.env.env_context")
    one = RunnerEnvironments(TASK, 2, seed=SEED)
    number_runner(env=one, env_context=env_context.EnvContext({}, worker_index=2, num_workers=2))
    alone = make_environments(TASK, 4, seed=SEED)
    np.testing.assert_array_equal(one.reset()[0], alone.reset()[0][2:])
