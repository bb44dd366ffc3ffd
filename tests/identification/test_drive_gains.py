"""Gains of drives come back from motions with and without a known load, or from those of known bodies."""

import numpy as np
import pytest
from command_line import cli, succeed
from measured_motion import drawn_states, forces, plant_of, write_npz
from repository import SAMPLES

from mbcli.errors import ArgumentError, ModelError
from mbcli.identification.drive_gains import KnownLoad
from mbcli.identification.identify import Settings, identify
from mbcli.multibody.inertia.inertial_parameters import of_central_inertia
from mbcli.multibody.plant.batch_functions import BatchFunctions

GAINS = np.array([10.0, 8.5, 9.25, 7.0, 3.0, 2.5, -1.5])  # a drive may be mounted the other way round
LOAD = KnownLoad("hand", 4.0, (0.1, 0.05, 0.08))

pytestmark = pytest.mark.usefixtures("ready_kernels")


def with_load(plant, motion, load, gains):
    """The motion with the efforts, over gains, that the load on the last link needs."""
    q, v, vdot, tau = motion
    pi = of_central_inertia(load.mass, np.array(load.centre), np.zeros((3, 3)))
    Y = BatchFunctions(plant).inverse_dynamics_regressor(q, v, vdot)
    return q, v, vdot, tau + Y[:, :, -10:] @ pi / gains


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    """The plant of a 7-joint arm, and its motions (q, v, vdot, tau) without and with the load."""
    plant = plant_of(SAMPLES / "arm7.urdf", weld_base=True)
    motions = []
    for seed in (1, 2):
        q, v, vdot = drawn_states(plant, 250, seed)
        motions.append((q, v, vdot, forces(plant, q, v, vdot)))
    motions[1] = with_load(plant, motions[1], LOAD, 1.0)
    return plant, motions


def files(folder, motions, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    found = []
    for name, (q, v, vdot, tau) in zip(("free", "held"), motions, strict=True):
        i = tau / GAINS
        i = i + noise * i.std(axis=0) * rng.normal(size=i.shape)
        found.append(write_npz(folder / f"{name}.npz", q, v, vdot, i))
    return found


def test_gains_come_back_without_noise(arm, tmp_path):
    plant, motions = arm
    free, held = files(tmp_path, motions)
    result = identify(plant, [free], settings=Settings(known_load=LOAD), loaded=[held])
    assert np.abs(result.gains.values / GAINS - 1.0).max() < 1e-8
    assert result.figures["after"] < 1e-8


def test_the_command_prints_gains_and_refuses_a_load_without_motions(arm, tmp_path):
    plant, motions = arm
    free, held = files(tmp_path, motions)
    words = ["-q", "identify", SAMPLES / "arm7.urdf", "--weld-base", "--no-armature", "--data", free]
    load = "hand=4,0.1,0.05,0.08"
    document = succeed(*words, "--loaded", held, "--known-load", load, "--json").json()
    found = document["effort_gains"]
    assert [g["name"] for g in found] == plant.GetVelocityNames()
    assert np.abs(np.array([g["value"] for g in found]) / GAINS - 1.0).max() < 1e-8
    assert "gain of its drive" in succeed(*words, "--loaded", held, "--known-load", load).out
    for more, cause in (
        (["--known-load", load], "--known-load needs --loaded"),
        (["--loaded", held, "--known-load", "hand"], "'hand' is not LINK=MASS"),
        (["--loaded", held, "--known-load", "hand=4,1"], "is not LINK=MASS"),
        (["--loaded", held, "--known-load", "hand=-4"], "the mass above 0"),
    ):
        result = cli(*words, *more)
        assert result.code == 2 and cause in result.err


def test_a_mass_alone_shows_gains_where_its_link_has_a_way_to_move(arm, tmp_path):
    """The last three axes go through the hand's origin or near it: a mass there says too little of their drives."""
    plant, motions = arm
    free, held = files(tmp_path, motions)
    load = KnownLoad(LOAD.link, LOAD.mass)
    given = np.where(np.arange(7) < 4, np.nan, GAINS)
    result = identify(plant, [free], settings=Settings(known_load=load, gains=given), loaded=[held])
    assert np.abs(result.gains.values / GAINS - 1.0).max() < 1e-8
    with pytest.raises(ModelError, match=f"{plant.GetVelocityNames()[-1]}: "):
        identify(plant, [free], settings=Settings(known_load=load), loaded=[held])


def test_gains_are_within_two_standard_errors_with_noise(arm, tmp_path):
    plant, motions = arm
    inside = 0
    for seed in range(4):
        free, held = files(tmp_path, motions, 0.02, seed)
        gains = identify(plant, [free], settings=Settings(known_load=LOAD), loaded=[held]).gains
        inside += int((np.abs(gains.values - GAINS) < 2.0 * gains.errors).sum())
        assert np.abs(gains.errors / GAINS).max() < 0.2
    assert inside >= 24  # of 28: 95 % are 26.6, with a spread of 1.1


def test_a_gain_that_the_load_does_not_show_is_named_and_can_be_given(arm, tmp_path):
    """A load in the axis of the last joint does not load it."""
    plant, ((q, v, vdot, tau), _) = arm
    free = write_npz(tmp_path / "free.npz", q, v, vdot, tau / GAINS)
    with pytest.raises(ModelError, match="does not show the gain"):
        identify(plant, [free], settings=Settings(known_load=LOAD), loaded=[free])
    on_axis = KnownLoad("hand", 4.0, (0.0, 0.0, 0.1))
    held = write_npz(tmp_path / "held.npz", *with_load(plant, (q, v, vdot, tau / GAINS), on_axis, GAINS))
    last = plant.GetVelocityNames()[-1]
    with pytest.raises(ModelError, match=f"the load on hand does not show the gain of {last}: "):
        identify(plant, [free], settings=Settings(known_load=on_axis), loaded=[held])
    only = np.full(7, np.nan)
    only[-1] = GAINS[-1]
    result = identify(plant, [free], settings=Settings(known_load=on_axis, gains=only), loaded=[held])
    assert np.abs(result.gains.values / GAINS - 1.0).max() < 1e-8
    assert result.gains.errors[-1] == 0.0
    given = Settings(known_load=LOAD, gains=GAINS)
    assert (identify(plant, [free], settings=given, loaded=[free]).gains.values == GAINS).all()
    with pytest.raises(ArgumentError, match="no link with a mass on a joint named 'tool'"):
        identify(plant, [free], settings=Settings(known_load=KnownLoad("tool", 1.0)), loaded=[free])


ROTORS = np.array([0.8, 1.1, 0.5, 0.4, 0.15, 0.1, 0.05])  # [kg m^2] more than the file has
VISCOUS, COULOMB = 0.5 * ROTORS, 2.0 * ROTORS
AXLE = """<robot name="axle"><link name="base"/><link name="disc"><inertial><mass value="2"/><inertia ixx="0.02" ixy="0"
  ixz="0" iyy="0.02" iyz="0" izz="0.04"/></inertial></link><joint name="axle" type="continuous"><parent link="base"/>
  <child link="disc"/><axis xyz="0 0 1"/></joint></robot>"""


def currents(motion, noise=0.0, seed=0):
    """Of free motion of bodies as the file has them, with rotors and friction."""
    q, v, vdot, tau = motion
    i = (tau + ROTORS * vdot + VISCOUS * v + COULOMB * np.sign(v)) / GAINS
    return q, v, vdot, i + noise * i.std(axis=0) * np.random.default_rng(seed).normal(size=i.shape)


def truths(subject):
    of = {"armature": ROTORS, "viscous": VISCOUS, "coulomb": COULOMB, "offset": 0.0 * ROTORS}
    return subject.x0 + [of[p.kind][p.element] for p in subject.parameters]


def test_free_motion_of_known_bodies_shows_gains_rotors_and_friction(arm, tmp_path):
    plant, (motion, _) = arm
    path = write_npz(tmp_path / "free.npz", *currents(motion))
    result = identify(plant, [path], settings=Settings(known_bodies=True, armature=True))
    # signs of velocities have a slope of two standing speeds about zero, which rotors and friction are found by
    assert np.abs(result.gains.values / GAINS - 1.0).max() < 1e-5
    assert {p.kind for p in result.subject.parameters} == {"armature", "viscous", "coulomb", "offset"}
    np.testing.assert_allclose(result.x, truths(result.subject), atol=1e-4)
    assert result.figures["after"] < 1e-3


def test_gains_and_rotors_of_known_bodies_are_within_two_standard_errors(arm, tmp_path):
    """Rotors and friction are as unknown as the gains that they are times."""
    plant, (motion, _) = arm
    gains = others = count = 0
    for seed in range(4):
        path = write_npz(tmp_path / "free.npz", *currents(motion, 0.05, seed))
        result = identify(plant, [path], settings=Settings(known_bodies=True, armature=True))
        gains += int((np.abs(result.gains.values - GAINS) < 2.0 * result.gains.errors).sum())
        others += int((np.abs(result.x - truths(result.subject)) < 2.0 * result.errors).sum())
        count += len(result.x)
    assert gains >= 24 and others >= 0.9 * count, (gains, others, count)  # of 28 and 112


def test_bodies_that_are_not_those_of_the_data_are_told_of(arm, tmp_path):
    """Gains are as wrong as the masses that they come from."""
    _, (motion, _) = arm
    path = write_npz(tmp_path / "free.npz", *currents(motion, 0.02))
    settings = Settings(known_bodies=True, armature=True)
    right = identify(plant_of(SAMPLES / "arm7.urdf", weld_base=True), [path], settings=settings)
    assert "DATA_BODIES" not in [f.code for f in right.findings]
    plant = plant_of(SAMPLES / "arm7.urdf", weld_base=True, overrides={"body.hand.mass": 5.0})
    wrong = identify(plant, [path], settings=settings)
    assert "DATA_BODIES" in [f.code for f in wrong.findings]
    assert np.abs(wrong.gains.values / GAINS - 1.0).max() > 0.1


def test_a_gain_that_free_motion_does_not_show_is_named(tmp_path):
    """A disc on its own axle: its inertia acts as that of the rotor, and only their sum over the gain is known."""
    (tmp_path / "axle.urdf").write_text(AXLE)
    plant = plant_of(tmp_path / "axle.urdf", weld_base=True)
    q, v, vdot = drawn_states(plant, 200, 3)
    path = write_npz(tmp_path / "free.npz", q, v, vdot, (0.04 * vdot + 0.1 * v) / 5.0)
    with pytest.raises(ModelError, match="the gain of axle_axle_w cannot be known from these data: what bodies need"):
        identify(plant, [path], settings=Settings(known_bodies=True, armature=True))
    result = identify(plant, [path], settings=Settings(known_bodies=True, armature=False))
    assert result.gains.values == pytest.approx([5.0], rel=1e-8)
    given = Settings(known_bodies=True, armature=True, gains=np.array([5.0]))
    assert identify(plant, [path], settings=given).gains.errors == 0.0


def test_the_command_finds_gains_of_known_bodies_and_takes_no_currents_for_efforts(arm, tmp_path):
    _, (motion, _) = arm
    free = write_npz(tmp_path / "free.npz", *currents(motion))
    words = ["-q", "identify", SAMPLES / "arm7.urdf", "--weld-base", "--data", free]
    document = succeed(*words, "--known-bodies", "--json").json()
    assert np.abs(np.array([g["value"] for g in document["effort_gains"]]) / GAINS - 1.0).max() < 1e-5
    assert {p["kind"] for p in document["parameters"]} == {"armature", "viscous", "coulomb", "offset"}
    for more, cause in (
        (["--known-bodies", "--payload", "hand"], "without --known-load and --payload"),
        (["--known-bodies", "--fit", "trajectory"], "--known-bodies needs --data and --fit torque"),
        (["--columns", "time,q,v,i"], "--columns has currents (i)"),
    ):
        result = cli(*words, *more)
        assert result.code == 2 and cause in result.err
