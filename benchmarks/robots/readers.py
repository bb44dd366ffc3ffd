"""One file, read by one program: what came of it, and what the model has. Each function runs in a worker.

Every reader takes (path, folder, file_format) and returns {"read": bool}, with "error" if it does not read the file,
else with the numbers of what the model has, and "seconds" of processor time.
"""

import tempfile
import time
from collections import Counter
from functools import cache
from pathlib import Path


def ready_mbcli():
    import mbcli.models.loading  # noqa: F401


def read_by_mbcli(path, folder, file_format):
    """As `mbcli simulate` reads the file alone; if that refuses it, once more with the options for outside files.

    "options": whether it is read with `--allow-outside --missing-meshes ignore --package-path FOLDER`.
    """
    from mbcli.errors import MbcliError
    from mbcli.models.loading import load_model
    from mbcli.multibody.tree import BodyIndex

    started = time.process_time()
    try:
        plant = load_model(path, contact=True, packages=_packages(file_format), file_type=_file_type(file_format)).plant
        if plant.meets_contact():  # then a run reads the meshes
            plant.compiled_geometries()
    except Exception as error:
        found = {"read": False, "seconds": time.process_time() - started, "error": _lines(error, folder)[0]}
        found["errors"] = len(_lines(error, folder))
        if not isinstance(error, MbcliError):
            found["error"] = f"{type(error).__name__}: {found['error']}"
            return found | {"options": False}
        return found | {"options": _reads_with_options(path, folder, file_format)}
    return {"read": True, "seconds": time.process_time() - started, **_counts(plant, BodyIndex)}


def _reads_with_options(path, folder, file_format):
    from mbcli.errors import MbcliError
    from mbcli.models.loading import load_model

    packages = _packages(file_format, allow_outside=True, missing_meshes="ignore")
    packages.add_path(folder)
    try:
        load_model(path, contact=True, packages=packages, file_type=_file_type(file_format))
    except MbcliError:
        return False
    return True


def check_by_mbcli(path, folder, file_format):
    """The findings of `mbcli check`: their number by severity and by code."""
    from mbcli.checks.file_check import check_file

    started = time.process_time()
    checked = check_file(path, input_format=_file_type(file_format), packages=_packages(file_format))
    seconds = time.process_time() - started
    codes = Counter(f"{finding.severity} {finding.code}" for finding in checked.findings)
    severities = Counter(finding.severity for finding in checked.findings)
    return {"read": True, "seconds": seconds, "severities": dict(severities), "codes": dict(codes)}


def _packages(file_format, **options):
    from mbcli.parsers.package_map import PackageMap

    packages = PackageMap(**options)
    packages.xacro_arguments = {} if file_format == "xacro" else None
    return packages


def _file_type(file_format):
    return "urdf" if file_format == "xacro" else file_format


def ready_drake():
    import pydrake.all  # noqa: F401


def read_by_drake(path, folder, file_format):
    """Kinematics and inertias alone: without a scene graph no mesh is opened."""
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import BodyIndex

    started = time.process_time()
    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    parser.SetAutoRenaming(True)
    parser.package_map().AddMap(_drake_packages(folder))
    for parent in Path(path).parents:
        if parent == Path(folder).parent:
            break
        if not parser.package_map().Contains(parent.name):
            parser.package_map().Add(parent.name, str(parent))
    try:
        parser.AddModels(path)
        plant.Finalize()
    except Exception as error:
        return {"read": False, "error": _lines(error, folder)[0]}
    return {"read": True, "seconds": time.process_time() - started, **_counts(plant, BodyIndex)}


@cache
def _drake_packages(folder):
    """All that have a package.xml in a folder, and those with a model.config by the names of their folders."""
    from pydrake.multibody.parsing import PackageMap

    packages = PackageMap()
    packages.PopulateFromFolder(folder)
    for config in sorted(Path(folder).rglob("model.config")):
        if not packages.Contains(config.parent.name):
            packages.Add(config.parent.name, str(config.parent))
    return packages


def _counts(plant, BodyIndex):
    """Of a plant of mbcli or of pydrake, with the BodyIndex of the same. A ball joint has three positions: angles."""
    joints = [plant.get_joint(index) for index in plant.GetJointIndices()]
    bodies = [plant.get_body(BodyIndex(k)) for k in range(1, plant.num_bodies())]
    return {
        "mass": sum(body.default_mass() for body in bodies),
        "positions": plant.num_positions() - sum(joint.type_name() == "ball_quaternion" for joint in joints),
        "velocities": plant.num_velocities(),
        "actuators": plant.num_actuators(),
        "links": len(bodies),
        "joints": plant.num_joints(),
    }


def ready_pinocchio():
    import pinocchio  # noqa: F401


def read_by_pinocchio(path, folder, file_format):
    """A free base adds the mass of the first link."""
    import pinocchio

    started = time.process_time()
    try:
        model = pinocchio.buildModelFromUrdf(path, pinocchio.JointModelFreeFlyer())
    except Exception as error:
        return {"read": False, "error": _lines(error, folder)[0]}
    mass = float(sum(inertia.mass for inertia in model.inertias))
    return {"read": True, "seconds": time.process_time() - started, "mass": mass}


def ready_mujoco():
    import mujoco  # noqa: F401


def read_by_mujoco(path, folder, file_format):
    """As a plant counts: a link between two joints of a body, a weld where none is, three angles of a ball joint."""
    import mujoco

    started = time.process_time()
    try:
        model = mujoco.MjModel.from_xml_path(path)
    except Exception as error:
        return {"read": False, "error": _lines(error, folder)[0]}
    seconds = time.process_time() - started
    joints_of_bodies = model.body_jntnum[1:]
    return {
        "read": True,
        "seconds": seconds,
        "mass": float(model.body_mass.sum()),
        "positions": model.nq - int((model.jnt_type == mujoco.mjtJoint.mjJNT_BALL).sum()),
        "velocities": model.nv,
        "actuators": model.nu,
        "links": int(joints_of_bodies.clip(1).sum()),
        "joints": int(joints_of_bodies.clip(1).sum()),
    }


def ready_xacro():
    import xacro  # noqa: F401


def expand_xacro(path, folder, file_format):
    """Writes the URDF that the package xacro makes of a file without ROS; "path": where."""
    import xacro

    try:
        text = xacro.process_file(path, mappings={}).toprettyxml(indent="  ")
    except Exception as error:  # code of the file may raise anything
        return {"read": False, "error": _lines(error, folder)[0]}
    with tempfile.NamedTemporaryFile("w", suffix=".urdf", delete=False, encoding="utf-8") as file:
        file.write(text)
    return {"read": True, "path": file.name}


def _lines(error, folder):
    """The lines of a message, the paths in it without the folder that holds the given one."""
    text = str(error).replace(f"{Path(folder).parent}/", "").strip()
    return [" ".join(line.split()) for line in text.splitlines()] or [type(error).__name__]


READERS = {
    "mbcli": (ready_mbcli, read_by_mbcli),
    "check": (ready_mbcli, check_by_mbcli),
    "Drake": (ready_drake, read_by_drake),
    "Pinocchio": (ready_pinocchio, read_by_pinocchio),
    "MuJoCo": (ready_mujoco, read_by_mujoco),
    "xacro": (ready_xacro, expand_xacro),
}
PEERS = {"urdf": ("Drake", "Pinocchio"), "sdf": ("Drake",), "mjcf": ("MuJoCo",), "xacro": ("Drake", "Pinocchio")}
