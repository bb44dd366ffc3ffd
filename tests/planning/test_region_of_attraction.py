"""Regions of attraction: those that are known, and pydrake's."""

import numpy as np
import pytest

from mbcli.planning import RegionOfAttraction, RegionOfAttractionOptions
from mbcli.symbolic import Variable
from mbcli.systems.primitives import SymbolicVectorSystem

pytest.importorskip("clarabel")


def region(state, dynamics, candidate=None, x0=None):
    system = SymbolicVectorSystem(state=state, dynamics=dynamics)
    context = system.CreateDefaultContext()
    if x0 is not None:
        context.SetContinuousState(x0)
    options = RegionOfAttractionOptions(state_variables=np.array(state))
    options.lyapunov_candidate = 0 if candidate is None else candidate
    return RegionOfAttraction(system, context, options)


def test_the_region_of_a_cubic_ends_at_its_other_fixed_points():
    x = Variable("x")
    V = region([x], [-x + x**3])
    assert float(V.subs({x: 1.0})) == pytest.approx(1.0, abs=1e-4)
    shifted = region([x], [-(x - 2.0) + (x - 2.0) ** 3], x0=[2.0])
    assert float(shifted.subs({x: 3.0})) == pytest.approx(1.0, abs=1e-4)
    assert float(shifted.subs({x: 2.0})) == pytest.approx(0.0, abs=1e-9)


def test_motions_from_the_edge_of_the_region_come_to_rest():
    x, y = Variable("x"), Variable("y")
    V = region([x, y], [-y, x + (x * x - 1) * y])  # Van der Pol, backwards in time
    rng = np.random.default_rng(0)
    for _ in range(10):
        direction = rng.standard_normal(2)
        state = direction / np.sqrt(float(V.subs({x: direction[0], y: direction[1]}))) * 0.999
        for _ in range(6000):  # Heun's steps of 5 ms

            def slope(s):
                return np.array([-s[1], s[0] + (s[0] ** 2 - 1) * s[1]])

            ahead = state + 0.005 * slope(state)
            state = state + 0.0025 * (slope(state) + slope(ahead))
        assert np.abs(state).max() < 1e-3


def test_what_has_no_region_is_refused():
    x, y = Variable("x"), Variable("y")
    with pytest.raises(RuntimeError, match="no fixed point"):
        region([x], [-x + 1.0])
    with pytest.raises(RuntimeError, match="not stable"):
        region([x], [x - x**3])
    with pytest.raises(RuntimeError, match="no level set"):
        region([x, y], [y, x - y], candidate=x**2 + y**2)
    with pytest.raises(RuntimeError, match="not a polynomial"):
        from mbcli.symbolic import sin

        region([x], [-sin(x)])
    with pytest.raises(RuntimeError, match="not a polynomial"):
        region([x], [-x / (1 + x**2)])


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("candidate", [False, True])
def test_regions_are_pydrakes(candidate):
    import pydrake.symbolic
    import pydrake.systems.analysis
    import pydrake.systems.primitives

    def make(Variable, System, roa, Options):
        x, y = Variable("x"), Variable("y")
        system = System(state=[x, y], dynamics=[-y, x + (x * x - 1) * y])
        options = Options()
        options.state_variables = np.array([x, y])
        if candidate:
            options.lyapunov_candidate = 1.5 * x**2 - x * y + y**2
        return roa(system, system.CreateDefaultContext(), options), x, y

    ours, x, y = make(Variable, SymbolicVectorSystem, RegionOfAttraction, RegionOfAttractionOptions)
    drake, theirs = pydrake.systems, pydrake.systems.analysis
    wanted, p, q = make(
        pydrake.symbolic.Variable,
        drake.primitives.SymbolicVectorSystem,
        theirs.RegionOfAttraction,
        theirs.RegionOfAttractionOptions,
    )
    for at in ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (-0.3, 0.9)):
        value = wanted.Evaluate({p: at[0], q: at[1]})
        assert float(ours.subs({x: at[0], y: at[1]})) == pytest.approx(value, rel=2e-3)
