"""What every program makes of every file: one record per file, and what differs between mbcli and a peer."""

import os

from benchmarks.robots.readers import PEERS
from benchmarks.robots.worker import NotInstalled, Worker

LIMIT = 60.0  # [s] for one file and program
MASS_TOLERANCE = 1e-10  # relative
COUNTED = ("positions", "velocities", "actuators", "links", "joints")  # Pinocchio gives the mass alone


def count(files, *, known=None, limit=LIMIT, on_record=lambda record: None):
    """Reads RobotFiles by the peers, and those that a peer reads by mbcli; returns a record (dict) for each.

    known: {(format, sha256): record} of an earlier run, whose answers of peers are taken. on_record: is given each
    record as it comes.
    """
    workers, records = Workers(limit), []
    try:
        for file in files:
            record = {"name": file.name, "origin": file.origin, "format": file.format, "sha256": file.sha256}
            earlier = (known or {}).get((file.format, file.sha256))
            record["peers"] = earlier["peers"] if earlier else peers_read(workers, file)
            if any(peer["read"] for peer in record["peers"].values()):
                record["mbcli"] = workers.ask("mbcli", file.path, file)
                record["check"] = workers.ask("check", file.path, file)
                record["differences"] = differences(record)
            records.append(record)
            on_record(record)
    finally:
        workers.close()
    return records


class Workers:
    """One worker for each reader that is asked for; readers whose program is missing have None for every file."""

    def __init__(self, limit):
        self._limit, self._workers, self.missing = limit, {}, set()

    def ask(self, reader, path, file):
        if reader in self.missing:
            return None
        worker = self._workers.setdefault(reader, Worker(reader, self._limit))
        try:
            return worker.ask(path, file.folder, file.format)
        except NotInstalled:
            self.missing.add(reader)
            return None

    def close(self):
        for worker in self._workers.values():
            worker.close()


def peers_read(workers, file):
    """{peer: its answer} of a file; of a file with macros the answers to what xacro makes of it."""
    path, expanded = file.path, None
    if file.format == "xacro":
        expanded = workers.ask("xacro", path, file)
        if expanded is None or not expanded["read"]:
            return {} if expanded is None else {"xacro": expanded}
        path = expanded["path"]
    try:
        answers = {peer: workers.ask(peer, path, file) for peer in PEERS[file.format]}
    finally:
        if expanded is not None:
            os.unlink(path)
    return {peer: answer for peer, answer in answers.items() if answer is not None}


def differences(record):
    """{quantity: [of mbcli, of the peer]} where they differ from those of the first peer that reads the file.

    A mass differs if no peer has it: pydrake puts 1 kg where a file has none but moments of inertia.
    """
    own, peers = record["mbcli"], [answer for answer in record["peers"].values() if answer["read"]]
    if not own["read"]:
        return {}
    found = {name: [own[name], peers[0][name]] for name in COUNTED if own[name] != peers[0].get(name, own[name])}
    if not any(abs(own["mass"] - peer["mass"]) <= MASS_TOLERANCE * abs(peer["mass"]) for peer in peers):
        found["mass"] = [own["mass"], peers[0]["mass"]]
    return found
