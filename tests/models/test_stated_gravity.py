"""Gravity is that of the file: of an SDFormat world and of its links; --gravity takes its place."""

import numpy as np
import pytest
from command_line import cli, one_robot, succeed

from mbcli.errors import ArgumentError
from mbcli.models import changed_parameters, load_model
from mbcli.models.loading import ModelText
from mbcli.simulation import Worlds, simulate

INERTIAL = "<inertial><mass>1</mass></inertial>"
WORLD = f"""<sdf version="1.9"><world name="w">{{gravity}}<model name="m"><link name="a">{INERTIAL}</link></model>
<model name="n"><link name="b"><gravity>false</gravity>{INERTIAL}</link></model></world></sdf>"""
ACCELERATED = """<mujoco><worldbody><body pos="0 0 1"><joint type="slide" axis="1 0 0"/><geom size=".1" contype="0"
 conaffinity="0"/><site name="here"/></body></worldbody><sensor><accelerometer name="felt" site="here"/></sensor>
 </mujoco>"""
MOON = [0.0, 0.0, -1.62]  # [m/s^2]


@pytest.fixture
def world(tmp_path):
    def write(gravity):
        path = tmp_path / "world.sdf"
        path.write_text(WORLD.format(gravity=gravity))
        return path

    return write


def fallen(path, *options):
    """How the two links have moved along x, y, z [m] in 1 s."""
    words = ("simulate", path, "-t", 1, "--no-log", "--no-contact", "--json", *options)
    q = succeed(*words).json()["q"]
    return np.array([q[4:7], q[11:14]])


@pytest.mark.parametrize(("gravity", "g"), [("0 0 -1.62", MOON), ("0 0 -9.8", [0, 0, -9.8]), ("1 -2 0", [1, -2, 0])])
def test_links_fall_as_the_world_says_and_a_link_without_gravity_floats(world, gravity, g):
    path = world(f"<gravity>{gravity}</gravity>")
    np.testing.assert_allclose(fallen(path), [0.5 * np.array(g, float), np.zeros(3)], atol=1e-9)
    assert "gravity" not in cli("check", path).out


def test_a_world_that_states_none_has_that_of_the_plant(world):
    np.testing.assert_allclose(fallen(world(""))[0], [0.0, 0.0, -0.5 * 9.81], atol=1e-9)


@pytest.mark.parametrize("kind", ["urdf", "sdf"])
def test_an_option_takes_the_place_of_what_files_state(world, tmp_path, kind):
    path = world("<gravity>0 0 -3</gravity>")
    if kind == "urdf":
        path = tmp_path / "one.urdf"
        path.write_text(one_robot(["base"], ""))
    q = succeed("simulate", path, "-t", 1, "--no-log", "--no-contact", "--json", "--gravity", *MOON).json()["q"]
    np.testing.assert_allclose(q[4:7], 0.5 * np.array(MOON), atol=1e-9)
    tau = succeed("gravity", path, "--gravity", 0, 0, 0, "--json").json()["tau_g"]
    assert not np.any(tau)
    assert load_model(str(path), gravity=MOON).plant.gravity_field().gravity_vector().tolist() == MOON


def test_a_log_goes_on_and_is_verified_under_its_gravity(world, tmp_path):
    path, log = world(""), tmp_path / "run.h5"
    run = ("simulate", path, "--no-contact", "--gravity", *MOON)
    succeed(*run, "-t", 0.2, "-o", log)
    other = cli("simulate", path, "--no-contact", "-t", 0.4, "--resume", log)
    assert other.code == 3 and "other gravity" in other.err
    succeed(*run, "-t", 0.4, "--resume", log)
    succeed("log", "verify", log)


@pytest.mark.parametrize("text", ["<gravity>0 0</gravity>", "<gravity>0 0 nan</gravity>", "<gravity>down</gravity>"])
def test_a_gravity_that_is_no_vector_is_a_finding_and_none(world, text):
    result = cli("check", world(text))
    assert result.code in (0, 1) and "gravity" in result.out
    np.testing.assert_allclose(fallen(world(text))[0], [0.0, 0.0, -0.5 * 9.81], atol=1e-9)


def test_gravity_takes_three_numbers(world):
    assert cli("simulate", world(""), "--gravity", 0, "nan", 1, "--no-log").code == 2


@pytest.mark.usefixtures("ready_kernels")
def test_gravity_is_a_parameter_by_name_in_runs_worlds_and_what_sensors_feel():
    box = """<robot name="box"><link name="box"><inertial><mass value="2"/>
     <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
     <collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link></robot>"""
    model = load_model(ModelText(box.encode(), "box.urdf"), contact=True, ground=0.0)
    with changed_parameters(model, {"field.gravity.vector": "[1, 0, -2]"}):
        assert model.plant.CalcGravityGeneralizedForces(model.plant.CreateDefaultContext()).tolist()[3:] == [2, 0, -4]
    assert model.plant.gravity_field().gravity_vector().tolist() == [0.0, 0.0, -9.81]
    worlds = Worlds(model, 2, parameters={"field.gravity.vector.z": [-9.81, -1.62]}, threads=1)
    worlds.q[:, 6] = 0.1, 1.0
    worlds.step(200)
    t, h = 200 * model.plant.time_step(), model.plant.time_step()
    assert worlds.q[1, 6] == pytest.approx(1.0 - 0.5 * 1.62 * t**2, abs=1.62 * t * h)
    worlds.q, worlds.v = np.tile([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1], (2, 1)), 0.0
    worlds.step(1000)
    wrenches = worlds.sensors().contact_wrenches()[:, 0, 5]
    np.testing.assert_allclose(wrenches, [-2 * 9.81, -2 * 1.62], rtol=1e-6)
    moon = {"field.gravity.vector.z": -1.62}
    given = load_model(ModelText(box.encode(), "box.urdf"), contact=True, ground=0.0, overrides=moon)
    rest = simulate(given, 1.0, start={"box_z": 0.1})
    assert rest["state/q"][-1, 6] == pytest.approx(worlds.q[1, 6], abs=1e-9)
    with pytest.raises(ArgumentError, match="there is no field named 'magnet'"):
        changed_parameters(model, {"field.magnet.vector.z": 1.0}).__enter__()


@pytest.mark.usefixtures("ready_kernels")
def test_an_accelerometer_feels_the_gravity_of_its_world():
    model = load_model(ModelText(ACCELERATED.encode(), "felt.xml"))
    worlds = Worlds(model, 2, parameters={"field.gravity.vector.z": [-9.81, -1.62]}, threads=1)
    felt = worlds.sensors().exact()["felt"]
    np.testing.assert_allclose(felt[:, 2], [9.81, 1.62], atol=1e-9)
