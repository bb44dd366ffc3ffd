"""The states after the first steps of a file's plant without contact, by mbcli or by pydrake: the same code for both.

What is compared with pydrake takes its scheme of steps, without the dry friction of files, which that ignores.
"""

import warnings
from importlib import import_module
from types import SimpleNamespace

import numpy as np

from benchmarks.robots.runs import STEP, positions_at

MODULES = ("multibody.plant", "multibody.parsing", "systems.analysis")
STEPS = 4  # of what is compared between compiled and interpreted kernels


def library(name):
    """The classes of mbcli or of pydrake."""
    modules = [import_module(f"{name}.{module}") for module in MODULES]
    names = ("MultibodyPlant", "DiscreteContactApproximation", "Parser", "Simulator")
    return SimpleNamespace(
        name=name, **{each: next(getattr(m, each) for m in modules if hasattr(m, each)) for each in names}
    )


def do(file, run, kept):
    """The states after each step of a run [library, base, start, approximation, number of steps, with friction].

    {"names", "q": where it starts, "states": [q, v of each step], "M": its elements, "constraints" and "limits": how
    many, "beyond": how far it starts beyond one, "inertias"}, {"error"}, or {"left_out"}: why nothing is compared.
    """
    name, base, start, approximation, steps, friction = run
    warnings.simplefilter("ignore")
    lib = library(name)
    try:
        plant = _kept_plant(lib, file, base, approximation, friction, kept)
        q = positions_at(plant, start, file.sha256)
    except (RuntimeError, ValueError) as error:
        return {"error": f"does not read it: {str(error)[:300]}"}
    if q is None or plant.num_velocities() == 0:
        return {"left_out": "no limits" if q is None else "nothing moves"}
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    result = {"names": list(plant.GetPositionNames()), "q": q.tolist(), "states": []}
    result |= {"constraints": plant.num_constraints(), "approximation": approximation} | _of_limits(plant, q)
    result["inertias"] = _inertias(plant)
    try:
        result["M"] = plant.CalcMassMatrix(context).ravel().tolist()
        simulator = lib.Simulator(plant, context)
        for k in range(steps):
            simulator.AdvanceTo((k + 1) * STEP)
            result["states"].append(plant.GetPositionsAndVelocities(context).tolist())
    except (RuntimeError, ValueError) as error:
        return {"error": str(error)[:300]}
    return result


def _of_limits(plant, q):
    """How many positions have limits, and how far the farthest starts beyond its own."""
    lower, upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    beyond = np.maximum(lower - q, q - upper).max(initial=0.0)
    return {"limits": int((np.isfinite(lower) | np.isfinite(upper)).sum()), "beyond": float(beyond)}


def _inertias(plant):
    """{name: spatial inertia of each body about its origin, and whether a body can have it}."""
    found = {}
    for instance in {plant.get_joint(index).child_body().model_instance() for index in plant.GetJointIndices()}:
        for index in plant.GetBodyIndices(instance):
            body = plant.get_body(index)
            M = body.default_spatial_inertia()
            mass = float(M.get_mass())
            found[body.name()] = np.ravel(M.CopyToFullMatrix6()).tolist(), mass > 0.0 and bool(M.IsPhysicallyValid())
    return found


def _kept_plant(lib, file, base, approximation, friction, kept):
    key = base, approximation, friction
    if key not in kept:
        if base == "welded" and "bases" not in kept:
            kept["bases"] = _bases(_plant(lib, file, approximation, friction, ()))
        kept[key] = _plant(lib, file, approximation, friction, kept["bases"] if base == "welded" else ())
    return kept[key]


def _bases(plant):
    """[(name, model instance, pose)] of what floats in a finalized plant."""
    bodies = [plant.get_body(index) for index in sorted(plant.GetFloatingBaseBodies(), key=int)]
    return [(body.name(), body.model_instance(), plant.GetDefaultFreeBodyPose(body)) for body in bodies]


def _plant(lib, file, approximation, friction, welded):
    plant = lib.MultibodyPlant(STEP)
    choice = getattr(lib.DiscreteContactApproximation, f"k{approximation.capitalize()}")
    plant.set_discrete_contact_approximation(choice)
    if lib.name == "mbcli":
        plant.settings.joint_dry_friction = friction
        plant.set_step_scheme("midpoint" if friction else "drake")
        parser = lib.Parser(plant, packages=_packages(file))
    else:
        parser = lib.Parser(plant)
        _add_packages(parser.package_map(), file)
    parser.SetAutoRenaming(True)
    parser.AddModels(str(file.path))
    for name, instance, X_WB in welded:
        body = plant.GetBodyByName(name, instance)
        plant.WeldFrames(plant.world_frame(), body.body_frame(), X_WB)
    plant.Finalize()
    return plant


def _packages(file):
    from mbcli.parsers.package_map import PackageMap

    packages = PackageMap(allow_outside=True, missing_meshes="ignore")
    packages.add_path(str(file.folder))
    return packages


def _add_packages(packages, file):
    """Of pydrake: the package of each folder above the file, by its name."""
    for parent in file.path.parents:
        if parent == file.folder.parent:
            break
        if not packages.Contains(parent.name):
            packages.Add(parent.name, str(parent))


def difference(one, other):
    """The largest difference between the states of two results; infinity where one is not finite."""
    a, b = np.array(one["states"]), np.array(other["states"])
    if a.shape != b.shape:
        return np.inf
    apart = np.where(np.isfinite(a) & np.isfinite(b), abs(a - b), np.inf)
    apart[(a == b)] = 0.0
    return float(apart.max(initial=0.0))
