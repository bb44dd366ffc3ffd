"""What `mbcli convert` keeps of robots beside other converters.

    python -m benchmarks.robots.beside_converters FOLDER... [--count 30] [--seed 0] [--format urdf|mjcf]
        [--converters PYTHON] [--usd-converters PYTHON]

URDF files go to MJCF by mbcli, by MuJoCo's own reader of URDF and mj_saveLastXML, by urdf2mjcf and by urdf2any, and to
USD by mbcli, urdf2any, urdf-usd-converter and, from the MJCF file of mbcli, mujoco-usd-converter. MJCF files go to USD
by mbcli and mujoco-usd-converter. PYTHON is the one of an environment with urdf2mjcf and urdf2any, and of one with both
converters to USD; those that are not given are left out.

What is compared is what the source states: MJCF as MuJoCo compiles it, USD as mbcli reads it. Some files of each
package are drawn at random that have at least six links, are read by mbcli, and whose meshes are small enough for every
converter. Of these, packages take turns, and each gives the robot that states most of what few of the chosen ones
state: mimic joints, actuators, loops, dry friction, and so on. A converter reads the file as it is, and if it refuses
that, or its result is not read, without its shapes.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.spec import TendonConstraintSpec
from mbcli.parsers.writing.arrange_usd import identifier
from mbcli.parsers.writing.conversion import mesh_paths
from mbcli.parsers.writing.flatten import flattened

from benchmarks.robots.by_engines import own_mass_matrices, own_plant, random_states, single_joints
from benchmarks.robots.files import robot_files
from benchmarks.robots.runs import OUTSIDE, command_line
from mbcli.comparison.shapeless_urdf import without_shapes
from mbcli.errors import MbcliError

LEAST_LINKS = 6
LONGEST = 60.0  # [s] of one conversion
DRAWN = 8  # files of a package, among which robots are chosen
LARGEST_MESHES = 10_000_000  # [bytes] of a robot together
TOLERANCE = 1e-6  # relative to the largest of a robot; mj_saveLastXML writes 6 digits, USD has single precision
LEAST = 1e-11  # of any number: what a format takes for not stated where it is 0 is written as 1e-12
PRODUCTS = "products of inertia"
WHAT = (
    *(
        "links",
        "masses",
        "inertias",
        PRODUCTS,
        "limits",
        "damping",
        "dry friction",
        "armatures",
        "springs",
        "effort limits",
    ),
    *("mimic joints", "actuators", "loops", "colours"),
)
MUJOCO_SCRIPT = (
    "import mujoco, sys\n"
    "model = mujoco.MjModel.from_xml_path(sys.argv[1]) if sys.argv[3] == 'file' else "
    "mujoco.MjModel.from_xml_string(open(sys.argv[1]).read())\n"
    "mujoco.mj_saveLastXML(sys.argv[2], model)\n"
)


# ------------------------------------------------------------------------------------------ what a file has


def stated(model):
    """What a flat ModelSpec states, by the names of its links and joints."""
    links = [link for link in model.links if link.name != "world"]
    joints = [joint for joint in model.joints if joint.axes]
    weighed = [link for link in links if link.inertial and link.inertial.mass]
    found = {
        "links": {link.name: 1.0 for link in links},
        "masses": {link.name: link.inertial.mass for link in weighed},
        "inertias": {link.name: _tensor(link.inertial) for link in weighed},
        PRODUCTS: {link.name: _tensor(link.inertial) for link in weighed if any(link.inertial.inertia[3:])},
        "limits": {
            joint.name: (joint.axes[0].lower, joint.axes[0].upper)
            for joint in joints
            if -np.inf < joint.axes[0].lower < joint.axes[0].upper < np.inf
        },
        "damping": {joint.name: joint.axes[0].damping for joint in joints if joint.axes[0].damping},
        "dry friction": {joint.name: joint.axes[0].friction for joint in joints if joint.axes[0].friction},
        "armatures": {joint.name: _rotor(joint, model) for joint in joints if _rotor(joint, model)},
        "springs": {j.name: j.axes[0].spring_stiffness for j in joints if j.axes[0].spring_stiffness},
        "effort limits": {
            joint.name: _effort(joint, model) for joint in joints if 0.0 < _effort(joint, model) < np.inf
        },
        "mimic joints": {
            joint.name: (joint.axes[0].mimic.offset, joint.axes[0].mimic.multiplier)
            for joint in joints
            if joint.axes[0].mimic is not None
        },
        "actuators": {a.joint: a.controller_gains or (0.0, 0.0) for a in model.actuators},
        "loops": {f"{k}": 1.0 for k in range(_number_of_loops(model))},
        "colours": _each(
            (link.name, visual.color)
            for link in links
            for visual in link.visuals
            if visual.color is not None and getattr(visual.shape, "path", "") is not None
        ),
    }
    return {what: {identifier(name): value for name, value in values.items()} for what, values in found.items()}


def _tensor(inertial):
    xx, yy, zz, xy, xz, yz = inertial.inertia
    R = inertial.X_LI[:3, :3]
    return (R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T).ravel()


def _rotor(joint, model):
    return joint.reflected_inertia + sum(
        a.rotor_inertia * a.gear_ratio**2 for a in model.actuators if a.joint == joint.name
    )


def _effort(joint, model):
    return min([joint.axes[0].effort, *(a.effort_limit for a in model.actuators if a.joint == joint.name)])


def _number_of_loops(model):
    """Constraints, and joints that hold a link which others hold already."""
    holders = Counter(joint.child for joint in model.joints)
    constraints = [c for c in model.constraints if not isinstance(c, TendonConstraintSpec)]
    return len(constraints) + sum(number - 1 for number in holders.values())


def _each(pairs):
    """{"name_k": colour} of the colours of a link, sorted: converters order shapes by themselves."""
    of_link = defaultdict(list)
    for name, color in pairs:
        of_link[name].append(tuple(np.round(color, 4).tolist()))
    return {f"{name}_{k}": color for name, colors in of_link.items() for k, color in enumerate(sorted(colors))}


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
        found["armatures"][name], found["springs"][name] = model.dof_armature[d], model.jnt_stiffness[k]
        if model.jnt_actfrclimited[k]:
            found["effort limits"][name] = model.jnt_actfrcrange[k][1]
    for k in range(model.nu):
        name = model.joint(model.actuator_trnid[k][0]).name
        found["actuators"][name] = -model.actuator_biasprm[k][1], -model.actuator_biasprm[k][2]
        limit = model.actuator_ctrlrange[k][1] if model.actuator_ctrllimited[k] else model.actuator_forcerange[k][1]
        found["effort limits"].setdefault(name, limit)
    for k in range(model.neq):
        if model.eq_type[k] == int(mujoco.mjtEq.mjEQ_JOINT):
            found["mimic joints"][model.joint(model.eq_obj1id[k]).name] = model.eq_data[k][:2]
        elif model.eq_type[k] in (int(mujoco.mjtEq.mjEQ_CONNECT), int(mujoco.mjtEq.mjEQ_WELD)):
            found["loops"][f"{len(found['loops'])}"] = 1.0
    colors = []
    for k in range(model.ngeom):
        matid = model.geom_matid[k]
        if not model.geom_contype[k] or model.geom_group[k] < 3:
            color = model.mat_rgba[matid] if matid >= 0 else model.geom_rgba[k]
            colors.append((model.body(model.geom_bodyid[k]).name, color))
    found["colours"] = _each(colors)
    return {what: {identifier(name): value for name, value in values.items()} for what, values in found.items()}


def read(path, file_format, folder):
    """The one flat ModelSpec of a file, or None."""
    packages = PackageMap(allow_outside=True, missing_meshes="ignore")
    packages.add_path(str(folder))
    try:
        models = load_models(str(path), input_format=file_format, packages=packages, diagnostics=Diagnostics())
    except MbcliError:
        return None
    return flattened(models[0]) if len(models) == 1 else None


def kept(before, after):
    """{what: (how many of it are kept, of how many)}."""
    result = {}
    for what in WHAT:
        size = max((float(np.abs(value).max()) for value in before[what].values()), default=0.0)
        near = 1e-3 if what == "colours" else TOLERANCE  # of images and bytes
        there = after.get("inertias" if what == PRODUCTS else what, {})  # another form may turn them away
        count = sum(
            name in there and np.allclose(there[name], value, rtol=near, atol=max(near * size, LEAST))
            for name, value in before[what].items()
        )
        result[what] = count, len(before[what])
    return result


# --------------------------------------------------------------------------------------------- converters


class Robot:
    """A file, what it states, and a folder for what converters make of it."""

    def __init__(self, file, folder):
        self.file, self.folder = file, folder
        self.reading = [*OUTSIDE, "--package-path", str(file.folder), "--input-format", file.format]

    def sources(self):
        """(way, path) to try one after the other."""
        yield "as it is", str(self.file.path)
        if self.file.format == "urdf":
            path = os.path.join(self.folder, "shapeless.urdf")
            Path(path).write_text(without_shapes(str(self.file.path), options={}))
            yield "without shapes", path

    def by_mbcli(self, target, name):
        """The file, or what was said."""
        out = os.path.join(self.folder, name)
        code, _, said = command_line(
            ["-q", "convert", str(self.file.path), "--to", target, "-o", out, "--bundle", "--lossy", *self.reading]
        )
        return ("as it is", out) if code == 0 else (said.strip().splitlines()[-1][:200], None)

    def by_command(self, command, out):
        """The file that a command (source -> list of words) makes, from the first source that it takes."""
        problem = "nothing to read"
        for way, source in self.sources():
            done, problem = run(command(source), self.folder)
            made = sorted(Path(self.folder).glob(out))
            if done and made:
                if numbers_of(str(made[0]), self) is not None:
                    return way, str(made[0])
                problem = "its result is not read"
        return problem, None


def run(words, folder):
    """(whether a command ends well, its last line)."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=LONGEST, cwd=folder)
    except subprocess.TimeoutExpired:
        return False, f"longer than {LONGEST:g} s"
    lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return done.returncode == 0, lines[-1][:200]


def converters(robot, options):
    """{name: () -> (way or problem, path of the result or None)}, in the order of the table."""
    folder = robot.folder

    def tool(python, name):
        return os.path.join(os.path.dirname(python), name)

    def mujoco(source):
        way = "file" if source == str(robot.file.path) else "text"
        return [sys.executable, "-c", MUJOCO_SCRIPT, source, os.path.join(folder, "mujoco.xml"), way]

    def usd_of_mjcf():
        source = str(robot.file.path)
        if robot.file.format == "urdf":
            source = os.path.join(folder, "ours", "robot.xml")
        done, problem = run([tool(options.usd_converters, "mujoco_usd_converter"), source, "from_mjcf"], folder)
        made = sorted(Path(folder, "from_mjcf").glob("*.usda"))
        return ("as it is", str(made[0])) if done and made else (problem, None)

    result = {}
    if robot.file.format == "urdf":
        os.mkdir(os.path.join(folder, "ours"))
        result["mbcli to MJCF"] = lambda: robot.by_mbcli("mjcf", "ours/robot.xml")
        result["MuJoCo"] = lambda: robot.by_command(mujoco, "mujoco.xml")
        if options.converters:
            words = tool(options.converters, "urdf2mjcf")
            result["urdf2mjcf"] = lambda: robot.by_command(
                lambda source: [words, source, "--output", "urdf2mjcf/r.xml", "--copy-meshes"], "urdf2mjcf/r.xml"
            )
            any_words = tool(options.converters, "urdf2any")
            root = ["--mesh-root", str(robot.file.folder)]
            for suffix, name in (("xml", "MJCF"), ("usda", "USD")):
                result[f"urdf2any to {name}"] = lambda suffix=suffix: robot.by_command(
                    lambda source: [any_words, source, "-o", f"any_{suffix}/r.{suffix}", *root],
                    f"any_{suffix}/r.{suffix}",
                )
    result["mbcli to USD"] = lambda: robot.by_mbcli("usd", "robot.usda")
    if options.usd_converters:
        if robot.file.format == "urdf":
            words_usd = tool(options.usd_converters, "urdf_usd_converter")
            result["urdf-usd-converter"] = lambda: robot.by_command(
                lambda source: [words_usd, source, "from_urdf"], "from_urdf/*.usda"
            )
        result["mujoco-usd-converter"] = usd_of_mjcf
    return result


def numbers_of(path, robot):
    """What a converted file has, or None if it is not read."""
    if path.endswith(".xml"):
        folders = [os.path.dirname(path), os.path.dirname(os.path.abspath(robot.file.path))]
        for folder in folders:
            try:
                return in_mujoco(path, folder)
            except ValueError:
                continue
        return None
    model = read(path, "usd", os.path.dirname(path))
    return None if model is None else stated(model)


def mass_matrix_deviation(robot, path):
    """Between the source and a USD file at random states, relative to the largest number, of the joints of one
    coordinate that both have; None if there are none. By mbcli."""
    own = own_plant(str(robot.file.path), robot.file.format, [robot.file.folder])
    there = own_plant(path, "usd", [os.path.dirname(path)])
    names = {identifier(name) for name in single_joints(own)} & {identifier(name) for name in single_joints(there)}
    states = random_states(sorted(names), path)
    if not names:
        return None
    pairs = zip(*(own_mass_matrices(plant, states, spelled=identifier) for plant in (own, there)), strict=True)
    return max(float(np.abs(M - N).max() / max(np.abs(M).max(), 1e-300)) for M, N in pairs)


# ------------------------------------------------------------------------------------------------ all robots


def chosen(folders, count, seed, file_format):
    """[(RobotFile, its ModelSpec)] of robots, of as many packages as there are."""
    files, _ = robot_files(folders, (file_format,))
    groups = defaultdict(list)
    for file in files:
        groups[file.origin].append(file)
    drawing = random.Random(seed)
    candidates = {origin: _candidates(drawing.sample(group, len(group))) for origin, group in sorted(groups.items())}
    found, counts = [], Counter()
    while len(found) < count and any(candidates.values()):
        for group in candidates.values():
            if not group or len(found) == count:
                continue
            best = max(group, key=lambda each: sum(1.0 / (1 + counts[what]) for what in each[2]))
            group.remove(best)
            counts.update(best[2])
            found.append(best[:2])
    return found


def _candidates(files):
    """[(RobotFile, ModelSpec, what it states)] of some files."""
    found = []
    for file in files:
        if len(found) == DRAWN:
            break
        model = read(file.path, file.format, file.folder)
        if model is None or len(model.links) < LEAST_LINKS:
            continue
        if sum(map(os.path.getsize, mesh_paths(model))) <= LARGEST_MESHES:
            found.append((file, model, [what for what, values in stated(model).items() if values]))
    return found


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.robots.beside_converters", description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--format", choices=("urdf", "mjcf"), default="urdf")
    parser.add_argument("--converters", metavar="PYTHON", help="with urdf2mjcf and urdf2any")
    parser.add_argument("--usd-converters", metavar="PYTHON", help="with urdf-usd-converter and mujoco-usd-converter")
    parser.add_argument("--ways", nargs="+", metavar="NAME", help="only these columns of the table")
    parser.add_argument("--json")
    options = parser.parse_args()
    records = []
    for file, model in chosen(options.folders, options.count, options.seed, options.format):
        started = time.monotonic()
        before, record = stated(model), {"file": file.name, "ways": {}, "kept": {}, "seconds_of": {}, "mass_matrix": {}}
        with tempfile.TemporaryDirectory() as folder:
            robot = Robot(file, folder)
            ways = converters(robot, options)
            for name, convert in ways.items():
                if options.ways and name not in options.ways:
                    continue
                before_it = time.monotonic()
                way, path = convert()
                record["seconds_of"][name] = round(time.monotonic() - before_it, 1)
                after = None if path is None else numbers_of(path, robot)
                if after is not None and path.endswith(".usda"):
                    record["mass_matrix"][name] = mass_matrix_deviation(robot, path)
                record["ways"][name] = "its result is not read" if path is not None and after is None else way
                record["kept"][name] = kept(before, after or {})
        records.append(record)
        record["seconds"] = time.monotonic() - started
        print(json.dumps(record), file=sys.stderr, flush=True)
        if options.json:
            Path(options.json).write_text(json.dumps(records, indent=1))
    print(table(records))


def table(records):
    """In how many robots all of something is kept, and how many things are, as Markdown."""
    names = list(records[0]["kept"])
    lines = [f"{len(records)} robots", "", "| | robots that state it | " + " | ".join(names) + " |"]
    lines.append("|---|---|" + "---|" * len(names))
    for what in WHAT:
        having = [record for record in records if record["kept"][names[0]][what][1]]
        if not having:
            continue
        cells = []
        for name in names:
            counts = [record["kept"][name][what] for record in having]
            whole = sum(count == total for count, total in counts)
            cells.append(f"{whole} ({sum(c for c, _ in counts)} of {sum(t for _, t in counts)})")
        lines.append(f"| {what} | {len(having)} | " + " | ".join(cells) + " |")
    within = [
        [record["mass_matrix"][name] for record in records if record["mass_matrix"].get(name) is not None]
        for name in names
    ]
    cells = [f"{sum(d <= TOLERANCE for d in found)} of {len(found)}" if found else "" for found in within]
    lines.append(f"| mass matrix of what is read | | {' | '.join(cells)} |")
    for way in ("as it is", "without shapes"):
        counts = [sum(record["ways"][name] == way for record in records) for name in names]
        lines.append(f"| read {way} | | " + " | ".join(map(str, counts)) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
