"""What `mbcli identify` makes of recordings of real robots: errors on unseen motion, joint by joint, and its verdict.

    python -m benchmarks.identification_robots FOLDER...

A folder is one robot: `robot.urdf` (or .xml, .sdf), `data*.csv`, `unseen*.csv`, and `options.json` with what the
command would be given, all of it optional: {"columns": "time,q,v,i", "gains": [10.0, ...], "held": "all", "friction":
"auto"}.

For each robot a table of errors of efforts as measured (norm over norm, of the samples that identify judges):

    file       the model file as it is
    plain      ordinary least squares of all samples that may be used, as mujoco-sysid solves them: no weights, and
               bodies may be impossible
    found      what identify finds
    written    what the written file says alone

and the findings, which are its verdict. Exit code 1 if a result without an error finding is worse than the file.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.cli.identify import held_words
from mbcli.errors import MbcliError
from mbcli.identification.identify import DEFAULT_FRICTIONS, Settings, identify
from mbcli.identification.model_files import kinds_in_file, volumes_of
from mbcli.identification.records import expanded_columns
from mbcli.identification.verdict import verdict
from mbcli.models.loading import load_model

if TYPE_CHECKING:
    from mbcli.identification.identify import Identified


def plain_least_squares(result: Identified) -> Any:
    """(p,) of the equations that may be used, each as it is."""
    A = np.concatenate([e.A[e.usable] for e in result.data]) * result.subject.sizes
    y = np.concatenate([e.y[e.usable] for e in result.data])
    return np.linalg.lstsq(A, y, rcond=1e-9)[0] * result.subject.sizes


def identified(folder: str) -> Identified:
    """The result on the recordings of a folder, with its verdict."""
    (path,) = glob.glob(os.path.join(folder, "robot.*"))
    options: dict[str, Any] = {}
    if os.path.exists(os.path.join(folder, "options.json")):
        with open(os.path.join(folder, "options.json"), encoding="utf-8") as file:
            options = json.load(file)
    model = load_model([path], weld_base=True)
    settings = Settings(
        columns=expanded_columns(model.plant, options["columns"]) if "columns" in options else None,
        gains=np.array(options["gains"]) if "gains" in options else None,
        frictions=DEFAULT_FRICTIONS,
        by_evidence=options.get("friction") == "auto",
        armature=True,
        held=held_words(options.get("held")),
        in_file=kinds_in_file(model.specs[0].format),
    )
    data, unseen = (sorted(glob.glob(os.path.join(folder, f"{name}*.csv"))) for name in ("data", "unseen"))
    result = identify(model.plant, data, unseen, settings, name=path)
    result.findings += verdict(result, path, volumes_of(model))
    return result


def row(name: str, errors: list[float]) -> str:
    return f"  {name:24}" + "".join(f"{100 * error:9.2f} %" for error in errors)


def report(folder: str) -> bool:
    """Prints the table of a folder. Returns whether something is wrong in silence."""
    name = os.path.basename(os.path.normpath(folder))
    print(name)
    try:
        result = identified(folder)
    except MbcliError as error:
        print(f"  refused: {error}\n", flush=True)
        return False
    runs = result.validation or result.data
    kinds = (result.x0, plain_least_squares(result), result.x, result.x_of_file)
    print(f"  {'unseen efforts':24}{'file':>11}{'plain':>11}{'found':>11}{'written':>11}")
    by_joint = [result.per_velocity(runs, x) for x in kinds]
    for k, joint in enumerate(result.names):
        print(row(joint, [errors[k] for errors in by_joint]))
    squares = np.array(
        [
            sum(float((e.raw_tau[:, k] * e.judged[:, k]) @ e.raw_tau[:, k]) for e in runs)
            for k in range(len(result.names))
        ]
    )
    whole = [float(np.sqrt(np.array(errors) ** 2 @ squares / squares.sum())) for errors in by_joint]
    print(row("all", whole))
    if result.base is not None:
        print(f"  {result.base.rank} of {len(result.base.columns)} combinations, filter {result.cutoff or 0.0:.3g} Hz")
    for law in result.laws:
        errors = ", ".join(f"{kind} {100 * error:.2f} %" for kind, error in law.errors.items())
        print(f"  {law.joint}: {law.law} ({errors}), as good: {', '.join(law.alike) or 'none'}")
    for finding in result.findings:
        print(f"  {finding}"[:300])
    print(flush=True)
    return not result.looks_wrong() and whole[2] > whole[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="+")
    wrong = [report(folder) for folder in parser.parse_args().folder]
    sys.exit(any(wrong))


if __name__ == "__main__":
    main()
