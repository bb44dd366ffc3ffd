"""What quick commands do not import, above all numba, scipy and h5py, which cost more than the answer."""

import json
import os
import subprocess
import sys

import pytest
from repository import SAMPLES

SLOW = ("numba", "scipy", "h5py", "llvmlite")
LISTING = """
import json, sys
from mbcli.cli import run
code = run(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""
ARM = str(SAMPLES / "arm7.urdf")


def imported(*arguments):
    """The modules that a command has imported at its end."""
    environment = {key: value for key, value in os.environ.items() if key != "MBCLI_JIT"}
    command = [sys.executable, "-c", LISTING, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    code, modules = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    return set(modules)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_and_version_import_no_numbers_at_all(arguments):
    assert not imported(*arguments) & {*SLOW, "numpy", "lxml", "yaml"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["simulate", "--help"],
        ["inspect", ARM],
        ["inspect", str(SAMPLES / "quadruped.urdf")],  # which floats, and whose contact defaults follow from its mass
        ["check", ARM],
        ["check", str(SAMPLES / "all_joints.sdf"), "--sarif"],
        ["inspect", ARM, "--json"],
        ["inspect", str(SAMPLES / "all_joints.sdf"), "--tree", "dot"],
        ["kinematics", ARM, "--frame", "hand"],
        ["mass-matrix", ARM, "--at", "joint_2=0.3"],
        ["mass-matrix", ARM, "--inverse"],
        ["inverse-dynamics", ARM, "--random", "1"],
        ["forward-dynamics", ARM],
        ["bias", ARM, "--json"],
        ["gravity", ARM],
        ["energy", ARM, "--bodies"],
    ],
    ids=" ".join,
)
def test_one_answer_imports_neither_numba_nor_scipy_nor_h5py(arguments):
    assert not imported(*arguments) & set(SLOW)


@pytest.mark.parametrize(
    "arguments", [["check", ARM], ["check", str(SAMPLES / "all_joints.sdf"), "--json"]], ids=" ".join
)
def test_a_check_of_a_model_imports_no_plant_no_kernels_and_no_yaml(arguments):
    modules = imported(*arguments)
    rooms = {".".join(name.split(".")[:2]) for name in modules}
    assert not rooms & {"mbcli.engine", "mbcli.geometry", "mbcli.models", "yaml", "numpy.random"}
    assert not {name for name in modules if name.startswith("mbcli.multibody.plant")}


def test_one_state_imports_the_kernels_that_it_calls_alone():
    modules = imported("inverse-dynamics", ARM)
    assert "mbcli.engine.smooth.inverse_dynamics" in modules
    rooms = ("mbcli.engine.collision", "mbcli.engine.contact", "mbcli.engine.deformable", "mbcli.engine.constraints")
    assert not {name for name in modules if name.startswith(rooms)}
    assert not modules & {"mbcli.engine.smooth.dynamics_derivatives", "mbcli.engine.stepping.loop"}


@pytest.mark.parametrize("arguments", [["inspect", ARM], ["inverse-dynamics", ARM]], ids=lambda words: words[0])
def test_a_model_of_rigid_bodies_imports_nothing_of_directives_overrides_and_elements_that_it_has_not(arguments):
    modules = imported(*arguments)
    assert not modules & {
        "mbcli.cli.completion",
        "mbcli.cli.help_sections",
        "mbcli.geometry.contact_surface",
        "mbcli.models.parameter_assignments",
        "mbcli.multibody.compilation.constraint_rows",
        "mbcli.multibody.deformable.deformable_model",
        "mbcli.multibody.parsing.process_directives",
        "mbcli.multibody.core.closed_form_derivatives",
        "mbcli.multibody.core.hydroelastic_results",
        "mbcli.multibody.plant.propeller",
        "mbcli.multibody.plant.scalar_conversion",
        "mbcli.multibody.plant.wing",
        "mbcli.multibody.tree.joints.planar",
        "mbcli.multibody.tree.joints.quaternion_floating",
        "mbcli.parsers.checks.names",
        "mbcli.parsers.scenes.directives",
        "mbcli.parsers.yaml_source",
    }


def test_a_description_of_a_model_imports_neither_yaml_nor_random_numbers_nor_what_meshes_need():
    modules = imported("inspect", ARM)
    assert not modules & {"yaml", "numpy.random", "numpy.ma", "numpy.fft", "numpy.polynomial"}
    assert not {name for name in modules if name.startswith("mbcli.meshes.tetra")}


def test_a_description_of_a_model_imports_neither_contact_nor_constraints_nor_who_starts_processes():
    modules = imported("inspect", ARM)
    assert "mbcli.multibody.plant" in modules
    assert not {name for name in modules if name.startswith("mbcli.multibody.contact.step_contact")}
    assert not modules & {"mbcli.multibody.core.active_constraints", "mbcli.engine.contact.arrays", "subprocess"}


def test_a_command_lets_the_threads_of_blas_sleep_at_once():
    """Else each start takes 60 ms more of a processor."""
    code = "import os, mbcli.__main__; print(os.environ['OPENBLAS_THREAD_TIMEOUT'])"
    environment = {key: value for key, value in os.environ.items() if key != "OPENBLAS_THREAD_TIMEOUT"}
    for given in ({}, {"OPENBLAS_THREAD_TIMEOUT": "20"}):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment | given)
        assert done.stdout.strip() == given.get("OPENBLAS_THREAD_TIMEOUT", "4")


def test_a_simulation_does_not_import_blas_and_numba_finds_it_when_it_is_asked_for():
    code = """
import sys, numpy as np
from mbcli.common.numba_start import import_numba
import_numba()
import numba
assert "scipy.linalg" not in sys.modules
assert numba.njit(lambda a, b: np.dot(a, b))(np.eye(2), np.full((2, 2), 3.0)).tolist() == [[3.0, 3.0], [3.0, 3.0]]
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_simulation_imports_numba_where_kernels_are_to_be_compiled_alone(monkeypatch, tmp_path):
    monkeypatch.setenv("MBCLI_PRECOMPILED", "0")
    words = ("-q", "simulate", ARM, "-t", "0.001", "--no-log")
    imported(*words)
    assert "numba" not in imported(*words)
    monkeypatch.setenv("MBCLI_CACHE_DIR", str(tmp_path))
    assert "numba" in imported(*words)
