"""Sweeps in parts, as arrays of a scheduler run them: merged, they are the whole; and how far a sweep is."""

import json
import os
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from command_line import cli, succeed
from mbcli.parsers.scenes.file_schemas import schema_text
from repository import SAMPLES

from mbcli.errors import ArgumentError, ModelError, ResourceError
from mbcli.sweeps import sweep
from mbcli.sweeps.points import make_points
from mbcli.sweeps.shards import Journals, Shard, parse_shard
from mbcli.sweeps.variations import parse_variations

PENDULUM = str(SAMPLES / "double_pendulum.urdf")
WORDS = ("sweep", PENDULUM, "--vary", "state.elbow=linspace(-1, 1, 7)", "--vary", "body.lower.mass=1,-1", "-t", "0.02")
WORDS += ("-j", "1", "--measure", "top=max(elbow)")


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_parts_that_are_merged_are_the_whole(in_folder):
    succeed(*WORDS, "-o", "whole.csv")
    for k in (3, 1):
        result = succeed(*WORDS, "-o", "t.csv", "--shard", f"{k}/3", "--resume")
        assert f"they are in t.csv.{k}-of-3.journal; `mbcli sweep merge t.csv` writes the table" in result.err
    unfinished = cli("sweep", "merge", "t.csv")
    assert unfinished.code == 3 and "5 of 14 runs are missing: run --shard 2/3 with --resume" in unfinished.err
    again = succeed(*WORDS, "-o", "t.csv", "--shard", "3/3", "--resume")  # nothing is left
    assert "4 runs in" in again.err and "4 of them before" in again.err
    succeed(*WORDS, "-o", "t.csv", "--shard", "2/3")
    result = succeed("sweep", "merge", "t.csv")
    assert "14 runs of 3 parts: 7 ok, 7 invalid model" in result.err
    assert Path("t.csv").read_bytes() == Path("whole.csv").read_bytes()
    assert cli("sweep", "merge", "t.csv").code == 6  # it is there
    succeed("sweep", "merge", "t.csv", "--force", "-q")


def test_the_status_of_a_sweep_says_what_is_done_and_what_failed(in_folder):
    succeed(*WORDS, "-o", "t.csv", "--shard", "1/3")
    text = succeed("sweep", "status", "t.csv").out
    assert "5 of 14 cases: 3 ok, 2 invalid model" in text and "1 of 3 parts have begun" in text
    assert "failed: point 3 (state.elbow=-0.666" in text and "slowest: point " in text
    document = succeed("sweep", "status", "t.csv", "--json").json()
    jsonschema.validate(document, json.loads(schema_text("results")))
    assert document["done"] == 5 and document["states"] == {"ok": 3, "invalid_model": 2}
    assert document["failed"][0]["values"] == {"state.elbow": pytest.approx(-2 / 3), "body.lower.mass": -1.0}
    succeed(*WORDS, "-o", "whole.csv")
    assert succeed("sweep", "status", "whole.csv", "--json").json()["eta"] == 0.0


def test_journals_of_other_sweeps_and_damaged_ones_are_named(in_folder):
    with pytest.raises(ResourceError, match=r"t.csv: error: there is no t.csv.journal, and no t.csv.K-of-N.journal"):
        Journals("t.csv")
    succeed(*WORDS, "-o", "t.csv", "--shard", "1/3")
    succeed(*WORDS, "-o", "t.csv", "--shard", "2/3", "--seed", "3")
    with pytest.raises(ModelError, match=r"t.csv.2-of-3.journal: error: is of a sweep with other seed than t.csv.1-of"):
        Journals("t.csv")
    Path("t.csv.2-of-3.journal").write_bytes(b'{"journal": "mbcli-sweep"}\tno\n')
    with pytest.raises(ModelError, match="is not the journal of a sweep"):
        Journals("t.csv")


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/1000000", "-1/2"])
def test_a_part_is_one_of_its_number(text):
    with pytest.raises(ArgumentError, match="shard is K/N with K from 1 to N"):
        parse_shard(text)


def test_parts_have_each_point_once():
    parts = [Shard(k, 7) for k in range(1, 8)]
    assert all(sum(part.has(index) for part in parts) == 1 for index in range(100))
    assert [sum(map(part.has, range(100))) for part in parts] == [part.size(100) for part in parts]


def test_points_are_made_when_they_are_asked_for_as_seeds_are_spawned():
    points = make_points(parse_variations(["a=uniform(0, 1)", "b=1,2"]), samples=1_000_000, seed=5)
    spawned = np.random.SeedSequence(5).spawn(4)[3]
    assert points[2].seed == int(spawned.generate_state(1, np.uint64)[0] >> np.uint64(11))
    assert points[-1].index == 999_999 and len(points) == 1_000_000
    grid = make_points(parse_variations(["a=1,2", "b=3,4,5"]))
    assert [tuple(point.values.values()) for point in grid] == [(a, b) for a in "12" for b in "345"]
    with pytest.raises(IndexError):
        grid[6]


def test_a_table_in_python_does_not_need_its_journal(in_folder):
    table = sweep(PENDULUM, {"state.elbow": [0.1, 0.2]}, duration=0.01, jobs=1, journal="j")
    os.unlink("j")
    assert table.counts() == {"ok": 2} and len(table.as_csv().splitlines()) == 3
