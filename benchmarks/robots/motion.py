"""How MJCF models move in mbcli and in MuJoCo: what may touch by which friction, and 0.2 s of steps of 1 ms.

    python -m benchmarks.robots.motion FOLDER... [--contact] [--only TEXT] [--json FILE]

Actuators are off, constraints of MuJoCo as stiff as its steps allow, so that the programs differ by softness, and by
what is not followed here, which the warnings name. Files that one of them does not read, and those that start beyond a
limit or off an equality, are counted apart.
"""

import argparse
import itertools
import json
import os
import signal
import sys
import tempfile
import warnings
from collections import Counter

import mujoco
import numpy as np
from mbcli.parsers.package_map import PackageMap

from benchmarks.robots.files import robot_files
from mbcli.engine.fields.collision_fields import WORD
from mbcli.engine.runtime.linking import load_kernels
from mbcli.geometry import SceneGraph
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import PdControllerGains
from mbcli.systems.analysis import Simulator

STEP, END = 1e-3, 0.2  # [s]
TIMES = (0.05, END)
ARM = 0.1  # [m]
DEEPEST = 5e-3  # [m] of a contact at the start: from deeper ones things fly off, in each program in its way
MOST_VELOCITIES = 80
LIMIT = 90  # [s] for one file
BOUNDS = (1e-10, 1e-6, 1e-3, 1e-2)  # [m] by which results are counted
FREE, SLIDE, HINGE = 0, 2, 3  # of mujoco.mjtJoint
PLANE = 0  # of mujoco.mjtGeom


def compare(path, folder, contact):
    """{"apart": [m] that a body is from where MuJoCo has it, ...} of one file, or "left_out": why it is not moved."""
    try:
        theirs = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        return {"left_out": "MuJoCo does not read it", "error": str(error)}
    if not 0 < theirs.nv <= MOST_VELOCITIES:
        return {"left_out": f"no velocities, or more than {MOST_VELOCITIES}"}
    fault = starts_off(theirs, contact)
    try:
        plant, found = load(path, folder, with_contact=True)
    except RuntimeError as error:
        return {"left_out": "mbcli does not read it", "error": str(error)}
    result = {"warnings": found, **contact_laws(plant, theirs)}
    if fault:
        return result | {"left_out": fault}
    if not contact:
        plant, _ = load(path, folder, with_contact=False)
    return result | {"apart": motion_apart(plant, theirs, contact)}


def load(path, folder, with_contact):
    """(finalized plant without controllers, warnings of its file)"""
    plant = MultibodyPlant(STEP)
    plant.set_step_scheme("drake")  # as MuJoCo's steps by Euler are
    if with_contact:
        plant.RegisterAsSourceForSceneGraph(SceneGraph())
    packages = PackageMap(allow_outside=True, missing_meshes="ignore")
    packages.add_path(folder)
    parser = Parser(plant, packages=packages)
    parser.AddModels(str(path))
    for actuator in plant.elements.actuators:
        actuator.replace_gains(PdControllerGains())
    plant.Finalize()
    return plant, [finding.message for finding in parser.diagnostics.findings if finding.severity == "warning"]


def starts_off(model, contact=False):
    """Why the reference state is none to start from; None if it is one. contact: whether things touch in the run."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for j in range(model.njnt):
        if model.jnt_limited[j] and model.jnt_type[j] in (SLIDE, HINGE):
            q, (low, high), margin = model.qpos0[model.jnt_qposadr[j]], model.jnt_range[j], model.jnt_margin[j]
            if q - low < margin - 1e-9 or high - q < margin - 1e-9:
                return "it starts beyond a limit"
    depth = max((c.includemargin - c.dist for c in data.contact if not c.exclude), default=0.0)
    if contact and depth > DEEPEST:
        return f"it starts deeper than {DEEPEST} m in contact"
    return "it starts off an equality" if data.ne and abs(data.efc_pos[: data.ne]).max() > 1e-6 else None


def motion_apart(plant, model, contact):
    """[m] The largest distance between places in both, of a body's origin and of points ARM from it, over the run."""
    bits = mujoco.mjtDisableBit
    model.opt.timestep, model.opt.integrator = STEP, mujoco.mjtIntegrator.mjINT_EULER
    model.opt.disableflags |= int(bits.mjDSBL_ACTUATION)
    if not contact:
        model.opt.disableflags |= int(bits.mjDSBL_CONTACT)
    for name in ("jnt", "dof", "eq"):
        getattr(model, f"{name}_solref")[:] = 2 * STEP, 1.0
        getattr(model, f"{name}_solimp")[:] = 0.9999, 0.9999, 0.001, 0.5, 2.0
    for name in ("tendon_solref_lim", "tendon_solref_fri"):
        getattr(model, name)[:] = 2 * STEP, 1.0
    data, context = mujoco.MjData(model), plant.CreateDefaultContext()
    simulator = Simulator(plant, context)
    names = [(n, model.body(n).name) for n in range(1, model.nbody)]
    bodies = [(n, plant.GetBodyByName(name)) for n, name in names if name and plant.HasBodyNamed(name)]
    apart = 0.0
    for time in TIMES:
        simulator.AdvanceTo(time)
        while data.time < time - STEP / 2:
            mujoco.mj_step(model, data)
        mujoco.mj_kinematics(model, data)
        for n, body in bodies:
            X_WB = body.EvalPoseInWorld(context)
            turned = ARM * abs(X_WB.rotation().matrix().ravel() - data.xmat[n]).max()
            apart = float(np.max([apart, turned, abs(X_WB.translation() - data.xpos[n]).max()]))  # or not a number
    return float(apart)


# ------------------------------------------------------------------------------------------ contact


def contact_laws(plant, model):
    """{"pairs": of named geoms that may touch in MuJoCo, "pairs_differ", "laws_differ": names}."""
    geometries, inspector = plant.compiled_geometries(), plant.scene_graph.model_inspector()
    places = {inspector.GetName(g).rpartition("::")[2]: k for k, g in enumerate(geometries.ids)}
    solids = {g: places[name] for g in range(model.ngeom) if (name := model.geom(g).name) in places}
    stated = np.column_stack([model.pair_geom1, model.pair_geom2])
    explicit = {frozenset(ends.tolist()): i for i, ends in enumerate(stated)}
    collision, kernels = geometries.collision(), load_kernels(False)
    pairs, differ, laws = 0, [], []
    for a, b in itertools.combinations(solids, 2):
        A, B = sorted((solids[a], solids[b]))
        one, other = geometries.solids[A], geometries.solids[B]
        filtered = geometries.filters[one.filter_row, other.filter_row // WORD] >> (other.filter_row % WORD) & 1
        ours = one.body != other.body and not filtered
        theirs = may_touch(model, a, b, explicit)
        pairs += theirs
        names = model.geom(a).name, model.geom(b).name
        if ours != theirs:
            differ.append(names)
        elif ours:
            own = kernels.own_pair(collision, A, B)
            law = kernels.friction_of_pair(collision, A, B, own)[0], kernels.cover_of_pair(collision, A, B, own)
            if not np.allclose(law, law_of(model, a, b, explicit), rtol=0, atol=1e-12):
                laws.append(names)
    return {"pairs": pairs, "pairs_differ": differ, "laws_differ": laws}


def may_touch(model, a, b, explicit):
    """Whether two geoms of MuJoCo may touch: the rules of its documentation (computation, selection)."""
    switched_off = model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    if switched_off or model.geom_type[[a, b]].tolist() == [PLANE, PLANE]:
        return False
    bodies = model.geom_bodyid[[a, b]]
    first, second = model.body_weldid[bodies]
    if first == second:
        return False
    if frozenset((a, b)) in explicit:
        return True
    below = model.body_weldid[model.body_parentid[[first, second]]]
    filters_parents = not model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)
    if filters_parents and first and second and (first == below[1] or second == below[0]):
        return False
    excluded = {(int(bodies[0]) << 16) + int(bodies[1]), (int(bodies[1]) << 16) + int(bodies[0])}
    if not excluded.isdisjoint(model.exclude_signature.tolist()) or not any(moves(model, w) for w in (first, second)):
        return False
    masks = model.geom_contype[a] & model.geom_conaffinity[b], model.geom_contype[b] & model.geom_conaffinity[a]
    return any(masks)


def moves(model, body):
    while body > 0:
        if model.body_dofnum[body]:
            return True
        body = model.body_parentid[body]
    return False


def law_of(model, a, b, explicit):
    """Friction when sliding and the margin of two geoms."""
    pair = explicit.get(frozenset((a, b)))
    if pair is not None:
        return model.pair_friction[pair][0] * (model.pair_dim[pair] > 1), model.pair_margin[pair]
    highest = model.geom_priority[[a, b]].max()
    counting = [g for g in (a, b) if model.geom_priority[g] == highest]
    friction = max(model.geom_friction[g][0] for g in counting) * (max(model.geom_condim[counting]) > 1)
    return friction, model.geom_margin[a] + model.geom_margin[b]


# --------------------------------------------------------------------------------------------- table


def summary(records):
    """Lines on all records {path: result of compare()}."""
    compared = {path: r["apart"] for path, r in records.items() if "apart" in r}
    with_pairs = [r for r in records.values() if r.get("pairs")]
    lines = [
        f"{len(records)} files, {len(with_pairs)} with geoms that may touch: the pairs differ in "
        f"{sum(bool(r['pairs_differ']) for r in with_pairs)}, friction or margin in "
        f"{sum(bool(r['laws_differ']) for r in with_pairs)}",
        f"{len(compared)} moved for {END} s: "
        + ", ".join(f"{sum(a <= bound for a in compared.values())} within {bound:g} m" for bound in BOUNDS),
    ]
    for reason, count in Counter(r["left_out"] for r in records.values() if "left_out" in r).most_common():
        lines.append(f"{count} not moved: {reason}")
    worst = sorted(((a, path) for path, a in compared.items() if not a <= BOUNDS[2]), reverse=True)
    for apart, path in worst:
        lines.append(f"{apart:.2g} m  {path}: {'; '.join(w[:80] for w in records[path]['warnings']) or 'no warning'}")
    return lines


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.robots.motion", description=__doc__.split("\n")[0])
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--contact", action="store_true", help="let things touch")
    parser.add_argument("--only", default="", metavar="TEXT", help="only files whose path contains it")
    parser.add_argument("--json", metavar="FILE", help="also write every record to a JSON file")
    options = parser.parse_args(arguments)
    files, _ = robot_files(options.folders, ("mjcf",), options.only)
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, _interrupt)
    records, here = {}, os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # MuJoCo writes its warnings to a file there
        for file in files:
            signal.alarm(LIMIT)
            try:
                records[file.name] = compare(file.path, file.folder, options.contact)
            except Exception as error:
                records[file.name] = {"left_out": f"{type(error).__name__} in mbcli", "error": str(error)}
            signal.alarm(0)
        os.chdir(here)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump(records, out, indent=1)
    print("\n".join(summary(records)))
    return 0


def _interrupt(number, frame):
    raise TimeoutError(f"more than {LIMIT} s")


if __name__ == "__main__":
    sys.exit(main())
