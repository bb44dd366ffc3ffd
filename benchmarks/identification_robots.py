"""What `mbcli identify` makes of recordings of real robots: errors on unseen motion, joint by joint, and its verdict.

    python -m benchmarks.identification_robots FOLDER...

A folder is one robot: `robot.urdf` (or .xml, .sdf), `data*.csv`, `unseen*.csv`, and `options.json` with what the
command would be given, all of it optional: {"columns": "time,q,v,i", "gains": [10.0, ...], "held": "all", "friction":
"auto", "gravity": [0, 0, 9.81], "feet": "FL_FOOT,FR_FOOT", "payload": "trunk"}; with feet the base floats.

For each robot a table of errors of efforts as measured (norm over norm, of the samples that identify judges):

    file       the model file as it is
    plain      ordinary least squares of all samples that may be used, as mujoco-sysid solves them: no weights, and
               bodies may be impossible
    possible   the same with bodies that can be: those that are nearest by the errors of all samples, unweighted
    FIGAROH    its regressor, base parameters and least squares, weighted by the noise of each joint
    mj.sysid   `mujoco.sysid.optimize` of masses, centres and friction, after `--iterations` steps, from at most MOST
               samples; 0 leaves it out
    found      what identify finds
    written    what the written file says alone

("all": one norm, of which the large joints have most; "root mean square": of the errors of joints that move), and the
findings, which are its verdict. The two programs are given the samples that the filter of mbcli leaves, and a
URDF file in which held joints are fixed; a peer that is missing, or does not take the model, has no column and a line
that says why. Exit code 1 if a result without an error finding is worse than the file.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import re
import sys
import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.identification import Samples, figaroh, mujoco_optimize, without_geometry
from mbcli.cli.identify import held_words
from mbcli.errors import MbcliError
from mbcli.identification.data_checks import checked
from mbcli.identification.estimation import Weighted, predicted, triangle_of
from mbcli.identification.identify import DEFAULT_FRICTIONS, Settings, identify
from mbcli.identification.model_files import kinds_in_file, volumes_of
from mbcli.identification.possible_bodies import estimate
from mbcli.identification.records import expanded_columns, given, read_record
from mbcli.identification.signals import choose_cutoff, runs_of, velocities_of
from mbcli.identification.verdict import verdict
from mbcli.models.loading import load_model

if TYPE_CHECKING:
    from mbcli.identification.identify import Identified


MOST = 400  # samples for mujoco.sysid, which takes each by itself


def plain_least_squares(result: Identified) -> Any:
    """(p,) of the equations that may be used, each as it is."""
    A = np.concatenate([e.A[e.usable] for e in result.data]) * result.subject.sizes
    y = np.concatenate([e.y[e.usable] for e in result.data])
    return np.linalg.lstsq(A, y, rcond=1e-9)[0] * result.subject.sizes


def possible_least_squares(result: Identified) -> Any:
    """(p,) of the same equations, of bodies and frictions that can be."""
    A = np.concatenate([e.A[e.usable] for e in result.data])
    y = np.concatenate([e.y[e.usable] for e in result.data])
    x = plain_least_squares(result)
    R = triangle_of(np.column_stack((A, y)) / (np.linalg.norm(A @ x - y) / np.sqrt(len(y))))
    subject, kept = result.subject, ~result.subject.zero
    weighted = Weighted(np.ones(1), [], R[:-1, :-1][:, kept], R[:-1, -1], 1.0, 0)
    own = [p for p, there in zip(subject.parameters, kept, strict=True) if there]
    found = np.zeros(len(x))
    found[kept] = estimate(weighted, own, subject.reference, x[kept]).x
    return found


class Robot:
    """The recordings of a folder, and what identify makes of them with its verdict."""

    def __init__(self, folder: str) -> None:
        (self.path,) = glob.glob(os.path.join(folder, "robot.*"))
        options: dict[str, Any] = {}
        if os.path.exists(os.path.join(folder, "options.json")):
            with open(os.path.join(folder, "options.json"), encoding="utf-8") as file:
                options = json.load(file)
        self.gravity = options.get("gravity")
        self.feet = options.get("feet", "").replace(",", " ").split()
        model = load_model([self.path], weld_base=not self.feet, gravity=self.gravity)
        self.plant = model.plant
        self.settings = Settings(
            columns=expanded_columns(model.plant, options["columns"]) if "columns" in options else None,
            gains=np.array(options["gains"]) if "gains" in options else None,
            frictions=DEFAULT_FRICTIONS,
            by_evidence=options.get("friction") == "auto",
            armature=True,
            held=held_words(options.get("held")),
            feet=self.feet,
            payload=options.get("payload"),
            in_file=kinds_in_file(model.specs[0].format),
        )
        self.data, self.unseen = (
            sorted(glob.glob(os.path.join(folder, f"{name}*.csv"))) for name in ("data", "unseen")
        )
        self.result = identify(model.plant, self.data, self.unseen, self.settings, name=self.path)
        self.result.findings += verdict(self.result, self.path, volumes_of(model))

    def samples(self, paths: list[str], equations: list[Any], most: int | None = None) -> Any:
        """Those that the equations of the result are of, at most so many, of joints that are not held."""
        subject, runs = self.result.subject, []
        velocity_of = velocities_of(self.plant, self.plant.CreateDefaultContext())
        for path in paths:
            record = read_record(path, self.plant, self.settings)
            usable, record = checked(record, self.plant)[1], subject.held.fill(record)
            cutoff = self.result.cutoff if equations is self.result.data else self._cutoff(record)
            q, v, vdot = subject.complete(record.q, record.v, record.vdot, False)
            runs += [
                run.thinned(cutoff)
                for run in runs_of(replace(record, q=q, v=v, vdot=vdot), cutoff, usable, velocity_of)
            ]
        found = Samples(runs)
        at = [subject.joint_of[d].position_start() for d in subject.independent]
        found.q = found.q[:, at]
        for name in ("v", "vdot", "tau", "raw"):
            setattr(found, name, getattr(found, name)[:, subject.independent])
        found.usable = np.concatenate([e.usable for e in equations])
        assert np.array_equal(found.raw, np.concatenate([e.raw_tau for e in equations]))
        step = 1 if most is None else -(-len(found.q) // most)
        for name, values in vars(found).items():
            setattr(found, name, values[::step])
        return found

    def _cutoff(self, record: Any) -> float | None:
        return None if given(record.vdot).all() and given(record.v).all() else choose_cutoff([record])

    def without_held(self) -> str:
        """The text of the URDF file in which held joints do not move."""
        text, held = without_geometry(self.path), self.result.subject.held
        followers = [c.joint0.name() for c in self.plant.elements.constraints]
        kinds = {joint.name(): joint for joint in self.plant.moving_joints()}
        for name in (*held.joints, *followers):
            if name in held.measured or np.nan_to_num(held.q[kinds[name].position_start()]):
                raise ValueError(f"joint {name} is not held at 0")
            text = re.sub(rf'(<joint\b[^>]*name="{re.escape(name)}"[^>]*type=")[a-z]+"', r'\1fixed"', text)
        text = re.sub(r"<mimic\b[^>]*/>|<transmission\b.*?</transmission>|<gazebo\b.*?</gazebo>", "", text, flags=re.S)
        return re.sub(r'type="continuous"', 'type="revolute"', text)

    def by_others(self, iterations: int) -> dict[str, Any]:
        """{program: efforts (n, d) of the unseen samples, or why there are none}."""
        result, found = self.result, {}
        if self.feet:
            return dict.fromkeys(("FIGAROH", "mj.sysid"), "feet with unknown forces")
        runs = result.validation or result.data
        unseen = self.samples(self.unseen or self.data, runs)
        calls = {
            "FIGAROH": lambda urdf: figaroh(urdf, self.samples(self.data, result.data), unseen, self.gravity),
            "mj.sysid": lambda urdf: mujoco_optimize(
                urdf, self.samples(self.data, result.data, MOST), unseen, iterations, self.gravity
            ),
        }
        with tempfile.TemporaryDirectory() as folder:
            urdf = os.path.join(folder, "robot.urdf")
            for name in ("FIGAROH", *(("mj.sysid",) if iterations else ())):
                try:
                    with open(urdf, "w", encoding="utf-8") as file:
                        file.write(self.without_held())
                    found[name] = calls[name](urdf)[1]
                except Exception as error:  # whatever another program raises
                    found[name] = f"{type(error).__name__}: {error}"
        return found


def row(name: str, errors: list[float]) -> str:
    return f"  {name[-24:]:24}" + "".join(f"{100 * error:9.2f} %" for error in errors)


def report(folder: str, iterations: int) -> bool:
    """Prints the table of a folder. Returns whether something is wrong in silence."""
    name = os.path.basename(os.path.normpath(folder))
    print(name)
    try:
        robot = Robot(folder)
    except MbcliError as error:
        print(f"  refused: {error}\n", flush=True)
        return False
    result = robot.result
    runs = result.validation or result.data
    raw, judged = (np.concatenate([getattr(e, what) for e in runs]) for what in ("raw_tau", "judged"))
    efforts: dict[str, Any] = {
        what: np.concatenate([predicted(e, x) for e in runs])
        for what, x in (
            ("file", result.x0),
            ("plain", plain_least_squares(result)),
            ("possible", possible_least_squares(result)),
        )
    }
    efforts |= robot.by_others(iterations)
    for what, x in (("found", result.x), ("written", result.x_of_file)):
        efforts[what] = np.concatenate([predicted(e, x) for e in runs])
    there = {what: tau for what, tau in efforts.items() if not isinstance(tau, str)}
    print(f"  {'unseen efforts':24}" + "".join(f"{what:>11}" for what in there))
    above = [(((tau - raw) * judged) ** 2).sum(axis=0) for tau in there.values()]
    below = ((raw * judged) ** 2).sum(axis=0)
    for k, joint in enumerate(result.names):
        print(row(joint, [float(np.sqrt(a[k] / max(below[k], 1e-300))) for a in above]))
    whole = [float(np.sqrt(a.sum() / below.sum())) for a in above]
    print(row("all", whole))
    moves = np.array([name not in result.standing for name in result.names]) & (below > 0.0)
    if moves.any():
        print(row("root mean square", [float(np.sqrt((a[moves] / below[moves]).mean())) for a in above]))
    for what, why in efforts.items():
        if what not in there:
            print(f"  {what} is left out: {why}"[:300])
    if result.base is not None:
        print(f"  {result.base.rank} of {len(result.base.columns)} combinations, filter {result.cutoff or 0.0:.3g} Hz")
    for law in result.laws:
        errors = ", ".join(f"{kind} {100 * error:.2f} %" for kind, error in law.errors.items())
        print(f"  {law.joint}: {law.law} ({errors}), as good: {', '.join(law.alike) or 'none'}")
    for finding in result.findings:
        print(f"  {finding}"[:400])
    print(flush=True)
    return not result.looks_wrong() and whole[-2] > whole[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="+")
    parser.add_argument("--iterations", type=int, default=20, help="of mujoco.sysid")
    options = parser.parse_args()
    wrong = [report(folder, options.iterations) for folder in options.folder]
    sys.exit(any(wrong))


if __name__ == "__main__":
    main()
