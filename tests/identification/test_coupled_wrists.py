"""A drive that turns with the joint before its own is named; what does not fit for other reasons is no wrong unit."""

from functools import partial

import numpy as np
import pytest
from measured_motion import forces, harmonics, otherwise, plant_of, write_csv
from repository import SAMPLES

from mbcli.identification.friction_signs import slow_speeds
from mbcli.identification.hypotheses import DEGREES, _swapped, _times
from mbcli.identification.identify import Settings, identify
from mbcli.identification.signals import Run
from mbcli.identification.subject import Subject
from mbcli.identification.trials import Trial

FRICTION = 0.6  # of the efforts of the last joint


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    """The file of a 7-joint arm, and a motion (q, v, vdot, tau) of one with other masses, its last joint far."""
    path = tmp_path_factory.mktemp("true") / "true.urdf"
    path.write_text(otherwise((SAMPLES / "arm7.urdf").read_text()))
    plant = plant_of(path, weld_base=True)
    t, q, v, vdot = harmonics(2001, 7, 3, seconds=20.0, most=4)
    for values in (q, v, vdot):
        values[:, 6] *= 8.0 / np.ptp(q[:, 6])
    return plant_of(SAMPLES / "arm7.urdf", weld_base=True), t, q, v, vdot, forces(plant, q, v, vdot)


def suspected(arm, folder, more):
    """Codes and columns of what is suspected where `more` (n, 7) is added to the efforts."""
    plant, t, q, v, vdot, tau = arm
    columns = {"time": t}
    for k, (place, name) in enumerate(zip(plant.GetPositionNames(), plant.GetVelocityNames(), strict=True)):
        columns |= {f"q:{place}": q[:, k], f"v:{name}": v[:, k], f"vdot:{name}": vdot[:, k]}
        columns |= {f"tau:{name}": tau[:, k] + more[:, k]}
    found = identify(plant, [write_csv(folder / "a.csv", columns)], (), Settings(armature=True)).findings
    return {(f.code, f.column) for f in found if f.code.startswith("DATA") and f.code != "DATA_LIMITS"}


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_friction_of_a_coupled_drive_is_named(arm, tmp_path, sign):
    plant, v, tau = arm[0], arm[3], arm[5]
    turns = v[:, 6] + sign * v[:, 5]
    resists = FRICTION * np.std(tau[:, 5]) * (np.sign(turns) + 0.2 * turns)
    more = np.zeros_like(tau)
    more[:, 6], more[:, 5] = resists, sign * resists
    assert suspected(arm, tmp_path, more) == {("DATA_COUPLED", plant.GetVelocityNames()[6])}


def test_friction_of_drives_of_their_own_is_not_taken_for_a_coupled_one(arm, tmp_path):
    v, tau = arm[3], arm[5]
    more = np.zeros_like(tau)
    for k in (5, 6):
        more[:, k] = FRICTION * np.std(tau[:, 5]) * (np.sign(v[:, k]) + 0.2 * v[:, k])
    assert not suspected(arm, tmp_path, more)


def test_angles_in_degrees_are_tried_on_the_same_equations(arm):
    """A hypothesis under which all that moves is slow has few equations left, which anything explains."""
    plant, t, q, v, vdot, tau = arm
    usable = np.ones(v.shape, dtype=bool)
    run = Run("", t, np.arange(len(t)), q, v, vdot, tau, tau, usable, 100.0)
    subject = Subject(plant, frictions=("viscous", "coulomb", "offset"), armature=True)
    trial = Trial(subject, run.part(np.arange(0, len(t), 20)), slow_speeds(v))
    other = trial.changed(partial(_times, factor=DEGREES), subject.joints)
    assert 0.5 < trial.usable.mean() < 1.0
    np.testing.assert_array_equal(other.usable, trial.usable)


def test_all_angles_in_degrees_are_still_found(arm, tmp_path):
    plant, t, q, v, vdot, tau = arm
    degrees = plant, t, *(np.degrees(values) for values in (q, v, vdot)), tau
    assert ("DATA_UNITS", "") in suspected(degrees, tmp_path, np.zeros_like(tau))


def test_signs_of_velocities_that_are_swapped_or_mirrored_follow_them(arm):
    """What the filter left of them is of the velocities as they were read."""
    plant, t, q, v, vdot, tau = arm
    usable, signs = np.ones(v.shape, dtype=bool), 0.9 * np.tanh(v)
    run = Run("", t, np.arange(len(t)), q, v, vdot, tau, tau, usable, 100.0, signs)
    trial = Trial(Subject(plant, frictions=("coulomb",), armature=True), run, slow_speeds(v))
    np.testing.assert_array_equal(trial.changed(_swapped, [0, 1]).part.signs[:, :2], signs[:, [1, 0]])
    mirrored = trial.changed(partial(_times, factor=-DEGREES), [2]).part.signs
    np.testing.assert_allclose(mirrored[:, 2], -signs[:, 2], rtol=1e-15)
    np.testing.assert_array_equal(mirrored[:, 3:], signs[:, 3:])
