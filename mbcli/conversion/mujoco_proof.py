"""The proof of an MJCF file by MuJoCo: it compiles the text and has the numbers of our plant of it."""

from __future__ import annotations

import os
import tempfile
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from lxml import etree

from mbcli.common.engine_process import EngineError, ask
from mbcli.common.left_behind import folder_prefix
from mbcli.conversion.plant_comparison import SMALLEST, mass_matrix, of_unit_inertia
from mbcli.math.rotation_array import matrix_from_quaternion
from mbcli.meshes.obj_text import obj_text
from mbcli.multibody.tree import MultibodyForces
from mbcli.parsers.formats.mjcf import readable_mesh
from mbcli.parsers.spec import Mesh

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mbcli.conversion.plant_comparison import PlantComparison
    from mbcli.math.array_types import Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.joint import Joint
    from mbcli.parsers.writing.conversion import Conversion

LONGEST = 300.0  # [s] that MuJoCo may take
NUM_STATES = 3
MOST_COLUMNS = 60  # of the mass matrix, all of which are compared; of larger ones its products with random vectors
NUM_PRODUCTS = 8
ENGINE = "mujoco"


def prove_by_mujoco(conversion: Conversion, proof: PlantComparison, *, seed: int = 0) -> str | None:
    """Adds MuJoCo's deviations from `proof.written` to a PlantComparison, each as "mujoco: QUANTITY".

    Masses, centres, inertias, limits, armature, dry friction, actuators, and at random states the mass matrix, bias,
    gravity, the forces of springs and dampers, and poses. Returns the name and version of the engine; None if it is not
    installed. That it refuses the file, or fails over it, is a difference; that it cannot be asked is none.
    """
    if find_spec("mujoco") is None:
        return None
    plant = proof.written
    if plant is None:
        raise ValueError("the proof has no plant of the text")
    random = np.random.default_rng(seed)
    joints = _joints(plant)
    states = [_random_state(joints, random) for _ in range(NUM_STATES)]
    vectors = _vectors(joints, random)
    with tempfile.TemporaryDirectory(prefix=folder_prefix("proof")) as folder:
        request = {"xml": _with_paths(conversion, folder), "states": states, "vectors": vectors}
        try:
            document = ask("mbcli.conversion.mujoco_process", request, longest=LONGEST)
        except EngineError as error:
            return proof.without_answer(ENGINE, "MuJoCo", error)
    _compare_elements(plant, joints, document, proof)
    for state, there in zip(states, document["states"], strict=True):
        _compare_at(plant, joints, state, vectors, there, proof)
    return f"{ENGINE} {document['version']}"


def _with_paths(conversion: Conversion, folder: str) -> str:
    """The text with the places where meshes lie now; those that MuJoCo does not read are converted into a folder."""
    paths = {}
    for link in conversion.written.links:
        for geometry in (*link.visuals, *link.collisions):
            if isinstance(geometry.shape, Mesh) and geometry.shape.path is not None:
                paths[geometry.shape.uri] = geometry.shape.path
    root = etree.fromstring(conversion.text, etree.XMLParser(huge_tree=True))  # of our own, as deep as the chain
    for number, node in enumerate(root.iter("mesh")):
        name = node.get("file")
        if name not in paths:
            continue
        path = os.path.abspath(paths[name])
        if not readable_mesh(path):
            converted = os.path.join(folder, f"{number}.obj")
            with open(converted, "wb") as file:
                file.write(obj_text(path))
            path = converted
        node.set("file", path)
    return etree.tostring(root).decode()


# -------------------------------------------------------------------------------- coordinates of both


def _joints(plant: MultibodyPlant) -> dict[str, Joint]:
    """{name in MuJoCo: Joint} of the joints with coordinates; a free one has the name of its body."""
    cut = set(map(id, plant.elements.loop_joints))
    return {
        joint.child_body().name() if joint.num_velocities() == 6 else joint.name(): joint
        for joint in plant.elements.joints
        if id(joint) not in cut and joint.num_velocities()
    }


def _random_state(
    joints: Mapping[str, Joint], random: np.random.Generator
) -> dict[str, tuple[list[float], list[float]]]:
    """{name: (qpos, qvel)} as MuJoCo has them."""
    state = {}
    for name, joint in joints.items():
        count = joint.num_velocities()
        if count == 1:
            q, v = random.uniform(-1.5, 1.5, 1), random.normal(size=1)
        else:
            wxyz = random.normal(size=4)
            wxyz /= np.linalg.norm(wxyz)
            q = wxyz if count == 3 else np.concatenate([random.uniform(-1.5, 1.5, 3), wxyz])
            v = random.normal(size=count)
        state[name] = q.tolist(), v.tolist()
    return state


def _vectors(joints: Mapping[str, Joint], random: np.random.Generator) -> list[dict[str, list[float]]]:
    sizes = {name: joint.num_velocities() for name, joint in joints.items()}
    count = sum(sizes.values())
    rows = np.eye(count) if count <= MOST_COLUMNS else random.normal(size=(NUM_PRODUCTS, count))
    vectors = []
    for row in rows:
        vector, d = {}, 0
        for name, size in sizes.items():
            vector[name] = row[d : d + size].tolist()
            d += size
        vectors.append(vector)
    return vectors


def _own_positions(q: Sequence[float]) -> Sequence[float]:
    """The coordinates of our joint of MuJoCo's: of a free joint the quaternion first."""
    return [*q[3:], *q[:3]] if len(q) == 7 else q


def _own_velocities(q: Sequence[float], v: Sequence[float]) -> Vector:
    """w_FM_F and, of a free joint, then v_FM_F of MuJoCo's: angular velocities there are in the axes of the body."""
    if len(q) == 1:
        return np.array(v)
    w = matrix_from_quaternion(np.array(q[-4:])) @ np.array(v[-3:])
    return w if len(q) == 4 else np.concatenate([w, v[:3]])


def _own_forces(q: Sequence[float], f: Sequence[float]) -> Vector:
    """Generalized forces on our velocities; the transpose of the inverse of _own_velocities is itself."""
    return _own_velocities(q, f)


# ---------------------------------------------------------------------------------- what is compared


def _compare_elements(
    plant: MultibodyPlant, joints: Mapping[str, Joint], document: dict[str, Any], proof: PlantComparison
) -> None:
    bodies = document["bodies"]
    context = plant.CreateDefaultContext()
    for body in plant.elements.bodies[1:]:
        if body.name() not in bodies:  # a link between the joints of one body
            continue
        there = bodies[body.name()]
        inertia = body.CalcSpatialInertiaInBodyFrame(context)
        mass = inertia.get_mass()
        central = (
            inertia.Shift(inertia.get_com()).CalcRotationalInertia().CopyToFullMatrix3() if mass else np.zeros((3, 3))
        )
        com = inertia.get_com() if mass else np.zeros(3)
        proof.note("mujoco: masses", mass, there["mass"], usual=SMALLEST)
        if mass:
            proof.note("mujoco: centres of mass", com, there["com"])
            proof.note_inertia("mujoco: inertias", mass, com, central, there["inertia"])
    for name, joint in joints.items():
        there = document["of_joints"].get(name)
        if there is None:
            proof.differences.append(f"joint '{name}' is not in the model of MuJoCo")
            continue
        if joint.num_velocities() == 1:
            limits = joint.position_lower_limits()[0], joint.position_upper_limits()[0]
            proof.note("mujoco: limits", limits, there["range"])
            proof.note("mujoco: dry friction", joint.dry_friction[0], there["frictionloss"], usual=SMALLEST)
        drives = sum(a.default_reflected_inertia() for a in plant.elements.actuators if a.joint() is joint)
        proof.note("mujoco: armature", joint.reflected_inertia + drives, there["armature"], usual=SMALLEST)
    for actuator in plant.elements.actuators:
        there = document["actuators"][actuator.name()]
        proof.note("mujoco: effort limits", actuator.effort_limit(), there["force"])
        gains = actuator.get_controller_gains() if actuator.has_controller() else None
        if (gains is None) != (there["gains"] is None):
            proof.differences.append(f"actuator '{actuator.name()}' is a servo in one and not in the other")
        elif gains is not None:
            proof.note("mujoco: gains", (gains.p, gains.d), there["gains"])


def _compare_at(
    plant: MultibodyPlant,
    joints: Mapping[str, Joint],
    state: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    vectors: Sequence[Mapping[str, Sequence[float]]],
    there: dict[str, Any],
    proof: PlantComparison,
) -> None:
    context = plant.CreateDefaultContext()
    q, v = np.zeros(plant.num_positions()), np.zeros(plant.num_velocities())
    for name, joint in joints.items():
        positions = _own_positions(state[name][0])
        q[joint.position_start() : joint.position_start() + len(positions)] = positions
        v[_rows(joint)] = _own_velocities(*state[name])
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)

    def scattered(
        values: Mapping[str, Sequence[float]], change: Callable[[Sequence[float], Sequence[float]], Vector]
    ) -> Vector:
        result = np.zeros(plant.num_velocities())
        for name, joint in joints.items():
            result[_rows(joint)] = change(state[name][0], values[name])
        return result

    M = mass_matrix(plant, context)
    weights = of_unit_inertia(plant, context, M)
    terms = np.zeros((1, 1)) if M is None else np.abs(weights[:, None] * M)

    def note(name: str, ours: Vector, theirs: Mapping[str, Sequence[float]], usual: float = 1.0) -> None:
        proof.note(name, weights * ours, weights * scattered(theirs, _own_forces), usual=usual)

    for vector, product in zip(vectors, there["products"], strict=True):
        vdot = scattered(vector, _own_velocities)
        # the sum of the terms carries their rounding, also where they cancel each other
        usual = max(float((terms * np.abs(vdot)).sum(axis=1).max(initial=0.0)) if M is not None else 0.0, SMALLEST)
        ours = _mass_times(plant, context, vdot) if M is None else M @ vdot
        note("mujoco: mass matrix", ours, product, usual)
    note("mujoco: bias", plant.CalcBiasTerm(context), there["bias"])
    note("mujoco: gravity", plant.CalcGravityGeneralizedForces(context), there["gravity"])
    forces = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)
    note("mujoco: applied forces", plant.CalcGeneralizedForces(context, forces), there["applied"])
    for body in plant.elements.bodies[1:]:
        if body.name() in there["poses"]:
            X_WB = body.EvalPoseInWorld(context).GetAsMatrix4()
            numbers = np.array(there["poses"][body.name()])
            proof.note("mujoco: body poses", [*X_WB[:3, 3], *X_WB[:3, :3].ravel()], numbers)


def _rows(joint: Joint) -> slice:
    return slice(joint.velocity_start(), joint.velocity_start() + joint.num_velocities())


def _mass_times(plant: MultibodyPlant, context: Context, vdot: Vector) -> Vector:
    """M vdot."""
    at_rest = MultibodyForces(plant)
    return plant.CalcInverseDynamics(context, vdot, at_rest) - plant.CalcBiasTerm(context)
