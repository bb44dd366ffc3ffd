"""The net over real files for `mbcli convert` and `mbcli compare`: every file to every format, read back, compared.

    python -m benchmarks.robots --convert FOLDER... [--engines] [--newton PYTHON]
    python -m benchmarks.robots --convert FOLDER... --shuffle --json results.json --resume results.json [--again]

A conversion ends with a model that is the same, or the warnings of `convert` name what differs; all else is a fault.
With --engines other programs read the results too, see by_engines.py: what they read otherwise is a fault.
"""

import json
import os
import random
import re
import shutil
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path

from benchmarks.robots import by_engines
from benchmarks.robots.by_engines import read_by_engines
from benchmarks.robots.forked import TOO_LONG, run_forked
from benchmarks.robots.runs import OUTSIDE, command_line, message_of
from benchmarks.robots.verdicts import DOCUMENTED

TARGETS = ("urdf", "sdf", "mjcf", "usd")
FORMATS = TARGETS
SINGLE = "1e-5"  # of models that went through USD
SAME, NAMED, LOSSY, EMPTY, REFUSED, DIFFERS, ENGINE, UNPROVED, UNREAD, LATE, BUG = VERDICTS = (
    "same",
    "named",
    "needs --lossy",
    "has no links",
    "not read",
    "differs",
    "engine differs",
    "not proved",
    "not read back",
    "too slow",
    "bug",
)
FAULTS = (DIFFERS, ENGINE, UNPROVED, UNREAD, LATE, BUG)
NO_LINKS = "a model of SDFormat has a link: this one has none"
EXAMPLES = 3


def convert(options):
    """Runs what the options of `python -m benchmarks.robots --convert` ask for; returns the exit code."""
    from benchmarks.robots.stepping import Saving, files_of

    warnings.simplefilter("ignore")
    files = files_of(options, FORMATS)
    if options.shuffle:
        random.Random(options.seed).shuffle(files)  # what is reached of it is a sample
    report, saving = Report(), Saving(options)
    report.take(earlier(options.resume), files, again=options.again)
    tasks = [(file, left) for file in files if (left := report.left(file, runs_of(file, options.targets)))]
    print(f"{len(files)} files, {len(tasks)} of them to convert", file=sys.stderr, flush=True)

    def show(file, run, result):
        record = report.add(file, run, result)
        if options.verbose or record["verdict"] in FAULTS:
            print(line(record), flush=True)
        saving.now_and_then(report)
        if run == runs[file][-1]:
            shutil.rmtree(os.path.join(folder, file.sha256), ignore_errors=True)

    runs = dict(tasks)
    with tempfile.TemporaryDirectory() as folder:
        act = partial(do, into=Path(folder), engines=options.engines, newton=options.newton)
        run_forked(tasks, act, limit=options.run_limit, processes=options.processes, on_result=show)
    saving.save(report)
    print(f"\n{report.table()}", flush=True)
    return int(report.failed())


# ------------------------------------------------------------------------------------------- one file


def runs_of(file, targets=TARGETS):
    """The runs of a RobotFile: to each format, and through another one back to its own; formats with blanks between."""
    back = [f"{target} {file.format}" for target in targets if file.format in TARGETS and target != file.format]
    return [*targets, *back]


def do(file, run, kept, into, engines=False, newton=None):
    """What became of a RobotFile in other formats, one after the other: a dict, see verdict().

    into: the folder in which the results stay until all runs of the file have ended. engines: whether others read the
    result; newton: the Python of an environment with Newton.
    """
    warnings.simplefilter("ignore")
    result = {"code": 0, "message": "", "lossy": False, "losses": [], "read_by": {}}
    folder = into / file.sha256
    source, source_format = str(file.path), file.format
    steps = run.split()
    for number, target in enumerate(steps):
        out = str(folder / "-".join(steps[: number + 1]) / f"converted.{target}")
        lossy, code, printed, said = _step(source, source_format, out, file, kept)
        result["lossy"] |= lossy
        if code != 0:
            return result | {"code": code, "message": message_of(said, code)}
        document = json.loads(printed)
        result["proved_by"] = document["proof"]["engines"]
        losses = document["losses"]
        result["losses"] += [[loss["kind"], loss["code"], loss["message"]] for loss in losses]
        source, source_format = out, target
    precision = ["--tolerance", SINGLE] if "usd" in (*steps, file.format) else []
    code, printed, said = command_line(["compare", str(file.path), out, "--json", *precision, *kept["reading"]])
    result.update(compared=code, message=message_of(said, code) if code not in (0, 1) else "")
    if code in (0, 1):
        result["differences"] = [[d["name"], d["where"], d["cause"]] for d in json.loads(printed)["quantities"]]
        if engines:
            result["read_by"] = read_by_engines(out, source_format, [Path(out).parent, file.folder], newton)
    return result


def _step(source, source_format, out, file, kept):
    """(whether it took --lossy, exit code, stdout, stderr) of one conversion; one that was done before is not again."""
    done = kept.setdefault("steps", {})
    if out not in done:
        target = out.rpartition(".")[2]
        Path(out).parent.mkdir(parents=True, exist_ok=True)
        command = ["convert", source, "--input-format", source_format, "--to", target, "-o", out, "--force"]
        command += ["--json", "--bundle"]
        answer = _converted(command, file, kept)
        lossy = answer[0] == 3 and "--lossy" in answer[2]
        if lossy:
            answer = command_line([*command, *kept["reading"], "--lossy"])
        done[out] = (lossy, *answer)
    return done[out]


def _converted(command, file, kept):
    """(exit code, stdout, stderr) of a command; with all packages from the first file on that is not read without."""
    if "reading" in kept:
        return command_line([*command, *kept["reading"]])
    kept["reading"] = []
    code, printed, said = command_line(command)
    if code in (3, 4) and "--lossy" not in said:
        kept["reading"] = [*OUTSIDE, "--package-path", str(file.folder)]
        return command_line([*command, *kept["reading"]])
    return code, printed, said


# ----------------------------------------------------------------------------------------- what it was


def verdict(result):
    """(verdict, message) of a result of do()."""
    if result.get("died", "").startswith(TOO_LONG):
        return LATE, result["died"]
    if "died" in result or "raised" in result:
        return BUG, result.get("died") or result["raised"]
    message = result["message"].split("\n")[0].removeprefix("mbcli: error: ")
    for step in ("code", "compared"):
        code = result.get(step, 0)
        if code not in (0, 1, *DOCUMENTED) or "Traceback" in result["message"]:
            return BUG, f"{step} {code}: {message}"
    if result["code"] == 5:
        return UNPROVED, message
    if result["code"]:
        return (EMPTY if NO_LINKS in message else REFUSED), message
    if result["compared"] not in (0, 1):
        return UNREAD, message
    unnamed = [d for d in result["differences"] if not is_named(d, result["losses"])]
    if unnamed:
        name, where, cause = unnamed[0]
        return DIFFERS, f"{len(unnamed)} differences, first: {name} of {where}: {cause}"
    for engine, (word, said) in result.get("read_by", {}).items():
        if word == by_engines.DIFFERS:
            return ENGINE, f"{engine}: {said}"
    if result["lossy"]:
        return LOSSY, next(loss[2] for loss in result["losses"] if loss[0] == "motion")
    return (NAMED if result["differences"] else SAME), ""


# quantities whose difference follows from a loss, wherever it is: {quantity: codes of losses, or their kind}
FOLLOWS = {
    **dict.fromkeys(("mass_matrix", "bias", "gravity_forces"), {"motion", "INERTIA"}),
    **dict.fromkeys(("X_PF", "X_CM", "axis", "X_BG", "X_BF", "com", "inertia", "p_AP", "p_BQ"), {"LINK_FRAME", "LINK"}),
    **dict.fromkeys(("parent", "child"), {"LINK"}),
    "number of constraints": {"CONSTRAINT", "JOINT", "LOOP"},
    "number of force elements": {"JOINT_SPRING_STIFFNESS", "CONSTRAINT"},
    "floating": {"JOINT_DAMPING"},  # a body that floats without damping needs no joint
    **dict.fromkeys(("gravity", "gravity_vector"), {"GRAVITY"}),
}


def is_named(difference, losses):
    """Whether what convert said covers a difference."""
    name, where, cause = difference
    element = where.removeprefix("deformable ").partition(" ")[2].rstrip("'").rpartition("::")[2]
    element = element.rpartition("_welds_to_")[2]  # a weld without a name is called after its link
    said = any(f"'{element}'" in message or f"::{element}'" in message for _, _, message in losses)
    said = said or (name in OF_NAMES and bool(_names(where, cause) & _renamed(losses)))
    return said or any({kind, code} & FOLLOWS.get(name, set()) for kind, code, _ in losses)


# what an element of another name is missing as, and what states its name: {quantity}
OF_NAMES = {"name", "body", "bodies", "joint", "joints", "frame", "geometry", "actuator", "parent", "child"}


def _names(where, cause):
    """The names in a difference."""
    return {*where.partition(" ")[2].split("::"), *re.findall("'([^']*)'", cause)}


def _renamed(losses):
    """Old and new names of the elements that convert calls otherwise, and of the link that stands for the world."""
    found = {name for _, code, message in losses if code == "NAME" for name in re.findall("'([^']*)'", message)}
    on_world = [message for _, code, message in losses if code == "WORLD"]
    found |= {name for message in on_world for name in re.findall("is on link '([^']*)'", message)}
    return found | {name.rpartition("::")[2] for name in found}  # a difference names a link without its model


def kind_of(word, result, message):
    if word == DIFFERS:
        unnamed = [d for d in result["differences"] if not is_named(d, result["losses"])]
        return ", ".join(sorted({f"{d[0]} of {d[1].partition(' ')[0]}" for d in unnamed}))[:200]
    text = re.sub(r"'[^']*'|\"[^\"]*\"|\S*/\S*|\d[\d.e+-]*", "*", message)
    return re.sub(r"\s+", " ", text)[:150]


def earlier(path):
    """The records of an earlier run; none if there is no such file yet."""
    return json.loads(Path(path).read_text()) if path and Path(path).exists() else []


class Report:
    def __init__(self):
        self.records = []

    def take(self, records, files, *, again=False):
        """Takes records of an earlier run of the files, as verdict() sees them now; without its faults if `again`."""
        of_content = {(file.format, file.sha256): file for file in files}
        for record in records:
            file = of_content.get((record["format"], record["sha256"]))
            if file and not (again and verdict(record["result"])[0] in FAULTS):
                self.add(file, record["target"].replace(" to ", " "), record["result"])

    def left(self, file, runs):
        """Those of the runs of a file that have no record."""
        done = {record["target"] for record in self.records if record["sha256"] == file.sha256}
        return [run for run in runs if " to ".join(run.split()) not in done]

    def add(self, file, run, result):
        word, message = verdict(result)
        message = message.replace(str(file.path), file.name)
        kind = kind_of(word, result, message)
        record = {
            "file": file.name,
            "format": file.format,
            "sha256": file.sha256,
            "target": " to ".join(run.split()),
            "verdict": word,
            "message": message,
        }
        self.records.append(record | {"kind": kind, "result": result})
        return self.records[-1]

    def failed(self):
        return any(record["verdict"] in FAULTS for record in self.records)

    def table(self):
        return "\n".join([*self._totals(), "", *self._engines(), "", *self._kinds()]) + "\n"

    def _totals(self):
        counts = defaultdict(Counter)
        for record in self.records:
            counts[f"{record['format']} to {record['target']}"][record["verdict"]] += 1
        counts["all"] = sum(counts.values(), Counter())
        yield f"{len({record['file'] for record in self.records})} files, {len(self.records)} conversions"
        yield f"{'':20}" + "".join(f"{word:>15}" for word in VERDICTS)
        for name, of_name in counts.items():
            yield f"{name:20}" + "".join(f"{of_name[word]:15}" for word in VERDICTS)

    def _engines(self):
        """What other programs made of the results; MuJoCo, and Newton beside mbcli, compile them in the proof."""
        counts, refusals = defaultdict(Counter), Counter()
        for record in self.records:
            for engine in record["result"].get("proved_by", ())[1:]:
                counts[engine.split()[0]]["equal"] += 1
            for engine, (word, said) in record["result"].get("read_by", {}).items():
                counts[engine][word] += 1
                if word == by_engines.REFUSES:
                    refusals[engine, kind_of(word, {}, said)] += 1
        for engine, words in counts.items():
            yield f"{engine:20}" + "".join(f"{words[word]:6} {word}" for word in by_engines.WORDS)
        for (engine, kind), number in refusals.most_common():
            yield f"{number:6} refused by {engine}: {kind}"

    def _kinds(self):
        kinds = defaultdict(list)
        for record in self.records:
            if record["verdict"] not in (SAME, NAMED):
                kinds[record["verdict"], record["kind"]].append(record)
        order = VERDICTS[::-1]
        for (word, kind), group in sorted(kinds.items(), key=lambda item: (order.index(item[0][0]), -len(item[1]))):
            yield f"{len(group):6} {word}: {kind}"
            for record in group[:EXAMPLES]:
                yield f"         {record['file']} to {record['target']}: {record['message'][:300]}"

    def document(self):
        return json.dumps(self.records, indent=1)


def line(record):
    text = f"{record['verdict']:14} {record['format']:4} to {record['target']:11} {record['file']}"
    return f"{text}: {record['message'][:300]}" if record["message"] else text
