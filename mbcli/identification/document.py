"""What was identified as data: what `mbcli identify --json` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.identification.identify import Identified
from mbcli.multibody.inertia.inertial_parameters import PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.identification.trajectory import TrajectoryFit

SMALL = 1e-3  # of a combination's largest part: what is less is not printed


def identified_document(result: Identified, output: str | None, changed: Sequence[Any]) -> dict[str, Any]:
    """The keys of the document beside those of every command."""
    subject, base, weighted, drawn = result.subject, result.base, result.weighted, result.bootstrap
    names = subject.names
    document: dict[str, Any] = {
        "fit": "torque",
        "output": output,
        "parameters": [
            {
                "name": p.name,
                "kind": p.kind,
                "unit": p.unit,
                "old": float(result.x0[k]),
                "new": float(result.x[k]),
                "in_file": float(result.x_of_file[k]),
                "standard_error": float(result.errors[k]) if base is not None else None,
                "bootstrap_error": float(drawn.errors[k]) if drawn is not None else None,
                "touched": base is not None and k not in base.untouched,
            }
            for k, p in enumerate(subject.parameters)
        ],
        "base_parameters": [],
        "rank": base.rank if base is not None else None,
        "largest_rank": len(base.columns) if base is not None else None,
        "condition": base.condition if base is not None else None,
        "known_speed": result.known_speed,
        "untouched": [names[k] for k in base.untouched] if base is not None else [],
        "noise": dict(zip(result.names, weighted.noise.tolist(), strict=True)) if weighted is not None else None,
        "errors": result.figures,
        "errors_of_joints": {
            key: dict(zip(result.names, result.per_velocity(runs, x), strict=True)) if runs else None
            for key, runs, x in (
                ("data_before", result.data, result.x0),
                ("data", result.data, result.x),
                ("validation_before", result.validation, result.x0),
                ("validation", result.validation, result.x),
            )
        },
        "cross_validation": [{"file": file, "error": error} for file, error in result.cross],
        "bootstrap": None if drawn is None else {"count": drawn.count, "failed": drawn.failed, "block": drawn.block},
        "effort_gains": None
        if result.gains is None
        else [
            {"name": name, "value": float(value), "standard_error": float(error)}
            for name, value, error in zip(
                subject.plant.GetVelocityNames(), result.gains.values, result.gains.errors, strict=True
            )
        ],
        "friction": [
            {
                "joint": law.joint,
                "law": law.law,
                "alike": law.alike,
                "errors": law.errors,
                "stribeck_speed": law.speed,
            }
            for law in result.laws
        ],
        "held": subject.held.document(subject.plant),
        "filter": {"cutoff": result.cutoff, "rate": result.rate},
        "samples": result.counts,
        "findings": [finding.document() for finding in (*result.findings, *changed)],
    }
    if base is not None:
        document["base_parameters"] = [
            {
                "name": combination_name(names, row),
                "combination": {names[i]: float(row[i]) for i in np.flatnonzero(row)},
                "value": float(value) if np.isfinite(value) else None,
                "standard_error": float(error) if np.isfinite(error) else None,
                "bootstrap_error": float(drawn.base_errors[k]) if drawn is not None and np.isfinite(value) else None,
                "old": float(row @ result.x0),
                "new": float(row @ result.x),
            }
            for k, (row, value, error) in enumerate(zip(base.combinations, base.values, base.errors, strict=True))
        ]
    return document


def fitted_document(result: TrajectoryFit, output: str | None, changed: Sequence[Any]) -> dict[str, Any]:
    """The same of a fit by simulation: what is about efforts is null or empty."""
    return {
        "fit": "trajectory",
        "output": output,
        "parameters": [
            {
                "name": p.name,
                "kind": "inertial" if p.name.rpartition(".")[2] in PARAMETERS else "value",
                "unit": p.unit,
                "old": p.old,
                "new": p.new,
                "in_file": p.new,
                "standard_error": p.standard_error,
                "bootstrap_error": None,
                "touched": True,
            }
            for p in result.parameters
        ],
        "base_parameters": [],
        "rank": None,
        "largest_rank": None,
        "condition": None,
        "known_speed": None,
        "untouched": [],
        "noise": {name: float(value) for name, value in result.noise.items()},
        "errors": {**result.figures, "validation_of_file": None},
        "errors_of_joints": {
            key: result.of_positions.get(key) for key in ("data_before", "data", "validation_before", "validation")
        },
        "cross_validation": [{"file": file, "error": error} for file, error in result.cross],
        "bootstrap": None,
        "effort_gains": None,
        "friction": [],
        "held": [],
        "filter": {"cutoff": result.cutoff, "rate": None},
        "samples": {"rows": result.rows, "samples": result.samples, "stretches": result.segments},
        "findings": [finding.document() for finding in (*result.findings, *changed)],
    }


def combination_name(names: Sequence[str], row: Any) -> str:
    """A combination of parameters as text, without parts that are small: "a.Izz + 0.5 b.m"."""
    parts: list[str] = []
    largest = float(np.abs(row).max(initial=0.0))
    for i in sorted(np.flatnonzero(np.abs(row) > SMALL * largest).tolist(), key=lambda i: (row[i] != 1.0, i)):
        size = abs(float(row[i]))
        factor = "" if abs(size - 1.0) < 1e-9 else f"{size:.4g} "
        sign = ("- " if row[i] < 0.0 else "+ ") if parts else ("-" if row[i] < 0.0 else "")
        parts.append(f"{sign}{factor}{names[i]}")
    return " ".join(parts)
