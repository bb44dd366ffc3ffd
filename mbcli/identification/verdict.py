"""Whether what was identified can be trusted: findings on the result, each with its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.identification.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.identification.identify import Identified

WORSE, AT_ALL = 1.05, 1e-3  # times an error, and more than that part of the efforts: what is less is no change
POOR = 0.6  # relative error, above which a model explains nothing
USELESS = 1.0  # relative error of one joint: no effort at all would be as good a prediction
FEW = 0.05  # of the largest efforts: joints with less are not judged alone
TIMES = 3.0  # that the whole mass may change
DENSEST = 12_000.0  # [kg/m^3] of the box around a body: lead has 11,340
WHAT = "; -o writes it only with --force"


def verdict(result: Identified, source: str, volumes: Mapping[str, float]) -> list[Finding]:
    """Findings on the result, none where nothing was identified.

    Args:
        source: name of the model's file. volumes: [m^3] of the boxes around links, by their names, where known.
    """
    if result.base is None:
        return []
    return [*_errors(result, source), *_joints(result, source), *_masses(result, source, volumes)]


def _errors(result: Identified, source: str) -> list[Finding]:
    unseen = bool(result.validation)
    keys = ("validation_before", "validation", "validation_of_file") if unseen else ("before", "after", "of_file")
    before, after, of_file = (float(result.figures[key] or 0.0) for key in keys)
    what, found = "unseen data" if unseen else "the data", []
    if after > POOR:
        message = f"the error on {what} is {100 * after:.1f} %, with the input file {100 * before:.1f} %"
        found.append(Finding("RESULT_POOR", f"{message}: the model does not explain them{WHAT}", source))
    if after > WORSE * before + AT_ALL:
        message = f"identified, the error on {what} is {100 * after:.1f} %, with the input file {100 * before:.1f} %"
        found.append(Finding("RESULT_WORSE", f"{message}: record more motion, of other kinds{WHAT}", source))
    elif of_file > WORSE * before + AT_ALL:
        message = (
            f"the written file alone, without what has no place there, has an error of {100 * of_file:.1f} % on "
            f"{what}, the input file {100 * before:.1f} %: the robot needs what this format cannot say"
        )
        found.append(Finding("RESULT_FILE", f"{message}{WHAT}", source))
    return found


def _joints(result: Identified, source: str) -> list[Finding]:
    """Joints whose efforts the result does not explain."""
    runs = result.validation or result.data
    sizes = np.sqrt(sum((e.raw_tau**2).sum(axis=0) for e in runs))
    found = []
    for name, size, error in zip(result.names, sizes, result.per_velocity(runs), strict=True):
        if error > USELESS and size > FEW * sizes.max(initial=0.0):
            message = f"the error is {100 * error:.1f} %: no effort at all would be as good a prediction{WHAT}"
            found.append(Finding("RESULT_JOINT", message, source, 0, name))
    return found


def _masses(result: Identified, source: str, volumes: Mapping[str, float]) -> list[Finding]:
    subject, found = result.subject, []
    bodies = subject.plant.elements.bodies
    old = sum(float(subject.moved.of_link(n)[0]) for links in subject.moved.links for n in links)
    new = old + sum(float(result.x[10 * k] - result.x0[10 * k]) for k in range(len(subject.links)))
    if old > 0.0 and not old / TIMES < new < old * TIMES:
        message = (
            f"the moving mass is {new:.3g} kg, in the input file {old:.3g} kg: are efforts mirrored, in other units, "
            f"as in kgf cm, or those of motors before their gears? --effort-gain{WHAT}"
        )
        found.append(Finding("RESULT_MASS", message, source))
    for k, n in enumerate(subject.links):
        volume = volumes.get(bodies[n].name(), 0.0)
        before, after = float(result.x0[10 * k]), float(result.x[10 * k])
        if 0.0 < DENSEST * volume < after and after > before:
            message = f"{bodies[n].name()} has {after:.3g} kg in {1e6 * volume:.3g} cm^3: nothing is as dense{WHAT}"
            found.append(Finding("RESULT_DENSE", message, source))
    return found
