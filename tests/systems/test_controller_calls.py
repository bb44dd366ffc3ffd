"""A period of a controller in a diagram stays cheap: counted in calls of Python, which no other work disturbs."""

import sys

import pytest

from benchmarks.control import Direct, Sampled, simulator

PERIODS = 50


@pytest.mark.parametrize(("controller", "most"), [(Direct, 62), (Sampled, 85)])
def test_a_period_of_a_controller_is_few_calls_of_python(controller, most):
    running = simulator(controller())
    h = 1.0 / 500.0
    running.AdvanceTo(10 * h)  # what is made once
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        running.AdvanceTo((10 + PERIODS) * h)
    finally:
        sys.setprofile(before)
    assert calls / PERIODS <= most
