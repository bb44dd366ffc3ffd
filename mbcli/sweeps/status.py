"""How far a sweep is, from its journals: from any terminal, while it runs or after it was lost."""

from __future__ import annotations

import heapq
import time
from typing import TYPE_CHECKING, Any

from mbcli.sweeps.point_run import OK

if TYPE_CHECKING:
    from mbcli.sweeps.shards import Journals

MOST_SHOWN = 5  # of the slowest, and of the failed cases
RECENT = 0.5  # part of the cases from whose times the rate follows


def sweep_status(journals: Journals) -> dict[str, Any]:
    """What a sweep has done.

    Returns:
        cases: how many there are; done; states: {status: how many}; eta: [s] until the last at the rate of the newer
        half, None if that is not known; idle: [s] since the last row; workers: how many ran one; slowest, failed: some
        of them, as {point, status, message, wall_time, worker, values}.
    """
    slowest: list[tuple[float, int]] = []
    failed: list[int] = []
    times: list[float] = []
    workers: set[str] = set()
    for index in journals:
        entry = journals.entry(index)
        row = entry["row"]
        seconds, at = row.get("wall_time"), entry.get("at")
        if isinstance(seconds, float):
            heapq.heappush(slowest, (seconds, -index))
            if len(slowest) > MOST_SHOWN:
                heapq.heappop(slowest)
        if isinstance(at, float):
            times.append(at)
        if row["status"] != OK and len(failed) < MOST_SHOWN:
            failed.append(index)
        workers.add(str(row.get("worker", "")))
    times.sort()
    left = journals.count - len(journals)
    eta = None
    if times:
        recent = times[int((1.0 - RECENT) * len(times)) :]
        span = recent[-1] - recent[0]
        eta = 0.0 if not left else left * span / (len(recent) - 1) if len(recent) > 1 and span > 0.0 else None
    return {
        "cases": journals.count,
        "done": len(journals),
        "states": journals.counts(),
        "eta": eta,
        "idle": max(0.0, time.time() - times[-1]) if times else None,
        "workers": len(workers - {""}) or None,
        "parts": journals.parts,
        "journals": journals.paths,
        "slowest": [_case(journals, -index) for _, index in sorted(slowest, reverse=True)],
        "failed": [_case(journals, index) for index in failed],
    }


def _case(journals: Journals, index: int) -> dict[str, Any]:
    entry = journals.entry(index)
    row = entry["row"]
    values = dict(zip(journals.head["columns"], entry["cells"], strict=True))
    told = {name: row.get(name) for name in ("status", "message", "wall_time", "worker")}
    return {"point": index, **told, "values": values}
