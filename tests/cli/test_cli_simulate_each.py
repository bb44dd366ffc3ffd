"""`mbcli simulate --states STARTS --each`: every world is the single run from its start, in one log."""

import csv
import json
import re

import h5py
import jsonschema
import numpy as np
import pytest
from command_line import cli, succeed
from mbcli.parsers.scenes.file_schemas import schema_text
from repository import ROOT, SAMPLES

from mbcli.errors import ArgumentError, ModelError, ResourceError
from mbcli.log import open_log
from mbcli.log.worlds import WorldsLog
from mbcli.simulation import simulate_each

TWO_LINKS, QUADRUPED = SAMPLES / "double_pendulum.urdf", SAMPLES / "quadruped.urdf"
DOCUMENT = ROOT / "docs" / "reference" / "log_format.md"
STARTS = ("shoulder,v:elbow\n", "0.5,0\n", "-1,2\n", "2,-0.5\n")


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """Short runs: nobody waits for a compiler."""
    monkeypatch.setenv("MBCLI_JIT", "0")


@pytest.fixture
def starts(tmp_path):
    path = tmp_path / "starts.csv"
    path.write_text("".join(STARTS))
    return path


def validated(result):
    document = result.json()
    jsonschema.Draft202012Validator(json.loads(schema_text("results"))).validate(document)
    return document


def test_each_world_is_a_single_run(tmp_path, starts):
    every = succeed(
        "simulate",
        TWO_LINKS,
        "--states",
        starts,
        "--each",
        "--fill",
        "default",
        "-t",
        0.05,
        "-o",
        tmp_path / "all.h5",
        "--json",
    )
    document = validated(every)
    assert document["schema"] == "mbcli/simulate-each"
    assert (document["worlds"], document["steps"], document["stopped"]) == (3, 150, [])
    with WorldsLog(tmp_path / "all.h5") as log:
        assert log.q.shape == (3, 6, 2)
        for k, (shoulder, rate) in enumerate(((0.5, 0), (-1, 2), (2, -0.5))):
            one = tmp_path / f"{k}.h5"
            succeed(
                "simulate", TWO_LINKS, "--at", f"shoulder={shoulder}", "--at", f"elbow_w={rate}", "-t", 0.05, "-o", one
            )
            with open_log(one) as single:
                np.testing.assert_array_equal(log.times, single.times)
                np.testing.assert_array_equal(log.q[k], single.q)
                np.testing.assert_array_equal(log.v[k], single.v)
                world = log.world(k)
                np.testing.assert_array_equal(world.q, single.q)
                assert (world.status, world.position_names) == ("complete", single.position_names)


def test_the_last_row_is_at_the_end(tmp_path, starts):
    succeed(
        "simulate", TWO_LINKS, "--states", starts, "--each", "--fill", "default", "-t", 0.023, "-o", tmp_path / "all.h5"
    )
    with WorldsLog(tmp_path / "all.h5") as log:
        np.testing.assert_allclose(log.times, [0.0, 0.01, 0.02, 0.023])
        assert np.isfinite(log.q).all()
        np.testing.assert_allclose(log.end_times, 0.023)


def test_rows_of_positions_alone_start_at_rest_which_is_said_once(tmp_path):
    """JSON lines too; some velocities are not none of them, and --fill alone is --fill default."""
    path, log = tmp_path / "starts.csv", tmp_path / "all.h5"
    path.write_text("shoulder,elbow\n0.5,0\n-1,0.2\n")
    words = ("simulate", TWO_LINKS, "--each", "-t", 0.01, "-o", log, "--force")
    done = succeed(*words, "--states", path)
    assert [line for line in done.err.splitlines() if "velocities" in line] == [
        f"mbcli: {path}: has no velocities: every run starts at rest"
    ]
    with WorldsLog(log) as worlds:
        np.testing.assert_array_equal(worlds.q[:, 0], [[0.5, 0.0], [-1.0, 0.2]])
        np.testing.assert_array_equal(worlds.v[:, 0], np.zeros((2, 2)))
    moving = succeed(*words, "--states", path, "--at", "elbow_w=2")
    assert "starts with those of the model and --at" in moving.err
    with WorldsLog(log) as worlds:
        np.testing.assert_array_equal(worlds.v[:, 0], [[0.0, 2.0]] * 2)
    lines = tmp_path / "starts.jsonl"
    lines.write_text('{"q": [0.5, 0]}\n{"shoulder": -1, "elbow": 0.2}\n')
    assert "every run starts at rest" in succeed(*words, "--states", lines).err
    path.write_text("shoulder,elbow,shoulder_w\n0.5,0,1\n")
    refused = cli(*words, "--states", path)
    assert refused.code == 3 and "no velocity of double_pendulum_elbow_w" in refused.err
    assert "velocities" not in succeed(*words, "--states", path, "--fill", "-t", 0.02).err


def test_an_array_of_positions_starts_at_rest(tmp_path):
    q = np.array([[0.5, 0.0], [-1.0, 0.2]])
    with simulate_each(TWO_LINKS, q, until=0.01, log=tmp_path / "all.h5") as log:
        np.testing.assert_array_equal(log.q[:, 0], q)
        np.testing.assert_array_equal(log.v[:, 0], np.zeros((2, 2)))
    with pytest.raises(ArgumentError, match=r"q has shape \(2, 1\)"):
        simulate_each(TWO_LINKS, q[:, :1], until=0.01, log=tmp_path / "b.h5")


def test_tail_and_loads_take_one_world(tmp_path, starts):
    log = tmp_path / "all.h5"
    options = ("--states", starts, "--each", "--fill", "default", "-t", 0.05, "--fields", "u")
    succeed("simulate", TWO_LINKS, *options, "-o", log)
    rows = [json.loads(line) for line in succeed("log", "tail", log, "--world", 1, "-n", 2, "--json").out.splitlines()]
    with WorldsLog(log) as worlds:
        assert [row["q"] for row in rows] == worlds.q[1, -2:].tolist()
    assert "actuator" in succeed("loads", log, "--world", 1).out
    for words in ((), ("--world", 1, "--follow")):
        refused = cli("log", "tail", log, *words)
        assert refused.code == 2 and refused.err.count("\n") == 1


def test_actuation_comes_with_the_starts_or_for_all(tmp_path):
    of_starts, series = tmp_path / "starts.csv", tmp_path / "series.csv"
    of_starts.write_text("u:elbow\n0\n3\n")
    series.write_text("time,elbow\n0,0\n0.004,3\n")
    common = ("--each", "--fill", "default", "-t", 0.01, "--log-rate", 0)
    succeed("simulate", TWO_LINKS, "--states", of_starts, *common, "-o", tmp_path / "a.h5")
    of_starts.write_text("elbow\n0\n0.1\n")
    succeed("simulate", TWO_LINKS, "--states", of_starts, *common, "--input", series, "-o", tmp_path / "b.h5")
    succeed("simulate", TWO_LINKS, "--input", series, "-t", 0.01, "--log-rate", 0, "-o", tmp_path / "one.h5")
    with WorldsLog(tmp_path / "a.h5") as a, WorldsLog(tmp_path / "b.h5") as b, open_log(tmp_path / "one.h5") as one:
        np.testing.assert_array_equal(a.field("input/u")[:, :, 0], [[0.0] * 11, [3.0] * 11])
        np.testing.assert_array_equal(b.q[0], one.q)
        np.testing.assert_array_equal(b.field("input/u")[0, :-1, 0], one.u[:-1, 0])
        assert not (a.q[0] == a.q[1]).all()
    refused = cli("simulate", TWO_LINKS, "--states", tmp_path / "none.csv", "--each", "--fill", "default", "--no-log")
    assert refused.code == 4


def test_the_document_lists_the_datasets(tmp_path, starts):
    series = tmp_path / "series.csv"
    series.write_text("time,elbow\n0,0\n")
    options = ("--each", "--fill", "default", "--input", series, "-t", 0.01, "-o", tmp_path / "all.h5")
    succeed("simulate", TWO_LINKS, "--states", starts, *options)
    text = DOCUMENT.read_text(encoding="utf-8").partition("\n## Many worlds")[2].partition("\n## ")[0]
    listed = {
        name for line in re.findall(r"^    (/.*)$", text, re.MULTILINE) for name in re.findall(r"(?:^| )/(\S+\w)", line)
    }
    found = set()
    with h5py.File(tmp_path / "all.h5") as file:
        file.visititems(lambda name, item: found.add(name) if isinstance(item, h5py.Dataset) else None)
    found = {re.sub("(?<=model/source/|..checkpoint/).*", "NAME", f"  {name}").strip() for name in found}
    of_fields = {
        f"{group}/NAME" for group in ("sensors", "input", "derived", "solver", "contact", "faces", "controller")
    }
    assert listed - of_fields == found


def test_controllers_hold_each_world_where_it_starts(tmp_path):
    """The elbow has the gains of its outboard link, the same at every start."""
    path, run = tmp_path / "starts.csv", ("simulate", TWO_LINKS, "--hold", "-t", 0.1)
    path.write_text("elbow\n0.5\n-0.25\n")
    succeed(*run, "--states", path, "--each", "--fill", "default", "-o", tmp_path / "all.h5")
    succeed(*run, "--at", "elbow=-0.25", "-o", tmp_path / "one.h5")
    with WorldsLog(tmp_path / "all.h5") as log, open_log(tmp_path / "one.h5") as one:
        np.testing.assert_allclose(log.q[:, -1, 1], [0.5, -0.25], atol=0.02)
        np.testing.assert_allclose(log.q[1], one.q, rtol=0.0, atol=1e-12)  # gains by rounding


def test_a_world_that_stops_is_told_and_the_others_are_whole(tmp_path):
    path = tmp_path / "starts.csv"
    path.write_text("v:elbow\n0.1\n1e200\n0.2\n")
    result = cli(
        "simulate", TWO_LINKS, "--states", path, "--each", "--fill", "default", "-t", 0.02, "-o", tmp_path / "all.h5"
    )
    assert result.code == 5
    assert "1 world stopped" in result.out
    assert "1 at 0 s: a number is not finite" in result.out
    document = validated(succeed("log", "info", tmp_path / "all.h5", "--json"))
    assert [stopped["world"] for stopped in document["stopped"]] == [1]
    assert "world 1 at 0 s" in succeed("log", "info", tmp_path / "all.h5").out
    with WorldsLog(tmp_path / "all.h5") as log:
        assert np.isfinite(log.q[[0, 2]]).all()
        assert np.isnan(log.q[1, 1:]).all()
        assert log.world(1).row_count == 1
        assert log.world(1).status == "failed"


def test_a_log_of_worlds_is_run_again_from_its_own_starts(tmp_path, starts):
    log = tmp_path / "all.h5"
    (tmp_path / "m.urdf").write_text(TWO_LINKS.read_text())
    push = ("--push", "lower=3@random for 0.01", "--seed", 4)
    options = ("--states", starts, "--each", "--fill", "default", *push, "-t", 0.03, "-o", log)
    succeed("simulate", tmp_path / "m.urdf", *options, "--fields", "energy")
    starts.unlink()  # the log has them in its first row
    (tmp_path / "m.urdf").unlink()  # and its model
    document = validated(succeed("log", "verify", log, "--json"))
    assert (document["same"], document["worlds"], document["world"]) == (True, 3, None)
    assert "4 rows of each of 3 worlds" in succeed("log", "verify", log).out
    with h5py.File(log, "r+") as file:
        file["state/q"][2, 3, 1] += 1e-9
    result = cli("log", "verify", log)
    assert result.code == 1 and "world 2 differs first" in result.out and "0.03 s: state/q" in result.out
    assert cli("log", "verify", log, "--tolerance", 1e-8).code == 0


@pytest.mark.parametrize(
    "words", ["log show", "log export --to csv", "log plot --text", "loads", "log diff --tolerance 0"]
)
def test_commands_that_take_logs_of_single_runs_take_one_of_many_worlds(tmp_path, starts, words):
    every, one = tmp_path / "all.h5", tmp_path / "one.h5"
    options = ("-t", 0.02, "--fields", "reactions,u")
    succeed("simulate", TWO_LINKS, "--states", starts, "--each", "--fill", "default", *options, "-o", every)
    succeed("-q", "simulate", TWO_LINKS, "--at", "shoulder=2", "--at", "elbow_w=-0.5", *options, "-o", one)
    words = words.split()
    if words[1:2] == ["diff"]:
        result = cli(*words, every, one, "--world", 2, "--common-rows", "--fields", "q,v")
        assert result.code == 0, result.out
    else:
        rows = [succeed(*words, path, *world).out for path, world in ((every, ("--world", 2)), (one, ()))]
        assert rows[0].replace("all.h5", "one.h5").splitlines()[:3] == rows[1].splitlines()[:3]
    if "diff" in words:  # exports and tests/log/test_all_worlds.py have all worlds
        assert "log of many worlds: --world N names one" in cli(*words, every, one).err


def test_an_export_has_all_worlds_as_a_column(tmp_path, starts):
    every = tmp_path / "all.h5"
    options = ("--states", starts, "--each", "--fill", "default", "-t", 0.05, "--fields", "energy,u")
    succeed("simulate", TWO_LINKS, *options, "-o", every)
    rows = list(csv.DictReader(succeed("log", "export", every, "--to", "csv").out.splitlines()))
    assert [int(row["world"]) for row in rows] == [k for k in range(3) for _ in range(6)]
    for k in range(3):
        alone = list(csv.DictReader(succeed("log", "export", every, "--world", k, "--to", "csv").out.splitlines()))
        assert [{name: row[name] for name in alone[0]} for row in rows if row["world"] == str(k)] == alone
    chosen = succeed("log", "export", every, "--to", "jsonl", "--fields", "elbow", "--from", 0.02, "--every", 2)
    with WorldsLog(every) as log:
        lines = [json.loads(line) for line in chosen.out.splitlines()]
        assert [line["double_pendulum_elbow_q"] for line in lines] == log.q[:, 2::2, 1].ravel().tolist()
        assert [(line["world"], line["time"]) for line in lines] == [(k, t) for k in range(3) for t in log.times[2::2]]
        succeed("log", "export", every, "-o", tmp_path / "all.npz", "--fields", "v,energy_kinetic")
        with np.load(tmp_path / "all.npz") as arrays:
            np.testing.assert_array_equal(arrays["v"], log.v.reshape(18, 2))
            assert arrays["world"].tolist() == np.repeat(np.arange(3), 6).tolist()
            assert arrays["derived/energy_kinetic"].shape == (18,)
    document = validated(succeed("log", "export", every, "-o", tmp_path / "all.csv", "--json"))
    assert document["rows"] == 18 and document["columns"][:2] == ["time", "world"]
    for words, code in (
        (("--to", "mcap", "-o", tmp_path / "a.mcap"), 2),
        (("--to", "csv", "--fields", "contact"), 2),
        (("--to", "csv", "--from", 9), 4),
    ):
        refused = cli("log", "export", every, *words)
        assert refused.code == code and refused.err.count("\n") == 1


def test_worlds_that_stopped_have_the_rows_up_to_there(tmp_path, starts):
    every = tmp_path / "all.h5"
    succeed("simulate", TWO_LINKS, "--states", starts, "--each", "--fill", "default", "-t", 0.05, "-o", every)
    with h5py.File(every, "r+") as file:
        file["worlds/end_time"][1] = 0.02
        file["state/q"][1, 3:] = np.nan
    rows = list(csv.DictReader(succeed("log", "export", every, "--to", "csv", "--fields", "q").out.splitlines()))
    assert [row["world"] for row in rows] == ["0"] * 6 + ["1"] * 3 + ["2"] * 6
    assert all(np.isfinite(float(row["double_pendulum_elbow_q"])) for row in rows)


def test_one_world_of_a_log_is_shown(tmp_path, starts):
    succeed(
        "simulate", TWO_LINKS, "--states", starts, "--each", "--fill", "default", "-t", 0.02, "-o", tmp_path / "all.h5"
    )
    document = validated(succeed("log", "show", tmp_path / "all.h5", "--world", 2, "--json"))
    assert document["rows"] == 3
    assert document["columns"][0]["first"] == 2.0
    for words, code in (
        (("show", tmp_path / "all.h5", "--time", 0.01), 2),
        (("show", tmp_path / "all.h5", "--world", 3), 4),
        (("tail", tmp_path / "all.h5"), 2),
    ):
        result = cli("log", *words)
        assert result.code == code, words
        assert "world" in result.err
    single = tmp_path / "one.h5"
    succeed("simulate", TWO_LINKS, "-t", 0.01, "-o", single)
    assert cli("log", "show", single, "--world", 0).code == 2


@pytest.mark.parametrize(
    ("model", "words", "columns", "starts", "fields"),
    [
        (
            "quadruped.urdf",
            ("--ground", "--push", "trunk=30,0,0 from 0.001 to 0.003"),
            ("trunk_z", "trunk_vz"),
            ((0.31, -0.5), (0.4, 0.0)),
            "reactions solver contact compliance",
        ),
        ("closed_chains/four_bar.urdf", (), ("left_w",), ((0.0,), (0.0,)), "reactions constraint_error"),
    ],
    ids=["in contact", "a loop"],
)
def test_what_a_step_tells_of_each_world_is_what_it_tells_of_a_single_run(
    tmp_path, model, words, columns, starts, fields
):
    table, every = tmp_path / "starts.csv", tmp_path / "every.h5"
    table.write_text("\n".join(",".join(map(str, row)) for row in (columns, *starts)))
    common = (SAMPLES / model, *words, "-t", 0.004, "--log-rate", 0, "--fields", fields)
    succeed("-q", "simulate", *common, "--states", table, "--each", "--fill", "default", "-o", every)
    for k, start in enumerate(starts):
        one, at = tmp_path / f"{k}.h5", [f"{name}={value}" for name, value in zip(columns, start, strict=True)]
        succeed("-q", "simulate", *common, *(word for each in at for word in ("--at", each)), "-o", one)
        with open_log(one) as alone, WorldsLog(every) as log:
            world, paths = log.world(k), set(alone.fields()) - {"time", "state/q", "state/v", "input/u"}
            assert "derived/reactions" in paths and len(paths) > 1
            for path in paths:
                expected = np.asarray(alone.field(path))
                scale = max(np.abs(expected).max(), 1e-12)
                found = np.asarray(world.field(path)).reshape(expected.shape)
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * scale, err_msg=path)
            assert alone.has_contacts == world.has_contacts == ("contact" in fields)
            if alone.has_contacts:
                same_contacts(alone.contacts(), world.contacts())
                assert alone.contact_names() == world.contact_names()


def same_contacts(expected, found):
    assert expected.keys() == found.keys()
    for path, values in expected.items():
        scale = np.abs(values).max(initial=1e-12)
        np.testing.assert_allclose(found[path], values, rtol=0, atol=1e-9 * scale, err_msg=path)


def test_contacts_of_worlds_go_on_and_are_given_world_by_world(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "starts.csv").write_text("trunk_z,trunk_vz\n0.31,-0.5\n0.3,0\n0.6,0\n")
    run = ("-q", "simulate", QUADRUPED, "--ground", "--log-rate", 0, "--fields", "contact")
    run += ("--states", "starts.csv", "--fill", "default", "--each")
    succeed(*run, "-t", 0.006, "-o", "whole.h5")
    succeed(*run, "-t", 0.003, "-o", "part.h5")
    (tmp_path / "starts.csv").unlink()  # the log has them
    succeed("simulate", "--resume", "part.h5", "-t", 0.006)
    counts = []
    with WorldsLog("whole.h5") as whole, WorldsLog("part.h5") as part:
        for k in range(3):
            one, other = whole.world(k).contacts(), part.world(k).contacts()
            counts.append(int(one["offset"][-1]))
            for path, values in one.items():
                np.testing.assert_array_equal(other[path], values, err_msg=path)
    assert counts[0] > 0 and counts[2] == 0
    succeed("log", "export", "whole.h5", "--world", 0, "--fields", "contact", "-o", "contacts.csv")
    assert len((tmp_path / "contacts.csv").read_text().splitlines()) == counts[0] + 1


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("-t", 0.01), 2, "goes to 0.02 s, and the runs are to end at 0.01 s already"),
        (("-t", 0.04, "--log-rate", 50), 3, "has rows at other times: give the same --log-rate"),
        (("-t", 0.04, "--u", "elbow=1"), 3, "was run with other actuation"),
        (("-t", 0.04, "--fields", "energy"), 3, "give the same --fields"),
        (("-t", 0.04, "--dt", 0.002), 3, "was run with plant_config.time_step = 0.001"),
        (("-t", 0.04, "--q", "1 2"), 2, "--resume takes its state from the log"),
    ],
)
def test_runs_of_worlds_go_on_as_they_were_or_say_why_not(tmp_path, starts, words, code, message):
    path = tmp_path / "all.h5"
    common = (TWO_LINKS, "--states", starts, "--each", "--fill", "default", "-t", 0.02)
    succeed("-q", "simulate", *common, "-o", path)
    before = path.read_bytes()
    result = cli("simulate", "--resume", path, *words)
    assert (result.code, path.read_bytes()) == (code, before) and message in result.err
    with h5py.File(path, "a") as file:
        del file["checkpoint"]
    result = cli("simulate", "--resume", path, "-t", 0.04)
    assert result.code == 3 and "has no checkpoint to go on from" in result.err


def test_a_world_that_stopped_stays_stopped_when_the_others_go_on(tmp_path):
    table, path = tmp_path / "starts.csv", tmp_path / "all.h5"
    table.write_text("v:elbow\n0.1\n1e200\n0.2\n")
    common = ("-q", "simulate", TWO_LINKS, "--states", table, "--each", "--fill", "default")
    assert cli(*common, "-t", 0.02, "-o", path).code == 5
    result = cli("simulate", "--resume", path, "-t", 0.04)
    assert result.code == 5 and "1 world stopped" in result.out
    assert cli(*common, "-t", 0.04, "-o", tmp_path / "whole.h5").code == 5
    with WorldsLog(path) as part, WorldsLog(tmp_path / "whole.h5") as whole:
        np.testing.assert_array_equal(part.q, whole.q)
        assert part.messages == whole.messages and (part.end_times == whole.end_times).all()


def test_starts_that_do_not_close_a_loop_are_assembled_as_single_runs_do_it(tmp_path):
    """They were stepped from where they were, with 1e7 times the energy."""
    table, model = tmp_path / "starts.csv", SAMPLES / "closed_chains" / "four_bar.urdf"
    table.write_text("left_q\n0\n0.5\n")
    common = (model, "-t", 0.004, "--log-rate", 0)
    result = succeed("simulate", *common, "--states", table, "--each", "--fill", "default", "-o", tmp_path / "all.h5")
    assert "assembled 2 of 2 starts" in result.err and "energy rose" not in result.err
    with WorldsLog(tmp_path / "all.h5") as log:
        for k, left in enumerate((0.0, 0.5)):
            succeed("-q", "simulate", *common, "--at", f"left_q={left}", "-o", tmp_path / f"{k}.h5")
            with open_log(tmp_path / f"{k}.h5") as alone:
                np.testing.assert_array_equal(log.q[k], alone.q)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--states", "starts.csv", "--each", "--fill", "default", "--fields", "rays"), "there is no 'rays'"),
        (("--each",), "--each needs --states"),
        (("--threads", 2), "--threads is for --states --each"),
        (("--states", "starts.csv", "--each", "--q", "1 2"), "--states has the starts"),
        (
            ("--states", "starts.csv", "--each", "--fill", "default", "--integrator", "radau3"),
            "--integrator is for a single run",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(starts, words, message):
    words = [starts if word == "starts.csv" else word for word in words]
    result = cli("simulate", TWO_LINKS, *words, "--no-log")
    assert result.code == 2
    assert message in result.err


def test_starts_that_cannot_be_are_refused(tmp_path):
    for text, options, message in (
        ("shoulder\n", (), "has no states"),
        ("shoulder,vdot:elbow\n0,0\n", (), "has vdot"),
        ("knee\n0\n", (), "unknown column"),
    ):
        path = tmp_path / "starts.csv"
        path.write_text(text)
        result = cli("simulate", TWO_LINKS, "--states", path, "--each", "--fill", "default", "--no-log", *options)
        assert result.code == 3, text
        assert message in result.err
    path.write_text("quadruped_trunk_qw,quadruped_trunk_qx\n1,0\n0,0\n")
    result = cli("simulate", QUADRUPED, "--states", path, "--each", "--fill", "default", "--no-log", "-t", 0.01)
    assert result.code == 3
    assert "row 1" in result.err


def test_damaged_logs_of_worlds_are_refused(tmp_path, starts):
    path = tmp_path / "all.h5"
    succeed("simulate", TWO_LINKS, "--states", starts, "--each", "--fill", "default", "-t", 0.02, "-o", path)
    assert (
        cli("simulate", TWO_LINKS, "--states", starts, "--each", "--fill", "default", "-t", 0.02, "-o", path).code == 6
    )
    with pytest.raises(ResourceError, match="cannot be read"):
        WorldsLog(tmp_path / "none.h5")
    for damage in (
        lambda file: file.__delitem__("worlds/message"),
        lambda file: file.attrs.__setitem__("format_version", "2.0"),
        lambda file: file.attrs.__setitem__("rows", 10**6),
        lambda file: (file.__delitem__("state/q"), file.create_dataset("state/q", data=np.zeros((1, 2)))),
    ):
        copy = tmp_path / "damaged.h5"
        copy.write_bytes(path.read_bytes())
        with h5py.File(copy, "r+") as file:
            damage(file)
        with pytest.raises(ModelError):
            WorldsLog(copy)
        assert cli("log", "info", copy).code == 3
