"""A real robot from public data, whose folder MBCLI_UR10E names (a checkout of dynamic_calibration)."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from command_line import cli

from mbcli.all import MultibodyForces
from mbcli.models.loading import load_model

FOLDER = Path(os.environ.get("MBCLI_UR10E", "/nowhere"))
URDF = FOLDER / "URe" / "urdf" / "ur10e.urdf"
FILES = ("identification_data/ur-20_02_10-30sec_12harm", "identification_data/ur-20_02_05-20sec_8harm")
VALIDATION = [
    FOLDER / "dataset_ur10e" / f"{name}.csv" for name in (*FILES, "validation_data/ur-20_01_17-ptp_10_points")
]
DATA = FOLDER / "dataset_ur10e" / "identification_data" / "ur-20_02_12-40sec_12harm.csv"
pytestmark = pytest.mark.skipif(not URDF.exists(), reason="MBCLI_UR10E names no checkout of dynamic_calibration")


@pytest.mark.peers("pydrake", "pinocchio", "mujoco")
def test_one_command_corrects_a_ur10e_and_all_programs_read_the_same_torques_from_its_file(tmp_path):
    import mujoco
    import pinocchio as pin
    from pydrake.multibody import parsing as drake_parsing, plant as drake_plant, tree as drake_tree

    (tmp_path / "vendor.urdf").write_text(
        re.sub(r"<(visual|collision)\b.*?</\1>", "", URDF.read_text(), flags=re.DOTALL)  # meshes are not asked for
    )
    out = tmp_path / "identified.urdf"
    words = ["--data", str(DATA), "--validate", *map(str, VALIDATION), "--columns", "time,q,v,i"]
    words += ["--effort-gain", "10.0,10.70,8.46,9.00,9.48,10.12", "-o", str(out), "--json"]
    result = cli("identify", str(tmp_path / "vendor.urdf"), *words)
    assert result.code == 0, result.err
    errors = json.loads(result.out)["errors"]
    assert errors["validation_of_file"] < 0.09 < 0.38 < errors["validation_before"]
    assert cli("check", str(out)).code == 0

    own = load_model(str(out), weld_base=True).plant
    drake = drake_plant.MultibodyPlant(0.0)
    drake_parsing.Parser(drake).AddModels(str(out))
    drake.Finalize()
    of_drake = drake.CreateDefaultContext()
    of_pin = pin.buildModelFromUrdf(str(out))
    spec = mujoco.MjSpec.from_file(str(out))
    spec.compiler.fusestatic = False
    for joint in spec.joints:  # which torques of friction and stops are told from those of masses
        joint.damping, joint.frictionloss = np.zeros(3), 0.0
        joint.limited = mujoco.mjtLimited.mjLIMITED_FALSE
    of_mujoco = spec.compile()
    state, context = mujoco.MjData(of_mujoco), own.CreateDefaultContext()
    rng = np.random.default_rng(0)
    for _ in range(20):
        q, v, vdot = rng.uniform(-2.0, 2.0, (3, 6))
        own.SetPositionsAndVelocities(context, np.concatenate((q, v)))
        own_tau = own.CalcInverseDynamics(context, vdot, MultibodyForces(own))
        own_tau = own_tau - own.CalcGravityGeneralizedForces(context)
        drake.SetPositionsAndVelocities(of_drake, np.concatenate((q, v)))
        drake_tau = drake.CalcInverseDynamics(of_drake, vdot, drake_tree.MultibodyForces(drake))
        drake_tau = drake_tau - drake.CalcGravityGeneralizedForces(of_drake)
        state.qpos[:], state.qvel[:], state.qacc[:] = q, v, vdot
        mujoco.mj_inverse(of_mujoco, state)
        found = [drake_tau, pin.rnea(of_pin, of_pin.createData(), q, v, vdot), state.qfrc_inverse]
        for tau in found:
            np.testing.assert_allclose(tau, own_tau, rtol=0.0, atol=1e-9)
