"""Scenes of the whole suite step to the same states compiled, precompiled, interpreted and in lanes."""

import functools
import os
import subprocess
import sys

import numpy as np
import pytest
from kernel_ways import LANES, SCENES, STEPS, TOLERANCE, apart
from repository import SUPPORT

from mbcli.engine.runtime.precompiled import precompiled_library

SCRIPT = SUPPORT / "kernel_ways.py"
WAYS = {
    "compiled": {"MBCLI_JIT": "1", "MBCLI_PRECOMPILED": "0"},
    "interpreted": {"MBCLI_JIT": "0"},
    "precompiled": {"MBCLI_JIT": "1"},
}
pytestmark = pytest.mark.skipif(os.environ.get("MBCLI_JIT") == "0", reason="nothing is to be compiled")


@pytest.fixture(scope="module")
def states(tmp_path_factory):
    """way -> {scene: states}, of a process of its own for each way."""
    folder = tmp_path_factory.mktemp("ways")

    @functools.cache
    def of(way):
        given = {k: v for k, v in os.environ.items() if k not in ("MBCLI_JIT", "MBCLI_PRECOMPILED")}
        path = folder / f"{way}.npz"
        subprocess.run([sys.executable, SCRIPT, path], env=given | WAYS[way], check=True)
        with np.load(path) as file:
            return {name: file[name] for name in file.files}

    return of


@pytest.mark.parametrize("scene", SCENES)
def test_interpreted_kernels_take_the_steps_of_compiled_ones(states, scene):
    compiled, interpreted = states("compiled")[scene], states("interpreted")[scene]
    assert len(compiled) == STEPS
    assert apart(interpreted, compiled) <= TOLERANCE


@pytest.mark.parametrize("scene", SCENES)
def test_worlds_in_lanes_take_the_steps_of_a_single_one(states, scene):
    in_lanes, singles = (states("compiled")[f"{scene} ({kind})"] for kind in ("lanes", "singles"))
    assert len(in_lanes) == LANES
    for lane, single in zip(in_lanes, singles, strict=True):
        assert apart(lane, single) <= TOLERANCE


@pytest.mark.parametrize("scene", SCENES)
def test_precompiled_kernels_take_the_steps_of_those_compiled_here(states, scene):
    if precompiled_library() is None:
        pytest.skip("this checkout has no precompiled kernels; .ci/run compares those of the wheel")
    for each in (scene, f"{scene} (lanes)"):
        assert apart(states("precompiled")[each], states("compiled")[each]) <= TOLERANCE
