"""Plans: Riccati's where problems are linear, within limits, the same in simulate(), and what holds a run near one."""

import os

import numpy as np
import pytest
from command_line import cli
from repository import ROOT, SAMPLES
from test_cli_every_command import is_valid

from mbcli.errors import ArgumentError, ModelError, NumericalError
from mbcli.log import open_log
from mbcli.models import load_model
from mbcli.multibody.linearization.motion_derivatives import plant_derivatives
from mbcli.optimal_control import PlanFeedback, PredictiveControl, optimize
from mbcli.optimal_control.control_file import loaded_for, read_control
from mbcli.simulation import Worlds, resume, simulate
from mbcli.simulation.control.choices import is_control_file, is_plan

EXAMPLES = ROOT / "docs" / "examples"
SLIDES = """<robot name="slides"><link name="world"/>
<link name="a"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="b"><inertial><mass value="0.5"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="x" type="prismatic"><parent link="world"/><child link="a"/><axis xyz="1 0 0"/>
<limit lower="-100" upper="100" effort="1000" velocity="1000"/><dynamics damping="0.3"/></joint>
<joint name="y" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>
<limit lower="-100" upper="100" effort="1000" velocity="1000"/><dynamics damping="0.1"/></joint></robot>"""
compiled = pytest.mark.skipif(os.environ.get("MBCLI_JIT") == "0", reason="thousands of steps")


@pytest.fixture(scope="module")
def slides(tmp_path_factory):
    path = tmp_path_factory.mktemp("slides") / "slides.urdf"
    path.write_text(SLIDES)
    return path


def linear_task(path, **more):
    return {
        "model": str(path),
        "period": 0.05,
        "horizon": 0.5,
        "load": {"dt": 0.05, "actuators": "motor"},
        "start": {"x_x": 1.0, "y_x": -0.5, "y_v": 0.2},
        "guess": "zeros",
        "cost": [
            {"term": "positions", "of": "all", "target": [0, 0], "weight": 3.0},
            {"term": "velocities", "of": "all", "target": 0, "weight": 0.5},
            {"term": "efforts", "of": "all", "target": 0, "weight": 0.01},
            {"term": "positions", "of": "all", "target": 0, "weight": 20.0, "at": "end"},
        ],
        **more,
    }


def riccati(path, q, v):
    """K of each knot, and the least cost, by the recursion of Riccati with the exact derivatives of a step."""
    loaded = load_model(path, dt=0.05, actuators="motor")
    plant = loaded.plant
    context = plant.CreateDefaultContext()
    plant.get_actuation_input_port().FixValue(context, np.zeros(2))
    A, B, *_ = plant_derivatives(plant, context, "actuation", "state", True)
    h = 0.05
    Q, R, S = h * np.diag([3.0, 3.0, 0.5, 0.5]), h * 0.01 * np.eye(2), np.diag([20.0, 20.0, 0.0, 0.0])
    gains = []
    for _ in range(10):
        K = np.linalg.solve(R + B.T @ S @ B, B.T @ S @ A)
        S = Q + A.T @ S @ (A - B @ K)
        gains.append(-K)
    x = np.concatenate([q, v])
    return np.array(gains[::-1]), x @ S @ x


@pytest.mark.usefixtures("ready_kernels")
def test_a_linear_problem_is_solved_in_one_iteration_to_the_solution_of_riccati(slides):
    plan = optimize(linear_task(slides), threads=1)
    K, cost = riccati(slides, [1.0, -0.5], [0.0, 0.2])
    assert plan.status == "converged"
    assert [iteration.length for iteration in plan.iterations] == [1.0]
    assert np.abs(plan.track.K - K).max() <= 1e-9 * np.abs(K).max()
    assert plan.cost == pytest.approx(cost, rel=1e-9)
    x = np.hstack([plan.track.q, plan.track.v])[:-1]
    assert np.abs(plan.track.u - np.einsum("kij,kj->ki", K, x)).max() <= 1e-9 * np.abs(plan.track.u).max()


@pytest.mark.usefixtures("ready_kernels")
def test_limits_hold_and_no_change_within_them_is_cheaper(slides):
    plan = optimize(linear_task(slides, efforts={"all": 12.0, "y": [-3.0, 4.0]}, tolerance=1e-14), threads=1)
    u = plan.track.u
    assert plan.converged
    assert (np.abs(u[:, 0]) <= 12.0).all() and (u[:, 1] >= -3.0).all() and (u[:, 1] <= 4.0).all()
    held = (np.abs(u[:, 0]) == 12.0) | (u[:, 1] == -3.0) | (u[:, 1] == 4.0)
    assert held.any() and not held.all()

    file = read_control(linear_task(slides))
    problem = file.problem(loaded_for(file, None), threads=1)
    random = np.random.default_rng(1)
    for _ in range(10):
        other = np.clip(u + random.normal(scale=0.05, size=u.shape), [-12.0, -3.0], [12.0, 4.0])
        assert problem.search.run(problem.q, problem.v, other).cost > plan.cost


@pytest.mark.usefixtures("ready_kernels")
def test_a_plan_is_a_log_that_simulate_repeats(slides, tmp_path):
    path = tmp_path / "plan.h5"
    plan = optimize(linear_task(slides), log=path, threads=1)
    assert plan.difference <= 1e-12 and plan.feedback_difference <= 1e-12
    with open_log(path) as log:
        assert log.status == "complete" and log.row_count == 11
        assert np.abs(log.field("input/u")[:-1] - plan.track.u).max() <= 1e-9
    again = PlanFeedback(path).track
    assert all((getattr(again, name) == getattr(plan.track, name)).all() for name in vars(again))


@pytest.mark.usefixtures("ready_kernels")
def test_a_guess_from_the_log_of_a_plan_is_optimal_at_once(slides, tmp_path):
    optimize(linear_task(slides), log=tmp_path / "plan.h5", threads=1)
    plan = optimize(linear_task(slides, guess=str(tmp_path / "plan.h5")), threads=1)
    assert plan.iterations == [] and plan.converged


@pytest.mark.usefixtures("ready_kernels")
def test_what_has_no_better_motion_is_no_result(slides, monkeypatch):
    from mbcli.optimal_control import dynamic_programming

    monkeypatch.setattr(dynamic_programming, "LENGTHS", np.full(8, -1.0))  # each step leads up
    with pytest.raises(NumericalError, match="nothing cheaper than the first guess"):
        optimize(linear_task(slides), threads=1)


@pytest.mark.usefixtures("ready_kernels")
def test_a_log_without_a_plan_and_another_model_are_refused_in_one_line(slides, tmp_path):
    simulate(slides, 0.1, dt=0.05, actuators="motor", log=tmp_path / "run.h5").close()
    with pytest.raises(ModelError, match=r"run.h5: error: is no log of a plan"):
        PlanFeedback(tmp_path / "run.h5")
    plan = optimize(linear_task(slides), threads=1)
    with pytest.raises(ModelError, match="the plan has 2 positions, 2 velocities and 2 actuators, the model of the ru"):
        simulate(SAMPLES / "cart_pole.sdf", 0.1, dt=0.05, controller=PlanFeedback(plan))
    with pytest.raises(ArgumentError, match="is a plan or a control file"):
        simulate(slides, 0.1, dt=0.05, actuators="motor", controller="plan.h5")


@pytest.mark.usefixtures("ready_kernels")
def test_the_command_prints_costs_and_writes_the_plan(slides, tmp_path):
    import yaml

    task = tmp_path / "go.control.yaml"
    task.write_text(yaml.safe_dump(linear_task(slides)))
    path = tmp_path / "plan.h5"
    done = cli("optimize", "--task", str(task), "-o", str(path), "--json")
    document = done.json()
    assert done.code == 0
    assert is_valid("results", document)
    assert document["converged"] and document["cost"] == pytest.approx(sum(document["costs"].values()))
    assert document["log"] == str(path) and len(document["iterations"]) == 1
    text = cli("optimize", "--task", str(task)).out
    assert "1 iteration: no step is left" in text and "a run of simulate under its efforts is the plan" in text
    assert cli("optimize", "--task", str(task), "-o", str(path)).code == 6  # it is there
    run = ("--dt", "0.05", "--actuators", "motor", "--at", "x_x=1", "--controller", str(path), "-t", "0.5", "--no-log")
    again = cli("simulate", str(slides), *run)
    assert again.code == 0


def test_a_command_with_a_file_at_its_end_is_a_command():
    assert is_plan("plan.h5") and is_control_file("my.control.yaml")
    assert not is_plan("./swing --log out.h5") and not is_control_file("./swing --gains gains.yaml")


@pytest.mark.usefixtures("ready_kernels")
def test_many_worlds_follow_a_plan(slides):
    plan = optimize(linear_task(slides), threads=1)
    loaded = load_model(slides, dt=0.05, actuators="motor")
    worlds = Worlds(loaded, 2, start={"x_x": 1.0, "y_x": -0.5, "y_v": 0.2}, threads=1)
    worlds.q[1] += 0.1
    with worlds.under_controller(PlanFeedback(plan)):
        rows = worlds.rollout(10)
    assert np.abs(rows[0, :, :2] - plan.track.q[1:]).max() <= 1e-9
    assert np.abs(rows[1, -1, :2] - plan.track.q[-1]).max() < 0.03  # the gains lead back what began 0.1 m off


@compiled
def test_a_cart_swings_its_rod_up_and_gains_hold_it_there_under_a_push(tmp_path):
    plan = optimize(EXAMPLES / "swing.control.yaml", log=tmp_path / "plan.h5", threads=1)
    assert plan.converged
    assert np.abs(plan.track.u).max() <= 20.0
    assert plan.difference <= 1e-9
    run = {"dt": 0.005, "start": {"hinge": 0.01}, "pushes": "rod=2,0,0 from 1 to 1.1"}
    ends = []
    for gains in (True, False):
        feedback = PlanFeedback(tmp_path / "plan.h5", gains=gains)
        log = simulate(SAMPLES / "cart_pole.sdf", 3.0, controller=feedback, **run)
        ends.append(abs(log.field("state/q")[-1] - [0.0, np.pi]).max())
    assert abs(plan.track.q[-1] - [0.0, np.pi]).max() < 1e-3
    assert ends[0] < 0.01 < 1.0 < ends[1]


@compiled
def test_an_arm_reaches_a_point_within_limits():
    plan = optimize(EXAMPLES / "reach.control.yaml", threads=1)
    assert plan.converged
    most = np.array([60.0, 60.0, 60.0, 60.0, 60.0, 30.0, 30.0])  # the file's, or the model's
    assert (np.abs(plan.track.u) <= most).all()
    assert (np.abs(plan.track.u) == most).any()
    assert plan.costs["place at the end"] / 1000.0 < 0.002**2  # [m^2]
    assert plan.difference <= 1e-9


@compiled
def test_plans_in_the_loop_take_an_arm_to_its_point_under_a_push_and_go_on_after_a_break(tmp_path):
    import yaml

    task = yaml.safe_load((EXAMPLES / "reach.control.yaml").read_text())
    task["model"], task["horizon"] = str(SAMPLES / "arm7.urdf"), 0.4
    task["cost"] = [
        {"term": "efforts", "of": "all", "target": 0, "weight": 1e-4},
        {"term": "velocities", "of": "all", "target": 0, "weight": 0.3},
        {"term": "place", "frame": "flange", "target": [0.3, 0.3, 1.0], "weight": 100, "at": "both"},
    ]
    control = PredictiveControl(task)
    start = {"joint_2": 0.6, "joint_4": 1.2, "joint_6": 0.5}
    run = {"dt": 0.01, "contact": False, "start": start, "pushes": "flange=60,0,0 from 0.5 to 0.7"}
    log = simulate(SAMPLES / "arm7.urdf", 1.5, controller=control, log=tmp_path / "all.h5", log_rate=0, **run)
    loaded = load_model(SAMPLES / "arm7.urdf")
    context = loaded.plant.CreateDefaultContext()
    loaded.plant.SetPositions(context, log.field("state/q")[-1])
    place = loaded.plant.GetFrameByName("flange").CalcPoseInWorld(context).translation()
    assert np.linalg.norm(place - [0.3, 0.3, 1.0]) < 0.02
    assert len(control.times) == 76 and control.unsolved == 0
    part = {**run, "controller": PredictiveControl(task), "log_rate": 0}
    simulate(SAMPLES / "arm7.urdf", 0.6, log=tmp_path / "part.h5", **part).close()
    whole = resume(tmp_path / "part.h5", SAMPLES / "arm7.urdf", 1.5, **{k: x for k, x in part.items() if k != "start"})
    assert (whole.field("state/q") == log.field("state/q")).all()


@compiled
def test_a_plan_of_feet_on_the_ground_costs_less_and_is_the_run_of_simulate():
    task = {
        "model": str(EXAMPLES / "walker.xml"),
        "period": 0.02,
        "horizon": 0.1,
        "load": {"dt": 0.005, "contact": True},
        "pose": "stand",
        "guess": "zeros",
        "iterations": 2,
        "cost": [
            {"term": "efforts", "of": "all", "target": 0, "weight": 1e-4},
            {"term": "velocities", "of": "all", "target": 0, "weight": 0.1},
            {"term": "posture", "of": "all", "weight": 10},
            {"term": "orientation", "frame": "trunk", "target": [0, 0, 0], "weight": 10},
            {"term": "spin", "frame": "trunk", "target": [0, 0, 0], "weight": 0.1, "at": "end"},
            {"term": "velocity", "frame": "trunk", "target": [0.2, 0, 0], "weight": 10, "at": "end"},
        ],
    }
    plan = optimize(task, threads=1)
    costs = [plan.start_cost, *(iteration.cost for iteration in plan.iterations)]
    assert len(costs) > 1 and (np.diff(costs) < 0.0).all()
    assert plan.cost == pytest.approx(costs[-1], rel=1e-12)
    assert plan.difference <= 1e-9
