"""A plant that nothing drives gains no energy and ends at rest: every force element with stiffness or damping.

`python tests/support/passive_elements.py` prints the table of a minute each. Those whose forces Python computes run for
as long as they take to rest; MBCLI_AT_REST=60 lets them run for a minute too.
"""

import os

import passive_elements
import pytest

from mbcli.engine.runtime.kernel import compiled_by_default

MINUTE = 60.0
BY_PYTHON = float(os.environ.get("MBCLI_AT_REST", "16"))  # [s]
SHORT = 1.0  # [s] of interpreted kernels: they do not come to rest in it


@pytest.mark.parametrize("name", passive_elements.CASES)
def test_a_passive_element_gains_no_energy_and_ends_at_rest(name):
    case, is_minute = passive_elements.CASES[name], compiled_by_default()
    seconds = BY_PYTHON if case.by_python else MINUTE
    found = passive_elements.run(name, seconds if is_minute else SHORT)
    # energy that only changes its form is exact to the square of the step
    assert found.rise <= (1e-6 if case.rests else 5e-3) * found.flow
    if case.rests and is_minute:
        assert found.speed < 1e-4
