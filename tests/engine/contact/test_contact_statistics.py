"""What a run tells of its contact problems: one a step, whatever room the samples have, and means below maxima."""

import pytest
from command_line import succeed
from repository import SAMPLES

from mbcli.log.reader import Log
from mbcli.multibody.contact.contact_arrays import ContactArrays

QUADRUPED = SAMPLES / "quadruped.urdf"
STEPS = 30


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def run(log, *models):
    """The summary's `contact` of robots that stand on the ground, apart from one another."""
    places = [f"--at={model}_trunk_z=0.4" for model in models]
    places += [f"--at={model}_trunk_x={5 * k}" for k, model in enumerate(models)]
    start = ("-q", "simulate", *[QUADRUPED] * len(models), "--ground", *places, "-t", STEPS * 0.001)
    return succeed(*start, "--log-rate", 0, "-o", log, "--force", "--json").json()["contact"]


def test_steps_that_are_repeated_for_want_of_room_count_once(tmp_path, monkeypatch):
    plenty = run(tmp_path / "a.h5", "quadruped")
    assert plenty["most_contacts"] == 4
    for room in (4, 5, 9):
        monkeypatch.setattr(ContactArrays.start_samples, "__defaults__", (room,))
        assert run(tmp_path / "b.h5", "quadruped") == plenty
    assert plenty["problems"] == STEPS + 1  # and that of the last row


def test_the_mean_of_iterations_is_not_above_the_most(tmp_path):
    """Robots apart are solved each for itself: the iterations of all of them together are more than any one takes."""
    one, three = (
        run(tmp_path / "run.h5", *names) for names in (("quadruped",), ("quadruped", "quadruped_1", "quadruped_2"))
    )
    assert 1.0 < one["mean_iterations"] <= one["most_iterations"]
    assert three["mean_iterations"] <= three["most_iterations"]
    # the same robot thrice takes what one takes
    assert three["most_iterations"] == one["most_iterations"]
    assert three["mean_iterations"] == pytest.approx(one["mean_iterations"], abs=0.5)
    with Log(tmp_path / "run.h5") as log:
        iterations = log.field("solver/iterations")
    assert iterations.max() == three["most_iterations"]
    assert iterations.mean() == pytest.approx(three["mean_iterations"])
