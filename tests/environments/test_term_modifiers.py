"""Delays, history, noise, strength, commands, kicks, contact terms and motors of tasks, against what they promise."""

import pickle

import numpy as np
import pytest
from repository import SAMPLES

from mbcli.errors import ModelError

pytest.importorskip("gymnasium")

from mbcli.environments import make_environments  # noqa: E402

CART = {
    "model": SAMPLES / "cart_pole.sdf",
    "period": 0.01,
    "load": {"dt": 0.005},
    "action": {"term": "efforts", "of": "all", "most": 20},
    "observation": [{"term": "positions", "of": "all"}],
    "reward": [{"term": "alive", "weight": 1}],
    "start": [{"term": "uniform_positions", "of": "all", "within": 0.3}],
}
FALLING = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="5 5 0.1"/>
<body name="box" pos="0 0 0.2"><joint name="z" type="slide" axis="0 0 1"/><geom type="box" size="0.1 0.1 0.1" mass="2"/>
</body></worldbody><actuator><motor joint="z" ctrllimited="true" ctrlrange="-60 60"/></actuator></mujoco>"""
FLYING = """<mujoco><option timestep="0.002"/><worldbody><body name="box"><freejoint/>
<inertial pos="0 0 0" mass="2" diaginertia="0.1 0.1 0.2"/><body name="part"><joint name="z" type="slide" axis="0 0 1"/>
<inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></body></worldbody>
<actuator><motor joint="z" ctrllimited="true" ctrlrange="-1 1"/></actuator></mujoco>"""

pytestmark = pytest.mark.usefixtures("ready_kernels")


def made(count=3, seed=0, **changes):
    return make_environments(CART | changes, count, seed=seed, threads=1, autoreset="disabled")


def rollout(environment, steps=8):
    rows = [environment.reset(seed=3)[0]]
    actions = np.random.default_rng(1).uniform(-1.0, 1.0, (steps, *environment.action_space.shape))
    return np.array(rows + [environment.step(action)[0] for action in actions])


def test_observations_are_late_and_stand_there_with_those_before():
    terms = [
        {"term": "positions", "of": "all"},
        {"term": "positions", "of": "all", "delay": 0.02},
        {"term": "positions", "of": "hinge", "history": 3, "scale": 2},
    ]
    environment = made(observation=terms)
    rows = rollout(environment)
    exact = rows[:, :, :2]
    for k in range(len(rows)):
        assert (rows[k, :, 2:4] == exact[max(k - 2, 0)]).all()
        assert (rows[k, :, 4:] == 2.0 * np.stack([exact[max(k - j, 0), :, 1] for j in range(3)], axis=1)).all()
    assert environment.observation_names[4:] == [f"cart_pole_hinge_q{end}" for end in ("", " 1 before", " 2 before")]


def test_a_world_that_begins_anew_forgets_and_the_others_do_not():
    environment = made(2, observation=[{"term": "positions", "of": "hinge", "history": 2}])
    rollout(environment, 3)
    before = environment.step(np.zeros((2, 1)))[0]
    after, _ = environment.reset(options={"mask": np.array([True, False])})
    assert after[0, 0] == after[0, 1] != before[0, 0] and (after[1] == before[1]).all()
    again, _ = environment.reset(options={"mask": np.array([True, False]), "q": [0.0, 0.1]})
    assert again[0].tolist() == [0.1, 0.1]
    later = environment.step(np.zeros((2, 1)))[0]
    assert later[0, 1] == 0.1 and later[1, 1] == before[1, 0]


def test_delays_are_drawn_for_each_episode_and_include_both_ends():
    environment = made(200, observation=[{"term": "time", "delay": [0.01, 0.03]}])
    environment.reset(seed=0)
    for _ in range(5):
        seen = environment.step(np.zeros((200, 1)))[0][:, 0]
    late = np.rint((0.05 - seen) / 0.01)
    assert set(late) == {1.0, 2.0, 3.0}


def test_actions_are_late_and_have_the_strength_of_an_episode():
    plain, late = made(), made(action=CART["action"] | {"delay": 0.02})
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (5, 3, 1))
    plain.reset(seed=0), late.reset(seed=0)
    for k, action in enumerate(actions):
        late.step(action)
        assert (late.worlds.u == (20.0 * actions[k - 2] if k >= 2 else 0.0)).all()
        assert (late.worlds.action == action).all()
    strong = made(action=CART["action"] | {"strength": [0.5, 0.75]})
    used = []
    for _ in range(2):
        strong.reset()
        for _ in range(2):
            strong.step(np.full((3, 1), 0.5))
            used.append(strong.worlds.u[:, 0] / 10.0)
    assert (used[0] == used[1]).all() and (used[0] != used[2]).all()
    assert len(set(used[0])) == 3 and (np.array(used) >= 0.5).all() and (np.array(used) <= 0.75).all()


def test_noise_and_bias_have_their_sizes_and_follow_from_the_seed():
    terms = [
        {"term": "time", "noise": 0.5},
        {"term": "time", "bias": 0.2},
        {"term": "time", "noise": 0.5},
    ]
    environment, again, few = (made(n, observation=terms) for n in (400, 400, 2))
    rows, other = rollout(environment, 6), rollout(again, 6)
    assert (rows == other).all() and (rollout(few, 6) == rows[:, :2]).all()
    time = 0.01 * np.arange(7)[:, None]
    noise, bias = rows[:, :, 0] - time, rows[:, :, 1] - time
    assert noise.std() == pytest.approx(0.5, rel=0.05) and abs(noise.mean()) < 0.05
    assert np.abs(bias).max() <= 0.2 and bias.std() == pytest.approx(0.2 / np.sqrt(3.0), rel=0.1)
    assert np.ptp(bias, axis=0).max() < 1e-12 and abs(np.corrcoef(noise[1], noise[2])[0, 1]) < 0.2
    assert (rows[:, :, 0] != rows[:, :, 2]).all()
    environment.reset()
    assert (np.abs(environment.step(np.zeros((400, 1)))[0][:, 1] - 0.01 - bias[0]) > 0.0).all()


def test_commands_are_drawn_anew_after_their_time_and_rewarded(tmp_path):
    path = tmp_path / "flying.xml"
    path.write_text(FLYING)
    task = {
        "model": path,
        "period": 0.002,
        "command": [{"term": "velocity", "name": "go", "x": [-1, 1], "y": [2, 3], "turn": [-2, 2], "every": 0.004}],
        "action": {"term": "efforts", "of": "all"},
        "observation": [{"term": "command", "of": "go"}],
        "reward": [
            {"term": "velocity_commanded", "body": "box", "of": "go", "width": 2, "weight": 1},
            {"term": "turn_commanded", "body": "box", "of": "go", "width": 0.5, "weight": 10},
        ],
        "start": [{"term": "normal_velocities", "of": "all", "deviation": 1}],
    }
    environment = make_environments(task, 40, threads=1, seed=0)
    seen = [environment.reset(seed=0)[0]]
    for _ in range(4):
        observation, reward, *_ = environment.step(np.zeros((40, 1)))
        seen.append(observation)
    assert (seen[0] == seen[1]).all() and (seen[2] == seen[3]).all() and (seen[1] != seen[2]).all()
    low, high = np.array(seen).min(axis=(0, 1)), np.array(seen).max(axis=(0, 1))
    assert (low >= [-1, 2, -2]).all() and (high <= [1, 3, 2]).all() and (high - low > [1.9, 0.9, 3.8]).all()
    worlds = environment.worlds
    box = worlds.track("box")
    R_WB, V_WB = worlds.rotation(box), worlds.velocity(box)
    v, w = (np.einsum("nij,ni->nj", R_WB, part) for part in (V_WB[:, 3:], V_WB[:, :3]))
    away = np.square(v[:, :2] - observation[:, :2]).sum(axis=1)
    turned = w[:, 2] - observation[:, 2]
    np.testing.assert_allclose(reward, np.exp(-away / 4) + 10 * np.exp(-np.square(turned / 0.5)), rtol=1e-12)
    with pytest.raises(ModelError, match="names a second command go"):
        make_environments(task | {"command": task["command"] * 2}, 2, threads=1)


def test_a_kick_changes_velocities_at_its_times():
    kicked, plain = made(event=[{"term": "kick", "of": "slider_v", "within": 2, "every": 0.03}]), made()
    kicked.reset(seed=0), plain.reset(seed=0)
    for k in range(7):
        kicked.worlds.q, kicked.worlds.v = plain.worlds.q, plain.worlds.v
        speeds = [
            environment.step(np.zeros((3, 1))) and environment.worlds.v[:, 0].copy() for environment in (kicked, plain)
        ]
        changed = speeds[0] != speeds[1]
        assert changed.all() == (k in (3, 6)) and changed.any() == (k in (3, 6))
        assert np.abs(speeds[0] - speeds[1]).max() < 2.1


def test_motors_give_less_the_faster_they_turn():
    action = {"term": "motors", "of": "all", "most": 15, "stall": 20, "speed": 4}
    environment = made(1, action=action)
    for speed, asked, given in (
        (0.0, 1.0, 15.0),
        (2.0, 1.0, 10.0),
        (4.0, 1.0, 0.0),
        (2.0, -1.0, -15.0),
        (5.0, 0.0, -5.0),
    ):
        environment.reset(options={"q": [0.0, 0.0], "v": [speed, 0.0]})
        environment.task.act(environment.worlds, np.array([[asked]]))
        environment.worlds.step(1)
        assert environment.worlds.u[0, 0] == pytest.approx(given)
    environment.reset(options={"q": [0.0, 0.0], "v": [1.0, 0.0]})
    environment.step(np.ones((1, 1)))
    first = environment.worlds.u[0, 0]
    environment.worlds.step(1)
    assert environment.worlds.u[0, 0] < first or first == 15.0  # it follows the velocity at each time step


def falling(tmp_path, **changes):
    path = tmp_path / "box.xml"
    path.write_text(FALLING)
    task = {
        "model": path,
        "load": {"contact": True},
        "period": 0.01,
        "action": {"term": "efforts", "of": "all"},
        "observation": [{"term": "contact_forces", "bodies": "box"}],
        "reward": [{"term": "air_time", "bodies": ["box"], "target": 0.05, "weight": 1}],
    }
    return make_environments(task | changes, 2, threads=1, seed=0, autoreset="disabled")


def test_contact_forces_are_those_of_a_body_at_rest_and_of_none_in_the_air(tmp_path):
    environment = falling(tmp_path, terminate=[{"term": "touches", "bodies": "box", "limit": 1000}])
    environment.reset()
    assert environment.step(np.zeros((2, 1)))[0].tolist() == [[0.0], [0.0]]
    for _ in range(100):
        observation, _, terminated, *_ = environment.step(np.zeros((2, 1)))
        if environment.worlds.q[0, 0] > -0.09:
            assert observation[0, 0] == 0.0
        if terminated.any():
            environment.reset(options={"mask": terminated, "q": environment.worlds.q[0], "v": [0.0]})
    assert observation[0, 0] == pytest.approx(2 * 9.81, rel=1e-3)


def test_air_time_is_paid_when_a_body_touches_again(tmp_path):
    environment = falling(tmp_path)
    environment.reset()
    paid, aloft = [], []
    for _ in range(40):
        observation, reward, *_ = environment.step(np.zeros((2, 1)))
        paid.append(reward[0]), aloft.append(observation[0, 0] == 0.0)
    first = aloft.index(False)
    assert paid[:first] == [0.0] * first and paid[first] == pytest.approx(0.01 * first - 0.05)
    environment.reset()
    assert environment.step(np.zeros((2, 1)))[1].tolist() == [0.0, 0.0]


def test_copies_remember_what_terms_remember():
    environment = made(
        2,
        observation=[{"term": "positions", "of": "all", "delay": [0, 0.03], "history": 2, "noise": 0.1}],
        action={"term": "motors", "of": "all", "most": 15, "stall": 20, "speed": 4, "delay": 0.02},
    )
    rollout(environment, 5)
    other = pickle.loads(pickle.dumps(environment))
    for k in range(6):
        action = np.full((2, 1), 0.1 * k)
        assert (environment.step(action)[0] == other.step(action)[0]).all()
    assert (environment.reset()[0] == other.reset()[0]).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"observation": [{"term": "time", "delay": 0.015}]},
            "delay is 0.015 s: it is a whole number of periods of 0.01",
        ),
        ({"observation": [{"term": "time", "delay": [0.02, 0.01]}]}, "the least number comes first"),
        ({"observation": [{"term": "time", "history": 0}]}, "history must be at least 1"),
        ({"observation": [{"term": "command", "of": "walk"}]}, "there is no command named 'walk'"),
        ({"action": CART["action"] | {"scale": 2}}, 'unknown key "scale" of the term efforts'),
        ({"action": CART["action"] | {"strength": 2}}, "strength is a list of the least and the largest number"),
    ],
)
def test_faults_of_these_keys_are_told_with_their_place(changes, message):
    with pytest.raises(ModelError, match=message):
        made(**changes)
