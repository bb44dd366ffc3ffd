"""What `mbcli convert --to mjcf` keeps of URDF files beside MuJoCo's own reader of URDF and mj_saveLastXML.

    python -m benchmarks.robots.beside_mujoco FOLDER... [--count 30] [--seed 0]

Both MJCF files are compiled by MuJoCo and compared with what the URDF file states. Robots are drawn at random among the
files that have at least six links and are read by mbcli, one of a package at most where there are enough packages.
MuJoCo reads the file as it is, and if it refuses that, without its shapes.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import defaultdict

import numpy as np
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from mbcli.parsers.package_map import PackageMap

from benchmarks.robots.files import robot_files
from benchmarks.robots.runs import OUTSIDE, command_line
from mbcli.comparison.shapeless_urdf import without_shapes
from mbcli.errors import MbcliError

LEAST_LINKS = 6
TOLERANCE = 1e-6  # relative to the largest of a robot; mj_saveLastXML writes 6 digits
WHAT = ("masses", "inertias", "limits", "damping", "dry friction", "effort limits", "mimic joints", "links", "colours")


def stated(model):
    """What a URDF model states, by the names of its links and joints."""
    joints = [joint for joint in model.joints if joint.axes]
    return {
        "masses": {link.name: link.inertial.mass for link in model.links if link.inertial and link.inertial.mass},
        "inertias": {link.name: _tensor(link.inertial) for link in model.links if link.inertial and link.inertial.mass},
        "limits": {
            joint.name: (joint.axes[0].lower, joint.axes[0].upper)
            for joint in joints
            if -np.inf < joint.axes[0].lower < joint.axes[0].upper < np.inf
        },
        "damping": {joint.name: joint.axes[0].damping for joint in joints if joint.axes[0].damping},
        "dry friction": {joint.name: joint.axes[0].friction for joint in joints if joint.axes[0].friction},
        "effort limits": {j.name: j.axes[0].effort for j in joints if 0.0 < j.axes[0].effort < np.inf},
        "mimic joints": {
            joint.name: (joint.axes[0].mimic.offset, joint.axes[0].mimic.multiplier)
            for joint in joints
            if joint.axes[0].mimic is not None
        },
        "links": {link.name: 1.0 for link in model.links},
        "colours": {
            f"{link.name} {k}": visual.color
            for link in model.links
            for k, visual in enumerate(link.visuals)
            if visual.color is not None and getattr(visual.shape, "path", "") is not None
        },
    }


def _tensor(inertial):
    xx, yy, zz, xy, xz, yz = inertial.inertia
    R = inertial.X_LI[:3, :3]
    return (R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T).ravel()


def in_mujoco(path, folder):
    """The same of an MJCF file, by MuJoCo's compiler. folder: in which its meshes are looked for."""
    import mujoco

    spec = mujoco.MjSpec.from_file(path)
    spec.modelfiledir = folder
    model = spec.compile()
    found = defaultdict(dict)
    for k in range(1, model.nbody):
        name = model.body(k).name
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, model.body_iquat[k])
        R = R.reshape(3, 3)
        found["links"][name] = 1.0
        found["masses"][name] = model.body_mass[k]
        found["inertias"][name] = (R @ np.diag(model.body_inertia[k]) @ R.T).ravel()
    for k in range(model.njnt):
        if model.jnt_type[k] < 2:
            continue
        name, d = model.joint(k).name, model.jnt_dofadr[k]
        if model.jnt_limited[k]:
            found["limits"][name] = model.jnt_range[k]
        found["damping"][name], found["dry friction"][name] = model.dof_damping[d], model.dof_frictionloss[d]
        if model.jnt_actfrclimited[k]:
            found["effort limits"][name] = model.jnt_actfrcrange[k][1]
    for k in range(model.nu):
        name = model.joint(model.actuator_trnid[k][0]).name
        limit = model.actuator_ctrlrange[k][1] if model.actuator_ctrllimited[k] else model.actuator_forcerange[k][1]
        found["effort limits"].setdefault(name, limit)
    for k in range(model.neq):
        if model.eq_type[k] == int(mujoco.mjtEq.mjEQ_JOINT):
            found["mimic joints"][model.joint(model.eq_obj1id[k]).name] = model.eq_data[k][:2]
    counts = defaultdict(int)
    for k in range(model.ngeom):
        matid = model.geom_matid[k]
        body = model.body(model.geom_bodyid[k]).name
        if not model.geom_contype[k] or model.geom_group[k] < 3:
            found["colours"][f"{body} {counts[body]}"] = model.mat_rgba[matid] if matid >= 0 else model.geom_rgba[k]
            counts[body] += 1
    return dict(found)


def kept(before, after):
    """{what: (how many of it are kept, of how many)}."""
    result = {}
    for what in WHAT:
        size = max((float(np.abs(value).max()) for value in before[what].values()), default=0.0)
        there = after.get(what, {})
        count = sum(
            name in there and np.allclose(there[name], value, rtol=TOLERANCE, atol=TOLERANCE * size)
            for name, value in before[what].items()
        )
        result[what] = count, len(before[what])
    return result


def by_mujoco(path, output):
    """Has MuJoCo read a URDF file and save it; returns "as it is", "without shapes" or why it did not."""
    script = (
        "import mujoco, sys\n"
        "model = mujoco.MjModel.from_xml_path(sys.argv[1]) if sys.argv[3] == 'file' else "
        "mujoco.MjModel.from_xml_string(open(sys.argv[1]).read())\n"
        "mujoco.mj_saveLastXML(sys.argv[2], model)\n"
    )
    problem = ""
    for way in ("file", "text"):
        source = path
        if way == "text":
            source = output + ".urdf"
            with open(source, "w") as file:
                file.write(without_shapes(path, options={}))
        done = subprocess.run(
            [sys.executable, "-c", script, source, output, way], capture_output=True, text=True, timeout=120
        )
        if done.returncode == 0:
            return "as it is" if way == "file" else "without shapes"
        problem = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    return problem


def chosen(folders, count, seed):
    """[(path, its ModelSpec)] of robots, of as many packages as there are."""
    files, _ = robot_files(folders, ("urdf",))
    groups = defaultdict(list)
    for file in files:
        groups[file.origin].append(file)
    drawing = random.Random(seed)
    for group in groups.values():
        drawing.shuffle(group)
    found = []
    while len(found) < count and any(groups.values()):
        for group in groups.values():
            while group and len(found) < count:
                file = group.pop()
                model = _read(file)
                if model is not None:
                    found.append((file, model))
                    break
    return found


def _read(file):
    packages = PackageMap(allow_outside=True, missing_meshes="ignore")
    packages.add_path(str(file.folder))
    try:
        models = load_models(str(file.path), input_format="urdf", packages=packages, diagnostics=Diagnostics())
    except MbcliError:
        return None
    return models[0] if models and len(models[0].links) >= LEAST_LINKS else None


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.robots.beside_mujoco", description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json")
    options = parser.parse_args()
    records = []
    for file, model in chosen(options.folders, options.count, options.seed):
        before, record = stated(model), {"file": file.name}
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = (os.path.join(folder, name) for name in ("ours.xml", "theirs.xml"))
            reading = [*OUTSIDE, "--package-path", str(file.folder), "--input-format", "urdf"]
            code, _, said = command_line(
                ["-q", "convert", str(file.path), "--to", "mjcf", "-o", ours, "--bundle", "--lossy", *reading]
            )
            record["mbcli"] = (
                kept(before, in_mujoco(ours, folder)) if code == 0 else said.strip().splitlines()[-1][:200]
            )
            record["way"] = by_mujoco(str(file.path), theirs)
            if os.path.exists(theirs):
                try:
                    record["MuJoCo"] = kept(before, in_mujoco(theirs, os.path.dirname(os.path.abspath(file.path))))
                except ValueError as error:  # it does not read what it has written
                    record["way"] = str(error)
        records.append(record)
        print(json.dumps(record), file=sys.stderr, flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(records, file, indent=1)
    print(table(records))


def table(records):
    """How many robots keep all of something, and how many things are kept."""
    lines = [
        f"{len(records)} robots",
        f"{'':16}{'robots that state it':>22}" + "".join(f"{n:>24}" for n in ("mbcli", "MuJoCo")),
    ]
    both = [record for record in records if isinstance(record["mbcli"], dict)]
    for what in WHAT:
        having = [record for record in both if record["mbcli"][what][1]]
        cells = []
        for name in ("mbcli", "MuJoCo"):
            results = [record.get(name, {}).get(what, (0, record["mbcli"][what][1])) for record in having]
            whole = sum(count == total for count, total in results)
            cells.append(f"{whole} ({sum(c for c, _ in results)} of {sum(t for _, t in results)})")
        lines.append(f"{what:16}{len(having):22}" + "".join(f"{cell:>24}" for cell in cells))
    ways = defaultdict(int)
    for record in records:
        ways[record["way"] if record["way"] in ("as it is", "without shapes") else "refused"] += 1
    lines.append("MuJoCo reads " + ", ".join(f"{count} {way}" for way, count in ways.items()))
    lines.append(f"mbcli converts {len(both)}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
