"""Pushes act on their body for their time: momentum, place, tables, held robots, both kinds of plants."""

import numpy as np
import pytest
from command_line import cli, hinge, one_robot, succeed

from mbcli.models import load_model
from mbcli.multibody.math import SpatialForce
from mbcli.multibody.plant import ExternallyAppliedSpatialForce
from mbcli.simulation import SimulationWarning, simulate
from mbcli.simulation.pushes import Push
from mbcli.simulation.worlds import Worlds

BRICK = """<sdf version="1.9"><model name="m"><link name="b"><gravity>false</gravity><inertial>
<pose>0.1 0 0 0 0 0</pose><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.25</izz></inertia></inertial></link>
</model></sdf>"""


@pytest.fixture
def brick(tmp_path):
    path = tmp_path / "brick.sdf"
    path.write_text(BRICK)
    return path


def momentum(path, *pushes, dt=1e-3):
    """(angular about the centre of mass, linear) [N m s, N s] after 0.5 s without gravity."""
    log = simulate(str(path), 0.5, contact=False, dt=dt, pushes=pushes, fields="momentum com")
    angular, linear = np.split(log.field("derived/momentum")[-1], 2)
    return angular - np.cross(log.field("derived/com")[-1], linear), linear


@pytest.mark.parametrize("dt", [1e-3, 0.0])
@pytest.mark.parametrize("text", ["b=3,-2,1 from 0.1 to 0.3", "m::b=3,-2,1 from 0.1 to 0.3"])
def test_the_momentum_is_force_times_time_and_at_the_centre_of_mass_nothing_turns(brick, text, dt):
    angular, linear = momentum(brick, text, dt=dt)
    np.testing.assert_allclose(linear, np.array([3.0, -2.0, 1.0]) * 0.2, atol=1e-9 if dt else 1e-3)
    np.testing.assert_allclose(angular, 0.0, atol=1e-9)


def test_a_point_of_the_body_has_a_lever(brick):
    angular, _ = momentum(brick, Push("b", (0.0, 0.0, 1.0), 0.0, 0.001, (0.1, 0.3, 0.0)))
    np.testing.assert_allclose(angular, [0.3e-3, 0.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("dt", [1e-3, 2e-3, 7e-3, 0.01, 0.3])
@pytest.mark.parametrize(
    ("start", "end"), [(0.1, 0.3), (0.1004, 0.3), (0.1, 0.30049), (0.0123, 0.0321), (0.0101, 0.0102)]
)
def test_a_push_that_begins_and_ends_within_steps_has_its_impulse(brick, dt, start, end):
    log = simulate(
        str(brick), 0.6, contact=False, dt=dt, pushes=[Push("b", (10.0, 0.0, -5.0), start, end)], fields="momentum"
    )
    np.testing.assert_allclose(
        log.field("derived/momentum")[-1, 3:], (end - start) * np.array([10.0, 0.0, -5.0]), atol=1e-12
    )


def test_a_push_in_a_part_of_a_step_is_that_in_python_and_in_worlds(brick):
    """In the port of a context with a force of its own, and in worlds, steps take the same parts."""
    model = load_model(str(brick), dt=0.01)
    plant, push = model.plant, "b=3,1,0@0.1,0.2,0 from 0.0042 to 0.0571"
    alone = simulate(model, 0.1, pushes=push).v[-1]
    context = plant.CreateDefaultContext()
    plant.get_applied_generalized_force_input_port().FixValue(context, np.zeros(6))  # which steps ask Python for
    in_python = simulate(model, 0.1, start=context, pushes=push).v[-1]
    worlds = Worlds(model, 2)
    worlds.push(push, which=[1])
    worlds.step(10)
    assert in_python == pytest.approx(alone, rel=1e-12, abs=1e-15)
    assert worlds.v[1] == pytest.approx(alone, rel=1e-12, abs=1e-15) and not worlds.v[0].any()
    assert np.linalg.norm(alone[3:]) == pytest.approx(np.hypot(3.0, 1.0) * 0.0529 / 2.0, rel=0.1)


def test_pushes_add_up_and_a_table_says_the_same(brick, tmp_path):
    table = tmp_path / "pushes.csv"
    table.write_text("body,fx,fy,fz,from,to\nb,1,0,0,0,0.2\nb,0,0,4,0.1,0.2\n")
    _, linear = momentum(brick, str(table))
    _, same = momentum(brick, "b=1,0,0 to 0.2", "b=0,0,4 from 0.1 to 0.2")
    np.testing.assert_allclose(linear, [0.2, 0.0, 0.4], atol=1e-9)
    np.testing.assert_array_equal(linear, same)


def test_a_robot_that_is_held_gives_way_and_comes_back(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(one_robot(["base", "arm"], hinge("j1", "base", "arm", effort=200)))
    words = ("simulate", path, "--weld-base", "--hold", "--no-contact", "--no-log", "--json", "--push")
    bent = succeed(*words, "arm=0,0,300@0.5,0,0 from 0 to 0.2", "-t", 0.2).json()["q"][0]
    back = succeed(*words, "arm=0,0,300@0.5,0,0 from 0 to 0.2", "-t", 1.5).json()["q"][0]
    assert abs(bent) > 0.01 and abs(back) < 0.1 * abs(bent)


def test_the_log_goes_on_and_is_verified_with_its_pushes(brick, tmp_path):
    log = tmp_path / "run.h5"
    run = ("simulate", brick, "--no-contact", "--push", "b=1,2,3 from 0.1 to 0.3")
    succeed(*run, "-t", 0.2, "-o", log)
    succeed(*run, "-t", 0.4, "--resume", log)
    succeed("log", "verify", log)


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("b=1,2", 2, "--push: 'b=1,2': '1,2' is not three finite numbers with commas"),
        ("b=1,2,nan", 2, "is not three finite numbers"),
        ("b=1,2,3 at 4", 2, "'b=1,2,3 at 4' is not BODY=fx,fy,fz[@x,y,z] [from T] [to T]"),
        ("b=1,2,3 from 1 to 1", 2, "the push of 'b' from 1 s to 1 s has no duration"),
        ("b=1,2,3 from soon", 2, "a time is a finite number of seconds"),
        ("brick=1,2,3", 2, "--push: there is no body named 'brick'; there are b"),
        ("missing.csv", 4, "missing.csv: error: no such file"),
    ],
)
def test_a_push_that_means_nothing_is_one_line(brick, text, code, message):
    result = cli("-q", "simulate", brick, "--no-log", "-t", 0.01, "--push", text)
    assert (result.code, result.out, result.err.count("\n")) == (code, "", 1)
    assert message in result.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("body,fx,fy,fz,from\nb,1,2,3,0\n", ":1: error: a table of pushes has the columns"),
        ("body,fx,fy,fz,from,to,when\nb,1,2,3,0,1,2\n", "'when' is none"),
        ("body,fx,fy,fz,from,to\nb,1,2,3,0\n", ":2:"),
        ("body,fx,fy,fz,from,to\nb,1,many,3,0,1\n", ":2: error: a push needs finite numbers"),
    ],
)
def test_a_damaged_table_names_its_line(brick, tmp_path, text, message):
    table = tmp_path / "pushes.csv"
    table.write_text(text)
    result = cli("-q", "simulate", brick, "--no-log", "-t", 0.01, "--push", table)
    assert (result.code, result.err.count("\n")) == (3, 1)
    assert message in result.err


def test_a_body_that_is_fixed_to_the_world_is_no_place_for_a_push(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(one_robot(["base", "arm"], hinge("j1", "base", "arm", effort=200)))
    result = cli("-q", "simulate", path, "--weld-base", "--no-log", "-t", 0.01, "--push", "base=1,0,0")
    assert result.code == 2 and "fixed to the world" in result.err


def test_one_text_need_not_be_in_a_list(brick):
    alone = simulate(str(brick), 0.1, contact=False, pushes="b=1,0,0")
    listed = simulate(str(brick), 0.1, contact=False, pushes=["b=1,0,0"])
    assert alone.v.any() and (alone.v == listed.v).all()


def test_a_random_push_is_horizontal_of_its_size_and_lasts_and_comes_from_the_seed(brick):
    def moved(seed):
        log = simulate(
            str(brick), 0.5, contact=False, seed=seed, pushes="b=10@random for 0.1 from 0.2 to 0.4", log_rate=0
        )
        begins = log.times[np.abs(log.v).max(axis=1) > 0.0][0]
        return log.v[-1, 3:], begins

    v, begins = moved(3)
    assert np.linalg.norm(v) == pytest.approx(10.0 * 0.1 / 2.0, rel=1e-9) and v[2] == 0.0
    assert 0.2 < begins < 0.302
    assert (moved(3)[0] == v).all() and (moved(4)[0] != v).any()
    refused = cli("simulate", brick, "-t", 0.3, "--no-log", "--push", "b=10@random for 0.4")
    assert refused.code == 2 and "there is less time" in refused.err


def test_pushes_from_a_given_context_act_beside_its_forces_and_end_with_the_run(brick):
    model = load_model(str(brick))
    plant = model.plant
    context = plant.CreateDefaultContext()
    own = ExternallyAppliedSpatialForce()
    own.body_index, own.p_BoBq_B = plant.GetBodyByName("b").index(), plant.GetBodyByName("b").default_com()
    own.F_Bq_W = SpatialForce(np.zeros(3), np.array([0.0, 0.0, 4.0]))
    port = plant.get_applied_spatial_force_input_port()
    port.FixValue(context, [own])
    simulate(model, 0.1, start=context, pushes="b=2,0,0")
    assert plant.GetVelocities(context)[3:] == pytest.approx([0.1, 0.0, 0.2])
    assert len(port.Eval(context)) == 1
    simulate(model, 0.2, start=context)
    assert plant.GetVelocities(context)[3:] == pytest.approx([0.1, 0.0, 0.4])


def test_compiled_steps_take_pushes_as_those_of_python(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(one_robot(["base", "arm"], hinge("j1", "base", "arm", effort=200)))
    model = load_model(str(path), weld_base=True)
    plant, push = model.plant, "arm=3,-5,20@0.4,0.1,0 from 0.02 to 0.07"
    compiled = simulate(model, 0.1, pushes=push)
    context = plant.CreateDefaultContext()
    plant.get_applied_generalized_force_input_port().FixValue(context, [0.0])  # which steps ask Python for
    stepped = simulate(model, 0.1, start=context, pushes=push)
    assert compiled.q == pytest.approx(stepped.q, rel=1e-9, abs=1e-12) and np.ptp(compiled.q) > 1e-3


def test_a_push_that_the_run_does_not_reach_is_said_alone_and_in_worlds(brick, tmp_path):
    late = "b=1,0,0 from 0.3 to 0.4"
    said = "the run is from 0 to 0.1 s, pushes do not act in it: b from 0.3 to 0.4 s"
    assert said in succeed("simulate", brick, "--no-contact", "-t", 0.1, "--push", late, "--no-log").err
    (tmp_path / "starts.csv").write_text("vx\n0\n1\n")
    words = ["simulate", brick, "--no-contact", "--states", tmp_path / "starts.csv", "--fill", "default", "--each"]
    assert said in succeed(*words, "-t", 0.1, "--push", late, "-o", tmp_path / "each.h5").err
    with pytest.warns(SimulationWarning, match="pushes do not act in it"):
        simulate(brick, 0.1, contact=False, pushes=late)


def test_pushes_that_act_or_have_acted_before_a_break_are_not_said(brick, tmp_path):
    early = ["--push", "b=1,0,0 from 0 to 0.05"]
    common = ["simulate", brick, "--no-contact", *early, "-o", tmp_path / "run.h5"]
    assert "pushes" not in succeed(*common, "-t", 0.1).err
    assert "pushes" not in succeed("simulate", "--resume", tmp_path / "run.h5", "-t", 0.2).err
