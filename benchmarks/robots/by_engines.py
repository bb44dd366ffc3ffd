"""What other programs read from a converted file, beside what mbcli reads from it: masses and mass matrices.

pydrake reads URDF and SDFormat, Pinocchio URDF, Newton USD. MuJoCo compiles MJCF in the proof of `convert`.

pydrake and Newton read another inertia, with a warning, where a file states one that no body has (also inertia without
mass), whoever wrote the file. Such links are named, and mass matrices are compared with the inertia of the engine.
"""

import os
import warnings
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

import numpy as np
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.writing.flatten import flattened
from mbcli.parsers.writing.write_urdf import NO_LIMIT

from mbcli.conversion.newton_proof import compare_with_newton, is_of_a_body
from mbcli.conversion.plant_comparison import SMALLEST, PlantComparison
from mbcli.models.loading import load_model
from mbcli.multibody.tree import BodyIndex, SpatialInertia, UnitInertia

ENGINES = {"urdf": ("pydrake", "pinocchio"), "sdf": ("pydrake",), "mjcf": (), "usd": ("newton",)}
EQUAL, REPLACES, REFUSES, DIFFERS = WORDS = "equal", "equal but for impossible inertias", "refuses", "differs"
NUM_STATES = 3
WEIGHTLESS = 1e-15  # [kg]
TOLERANCE, SINGLE = 1e-9, 1e-5  # relative to the largest number; of Newton, which has single precision


def read_by_engines(path, file_format, packages, newton=None):
    """{engine: [verdict, deviation or what was said]} of a file, for the engines that are installed.

    newton: the Python of an environment with Newton.
    """
    engines = [name for name in ENGINES[file_format] if (newton if name == "newton" else find_spec(name))]
    if not engines:
        return {}
    plant = own_plant(path, file_format, packages)
    odd, found = impossible(plant, path, file_format, packages), {}
    for name in engines:
        proof = PlantComparison(tolerance=SINGLE if name == "newton" else TOLERANCE)
        try:
            if name == "newton":
                compare_with_newton(plant, path, proof, python=newton)
                refusal = [text for text in (*proof.unproved, *proof.differences) if text.startswith("Newton ")]
                if refusal:
                    found[name] = [REFUSES, refusal[0][:300]]
                    continue
            else:
                READERS[name](plant, path, packages, odd, proof)
        except RefusedError as error:
            found[name] = [REFUSES, str(error)[:300]]
            continue
        faults = proof.faults()
        largest = max(proof.deviations.values(), default=0.0)
        if faults:
            found[name] = [DIFFERS, "; ".join(faults)[:300]]
        elif odd and name != "pinocchio":
            found[name] = [REPLACES, f"{', '.join(odd)[:200]}; else {float(largest):.3g}"]
        else:
            found[name] = [EQUAL, float(largest)]
    return found


class RefusedError(Exception):
    """An engine does not read a file."""


def own_plant(path, file_format, packages):
    plant = load_model(path, packages=_package_map(packages), file_type=file_format).plant
    plant.prefers_interpreted = True  # a few states
    return plant


def _package_map(folders):
    found = PackageMap(allow_outside=True, missing_meshes="ignore")
    for folder in folders:
        found.add_path(str(folder))
    return found


def impossible(plant, path, file_format, packages):
    """The links whose inertia no body has, {name: None}; without mass {name: its InertialSpec}."""
    bodies = plant.elements.bodies[1:]
    found = {body.name(): None for body in bodies if not is_of_a_body(body.default_spatial_inertia())}
    if any(not body.default_mass() for body in bodies):  # the plant does not tell
        models = load_models(path, packages=_package_map(packages), input_format=file_format, diagnostics=Diagnostics())
        links = [link for model in models for link in flattened(model).links if link.inertial is not None]
        found |= {x.name: x.inertial for x in links if not x.inertial.mass and any(x.inertial.inertia)}
    return found


def single_joints(plant):
    """{name: Joint} of the joints with one coordinate that no loop cuts."""
    cut = set(map(id, plant.elements.loop_joints))
    return {j.name(): j for j in plant.elements.joints if id(j) not in cut and j.num_velocities() == 1}


def random_states(names, path):
    """[{joint: position}] that are the same in each run."""
    random = np.random.default_rng(crc32(os.path.basename(path).encode()))
    return [{name: float(random.uniform(-1.5, 1.5)) for name in names} for _ in range(NUM_STATES)]


def own_mass_matrices(plant, states, *, rotors=True, spelled=str, replaced=()):
    """Of the named joints, one for each state; without the inertia of drives if `rotors` is False.

    spelled: name of a joint -> its name in the states. replaced: {name of a link: its SpatialInertia instead}.
    """
    joints = {spelled(name): joint for name, joint in single_joints(plant).items()}
    context = plant.CreateDefaultContext()
    for name in replaced:
        plant.GetBodyByName(name).SetSpatialInertiaInBodyFrame(context, replaced[name])
    matrices = []
    for state in states:
        q = plant.GetPositions(context).copy()
        for name, value in state.items():
            q[joints[name].position_start()] = value
        plant.SetPositions(context, q)
        rows = [joints[name].velocity_start() for name in state]
        M = plant.CalcMassMatrix(context)[np.ix_(rows, rows)]
        if not rotors:
            M = M - np.diag([_rotor(plant, joints[name]) for name in state])
        matrices.append(M)
    return matrices


def _rotor(plant, joint):
    drives = sum(a.default_reflected_inertia() for a in plant.elements.actuators if a.joint() is joint)
    return joint.reflected_inertia + drives


def _by_pydrake(plant, path, packages, odd, proof):
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import BodyIndex as DrakeBodyIndex

    theirs = MultibodyPlant(0.0)
    parser = Parser(theirs)
    for folder in packages:
        for file in sorted(Path(folder).rglob("package.xml")):
            if not parser.package_map().Contains(file.parent.name):
                parser.package_map().Add(file.parent.name, str(file.parent))
    try:
        parser.AddModels(path)
        theirs.Finalize()
    except RuntimeError as error:
        raise RefusedError(str(error)) from None
    bodies = {body.name(): body for body in map(theirs.get_body, map(DrakeBodyIndex, range(1, theirs.num_bodies())))}
    ours = {body.name(): body for body in map(plant.get_body, map(BodyIndex, range(1, plant.num_bodies())))}
    if bodies.keys() != ours.keys():
        proof.differences.append(f"the links {sorted(bodies.keys() ^ ours.keys())[:5]} are in one alone")
        return
    replaced = {}
    for name, body in ours.items():
        there = bodies[name].default_spatial_inertia()
        if name in odd:
            unit = there.get_unit_inertia()
            unit = UnitInertia(*unit.get_moments(), *unit.get_products())
            replaced[name] = SpatialInertia(there.get_mass(), there.get_com(), unit, skip_validity_check=True)
            continue
        proof.note("masses", body.default_mass(), there.get_mass(), usual=SMALLEST)
        if body.default_mass():
            own = body.default_spatial_inertia()
            proof.note("centres of mass", own.get_com(), there.get_com())
            central = [m.Shift(m.get_com()).CalcRotationalInertia().CopyToFullMatrix3() for m in (own, there)]
            proof.note_inertia("inertias", own.get_mass(), own.get_com(), *central)
    joints = single_joints(plant)
    of_drake = {j.name(): j for j in map(theirs.get_joint, theirs.GetJointIndices()) if j.num_velocities() == 1}
    missing = joints.keys() ^ of_drake.keys()
    if missing:
        proof.differences.append(f"the joints {sorted(missing)[:5]} are in one alone")
        return
    for name, joint in joints.items():
        there = of_drake[name]
        ours, theirs_ = ((j.position_lower_limits()[0], j.position_upper_limits()[0]) for j in (joint, there))
        proof.note("limits", *np.clip((ours, theirs_), -NO_LIMIT, NO_LIMIT))
        proof.note("damping", joint.default_damping_vector()[0], there.default_damping_vector()[0])
    context = theirs.CreateDefaultContext()
    states = random_states(joints, path)
    for state, M in zip(states, own_mass_matrices(plant, states, replaced=replaced), strict=True):
        q = theirs.GetPositions(context).copy()
        for name, value in state.items():
            q[of_drake[name].position_start()] = value
        theirs.SetPositions(context, q)
        rows = [of_drake[name].velocity_start() for name in state]
        proof.note("mass matrix", M, theirs.CalcMassMatrix(context)[np.ix_(rows, rows)])


def _by_pinocchio(plant, path, packages, odd, proof):
    import pinocchio

    try:
        model = pinocchio.buildModelFromUrdf(path)
    except (ValueError, RuntimeError) as error:
        raise RefusedError(str(error)) from None
    numbers = {model.names[k]: k for k in range(1, model.njoints) if model.joints[k].nv == 1}
    joints = single_joints(plant)
    missing = joints.keys() ^ numbers.keys()
    if missing:
        proof.differences.append(f"the joints {sorted(missing)[:5]} are in one alone")
        return
    total = sum(plant.get_body(BodyIndex(k)).default_mass() for k in range(1, plant.num_bodies()))
    proof.note("masses", total, sum(inertia.mass for inertia in model.inertias))
    data, states = model.createData(), random_states(joints, path)
    weightless = {name: _weightless(inertial) for name, inertial in odd.items() if inertial is not None}
    for state, M in zip(states, own_mass_matrices(plant, states, rotors=False, replaced=weightless), strict=True):
        q = pinocchio.neutral(model)
        for name, value in state.items():
            joint = model.joints[numbers[name]]
            q[joint.idx_q : joint.idx_q + joint.nq] = value if joint.nq == 1 else (np.cos(value), np.sin(value))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            upper = np.triu(pinocchio.crba(model, data, q))
        whole = upper + np.triu(upper, 1).T - np.diag(model.armature)
        rows = [model.joints[numbers[name]].idx_v for name in state]
        proof.note("mass matrix", M, whole[np.ix_(rows, rows)])


def _weightless(inertial):
    """An inertia without mass, which a plant has not: that of next to none. Pinocchio has both."""
    xx, yy, zz, xy, xz, yz = inertial.inertia
    R = inertial.X_LI[:3, :3]
    unit = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T / WEIGHTLESS
    moments = (unit[0, 0], unit[1, 1], unit[2, 2], unit[0, 1], unit[0, 2], unit[1, 2])
    return SpatialInertia(WEIGHTLESS, np.zeros(3), UnitInertia(*moments), skip_validity_check=True)


READERS = {"pydrake": _by_pydrake, "pinocchio": _by_pinocchio}
