"""Vector environments: gymnasium's checks, seeds, resets of some worlds, ends of episodes, rewards, parameters."""

import subprocess
import sys

import numpy as np
import pytest
from repository import ROOT, SAMPLES

from mbcli.environments import Task, make_environment, make_environments, read_task
from mbcli.errors import ArgumentError, ModelError
from mbcli.models import load_model
from mbcli.simulation import Run, constant_input

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

from mbcli.environments import VectorEnvironment  # noqa: E402

pytestmark = pytest.mark.usefixtures("interpreted")
CART_POLE, QUADRUPED = SAMPLES / "cart_pole.sdf", SAMPLES / "quadruped.urdf"
TASK = {
    "model": CART_POLE,
    "period": 0.01,
    "time_limit": 0.05,
    "load": {"dt": 0.005},
    "action": {"term": "efforts", "of": "all", "most": 20},
    "observation": [{"term": "positions", "of": "all"}, {"term": "velocities", "of": "all"}],
    "reward": [{"term": "alive", "weight": 1}],
    "start": [
        {"term": "uniform_positions", "of": ["slider", "hinge"], "within": 0.2},
        {"term": "normal_velocities", "of": "all", "deviation": 0.1},
    ],
}


@pytest.fixture
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def made(count=3, autoreset="next_step", seed=0, **changes):
    return make_environments(TASK | changes, count, autoreset=autoreset, seed=seed, threads=1)


def actions(environment, steps, seed=0):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (steps, *environment.action_space.shape))


def rollout(environment, steps=12, seed=5):
    rows = [environment.reset(seed=seed)[0]]
    for action in actions(environment, steps):
        rows += list(environment.step(action)[:4])
    return rows


def test_episodes_of_a_closed_chain_begin_where_it_is_closed():
    start = [{"term": "uniform_positions", "of": "all", "within": 0.2}]
    many = made(4, model=SAMPLES / "closed_chains" / "four_bar.urdf", load={"hold": True}, start=start)
    many.reset(seed=1)
    plant, worlds = many.worlds.plant, many.worlds
    context = plant.CreateDefaultContext()
    for k in range(4):
        plant.SetPositions(context, worlds.q[k])
        assert context.state.constraint_error() < 1e-9
    assert len(np.unique(worlds.q[:, 0])) == 4


@pytest.mark.filterwarnings("ignore:.*WARN.*")  # observations without bounds
def test_gymnasiums_checker_passes():
    check_env(make_environment(TASK, seed=0), skip_render_check=True)


def test_one_environment_is_the_first_of_many_and_may_be_registered():
    many = made(1, "disabled", seed=3)
    gymnasium.register("mbcli/Own-v0", "mbcli.environments:make_environment", kwargs={"task": TASK, "seed": 3})
    try:
        one = gymnasium.make("mbcli/Own-v0")
        assert isinstance(one.unwrapped, gymnasium.Env) and isinstance(one.unwrapped.many, VectorEnvironment)
        for seed in (5, 8):
            assert (one.reset(seed=seed)[0] == many.reset(seed=seed)[0][0]).all()
            for action in actions(many, 6):
                observation, reward, terminated, truncated, _ = one.step(action[0])
                rows = many.step(action)
                assert (observation == rows[0][0]).all() and reward == rows[1][0] and isinstance(reward, float)
                assert (terminated, truncated) == (bool(rows[2][0]), bool(rows[3][0]))
                if terminated or truncated:
                    break
    finally:
        del gymnasium.registry["mbcli/Own-v0"]
    with pytest.raises(ArgumentError, match="autoreset is of vector environments"):
        make_environment(TASK, autoreset="same_step")


def test_pictures_are_arrays_of_bytes_and_show_that_something_moved():
    environment = make_environment(TASK, seed=0, render_mode="rgb_array")
    environment.reset(seed=0)
    assert environment.metadata["render_modes"] == ["rgb_array"] and environment.metadata["render_fps"] > 0
    before = environment.render()
    assert before.shape == (480, 640, 3) and before.dtype == np.uint8 and before.std() > 1.0
    assert (environment.render() == before).all()
    for _ in range(3):
        environment.step(np.ones(environment.action_space.shape))
    assert (environment.render() != before).any()
    with pytest.raises(ArgumentError, match="has ended"):
        for _ in range(30):
            environment.step(np.ones(environment.action_space.shape))
    many = make_environments(TASK, 2, render_mode="rgb_array", seed=0)
    assert [picture.shape for picture in many.render()] == [(480, 640, 3)] * 2 and made(1).render() is None
    with pytest.raises(ArgumentError, match="render_mode is 'human'"):
        make_environments(TASK, 1, render_mode="human")


@pytest.mark.parametrize("autoreset", ["next_step", "same_step"])
def test_spaces_shapes_and_types_are_those_of_a_vector_environment(autoreset):
    environment = made(3, autoreset)
    assert isinstance(environment, gymnasium.vector.VectorEnv)
    assert environment.num_envs == 3 and environment.single_observation_space.shape == (4,)
    assert environment.metadata["autoreset_mode"] is AutoresetMode[autoreset.upper()]
    observation, info = environment.reset(seed=1)
    assert observation in environment.observation_space and info == {}
    environment.action_space.seed(0)
    for _ in range(12):
        observation, reward, terminated, truncated, info = environment.step(environment.action_space.sample())
        assert observation in environment.observation_space
        assert reward.shape == terminated.shape == truncated.shape == (3,)
        assert (reward.dtype, terminated.dtype, truncated.dtype) == (float, bool, bool)
        assert set(info) <= {"final_obs", "_final_obs"}
    environment.close()
    assert environment.closed


def test_wrappers_of_gymnasium_take_it():
    wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(made(2))
    wrapped.reset(seed=0)
    for action in actions(wrapped, 5):
        info = wrapped.step(action)[4]
    assert info["episode"]["l"].tolist() == [5, 5] and info["episode"]["r"].tolist() == [5.0, 5.0]


def test_the_same_seed_gives_the_same_rollout_to_the_bit():
    first, again = rollout(made()), rollout(made())
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    environment = made()
    environment.reset(seed=77)
    assert all((a == b).all() for a, b in zip(first, rollout(environment), strict=True))
    assert not (rollout(made(), seed=6)[0] == first[0]).any()
    assert not (made().reset()[0] == made(seed=1).reset()[0]).any()
    assert (made().reset()[0] == made(seed=0).reset()[0]).all()


def test_threads_do_not_matter_to_the_bit(monkeypatch):
    monkeypatch.delenv("MBCLI_JIT")
    one, two = (rollout(make_environments(TASK, 70, seed=0, threads=threads)) for threads in (1, 2))
    assert all((a == b).all() for a, b in zip(one, two, strict=True))


def test_a_world_does_not_depend_on_how_many_there_are():
    few, many = rollout(made(2)), rollout(made(5))
    assert (few[0] == many[0][:2]).all()


def test_a_step_is_that_of_a_run():
    environment = made(1, start=[{"term": "state", "values": {"hinge": 0.4, "slider_v": -0.2}}])
    environment.reset(seed=0)
    observation = environment.step(np.array([[0.25]]))[0]
    plant = load_model(CART_POLE, dt=0.005).plant
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, [0.0, 0.4])
    plant.SetVelocities(context, [-0.2, 0.0])
    *_, last = Run(plant, context, 0.01, actuation=constant_input([5.0])).blocks()
    assert (observation[0] == np.r_[last.q[-1], last.v[-1]]).all()


def test_a_reset_of_some_worlds_leaves_the_others():
    reset, other = made(4, time_limit=1.0), made(4, time_limit=1.0)
    for environment in (reset, other):
        environment.reset(seed=3)
        for action in actions(environment, 3):
            before = environment.step(action)[0]
    mask = np.array([False, True, False, True])
    after, _ = reset.reset(options={"mask": mask})
    assert (after[~mask] == before[~mask]).all() and not (after[mask] == before[mask]).any()
    action = actions(reset, 1, seed=9)[0]
    assert (reset.step(action)[0][~mask] == other.step(action)[0][~mask]).all()
    np.testing.assert_allclose(reset.worlds.time, np.where(mask, 0.01, 0.04))
    seeded, _ = reset.reset(seed=3, options={"reset_mask": mask})  # gymnasium's name
    assert (seeded[mask] == made(4).reset(seed=3)[0][mask]).all()


def test_a_reset_takes_states():
    environment = made(3)
    mask = np.array([True, False, True])
    before = environment.reset(seed=0)[0]
    after, _ = environment.reset(options={"mask": mask, "q": [[0.1, 0.2], [0.3, 0.4]], "v": [0.5, 0.6]})
    assert after[mask].tolist() == [[0.1, 0.2, 0.5, 0.6], [0.3, 0.4, 0.5, 0.6]] and (after[1] == before[1]).all()
    after, _ = environment.reset(options={"mask": mask, "q": np.arange(6.0).reshape(3, 2)})
    assert after[mask, :2].tolist() == [[0.0, 1.0], [4.0, 5.0]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mas": 0}, 'unknown option "mas" of reset.*did you mean "mask"'),
        ({"mask": [0, 1, 0]}, "array of 3 bools"),
        ({"mask": np.ones(2, bool)}, "array of 3 bools"),
        ({"q": [0.0]}, r'"q" of reset\(\) has shape \(1,\), expected \(2,\), \(3, 2\)'),
        ({"v": [0.0, np.nan]}, '"v" of reset.* not finite'),
    ],
)
def test_options_of_a_reset_that_do_not_fit_are_refused(options, message):
    with pytest.raises(ArgumentError, match=message):
        made().reset(options=options)


# ends of episodes


def test_time_limits_truncate_and_the_next_step_begins_anew():
    environment = made(2)
    environment.reset(seed=0)
    environment.reset(options={"mask": np.array([False, True])})
    for k, action in enumerate(actions(environment, 6)):
        last = environment.step(action)
        assert not last[2].any() and (last[3] == (k == 4)).all()
        assert (last[1] == (0.0 if k == 5 else 1.0)).all()
    assert (environment.worlds.time == 0.0).all()
    fresh = made(2)
    fresh.reset(seed=0)
    assert (fresh.reset()[0][0] == last[0][0]).all()  # world 0 is in its second episode, world 1 in its third


def test_same_step_hands_over_the_last_observation():
    same, disabled = made(2, "same_step"), made(2, "disabled")
    starts = same.reset(seed=0)[0], disabled.reset(seed=0)[0]
    assert (starts[0] == starts[1]).all()
    for action in actions(same, 5):
        observation, _, _, truncated, info = same.step(action)
        last = disabled.step(action)
    assert truncated.all() and info["_final_obs"].all()
    assert (info["final_obs"] == last[0]).all()
    assert (observation == disabled.reset()[0]).all()


def test_disabled_worlds_must_be_reset():
    environment = made(2, "disabled")
    environment.reset(seed=0)
    for action in actions(environment, 5):
        truncated = environment.step(action)[3]
    with pytest.raises(ArgumentError, match="episode of world 0 has ended"):
        environment.step(action)
    environment.reset(options={"mask": truncated})
    environment.step(action)


def test_bounds_terminate_and_a_terminated_world_is_not_truncated():
    bounds = [{"term": "coordinate_outside", "of": "hinge", "low": -1, "high": 1}]
    environment = made(2, terminate=bounds, time_limit=0.01)
    environment.reset(options={"q": [[0.0, 0.9], [0.0, 1.5]], "v": [0.0, 0.0]})
    _, _, terminated, truncated, info = environment.step(np.zeros((2, 1)))
    assert terminated.tolist() == [False, True] and truncated.tolist() == [True, False] and info == {}


def test_a_failure_terminates_with_its_reason_and_the_world_begins_anew():
    environment = made(3, time_limit=1.0)
    environment.reset(seed=0)
    environment.reset(options={"mask": np.array([False, True, False]), "v": [0.0, 1e200]})
    observation, _, terminated, truncated, info = environment.step(np.zeros((3, 1)))
    assert terminated.tolist() == [False, True, False] and not truncated.any()
    assert info["_failure"].tolist() == terminated.tolist()
    assert "not finite" in info["failure"][1] and info["failure"][0] is None
    assert np.isfinite(observation).all()
    observation, reward, terminated, _, info = environment.step(np.zeros((3, 1)))
    assert not terminated.any() and info == {} and reward.tolist() == [1.0, 0.0, 1.0]
    assert np.abs(observation).max() < 10.0


def test_actions_are_clipped_and_those_that_are_none_are_refused():
    environment, other = made(2), made(2)
    environment.reset(seed=0), other.reset(seed=0)
    assert (environment.step(np.full((2, 1), 7.0))[0] == other.step(np.ones((2, 1)))[0]).all()
    assert environment.worlds.u.tolist() == [[20.0], [20.0]]
    with pytest.raises(ArgumentError, match="action of world 1 has numbers that are not finite"):
        environment.step(np.array([[0.0], [np.nan]]))
    with pytest.raises(ArgumentError, match=r"shape \(2,\), expected \(2, 1\)"):
        environment.step(np.zeros(2))


# terms


def test_rewards_equal_a_hand_computation():
    reward = [
        {"term": "alive", "weight": 0.5},
        {"term": "angle_near", "of": "hinge", "target": 3.0, "weight": 2},
        {"term": "error_squared", "of": "slider", "target": 0.1, "weight": -3},
        {"term": "coordinate_near", "of": "hinge_w", "target": 1.0, "width": 0.5, "weight": 1},
        {"term": "velocity_squared", "of": "all", "weight": -0.2},
        {"term": "effort_squared", "of": "all", "weight": -0.001},
        {"term": "action_squared", "weight": -0.01},
        {"term": "action_change_squared", "weight": -0.1},
        {"term": "forward_velocity", "body": "cart", "axis": "x", "weight": 4},
        {"term": "velocity_near", "body": "cart", "axis": "x", "target": 0.3, "width": 2, "weight": 5},
        {"term": "upright", "body": "rod", "weight": 6},
        {"term": "height", "body": "rod", "weight": 7},
        {"term": "height_near", "body": "rod", "target": 0.2, "width": 0.4, "weight": 8},
    ]
    environment = made(2, reward=reward)
    environment.reset(seed=2)
    environment.step(np.array([[0.3], [0.2]]))
    observation, reward, *_ = environment.step(np.array([[-0.4], [0.6]]))
    x, hinge, speed, rate = observation[1]
    expected = 0.5 + 2 * np.cos(hinge - 3.0) - 3 * (x - 0.1) ** 2 + np.exp(-(((rate - 1.0) / 0.5) ** 2))
    expected += -0.2 * (speed**2 + rate**2) - 0.001 * 12.0**2 - 0.01 * 0.6**2 - 0.1 * (0.6 - 0.2) ** 2
    expected += 4 * speed + 5 * np.exp(-(((speed - 0.3) / 2) ** 2)) + 6 * np.cos(hinge)
    expected += 7 * 0.0 + 8 * np.exp(-((0.2 / 0.4) ** 2))  # the hinge, the rod's origin, is at the height 0
    np.testing.assert_allclose(reward[1], expected, rtol=1e-12)


def test_observations_of_a_floating_body_are_those_of_the_plant():
    names = ("body_position", "body_height", "body_axes", "up_in_body", "linear_velocity", "angular_velocity")
    terms = [{"term": name, "body": "trunk"} for name in names]
    terms += [{"term": f"{name}_in_body", "body": "trunk"} for name in ("linear_velocity", "angular_velocity")]
    terms += [{"term": "last_action", "scale": 0.5}, {"term": "time"}, {"term": "sine_and_cosine", "of": hinge()}]
    task = {
        "model": QUADRUPED,
        "period": 0.002,
        "load": {"dt": 0.002, "hold": True},
        "action": {"term": "targets", "of": "all", "scale": 0.1},
        "observation": terms,
        "reward": [{"term": "alive", "weight": 1}],
        "start": [
            {"term": "normal_velocities", "of": "all", "deviation": 1},
            {"term": "uniform_positions", "of": "all", "within": 0.3},
        ],
        "terminate": [{"term": "tilt_above", "body": "trunk", "limit": 0.5}],
    }
    environment = make_environments(task, 2, seed=0, threads=1)
    environment.reset(seed=0)
    action = actions(environment, 1)[0]
    observation, _, terminated, *_ = environment.step(action)
    plant, worlds = environment.worlds.plant, environment.worlds
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, worlds.q[1]), plant.SetVelocities(context, worlds.v[1])
    body = plant.GetBodyByName("trunk")
    X, V = plant.EvalBodyPoseInWorld(context, body), plant.EvalBodySpatialVelocityInWorld(context, body)
    R, p, w, v = X.rotation().matrix(), X.translation(), V.rotational(), V.translational()
    angle = plant.GetPositions(context)[position_of(plant, hinge())]
    expected = [p, p[2:], R[:, 0], R[:, 1], R[2], v, w, R.T @ v, R.T @ w, 0.5 * action[1], [0.002]]
    np.testing.assert_allclose(observation[1], np.concatenate([*expected, [np.sin(angle), np.cos(angle)]]), atol=1e-12)
    assert not terminated.any()
    aims = worlds.start_desired[:, 0] + 0.1 * action
    low, high = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    places = [position_of(plant, a.joint().name()) for a in plant.elements.actuators]
    np.testing.assert_allclose(worlds.desired[:, :, 0], np.clip(aims, low[places], high[places]))
    turned = worlds.q[0].copy()
    turned[:4] = np.cos(0.4), np.sin(0.4), 0.0, 0.0  # 0.8 rad about x
    environment.reset(options={"q": turned})
    assert environment.step(action)[2].all()
    assert environment.observation_names[:4] == [*(f"body_position.trunk.{k}" for k in range(3)), "body_height.trunk"]


def hinge():
    """The name of a joint of the quadruped."""
    plant = load_model(QUADRUPED).plant
    return next(joint.name() for joint in plant.moving_joints() if joint.num_positions() == 1)


def position_of(plant, joint):
    return plant.GetJointByName(joint).position_start()


def test_a_policy_sees_what_sensors_measure_at_the_end_of_its_step():
    task = {
        "model": ROOT / "docs" / "examples" / "walker.xml",
        "period": 0.002,
        "load": {"dt": 0.001, "contact": True},
        "pose": "stand",
        "action": {"term": "efforts", "of": "all", "most": 2},
        "observation": [{"term": "sensor", "of": "gyro"}, {"term": "sensor", "of": "front_left"}],
        "reward": [{"term": "alive", "weight": 1}],
    }
    environment = make_environments(task, 2, seed=0, threads=1)
    environment.reset(seed=0)
    given = np.linspace(-1.0, 1.0, 2 * environment.single_action_space.shape[0]).reshape(2, -1)
    for _ in range(12):
        observations = environment.step(given)[0]
    found = environment.worlds.sensors().exact()
    assert (observations == np.hstack([found["gyro"], found["front_left"]])).all()
    assert observations[:, 3].max() > 1.0 and (observations[0] != observations[1]).any()  # a foot stands
    with pytest.raises(ModelError, match="there is no sensor 'nose'"):
        make_environments(task | {"observation": [{"term": "sensor", "of": "nose"}]}, 2)


def test_targets_in_range_reach_the_limits():
    task = TASK | {
        "load": {"dt": 0.005, "hold": True},
        "action": {"term": "targets_in_range", "of": "slider"},
        "start": [{"term": "state", "values": {"slider": 0.3}}],
    }
    environment = make_environments(task, 3, threads=1, seed=0)
    environment.step(np.array([[-1.0], [0.0], [1.0]]))
    k = [name.endswith("slider") for name in environment.worlds.controlled].index(True)
    np.testing.assert_allclose(environment.worlds.desired[:, k, 0], [-2.0, 0.0, 2.0], atol=1e-12)


def test_parameters_of_each_world_act():
    parameters = {"body.rod.mass": "*uniform(0.5, 2)", "joint.slider.damping": "choice(0.1, 5)"}
    start = [{"term": "state", "values": {"hinge": 1.0, "slider_v": 1.0}}]
    environment = made(4, parameters=parameters, start=start)
    drawn = environment.parameters
    assert len(set(drawn["body.rod.mass"])) == 4 and set(drawn["joint.slider.damping"]) <= {"0.1", "5"}
    assert drawn == made(4, parameters=parameters, start=start).parameters
    assert drawn != made(4, parameters=parameters, start=start, seed=1).parameters
    observation = environment.step(np.zeros((4, 1)))[0]
    for k in range(4):
        own = [f"{path}={texts[k]}" for path, texts in drawn.items()]
        model = load_model(CART_POLE, dt=0.005, overrides=own)
        plain = {key: value for key, value in TASK.items() if key not in ("load", "model")} | {"start": start}
        alone = VectorEnvironment(model, 1, plain, threads=1)
        assert (alone.step(np.zeros((1, 1)))[0][0] == observation[k]).all()
    sets = made(6, parameters=parameters, parameter_sets=2).parameters["body.rod.mass"]
    assert sets[0] == sets[2] != sets[3] == sets[5]


# tasks in Python


class Balance(Task):
    """The reward is the height of the rod's end; worlds start apart."""

    def observe(self, worlds):
        return np.hstack([worlds.q, worlds.v])

    def reward(self, worlds, action):
        return -np.cos(worlds.q[:, 1]) - action[:, 0] ** 2

    def start(self, rng, count):
        q, v = super().start(rng, count)
        return q + rng.uniform(-0.1, 0.1, 2), v


class Loose:
    """No Task, but its methods."""

    def observe(self, worlds):
        return worlds.q

    def reward(self, worlds, action):
        return worlds.v[:, 0]

    def terminated(self, worlds):
        return worlds.q[:, 1] > 0.5

    def start(self, rng, count):
        return np.tile([0.0, 0.6], (count, 1)), np.zeros((count, 2))


def test_a_class_is_a_task():
    model = load_model(CART_POLE, dt=0.005)
    environment = VectorEnvironment(model, 2, Balance, period=0.01, time_limit=0.02, seed=0, threads=1)
    observation, _ = environment.reset(seed=0)
    assert (np.abs(observation[:, :2]) < 0.1).all() and observation[:, :2].all()
    observation, reward, *_ = environment.step(np.array([[0.5], [0.0]]))
    np.testing.assert_allclose(reward, -np.cos(observation[:, 1]) - [0.25, 0.0], rtol=1e-15)
    assert (environment.worlds.u == [[20.0], [0.0]]).all()  # half of the limit of 40 N
    loose = VectorEnvironment(model, 2, Loose(), threads=1)
    assert loose.period == 0.005 and loose.step(np.zeros((2, 1)))[2].all()


def test_what_is_no_task_is_refused():
    model = load_model(CART_POLE, dt=0.005)

    class Bad(Balance):
        def reward(self, worlds, action):
            return 1.0

    for task, message in ((object(), "has no observe"), (3, "int has no observe")):
        with pytest.raises(ArgumentError, match=message):
            VectorEnvironment(model, 2, task)
    with pytest.raises(ArgumentError, match=r"reward\(\) of the task gave shape \(\), expected \(2,\)"):
        VectorEnvironment(model, 2, Bad, threads=1).step(np.zeros((2, 1)))
    for options, message in (
        ({"period": 0.007}, "period is 0.007 s: .* of 0.005 s"),
        ({"time_limit": 0.007}, "time_limit is 0.007 s: .* periods"),
        ({"autoreset": "sometimes"}, "autoreset is 'sometimes': one of next_step, same_step, disabled"),
        ({"seed": -1}, "seed is -1"),
        ({"count": 0}, "count is 0"),
    ):
        with pytest.raises(ArgumentError, match=message):
            VectorEnvironment(model, options.pop("count", 2), Balance, threads=1, **options)


def test_without_gymnasium_one_line_says_what_to_install():
    program = (
        "import sys; sys.modules['gymnasium'] = sys.modules['gymnasium.vector'] = None\n"
        "import mbcli.environments as e\ne.read_task, e.Task\ne.make_environments"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    line = done.stderr.strip().splitlines()[-1]
    assert line.endswith("needs the package gymnasium, which is not installed: pip install 'mbcli[gymnasium]'")


def test_a_file_names_its_model_from_its_own_folder(tmp_path):
    task = ROOT / "docs" / "examples" / "balance.task.yaml"
    assert read_task(task).loaded().plant.num_positions() == 2
    environment = make_environments(task, 2, seed=0, threads=1)
    assert environment.observation_names[0] == "cart_pole_slider_x"


def test_worlds_start_in_a_named_posture():
    task = {key: value for key, value in TASK.items() if key != "start"} | {"pose": "stand", "load": {"dt": 0.01}}
    environment = make_environments(task, 2, model=ROOT / "docs" / "examples" / "walker.xml", threads=1)
    assert environment.worlds.q[1, 6:10].tolist() == [0.33, 0.0, 0.7, -1.4]


def test_a_model_comes_from_the_file_or_the_call():
    plain = {key: value for key, value in TASK.items() if key != "model"}
    with pytest.raises(ArgumentError, match='<task>: the task names no model: key "model"'):
        make_environments(plain, 2)
    with pytest.raises(ArgumentError, match='"load" is for files of a model'):
        make_environments(plain, 2, model=load_model(CART_POLE, dt=0.005))
    with pytest.raises(ArgumentError, match="model is None"):
        VectorEnvironment(None, 2, Balance)
    with pytest.raises(ArgumentError, match="not what a YAML file can have"):
        make_environments(plain | {"model": object()}, 2)
