"""A joint type is one file and one line: what it lacks is told at import, and nobody else asks for its type."""

import os
import re
import subprocess
import sys
from types import ModuleType

import pytest
from repository import ROOT

from mbcli.engine.runtime.dispatch import dispatch, require_constants
from mbcli.engine.smooth.joints import planar
from mbcli.engine.smooth.joints.registry import CONSTANTS, require_counts

ROOMS = ("mbcli/multibody/tree/joints/", "mbcli/engine/smooth/joints/")

# a ball joint with a quaternion, by the letter of CONTRIBUTING.md, put in before the engine is imported
BALL = """
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.joints.moving_origin import bias_of_moving_origin
from mbcli.engine.smooth.rotations import quaternion
from mbcli.engine.smooth.rotations.quaternion import rotation_from_quaternion
from mbcli.engine.smooth.spatial import set_unit_rows

NUM_POSITIONS = 4
NUM_VELOCITIES = 3
POSITION_SUFFIXES = ("qw", "qx", "qy", "qz")
VELOCITY_SUFFIXES = ("wx", "wy", "wz")
IS_ANGULAR = (True, True, True)
ZERO_POSITIONS = (1.0, 0.0, 0.0, 0.0)
ROTATION = quaternion
HAS_AXIS = False
CARRIED = ()
bias_ball_quaternion = bias_of_moving_origin


@kernel
def pose_ball_quaternion(model, data, b):
    X = data.X_FM
    rotation_from_quaternion(data.q, model.body_q[b], X, b)
    X[b, 9], X[b, 10], X[b, 11] = 0.0, 0.0, 0.0


@kernel
def subspace_ball_quaternion(model, data, b):
    set_unit_rows(data.S, model.body_v[b], 3)
"""
SCRIPT = """
import sys
from importlib.abc import MetaPathFinder
from importlib.util import spec_from_file_location

import numpy as np

NAME = "mbcli.engine.smooth.joints.ball_quaternion"


class Finder(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        return spec_from_file_location(name, sys.argv[1]) if name == NAME else None


sys.meta_path.insert(0, Finder())
from mbcli.engine.fields import joint_names

joint_names.JOINT_TYPES += ("ball_quaternion",)
from mbcli.engine.smooth.joints import ball_quaternion
from mbcli.models.units import coordinate_units
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import BallRpyJoint, SpatialInertia, UnitInertia
from mbcli.multibody.tree.joint import Joint
from mbcli.systems.analysis import Simulator


class BallJoint(Joint):
    kinematics = ball_quaternion
    kTypeName = "ball_quaternion"
    _rotates = True


def plant_with(joint, dt):
    plant = MultibodyPlant(dt)
    parent = plant.world_body()
    for name in "ab":
        body = plant.AddRigidBody(name, SpatialInertia(1.0, [0.1, 0.05, -0.4], UnitInertia(0.3, 0.32, 0.25)))
        plant.AddJoint(joint(f"j{name}", parent.body_frame(), body.body_frame()))
        parent = body
    plant.Finalize()
    return plant


for dt in (1e-3, 0.0):
    found = []
    for joint in (BallJoint, BallRpyJoint):
        plant = plant_with(joint, dt)
        context = plant.CreateDefaultContext()
        plant.SetVelocities(context, [0.5, -1.0, 0.7, 1.0, 0.3, -0.4])
        Simulator(plant, context).AdvanceTo(0.2)
        b = plant.GetBodyByName("b")
        found.append((b.EvalPoseInWorld(context).GetAsMatrix4(), plant.GetVelocities(context)))
        N = plant.MakeVelocityToQDotMap(context).toarray()
        N_inverse = plant.MakeQDotToVelocityMap(context).toarray()
        np.testing.assert_allclose(N_inverse @ N, np.eye(6), atol=1e-12)
        q, v = plant.GetPositions(context), plant.GetVelocities(context)
        assert not plant.IsVelocityEqualToQDot()
        if joint is BallJoint:
            assert abs(np.linalg.norm(q[:4]) - 1) < 1e-14
            assert coordinate_units(plant)[0] == ("1",) * 8
            J = plant.CalcJacobianSpatialVelocity(
                context, __import__("mbcli.multibody.tree", fromlist=["x"]).JacobianWrtVariable.kQDot,
                b.body_frame(), [0, 0, 0], plant.world_frame(), plant.world_frame())
            V = b.EvalSpatialVelocityInWorld(context)
            np.testing.assert_allclose(J @ (N @ v), [*V.rotational(), *V.translational()], atol=1e-12)
    (X, v), (Y, w) = found
    np.testing.assert_allclose(X, Y, atol=1e-5 if dt else 1e-3)
    np.testing.assert_allclose(v, w, atol=1e-5 if dt else 1e-3)
print("right")
"""


def test_a_ball_joint_with_a_quaternion_is_one_file_and_one_line(tmp_path):
    (tmp_path / "ball_quaternion.py").write_text(BALL)
    (tmp_path / "script.py").write_text(SCRIPT)
    result = subprocess.run(
        [sys.executable, tmp_path / "script.py", tmp_path / "ball_quaternion.py"],
        capture_output=True,
        text=True,
        env={**os.environ, "MBCLI_JIT": "0", "PYTHONPATH": str(ROOT)},
    )
    assert result.stdout.strip() == "right", result.stderr[-2000:]


def test_an_operation_that_a_kind_lacks_is_an_error_with_its_name_when_it_is_imported():
    module = ModuleType("mbcli.engine.smooth.joints.helical")
    module.__file__ = "helical.py"
    with pytest.raises(ImportError, match=r"joints.helical lacks pose_helical\(\)"):
        dispatch({"__file__": "x.py"}, "joint_pose", "pose", {1: planar, 2: module}, "model, data, b", "")
    with pytest.raises(ImportError, match="joints.helical lacks NUM_POSITIONS"):
        require_constants([module], CONSTANTS)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"IS_ANGULAR": (False, True)}, "lacks IS_ANGULAR of 3$"),
        ({"POSITION_SUFFIXES": ("x", "y")}, "lacks POSITION_SUFFIXES of 3$"),
        (
            {"NUM_POSITIONS": 4, "POSITION_SUFFIXES": ("x", "y", "c", "s"), "ZERO_POSITIONS": (0.0, 0.0, 1.0, 0.0)},
            "lacks a ROTATION by which 4 positions have 3 velocities$",
        ),
    ],
    ids=["angular", "names", "rates"],
)
def test_counts_that_do_not_fit_are_errors_at_import(change, told):
    module = ModuleType("mbcli.engine.smooth.joints.helical")
    module.__file__ = "helical.py"
    vars(module).update({name: getattr(planar, name) for name in CONSTANTS} | change)
    with pytest.raises(ImportError, match=told):
        require_counts([module])


def test_no_module_compares_the_name_of_a_joint_type():
    asks = re.compile(r"""type_name\(\)\s*(==|!=|in|not in)\s*["'(\[]""")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "mbcli").rglob("*.py"))
        if not str(path.relative_to(ROOT)).startswith(ROOMS)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if asks.search(line)
    ]
    assert found == []
