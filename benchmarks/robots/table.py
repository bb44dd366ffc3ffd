"""The records of `count` as a table."""

import re
from collections import Counter, defaultdict

SLOW = 2.0  # [s]
LONGEST_LISTS = 40
SEVERITIES = ("error", "warning", "note")
NOT_FOLLOWED = ("ATTRIBUTE_UNSUPPORTED", "ELEMENT_UNSUPPORTED")  # of what a file states rightly; others find faults


def table(records, found, missing=()):
    """The lines of the report.

    Args:
        records: those of `count`.
        found: {origin: number of files}, equal ones included.
        missing: readers whose program is not installed.
    """
    lines = [f"{name} is not installed" for name in sorted(missing)]
    for part in (_formats, _origins, _refusals, _findings, _differences, _times):
        lines += [*part(records, found), ""]
    return "\n".join(lines).rstrip() + "\n"


def read_by_peer(record):
    return any(answer["read"] for answer in record["peers"].values())


def read_here(record):
    return read_by_peer(record) and record["mbcli"]["read"]


def _formats(records, found):
    yield f"{sum(found.values())} files, {len(records)} with different content"
    yield ""
    yield f"{'format':8} {'files':>6} {'read by a peer':>15} {'of these read here':>19} {'':>7} {'with options':>13}"
    for file_format in dict.fromkeys(record["format"] for record in records):
        of_format = [record for record in records if record["format"] == file_format]
        by_peer = [record for record in of_format if read_by_peer(record)]
        here = sum(map(read_here, by_peer))
        options = sum(1 for record in by_peer if record["mbcli"].get("options"))
        part = f"{here / len(by_peer):.1%}" if by_peer else ""
        yield f"{file_format:8} {len(of_format):6} {len(by_peer):15} {here:19} {part:>7} {options:13}"
    yield ""
    yield "With options: not read alone, but with --allow-outside --missing-meshes ignore --package-path FOLDER."


def _origins(records, found):
    yield f"{'folder':34} {'files':>6} {'different':>10} {'by a peer':>10} {'here':>6}"
    for origin, number in sorted(found.items()):
        own = [record for record in records if record["origin"] == origin]
        by_peer = sum(map(read_by_peer, own))
        yield f"{origin:34} {number:6} {len(own):10} {by_peer:10} {sum(map(read_here, own)):6}"


def cause(error):
    """(code or kind, message without names and numbers) of a line of mbcli."""
    code = re.search(r"\[([A-Z][A-Z0-9_]+)\]$", error)
    text = error[: code.start()] if code else error
    text = re.sub(r"^\S*?:(\d+:)*(\d+)?:? error: ", "", text)
    text = re.sub(r"\"[^\"]*\"|'[^']*'|<[^>]*>", "...", text)
    text = re.sub(r"(?:[\w.-]*/)+[\w.-]+", "PATH", text)
    text = re.sub(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", "N", text).strip()
    return code[1] if code else "", text


def _refusals(records, found):
    refused = [record for record in records if read_by_peer(record) and not record["mbcli"]["read"]]
    yield f"{len(refused)} files that a peer reads and mbcli refuses, by cause"
    groups = defaultdict(list)
    for record in refused:
        code, text = cause(record["mbcli"]["error"])
        if record["mbcli"].get("options"):
            text = f"(read with options) {text}"
        groups[record["format"], code, text].append(record)
    for (file_format, code, text), group in sorted(groups.items(), key=lambda item: -len(item[1])):
        yield ""
        yield f"{len(group):5}  {file_format:5} {code or '(no code)'}: {text[:200]}"
        yield f"       {group[0]['name']}"
        yield f"       {group[0]['mbcli']['error'][:400]}"


def _findings(records, found):
    checked = [record for record in records if read_here(record) and record["check"]["read"]]
    yield f"{len(checked)} files that are read: findings of `mbcli check`"
    for file_format in dict.fromkeys(record["format"] for record in checked):
        of_format = [record for record in checked if record["format"] == file_format]
        yield ""
        counts = [sum(1 for r in of_format if r["check"]["severities"].get(severity)) for severity in SEVERITIES]
        shares = ", ".join(f"{n} with {severity}s" for n, severity in zip(counts, SEVERITIES, strict=True))
        yield f"{file_format}: {len(of_format)} files, {shares}"
        yield f"{file_format}: {_clean(of_format)}"
        files, findings, example = Counter(), Counter(), {}
        for record in of_format:
            for code, number in record["check"]["codes"].items():
                files[code] += 1
                findings[code] += number
                example.setdefault(code, record["name"])
        order = sorted(files, key=lambda code: (SEVERITIES.index(code.split()[0]), -files[code]))
        for code in order:
            yield f"{files[code]:6} files {findings[code]:8} findings  {code:40} {example[code]}"
    failed = [r for r in records if read_by_peer(r) and not r["check"]["read"]]
    for record in failed:
        yield f"check {record['check']['error']}: {record['name']}"


def _clean(records):
    """How many files have no errors and warnings: of all, and of those in which `mbcli check` finds no fault."""
    faultless = [record for record in records if not _serious(record, faults=True)]
    clean = [record for record in faultless if not _serious(record)]
    of_faultless = f", {len(clean) / len(faultless):.0%} of the {len(faultless)} without a fault" if faultless else ""
    return f"{len(clean)} without errors and warnings, {len(clean) / len(records):.0%} of all{of_faultless}"


def _serious(record, faults=False):
    """The codes of errors and warnings of a file; with faults those alone that find a fault in it."""
    kinds = [kind.split() for kind in record["check"]["codes"]]
    return [code for severity, code in kinds if severity != "note" and not (faults and code in NOT_FOLLOWED)]


def _differences(records, found):
    differing = [record for record in records if record.get("differences")]
    yield f"{len(differing)} files with other numbers than the peer has (mbcli, peer)"
    kinds = defaultdict(list)
    for record in differing:
        kinds[record["format"], "+".join(sorted(record["differences"]))].append(record)
    for (file_format, quantities), group in sorted(kinds.items(), key=lambda item: -len(item[1])):
        yield ""
        yield f"{len(group):5}  {file_format:5} {quantities}"
        for record in group[:LONGEST_LISTS]:
            values = ", ".join(
                f"{name} {own:.12g} {other:.12g}" for name, (own, other) in record["differences"].items()
            )
            yield f"       {record['name']}: {values}"
        if len(group) > LONGEST_LISTS:
            yield f"       ... {len(group) - LONGEST_LISTS} more"


def _times(records, found):
    timed = [record for record in records if read_here(record)]
    seconds = sorted(record["mbcli"]["seconds"] for record in timed)
    if not seconds:
        return
    quantiles = ", ".join(f"{name} {seconds[int(part * (len(seconds) - 1))]:.3g} s" for name, part in QUANTILES.items())
    yield f"processor time of mbcli to read a file: {quantiles}"
    slow = sorted((r for r in timed if r["mbcli"]["seconds"] > SLOW), key=lambda r: -r["mbcli"]["seconds"])
    yield f"{len(slow)} files take longer than {SLOW:g} s (peers; Drake and Pinocchio open no meshes)"
    for record in slow[:LONGEST_LISTS]:
        peers = ", ".join(f"{name} {a['seconds']:.2f} s" for name, a in record["peers"].items() if a["read"])
        yield f"{record['mbcli']['seconds']:8.2f} s  {record['name']}  ({peers})"
    if len(slow) > LONGEST_LISTS:
        yield f"       ... {len(slow) - LONGEST_LISTS} more"


QUANTILES = {"median": 0.5, "90 %": 0.9, "99 %": 0.99, "longest": 1.0}
