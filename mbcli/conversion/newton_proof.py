"""The proof of a USD file by Newton: it loads the stage and has the numbers of our plant of it."""

from __future__ import annotations

import os
import sys
import tempfile
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.engine_process import EngineError, ask
from mbcli.common.left_behind import folder_prefix
from mbcli.conversion.newton_process import UNLIMITED
from mbcli.conversion.plant_comparison import SMALLEST
from mbcli.math.rotation_array import matrix_from_quaternion
from mbcli.multibody.tree import RotationalInertia, SpatialInertia
from mbcli.parsers.writing.arrange_usd import is_raised_by_newton

if TYPE_CHECKING:
    from mbcli.conversion.plant_comparison import PlantComparison
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.parsers.writing.conversion import Conversion

LONGEST = 600.0  # [s]: Newton compiles its kernels when it is used first
NUM_STATES = 3
ENGINE = "newton"


def prove_by_newton(conversion: Conversion, proof: PlantComparison, *, seed: int = 0) -> str | None:
    """Adds Newton's deviations from `proof.written` to a PlantComparison, each as "newton: QUANTITY".

    Masses, centres, inertias, limits, armature, the gravity of the scene, and at random states the poses of bodies and
    the mass matrix of all joints of one coordinate, where the bodies that float stand at the start. An inertia that no
    body has, or with a moment of next to nothing, is another one in Newton: the mass matrix is compared with that.
    Returns the name and version of the engine; None if it is not installed.
    """
    if find_spec("newton") is None:
        return None
    assert proof.written is not None  # what is proved was read back
    with tempfile.TemporaryDirectory(prefix=folder_prefix("proof")) as folder:
        path = os.path.join(folder, "text.usda")
        with open(path, "wb") as file:
            file.write(conversion.text)
        return compare_with_newton(proof.written, path, proof, seed=seed)


def compare_with_newton(
    plant: MultibodyPlant, path: str, proof: PlantComparison, *, seed: int = 0, python: str = sys.executable
) -> str | None:
    """Adds Newton's deviations from a plant, and that it refuses a file, to a PlantComparison.

    path: of the USD file that the plant is of. python: of an environment with Newton. Returns the name of the engine,
    and its version if it reads the file; None if it cannot be asked.
    """
    random = np.random.default_rng(seed)
    cut = set(map(id, plant.elements.loop_joints))
    joints = {j.name(): j for j in plant.elements.joints if id(j) not in cut and j.num_velocities() == 1}
    states = [{name: float(random.uniform(-1.5, 1.5)) for name in joints} for _ in range(NUM_STATES)]
    request = {"usd": os.path.abspath(path), "states": states}
    try:
        document = ask("mbcli.conversion.newton_process", request, longest=LONGEST, python=python)
    except EngineError as error:
        return proof.without_answer(ENGINE, "Newton", error)
    replaced = _compare_elements(plant, joints, document, proof)
    for state, there in zip(states, document["states"], strict=True):
        _compare_at(plant, joints, state, there, replaced, proof)
    return f"{ENGINE} {document['version']}"


def is_of_a_body(inertia: SpatialInertia) -> bool:
    """Whether a body can have it, or none has to: engines replace others."""
    if not inertia.get_mass():
        return not inertia.CopyToFullMatrix6().any()
    central = inertia.Shift(inertia.get_com()).CalcRotationalInertia()
    return central.CouldBePhysicallyValid()


def _is_kept(inertia: SpatialInertia) -> bool:
    """Whether Newton computes with an inertia of a body with mass as the file states it."""
    if not is_of_a_body(inertia):
        return False
    central = inertia.Shift(inertia.get_com()).CalcRotationalInertia().CopyToFullMatrix3()
    return not is_raised_by_newton(np.linalg.eigvalsh(central).tolist())


def _compare_elements(
    plant: Any, joints: dict[str, Any], document: dict[str, Any], proof: Any
) -> dict[str, SpatialInertia]:
    """What Newton has instead of inertias that it does not keep, by the names of bodies."""
    replaced = {}
    proof.note("newton: gravity", plant.gravity_field().gravity_vector(), document["gravity"])
    context = plant.CreateDefaultContext()
    for body in plant.elements.bodies[1:]:
        there = document["bodies"].get(body.name())
        if there is None:
            continue  # a link between joints of one body
        inertia = body.CalcSpatialInertiaInBodyFrame(context)
        proof.note("newton: masses", inertia.get_mass(), there["mass"], usual=SMALLEST)
        if not inertia.get_mass():
            continue
        proof.note("newton: centres of mass", inertia.get_com(), there["com"])
        if _is_kept(inertia):
            central = inertia.Shift(inertia.get_com()).CalcRotationalInertia().CopyToFullMatrix3()
            proof.note_inertia("newton: inertias", inertia.get_mass(), inertia.get_com(), central, there["inertia"])
        else:
            (xx, xy, xz), (_, yy, yz), (_, _, zz) = there["inertia"]
            central = RotationalInertia(xx, yy, zz, xy, xz, yz)
            replaced[body.name()] = SpatialInertia.MakeFromCentralInertia(there["mass"], there["com"], central)
    for name, joint in joints.items():
        there = document["joints"].get(name)
        if there is None:
            continue  # one of several coordinates of a joint
        limits = np.array((joint.position_lower_limits()[0], joint.position_upper_limits()[0]))
        limits[np.abs(limits) >= UNLIMITED] *= np.inf
        proof.note("newton: limits", limits, there["range"])
        proof.note("newton: armature", joint.reflected_inertia, there["armature"], usual=SMALLEST)
    return replaced


def _compare_at(
    plant: Any,
    joints: dict[str, Any],
    state: dict[str, float],
    there: dict[str, Any],
    replaced: dict[str, SpatialInertia],
    proof: Any,
) -> None:
    context = plant.CreateDefaultContext()
    for body in plant.elements.bodies[1:]:
        if body.name() in replaced:
            body.SetSpatialInertiaInBodyFrame(context, replaced[body.name()])
    q = plant.GetPositions(context).copy()
    for name in there["moved"]:
        q[joints[name].position_start()] = state[name]
    plant.SetPositions(context, q)
    M = plant.CalcMassMatrix(context)
    entries = [entry for entry in there["mass_matrix"] if entry[0] in joints and entry[1] in joints]
    ours = [M[joints[a].velocity_start(), joints[b].velocity_start()] for a, b, _ in entries]
    proof.note("newton: mass matrix", ours, [value for _, _, value in entries])
    for body in plant.elements.bodies[1:]:
        if body.name() in there["poses"]:
            X_WB, numbers = body.EvalPoseInWorld(context).GetAsMatrix4(), there["poses"][body.name()]
            proof.note("newton: poses", X_WB[:3, 3], numbers[:3])
            x, y, z, w = numbers[3:]
            wxyz = np.array((w, x, y, z))
            proof.note("newton: poses", X_WB[:3, :3], matrix_from_quaternion(wxyz / np.linalg.norm(wxyz)))
