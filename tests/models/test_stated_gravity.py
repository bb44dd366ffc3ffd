"""Gravity is that of the file: of an SDFormat world and of its links; --gravity takes its place."""

import numpy as np
import pytest
from command_line import cli, one_robot, succeed

from mbcli.models import load_model

INERTIAL = "<inertial><mass>1</mass></inertial>"
WORLD = f"""<sdf version="1.9"><world name="w">{{gravity}}<model name="m"><link name="a">{INERTIAL}</link></model>
<model name="n"><link name="b"><gravity>false</gravity>{INERTIAL}</link></model></world></sdf>"""
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
