"""Worlds on workers: observations, rewards and ends of one VectorEnvironment, whatever the workers are."""

import pickle
import warnings
from importlib.util import find_spec

import numpy as np
import pytest
from repository import ROOT

from benchmarks.bare_cluster import BareCluster, can_hide_folders
from mbcli.environments import make_environments, remote_environments
from mbcli.environments.remote_environments import RemoteEnvironments
from mbcli.errors import ArgumentError, ResourceError
from mbcli.sweeps import clusters

TASK = str(ROOT / "docs" / "examples" / "balance.task.yaml")

pytestmark = pytest.mark.usefixtures("ready_kernels")


class Here:
    """An engine in this process; what goes to a worker is pickled, as by clusters. dead: numbers of workers."""

    def __init__(self, places=3):
        self.places, self.dead, self.is_closed = places, set(), False

    def slots(self, without):
        return self.places

    def objects(self, kind, count):
        def call(k, made, *words):
            def wait():
                if k in self.dead:
                    raise OSError("gone")
                return pickle.loads(pickle.dumps(made.do(*pickle.loads(pickle.dumps(words)))))

            return wait

        made = [kind() for _ in range(count)]
        return [(f"w{k}", lambda *words, k=k: call(k, made[k], *words)) for k in range(count)]

    def close(self):
        self.is_closed = True


@pytest.fixture
def engine(monkeypatch):
    found = Here()
    monkeypatch.setattr(remote_environments, "engine_of", lambda dask, ray: found)
    monkeypatch.setattr(clusters, "JOINED_WITHIN", 0.0)
    return found


def check_alike(local, remote, periods=50):
    random = np.random.default_rng(0)
    ended = 0
    for a, b in zip(local.reset(seed=5), remote.reset(seed=5), strict=True):
        assert np.array_equal(a, b)
    for _ in range(periods):
        actions = random.uniform(-1.0, 1.0, local.action_space.shape)
        one, other = local.step(actions), remote.step(actions)
        for a, b in zip(one[:4], other[:4], strict=True):
            assert np.array_equal(a, b) and a.dtype == b.dtype
        assert one[4].keys() == other[4].keys() and all((one[4][key] == other[4][key]).all() for key in one[4])
        over = one[2] | one[3]
        ended += int(over.sum())
        if local.metadata["autoreset_mode"].name == "DISABLED" and over.any():
            assert np.array_equal(*(each.reset(options={"mask": over})[0] for each in (local, remote)))
    assert ended > 0


@pytest.mark.parametrize("autoreset", ["next_step", "same_step", "disabled"])
def test_worlds_of_workers_are_those_of_one_environment(engine, autoreset):
    options = {"task": TASK, "seed": 3, "autoreset": autoreset}
    remote = RemoteEnvironments(make_environments, 5, dask="x", workers=3, **options)
    check_alike(make_environments(num_envs=5, **options), remote)


def test_starts_are_those_that_are_given(engine):
    local, remote = (
        make_environments(TASK, 5, seed=1),
        RemoteEnvironments(make_environments, 5, ray="x", task=TASK, seed=1),
    )
    q = np.random.default_rng(0).uniform(-0.1, 0.1, (5, 2)) + [0.0, np.pi]
    mask = np.array([True, False, True, True, False])
    for options in ({"q": q}, {"q": q[0]}, {"q": q, "mask": mask}, {"q": q[mask], "mask": mask}):
        a, b = (each.reset(seed=2, options=options)[0] for each in (local, remote))
        assert np.array_equal(a, b)


def test_what_does_not_fit_is_one_line(engine):
    for named, told in (
        ({"dask": "x", "ray": "y"}, "one cluster"),
        ({"dask": "x", "workers": 3, "count": 2}, "each has at least one of 2 worlds"),
        ({"dask": "x", "workers": 4}, "runs 3 at a time, not 4"),
    ):
        with pytest.raises((ArgumentError, ResourceError), match=told):
            RemoteEnvironments(make_environments, named.pop("count", 8), task=TASK, **named)
    remote = RemoteEnvironments(make_environments, 4, task=TASK, dask="x", seed=0)
    for actions, told in ((np.zeros((3, 1)), "shape"), (np.full((4, 1), np.nan), "not finite")):
        with pytest.raises(ArgumentError, match=told):
            remote.step(actions)
    with pytest.raises(ArgumentError, match="unknown option"):
        remote.reset(options={"g": 1})
    engine.dead.add(1)
    with pytest.raises(ResourceError, match="^worker w1 of environments: OSError: gone$"):
        remote.step(np.zeros((4, 1)))
    remote.close()
    assert engine.is_closed


def test_a_worker_of_another_program_is_refused(engine, monkeypatch):
    monkeypatch.setattr(remote_environments.WorkerEnvironments, "do", lambda self, name, given=None: ("mbcli 0", None))
    with pytest.raises(ResourceError, match="worker w0 has mbcli 0, this is mbcli"):
        RemoteEnvironments(make_environments, 4, task=TASK, dask="x")
    assert engine.is_closed


def test_worlds_among_others_have_their_numbers():
    with pytest.raises(ArgumentError, match="among"):
        make_environments(TASK, 4, among=(3, 6))
    part = pickle.loads(pickle.dumps(make_environments(TASK, 3, seed=1, among=(4, 7))))
    whole = make_environments(TASK, 7, seed=1)
    assert np.array_equal(part.reset(seed=0)[0], whole.reset(seed=0)[0][4:])
    assert all(part.parameters[path] == texts[4:] for path, texts in whole.parameters.items())


@pytest.mark.skipif(find_spec("distributed") is None, reason="needs Dask")
@pytest.mark.skipif(not can_hide_folders(), reason="needs mount namespaces")
def test_workers_of_dask_that_see_no_file_step_worlds(tmp_path):
    hidden = [ROOT / "docs", ROOT / "sample_models"]
    with BareCluster(tmp_path / "cluster", 2, hidden=hidden) as cluster, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        remote = RemoteEnvironments(make_environments, 5, task=TASK, seed=3, dask=cluster.address, workers=2)
        check_alike(make_environments(TASK, 5, seed=3), remote)
        remote.close()


@pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray")
def test_workers_of_ray_step_worlds(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    remote = RemoteEnvironments(make_environments, 5, task=TASK, seed=3, ray="local", workers=1)
    check_alike(make_environments(TASK, 5, seed=3), remote)
    remote.close()
