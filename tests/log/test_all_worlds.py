"""Logs of many worlds, looked at as a whole: show, diff and plot of all worlds together."""

import json

import numpy as np
import pytest
from command_line import cli, succeed
from repository import SAMPLES

import mbcli
from mbcli.log import Log
from mbcli.log.worlds import WorldsLog
from mbcli.pictures import plots

MODEL = SAMPLES / "double_pendulum.urdf"


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Of seven worlds, the last of another model in the second log."""
    folder = tmp_path_factory.mktemp("worlds")
    starts = ["elbow_q,elbow_w"] + [f"{0.1 * k},{(-1) ** k}" for k in range(7)]
    (folder / "starts.csv").write_text("\n".join(starts))
    starts[-1] = starts[-1].replace(",1", ",1.5")
    (folder / "other.csv").write_text("\n".join(starts))
    for name in ("starts", "other"):
        words = ["--states", folder / f"{name}.csv", "--fill", "default", "--each", "-t", 0.1]
        succeed("-q", "simulate", MODEL, "--no-contact", *words, "-o", folder / f"{name}.h5")
    return folder / "starts.h5", folder / "other.h5"


def test_show_has_the_least_and_the_largest_of_all_worlds_and_where(logs):
    document = json.loads(succeed("log", "show", logs[0], "--fields", "q,elbow_w", "--json").out)
    with WorldsLog(logs[0]) as log:
        q, v, times = log.field("state/q"), log.field("state/v"), log.times
    values = {"shoulder_q": q[..., 0], "elbow_q": q[..., 1], "elbow_w": v[..., 1]}
    values = {f"double_pendulum_{name}": column for name, column in values.items()}
    assert [column["name"] for column in document["columns"]] == list(values)
    for column in document["columns"]:
        own = values[column["name"]]
        for which, place in (("least", own.argmin()), ("largest", own.argmax())):
            world, row = np.unravel_index(place, own.shape)
            assert column[which] == own[world, row] and column[f"{which}_time"] == times[row]
            assert column[f"{which}_world"] == world
        assert column["mean"] == pytest.approx(own.mean())
        assert "first" not in column
    text = succeed("log", "show", logs[0], "--fields", "elbow_q").out
    assert text.split()[:6] == ["least", "world", "at", "largest", "world", "at"]
    assert "--world N names one" in cli("log", "show", logs[0], "--time", 0.05).err


def test_show_of_one_world_is_that_of_its_run(logs):
    text = succeed("log", "show", logs[0], "--world", 3, "--fields", "elbow_q").out
    assert text.split()[:2] == ["first", "last"] and "0.3" in text


def test_diff_says_how_many_worlds_are_the_same_and_which_differs_first(logs):
    assert succeed("log", "diff", logs[0], logs[0]).out.strip() == "same: 11 rows of each of 7 worlds"
    result = cli("log", "diff", *logs)
    assert result.code == 1 and result.out.startswith("world 6 differs first\nfirst divergence at 0 s: state/v")
    document = json.loads(cli("log", "diff", *logs, "--json").out)
    assert (document["worlds"], document["world"], document["same"]) == (7, 6, False)
    assert succeed("log", "diff", *logs, "--world", 5).out.startswith("same: 11 rows")
    assert "--fields and --common-rows are for single runs" in cli("log", "diff", *logs, "--fields", "q").err


def test_plot_draws_a_line_for_each_world(logs, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(plots, "write_figure", lambda figure, path: drawn.append(figure))
    succeed("log", "plot", logs[0], "--fields", "elbow_q", "-o", tmp_path / "all.png")
    (figure,) = drawn
    (axes,) = figure.axes
    assert len(axes.lines) == 7
    assert sorted(round(line.get_ydata()[0], 9) for line in axes.lines) == [round(0.1 * k, 9) for k in range(7)]
    assert "world 0" in figure.get_suptitle() and "and 3 more" in figure.get_suptitle()
    assert not figure.legends  # seven names of lines that look alike say nothing


def test_more_worlds_than_a_figure_shows_are_refused(logs, tmp_path, monkeypatch):
    monkeypatch.setattr("mbcli.cli.log_plot.MOST_WORLDS", 6)
    result = cli("log", "plot", logs[0], "-o", tmp_path / "all.png")
    assert result.code == 2 and "has 7 worlds, more than 6: --world N names one" in result.err


def test_python_opens_a_log_of_many_worlds_as_any_other(logs):
    with mbcli.open_log(logs[0]) as log, WorldsLog(logs[0]) as same:
        assert isinstance(log, WorldsLog) and len(log) == 7
        np.testing.assert_array_equal(log.q, same.q)
        pandas = pytest.importorskip("pandas")
        table = log.to_pandas()
        assert isinstance(table, pandas.DataFrame) and table.index.names == ["world", "time"]
        assert table["double_pendulum_elbow_q"].loc[3].iloc[0] == pytest.approx(0.3)
    with pytest.raises(mbcli.errors.ModelError, match="is of many worlds"):
        Log(logs[0])


def test_loads_of_all_worlds_are_those_of_each(logs):
    joined = json.loads(succeed("loads", logs[0], "--json").out)
    assert [entry.pop("world") for entry in joined["actuators"]] == list(range(7))
    alone = [json.loads(succeed("loads", logs[0], "--world", k, "--json").out) for k in range(7)]
    assert joined["actuators"] == [loads["actuators"][0] for loads in alone]
    assert joined["end_time"] == alone[0]["end_time"] and joined["joints"] == []
    text = succeed("loads", logs[0], "--names", "elbow").out.splitlines()
    assert text[2].split()[:2] == ["actuator", "world"] and [line.split()[1] for line in text[3:]] == list("0123456")


def test_replay_shows_all_worlds_the_first_solid(logs, tmp_path, monkeypatch):
    shown = {}
    monkeypatch.setattr("mbcli.pictures.html.replay_page", lambda runs, title, **how: shown.update(runs=runs) or title)
    succeed("replay", logs[0], "-o", tmp_path / "all.html")
    title = (tmp_path / "all.html").read_text()
    assert title.startswith("starts.h5, world 0, starts.h5, world 1") and title.endswith("(7 in all)")
    with WorldsLog(logs[0]) as log:
        for k, (_, motion) in enumerate(shown["runs"]):
            assert motion.name.endswith(f"world {k}") and motion.times[-1] == pytest.approx(log.end_times[k])
    monkeypatch.setattr("mbcli.cli.replay.MOST_WORLDS", 6)
    refused = cli("replay", logs[0], "-o", tmp_path / "more.html")
    assert refused.code == 2 and "has 7 worlds, more than 6: --world N names one" in refused.err
