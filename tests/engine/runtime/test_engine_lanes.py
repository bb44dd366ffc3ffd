"""Batches of states: lanes against the same kernels on one state, and rows that do not depend on their neighbours."""

import os
import subprocess
import sys

import numpy as np
import pytest
from random_trees import random_plant, random_state
from repository import SUPPORT

from mbcli.engine.fields.model_fields import DATA_FIELDS
from mbcli.engine.queries.state_batch import StateBatch, covers

# Compiled for lanes and interpreted differ by fused multiply-adds, in sums of a few hundred terms.
ROUNDING = 1e-13
COUNT = 21  # two full groups of eight and a part of one

PLANTS = {
    "mixed": {"seed": 1},
    "reversed": {"seed": 2, "reversed_probability": 1.0},
    "weightless": {"seed": 3, "weightless": True, "trees": 2, "floating_bases": 1},
    "elements": {"seed": 5, "elements": True},
    "hinges": {"seed": 4, "kinds": ("revolute",), "num_bodies": 3},
}


def rows_of(plant, count=COUNT, seed=0):
    """q, v, vdot and tau of random states, as rows, and forces on the links."""
    rng = np.random.default_rng(seed)
    q, v = (np.array(rows) for rows in zip(*(random_state(plant, rng) for _ in range(count)), strict=True))
    forces = rng.normal(size=(plant.num_bodies(), 6))
    vdot, tau = rng.normal(size=(2, *v.shape))
    return {"q": q, "v": v, "vdot": vdot, "tau": tau, "F": forces, "frames": np.arange(plant.num_frames())}


CALCULATIONS = {
    "mass matrix": lambda b, r: [b.mass_matrix(r["q"])],
    "inverse dynamics": lambda b, r: [b.inverse_dynamics(r["q"], r["v"], r["vdot"], body_forces=r["F"])],
    "inverse dynamics without forces": lambda b, r: [
        b.inverse_dynamics(r["q"], r["v"], r["vdot"], gravity=False, springs=False, damping=False)
    ],
    "forward dynamics": lambda b, r: [b.forward_dynamics(r["q"], r["v"], r["tau"], body_forces=r["F"])],
    "inverse dynamics derivatives": lambda b, r: b.inverse_dynamics_derivatives(r["q"], r["v"], r["vdot"]),
    "forward dynamics derivatives": lambda b, r: b.forward_dynamics_derivatives(r["q"], r["v"], r["tau"]),
    "bias term": lambda b, r: [b.bias_term(r["q"], r["v"])],
    "gravity": lambda b, r: [b.gravity(r["q"])],
    "energy": lambda b, r: list(b.energy(r["q"], r["v"])),
    "frames in World": lambda b, r: list(b.frame_motions(r["q"], r["v"], r["vdot"], r["frames"], 0)),
    "frames in a frame": lambda b, r: list(b.frame_motions(r["q"], r["v"], r["vdot"], r["frames"], 3)),
    "frames without accelerations": lambda b, r: list(b.frame_motions(r["q"], r["v"], None, r["frames"], 2)[:3]),
}


def chosen(rows, which):
    return {name: value if name in ("F", "frames") else value[which] for name, value in rows.items()}


@pytest.fixture(scope="module", params=PLANTS)
def plant(request):
    return random_plant(**PLANTS[request.param])


@pytest.fixture(scope="module")
def lanes(plant):
    return StateBatch(plant.model)


@pytest.mark.parametrize("calculate", CALCULATIONS.values(), ids=CALCULATIONS)
def test_lanes_equal_interpreted(plant, lanes, calculate):
    rows = rows_of(plant)
    results = calculate(lanes, rows)
    expected = calculate(StateBatch(plant.model, compiled=False), rows)
    for result, one in zip(results, expected, strict=True):
        assert result.shape == one.shape
        scale = np.abs(one).reshape(COUNT, -1).max(axis=1)
        difference = np.abs(result - one).reshape(COUNT, -1).max(axis=1)
        assert (difference <= ROUNDING * scale * plant.num_velocities()).all()


@pytest.mark.parametrize("calculate", CALCULATIONS.values(), ids=CALCULATIONS)
def test_bits_of_a_row_do_not_depend_on_its_place(plant, lanes, calculate):
    rows = rows_of(plant)
    together = calculate(lanes, rows)
    order = np.random.default_rng(1).permutation(COUNT)
    for shuffled, result in zip(calculate(lanes, chosen(rows, order)), together, strict=True):
        assert shuffled.tobytes() == result[order].tobytes()
    for size in (1, 3, 8, 13):
        chunks = [calculate(lanes, chosen(rows, slice(k, k + size))) for k in range(0, COUNT, size)]
        for parts, result in zip(zip(*chunks, strict=True), together, strict=True):
            assert np.concatenate(parts).tobytes() == result.tobytes()


@pytest.mark.parametrize("name", ["inverse_dynamics_derivatives", "forward_dynamics_derivatives"])
def test_derivatives_go_to_arrays_that_are_given(plant, lanes, name):
    rows = rows_of(plant)
    call = getattr(lanes, name)
    expected, nv = call(rows["q"], rows["v"], rows["tau"]), plant.num_velocities()
    out = [np.full((COUNT, nv, nv), np.nan) for _ in range(3)]
    for result, given, value in zip(call(rows["q"], rows["v"], rows["tau"], out=out), out, expected, strict=True):
        assert np.shares_memory(result, given)
        assert given.tobytes() == value.tobytes()
    for wrong in (out[:2], [out[0].T, *out[1:]]):
        with pytest.raises(ValueError, match="out is not arrays"):
            call(rows["q"], rows["v"], rows["tau"], out=wrong)


def test_bits_do_not_depend_on_calculations_before(plant, lanes):
    rows = rows_of(plant)
    for calculate in CALCULATIONS.values():
        calculate(lanes, rows)
    for calculate in CALCULATIONS.values():
        for used, fresh in zip(calculate(lanes, rows), calculate(StateBatch(plant.model), rows), strict=True):
            assert used.tobytes() == fresh.tobytes()


def test_large_and_not_finite_neighbours_leave_other_rows_alone(plant, lanes):
    rows = rows_of(plant)
    expected = lanes.mass_matrix(rows["q"])
    spoilt = rows["q"].copy()
    spoilt[[2, 11]], spoilt[[5, 20]], spoilt[9] = np.nan, 3.0e7, np.inf
    with np.errstate(all="ignore"):
        M = lanes.mass_matrix(spoilt)
    others = np.setdiff1d(np.arange(COUNT), [2, 5, 9, 11, 20])
    assert M[others].tobytes() == expected[others].tobytes()
    assert np.isnan(M[[2, 9, 11]]).any(axis=(1, 2)).all()


@pytest.mark.parametrize("angle", [4.9e5, 5.1e5, 1.0e9, -2.5e15])
def test_large_angles_are_as_accurate_as_small_ones(angle):
    plant = random_plant(seed=5, kinds=("revolute",), num_bodies=2)
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (COUNT, 2))
    q[3, 0] = angle
    batch = StateBatch(plant.model)
    q_small = q.copy()
    q_small[3, 0] = np.arctan2(np.sin(angle), np.cos(angle))
    np.testing.assert_allclose(batch.gravity(q), batch.gravity(q_small), rtol=ROUNDING, atol=1e-12)


def test_model_without_coordinates():
    batch = StateBatch(random_plant(seed=6, kinds=("weld",), num_bodies=2).model)
    empty = np.zeros((3, 0))
    assert batch.mass_matrix(empty).shape == (3, 0, 0)
    assert batch.inverse_dynamics(empty, empty, empty).shape == (3, 0)
    assert batch.frame_motions(empty, empty, None, [0, 1], 2)[0].shape == (3, 2, 3, 3)


def test_no_rows(plant, lanes):
    rows = chosen(rows_of(plant), slice(0))
    assert lanes.mass_matrix(rows["q"]).shape == (0, plant.num_velocities(), plant.num_velocities())
    assert lanes.forward_dynamics(rows["q"], rows["v"], rows["tau"]).shape == (0, plant.num_velocities())


def test_models_whose_forces_can_be_undefined_are_not_covered():
    """Only single states say where a spring-damper has no direction, or a bushing is in gimbal lock."""
    assert not covers(random_plant(**PLANTS["elements"]).model)
    assert covers(random_plant(**PLANTS["mixed"]).model)


def test_wrong_shapes_are_refused(plant, lanes):
    rows = rows_of(plant)
    with pytest.raises(ValueError, match="frames, no"):
        lanes.frame_motions(rows["q"], rows["v"], None, [0], plant.num_frames())
    with pytest.raises(ValueError, match="states have shape"):
        lanes.mass_matrix(rows["q"][:, 1:])
    with pytest.raises(ValueError, match="states have shape"):
        lanes.inverse_dynamics(rows["q"], rows["v"], rows["vdot"][1:])


def test_arithmetic_of_every_lane(numba_function):
    """Mixed with floats and integers, in place, negated, rounded: as numpy does it lane by lane."""

    def calculate(x, y, z):
        for i in range(x.shape[0]):
            z[i] = 2 * x[i] - y[i] / 3.0 + (1.5 - x[i]) * (x[i] - 1) + 1.0 / y[i] + x[i].real
            z[i] += -x[i]
            z[i] -= 4
            z[i] *= y[i]
            z[i] /= 0.5
            z[i] = z[i] + np.rint(x[i]) * 10.0 - np.floor(y[i])

    def functions(x, y, z):
        for i in range(x.shape[0]):
            z[i] = np.sin(x[i]) * 2.0 + np.cos(y[i]) * 3.0 + np.tanh(x[i]) + np.sqrt(x[i] * x[i] + 1.0)
            z[i] += np.arctan(y[i]) * 5.0 - np.arctan2(y[i], x[i]) * 7.0 + np.copysign(11.0, x[i])

    x, y = (np.random.default_rng(n).normal(scale=3.0, size=(5, 8)) for n in (0, 1))
    z = np.full((5, 8), np.nan)
    for function in (calculate, functions):
        numba_function(function)(x, y, z)
        expected = np.zeros((5, 8))
        function(x, y, expected)
        np.testing.assert_allclose(z, expected, rtol=1e-12)


def test_constants_fill_all_lanes(numba_function):
    def calculate(x, y, z):
        for i in range(x.shape[0]):
            z[i] = 1.5
            y[i] = 2

    x, y, z = np.zeros((3, 8)), np.zeros((3, 8)), np.zeros((3, 8))
    numba_function(calculate)(x, y, z)
    assert (z == 1.5).all() and (y == 2.0).all()


def test_data_lie_on_cache_lines(plant):
    from mbcli.engine.queries.lane_data import LaneData
    from mbcli.engine.runtime.lane_memory import ALIGNMENT

    data = LaneData(plant.model.sizes)
    for field in DATA_FIELDS:
        array = getattr(data, field.name)
        assert array.ctypes.data % ALIGNMENT == 0
        assert array.shape[-1] == 8


@pytest.fixture(scope="module")
def numba_function():
    """Compiles a function of three arrays of lanes, and calls it with float64 arrays (n, 8)."""
    import numba

    from mbcli.engine.runtime.lane_type import as_lanes

    def compiled(function):
        inner = numba.njit(function)

        @numba.njit
        def outer(arrays):
            x, y, z = as_lanes(arrays)
            inner(x, y, z)

        return lambda *arrays: outer(arrays)

    return compiled


def test_arrays_off_cache_lines_do_not_fault():
    script = """
import numba, numpy as np
from mbcli.engine.runtime.lane_type import as_lanes
@numba.njit
def double(arrays):
    x, y = as_lanes(arrays)
    for i in range(x.shape[0]):
        y[i] = 2.0 * x[i]
for start in range(8):
    x = np.arange(100.0)[start:start + 64].reshape(8, 8)
    y = np.zeros(100)[start:start + 64].reshape(8, 8)
    double((x, y))
    assert (y == 2.0 * x).all()
"""
    run_python(script)


def test_machine_without_wide_registers_has_the_same_results():
    """Compiled for the oldest processor of this kind, where a lane scalar takes several registers."""
    script = """
import numpy as np
from random_trees import random_plant
from mbcli.engine.fields.model_fields import DATA_FIELDS
from mbcli.engine.queries.state_batch import StateBatch
plant = random_plant(seed=5, kinds=("revolute", "prismatic"), num_bodies=3)
q = np.random.default_rng(0).uniform(-1.0, 1.0, (11, 3))
np.testing.assert_allclose(StateBatch(plant.model).gravity(q), StateBatch(plant.model, False).gravity(q), rtol=1e-12)
"""
    run_python(script, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")


def test_lanes_are_imported_by_batches_only():
    script = """
import sys
from mbcli.engine import load_kernels
import mbcli.engine.queries.state_batch
load_kernels(True)
assert "mbcli.engine.queries.lanes" not in sys.modules
"""
    run_python(script)


def run_python(script, **environment):
    paths = os.pathsep.join([str(SUPPORT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths, **environment}
    result = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
