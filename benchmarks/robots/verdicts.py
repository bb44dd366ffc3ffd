"""What a run of the net over real files came to, in one word and one line, and how many came to what."""

import json
import re
from collections import Counter, defaultdict

from benchmarks.robots.runs import UNIT, name_of
from benchmarks.robots.table import cause

WELL, REFUSED, CAUSE, FAILURE, ENERGY, QUATERNION, BUG, LEFT_OUT = VERDICTS = (
    "ends well",
    "not read",
    "named cause",
    "not solved",
    "gains energy",
    "no rotation",
    "bug",
    "left out",
)
# Sentences of exit code 5 that name something in the model that a person can change
CAUSES = (
    r"has no mass.*: its motion cannot be computed; give it an inertial, or fix it",
    r"gimbal lock",
    r"nothing that it moves has inertia",
    r"velocities have no inertia, .* the motion is not determined; give it what it lacks",
)
DOCUMENTED = {2: "usage", 3: "the model is invalid", 4: "a file is missing", 5: "numerical failure"}
EXAMPLES = 3


def verdict(result):
    """(verdict, message) of the result of runs.do()."""
    if "left_out" in result:
        return LEFT_OUT, result["left_out"]
    if "died" in result:
        return BUG, result["died"]
    if "raised" in result:
        return BUG, result["raised"]
    code, message = result["code"], result["message"]
    if code == 0:
        return _of_a_run(result)
    first = message.split("\n")[0].removeprefix("mbcli: error: ").partition("; the rows before")[0]
    if code not in DOCUMENTED or "Traceback" in message or not first:
        return BUG, f"exit code {code}: {first}"
    if code == 5 and not any(re.search(pattern, message) for pattern in CAUSES):
        return FAILURE, first
    return (REFUSED if code in (3, 4) else CAUSE), f"exit code {code}: {first}"


def _of_a_run(result):
    if not result["finite"]:
        return FAILURE, "ends with exit code 0 and rows that are not finite"
    gain = result.get("gain")
    if gain and gain["energy"] > gain["allowed"]:
        parts = ", ".join(f"{name} {value:.2g}" for name, value in gain["balance"].items())
        return ENERGY, f"gains {gain['energy']:.2g} J from rest ({parts})"
    if result["off_unit"] > UNIT:
        return QUATERNION, f"a quaternion has a norm off 1 by {result['off_unit']:.2g}"
    return WELL, ""


def kind_of(word, message):
    """A message without names and numbers, by which runs are counted."""
    if word == ENERGY:
        return "gains energy from rest"
    text = cause(re.sub(r"^exit code \d: ", "", message))[1]
    return re.sub(r"\s*\(.*$", "", text)[:150]


class Report:
    """The lines of runs as they come, and the table of all."""

    def __init__(self):
        self.records, self._of_files = [], defaultdict(list)

    def add(self, file, run, result):
        """The line of a run; None if it says again that a file is not read."""
        word, message = verdict(result)
        record = {"file": file.name, "run": run, "verdict": word, "message": message.replace(f"{file.path}", file.name)}
        again = word == REFUSED and any(r["verdict"] == REFUSED for r in self._of_files[file.name])
        self.records.append(record | {"result": result})
        self._of_files[file.name].append(self.records[-1])
        return None if again else line(record)

    def failed(self):
        """Whether a run came to what no run may."""
        return any(record["verdict"] in (FAILURE, ENERGY, QUATERNION, BUG) for record in self.records)

    def table(self):
        return "\n".join([*self._totals(), "", *self._kinds()]) + "\n"

    def _totals(self):
        counts = defaultdict(Counter)
        for record in self.records:
            counts[_way(record["run"])][record["verdict"]] += 1
        words = VERDICTS
        yield f"{len({record['file'] for record in self.records})} files, {len(self.records)} runs"
        yield f"{'runs':24}" + "".join(f"{word:>14}" for word in words) + f"{'well of read':>14}"
        counts["all"] = sum(counts.values(), Counter())
        for way, of_way in counts.items():
            read = sum(n for word, n in of_way.items() if word not in (LEFT_OUT, REFUSED))
            share = f"{of_way[WELL] / read:.1%}" if read else ""
            yield f"{way:24}" + "".join(f"{of_way[word]:14}" for word in words) + f"{share:>14}"

    def _kinds(self):
        kinds = defaultdict(list)
        for record in self.records:
            if record["verdict"] not in (WELL, LEFT_OUT):
                kinds[record["verdict"], kind_of(record["verdict"], record["message"])].append(record)
        order = (BUG, FAILURE, ENERGY, QUATERNION, CAUSE, REFUSED)
        for (word, kind), group in sorted(kinds.items(), key=lambda item: (order.index(item[0][0]), -len(item[1]))):
            files = len({record["file"] for record in group})
            yield f"{len(group):6} runs of {files} files, {word}: {kind}"
            seen = set()
            for record in group:
                if record["file"] not in seen and len(seen) < EXAMPLES:
                    seen.add(record["file"])
                    yield f"         {record['file']}, {name_of(record['run'])}: {record['message'][:300]}"

    def document(self):
        return json.dumps(self.records, indent=1)


def _way(run):
    return run[1] if run[0] == "way" else f"start {run[1]} {run[3]}"


def line(record):
    text = f"{record['verdict']:12} {name_of(record['run']):28} {record['file']}"
    return f"{text}: {record['message'][:400]}" if record["message"] else text
