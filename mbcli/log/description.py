"""describe(): a log as the document that `mbcli log info --json` prints."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.log.reader import Log

INFO_SCHEMA_VERSION = 1


def describe(log: Log, damage: Sequence[str] | None = None) -> dict:
    """What `mbcli log info --json` prints; docs/reference/log_format.md explains the keys.

    damage: that of the log, if known.
    """
    attributes = log.attrs
    versions = ("mbcli_version", "python", "platform", "cpu", "packages", "blas", "kernels")
    clock = log.run_clock()
    return {
        "schema": "mbcli/log-info",
        "schema_version": INFO_SCHEMA_VERSION,
        "log": log.path,
        "format_version": attributes["format_version"],
        "bytes": os.path.getsize(log.path),
        "status": log.status,
        "finished": log.finished,
        "exit_code": attributes.get("exit_code") if log.finished else None,
        "message": attributes.get("message", ""),
        "model": {"name": attributes["model_name"], "files": log.source_digests()},
        "time": _time_summary(log),
        "position_names": list(log.position_names),
        "velocity_names": list(log.velocity_names),
        "actuator_names": list(log.actuator_names),
        "fields": [
            {
                "path": path,
                "shape": [log.row_count, *log.row_shape(path)],
                "dtype": log.dtype(path).str[1:],
                "units": list(log.units[path]),
                "names": list(log.names[path]),
            }
            for path in log.fields()
        ]
        + _contact_fields(log),
        "events": log.events(),
        "checkpoint": log.read_checkpoint() is not None,
        "damage": log.damage() if damage is None else damage,
        "run": {
            "argv": attributes.get("argv", []),
            "seed": attributes.get("seed"),
            "deterministic": attributes.get("deterministic"),
            "created_utc": clock["created_utc"],
            "finished_utc": clock["finished_utc"] or None,
            "wall_time": clock["wall_time"] if log.finished else None,
            "model_sha256": attributes.get("model_sha256"),
            "config_sha256": attributes.get("config_sha256"),
        },
        "provenance": {name: attributes.get(name) for name in versions},
    }


def _contact_fields(log: Log) -> list:
    """The datasets under /contact: a row of them is a contact; those under /faces: of their own length."""
    if not log.has_contacts:
        return []
    lengths = log.contact_lengths()
    return [
        {
            "path": field.path,
            "shape": [lengths[field.path], *field.row_shape],
            "dtype": field.dtype,
            "units": list(field.units),
            "names": list(field.names),
        }
        for field in log.contact_fields + log.contact_names().face_fields
    ]


def _time_summary(log: Log) -> dict[str, Any]:
    """rows, start, end, duration [s], rate [Hz], and the least and largest distance of two rows [s]."""
    summary: dict[str, Any] = {"rows": log.row_count, "start": None, "end": None, "duration": None}
    summary |= {"rate": None, "least_interval": None, "largest_interval": None}
    if not log.row_count:
        return summary
    least, largest = float("inf"), 0.0
    last: Any = None
    for chunk in log.chunks(["time"], rows=1 << 16):
        times = chunk["time"]
        steps = times[1:] - times[:-1]
        if last is None:
            summary["start"] = float(times[0])
        else:
            least, largest = min(least, times[0] - last), max(largest, times[0] - last)
        if len(steps):
            least, largest = min(least, steps.min()), max(largest, steps.max())
        last = times[-1]
    summary["end"] = float(last)
    summary["duration"] = summary["end"] - summary["start"]
    if log.row_count > 1:
        summary["rate"] = (log.row_count - 1) / summary["duration"]
        summary["least_interval"], summary["largest_interval"] = float(least), float(largest)
    return summary
