"""Whether what was identified can be trusted: findings on the result, each with its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.identification.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.identification.identify import Identified
    from mbcli.identification.trajectory import TrajectoryFit

WORSE, AT_ALL = 1.05, 1e-3  # times an error, and more than that part of the efforts: what is less is no change
POOR = 0.6  # relative error, above which a model explains nothing
USELESS = 1.0  # relative error of one joint: no effort at all would be as good a prediction
FEW = 0.05  # of the largest efforts: joints with less are not judged alone
TIMES = 3.0  # that the whole mass may change
DENSEST = 12_000.0  # [kg/m^3] of the box around a body: lead has 11,340
WHAT = "; -o writes it only with --force"


def verdict(result: Identified, source: str, volumes: Mapping[str, float]) -> list[Finding]:
    """Findings on the result, or on the file that is only tried.

    Args:
        source: name of the model's file. volumes: [m^3] of the boxes around links, by their names, where known.
    """
    found = _joints(result, source)
    if set(result.names) <= result.standing:
        what = "unseen recordings" if result.validation else "data"
        message = (
            f"nothing moves in the {what}: friction holds joints with any effort, so these errors tell of gravity alone"
        )
        found.append(Finding("RESULT_STANDS", message, (result.validation or result.data)[0].source))
    if result.base is None:
        error = float(result.figures["validation_before"] or 0.0)
        if error > POOR:
            message = f"the error on the data is {100 * error:.1f} %: the model does not explain them"
            found.append(Finding("RESULT_POOR", message, source))
        return found
    subject, bodies = result.subject, result.subject.plant.elements.bodies
    whole = sum(float(subject.moved.of_link(n)[0]) for links in subject.moved.links for n in links)
    masses = {
        bodies[n].name(): (float(result.x0[10 * k]), float(result.x[10 * k])) for k, n in enumerate(subject.links)
    }
    # offsets that are found beside a payload are of the recording: the file is no worse for lacking them
    keys = ("validation_of_file", "of_file") if not subject.payload else ()
    found += _errors(result.figures, source, *(result.figures[key] for key in keys))
    return [*found, *_mass(masses, whole, source), *_densities(masses, source, volumes)]


def verdict_of_fit(fit: TrajectoryFit, source: str, volumes: Mapping[str, float]) -> list[Finding]:
    """The same of a fit by simulation, whose errors are those of positions."""
    masses = {}
    for p in fit.parameters:
        name = p.name.removeprefix("body.")
        if name.endswith((".m", ".mass")):
            masses[name.rpartition(".")[0]] = p.old, p.new
    found = _errors(fit.figures, source)
    for name, error in (fit.of_positions.get("validation") or fit.of_positions.get("data", {})).items():
        if error > USELESS:
            message = f"the error is {100 * error:.1f} %: a joint that stands would be as good a prediction{WHAT}"
            found.append(Finding("RESULT_JOINT", message, source, 0, name))
    whole = sum(old for old, _ in masses.values())
    return [*found, *_mass(masses, whole, source), *_densities(masses, source, volumes)]


def _errors(
    figures: Mapping[str, float | None],
    source: str,
    unseen_of_file: float | None = None,
    data_of_file: float | None = None,
) -> list[Finding]:
    unseen = figures["validation"] is not None
    before = float(figures["validation_before" if unseen else "before"] or 0.0)
    after = float(figures["validation" if unseen else "after"] or 0.0)
    of_file = float((unseen_of_file if unseen else data_of_file) or 0.0)
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
    what = WHAT if result.base is not None else ""
    sizes = np.sqrt(sum((e.raw_tau**2).sum(axis=0) for e in runs))
    largest = sizes.max(initial=0.0)
    errors, errors_before = result.per_velocity(runs), result.per_velocity(runs, result.x0)
    found = []
    for name, size, error, before in zip(result.names, sizes, errors, errors_before, strict=True):
        if error <= USELESS or name in result.standing:
            continue
        if size <= FEW * largest:
            if error > WORSE * before + AT_ALL:
                message = (
                    f"its efforts are {100 * size / largest:.2g} % of the largest, and their error is "
                    f"{100 * error:.1f} %, with the input file {100 * before:.1f} %: do not rely on them"
                )
                found.append(Finding("RESULT_SMALL", message, source, 0, name))
        else:
            message = f"the error is {100 * error:.1f} %: no effort at all would be as good a prediction{what}"
            found.append(Finding("RESULT_JOINT", message, source, 0, name))
    return found


def _mass(masses: Mapping[str, tuple[float, float]], old: float, source: str) -> list[Finding]:
    """masses: of links, before and after; old: of all that moves."""
    new = old + sum(after - before for before, after in masses.values())
    if old <= 0.0 or old / TIMES < new < old * TIMES:
        return []
    message = (
        f"the moving mass is {new:.3g} kg, in the input file {old:.3g} kg: are efforts mirrored, in other units, "
        f"as in kgf cm, or those of motors before their gears? --effort-gain{WHAT}"
    )
    return [Finding("RESULT_MASS", message, source)]


def _densities(masses: Mapping[str, tuple[float, float]], source: str, volumes: Mapping[str, float]) -> list[Finding]:
    found = []
    for name, (before, after) in masses.items():
        volume = volumes.get(name, 0.0)
        if 0.0 < DENSEST * volume < after and after > before:
            message = f"{name} has {after:.3g} kg in {1e6 * volume:.3g} cm^3: nothing is as dense{WHAT}"
            found.append(Finding("RESULT_DENSE", message, source))
    return found
