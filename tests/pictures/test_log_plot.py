"""`mbcli log plot`: which columns share a subplot, figures, plots in the terminal, refusals."""

import os
import re
import shutil
import signal
import struct
import subprocess
import threading
import time
from importlib.util import find_spec

import numpy as np
import pytest
from command_line import cli, start, succeed
from repository import SAMPLES
from test_log_writer import arm_header, rows

from mbcli.errors import ArgumentError, OutputError
from mbcli.log.datasets import Field
from mbcli.log.fields import STANDARD_FIELDS
from mbcli.log.writer import LogWriter
from mbcli.pictures.plots import figure_of, short_names, subplots_of, thinned, write_figure
from mbcli.pictures.text_plots import text_plot

PENDULUM = SAMPLES / "double_pendulum.urdf"
COUNT = 9000
ENERGIES = ("derived/energy_kinetic", "derived/energy_potential")


def write_log(path, phase=0.0, count=COUNT):
    header = arm_header(actuator_names=("motor",), actuator_units=("N m",))
    force = Field("derived/grip", ("N", "m"), ("force", "width"), (2,))
    fields = (header.input_field(), *(STANDARD_FIELDS[path] for path in ENERGIES), force)
    time = np.arange(count) * 0.001
    wave = np.sin(7.0 * time + phase)
    rows = {"time": time, "q": np.column_stack([wave, 2 * wave]), "v": np.column_stack([wave, -wave])}
    rows |= {"input/u": 9 * wave[:, None], ENERGIES[0]: wave**2, ENERGIES[1]: -(wave**2)}
    header = arm_header(actuator_names=("motor",), actuator_units=("N m",), fields=fields)
    with LogWriter(path, header) as log:
        log.append(**rows, **{force.path: np.column_stack([wave, wave])})
        log.finish("complete", 0)
    return path


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plots")
    return write_log(folder / "new.h5"), write_log(folder / "old.h5", phase=1.0, count=500)


def contents(subplots):
    return {subplot.axis_label(): subplot.names() for subplot in subplots}


def test_columns_of_one_kind_and_unit_share_a_subplot(logs):
    assert contents(subplots_of(logs[:1])) == {
        "q [rad]": ["shoulder_q", "elbow_q"],
        "v [rad/s]": ["shoulder_w", "elbow_w"],
        "u [N m]": ["motor"],
        "energy [J]": ["energy_kinetic", "energy_potential"],
    }
    assert contents(subplots_of(logs[:1], ["grip"])) == {"grip [N]": ["force"], "grip [m]": ["width"]}


def test_fields_are_paths_groups_or_names_of_coordinates(logs):
    assert contents(subplots_of(logs[:1], ["elbow_q", "shoulder_w", "elbow_q"])) == {
        "q [rad]": ["elbow_q"],
        "v [rad/s]": ["shoulder_w"],
    }
    assert contents(subplots_of(logs[:1], ["input"])) == {"u [N m]": ["motor"]}
    assert contents(subplots_of(logs[:1], ["q", "elbow_q"])) == {"q [rad]": ["shoulder_q", "elbow_q"]}
    with pytest.raises(ArgumentError, match="new.h5.*no field 'knee'.*columns: shoulder_q, elbow_q"):
        subplots_of(logs[:1], ["knee"])


def test_columns_of_several_logs_lie_over_each_other(logs):
    (subplot,) = subplots_of(logs, ["q"])
    assert [(curve.name, curve.log) for curve in subplot.curves] == [
        (name, log) for name in ("shoulder_q", "elbow_q") for log in ("new.h5", "old.h5")
    ]
    new, old = subplot.curves[:2]
    np.testing.assert_allclose(new.values, np.sin(7 * new.times))
    np.testing.assert_allclose(old.values, np.sin(7 * old.times + 1.0))


def test_a_span_of_time_is_drawn_alone(logs):
    (subplot,) = subplots_of(logs[:1], ["elbow_q"], from_time=0.5, to_time=0.6)
    assert (subplot.curves[0].times[0], subplot.curves[0].times[-1]) == (0.5, 0.6)


def test_a_thinned_line_keeps_every_peak():
    times, values = np.arange(100_000) * 1e-3, np.zeros(100_000)
    values[[77_777, 12_345]] = 5.0, -3.0
    few_times, few = thinned(times, values)
    assert len(few) <= 4000 and few.max() == 5.0 and few.min() == -3.0 and (np.diff(few_times) > 0).all()
    assert times[77_777] in few_times
    few_times, few = thinned(times, np.full(100_000, np.nan))
    assert np.isnan(few).all()


def test_names_lose_what_all_of_them_begin_with():
    assert short_names(["arm_left_q", "arm_right_q"]) == ["left_q", "right_q"]
    assert short_names(["robot::arm", "robot::arm_2"]) == ["arm", "arm_2"]
    assert short_names(["alone_q"]) == ["alone_q"] and short_names(["qw", "qx"]) == ["qw", "qx"]


# ---------------------------------------------------------------------------------------------- figures


def test_a_figure_has_units_names_and_logs(logs):
    pytest.importorskip("matplotlib")
    figure = figure_of(subplots_of(logs), "two runs")
    assert [axes.get_ylabel() for axes in figure.axes] == ["q [rad]", "v [rad/s]", "u [N m]", "energy [J]"]
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["shoulder_q", "elbow_q"]
    assert figure.axes[-1].get_xlabel() == "time [s]" and [len(axes.lines) for axes in figure.axes] == [4, 4, 2, 4]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["new.h5", "old.h5"]
    assert {line.get_linestyle() for line in figure.axes[0].lines} == {"-", "--"}


@pytest.mark.parametrize("suffix, start", [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_figures_are_written_by_suffix_and_equal_ones_are_equal(logs, tmp_path, suffix, start):
    pytest.importorskip("matplotlib")
    targets = [tmp_path / f"{name}.{suffix}" for name in "ab"]
    for target in targets:
        succeed("log", "plot", logs[1], "--fields", "q", "-o", target)
    assert targets[0].read_bytes().startswith(start) and targets[0].read_bytes() == targets[1].read_bytes()
    again = cli("log", "plot", logs[1], "-o", targets[0])
    assert again.code == 6 and "exists already" in again.err


def test_names_that_matplotlib_would_read_otherwise_are_shown(tmp_path):
    pytest.importorskip("matplotlib")
    header = arm_header(velocity_names=("_hidden", "$x^{$"))
    with LogWriter(tmp_path / "a.h5", arm_header(velocity_names=header.velocity_names)) as log:
        fields = {field.path: np.zeros(3) for field in header.fields}
        log.append(time=np.arange(3.0), q=np.zeros((3, 2)), v=np.ones((3, 2)), **fields)
        log.finish("complete", 0)
    figure = figure_of(subplots_of([tmp_path / "a.h5"], ["v"]), "odd names")
    write_figure(figure, str(tmp_path / "a.png"))
    texts = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert texts[0].endswith("_hidden") and texts[1] == r"\$x^{\$"


@pytest.mark.parametrize("name", ["$.h5", r"cost $\foo$.h5", os.fsdecode(b"run\xff.h5")])
def test_a_log_of_any_name_is_plotted(logs, tmp_path, name):
    pytest.importorskip("matplotlib")
    shutil.copy(logs[1], tmp_path / name)
    succeed("log", "plot", tmp_path / name, logs[1], "--fields", "q", "-o", tmp_path / "a.png")


def test_the_largest_numbers_are_plotted(tmp_path):
    """As of a run that diverges."""
    pytest.importorskip("matplotlib")
    q = np.array([[0.0, 0.0], [1.0, 1e160], [1e308, -1e308], [-1e308, np.inf], [2.0, np.nan]])
    with LogWriter(tmp_path / "a.h5", arm_header()) as log:
        fields = {field.path: np.zeros(5) for field in arm_header().fields}
        log.append(time=np.arange(5.0), q=q, v=np.zeros((5, 2)), **fields)
        log.finish("failed", 5)
    result = succeed("log", "plot", tmp_path / "a.h5", "--fields", "q", "--text")
    assert "1e+308" in result.out and result.err == ""
    succeed("log", "plot", tmp_path / "a.h5", "--fields", "q", "-o", tmp_path / "a.png")
    (subplot,) = subplots_of([tmp_path / "a.h5"], ["q"])
    (line, _) = figure_of([subplot], "").axes[0].lines
    np.testing.assert_array_equal(line.get_ydata(), [0.0, 1.0, np.nan, np.nan, 2.0])


def test_a_figure_that_cannot_be_written_is_said(logs, tmp_path):
    pytest.importorskip("matplotlib")
    with pytest.raises(OutputError, match="cannot be written"):
        write_figure(figure_of(subplots_of(logs[1:]), ""), str(tmp_path / "gone" / "a.png"))


# ---------------------------------------------------------------------------------------------- terminal


def test_few_columns_are_charts_in_the_terminal(logs):
    out = succeed("log", "plot", logs[1], "--fields", "elbow_q").out
    chart = [line.partition("┤")[2] for line in out.splitlines() if "┤" in line]
    assert len(chart) == 8 and all(set(row) <= {chr(k) for k in range(0x2800, 0x2900)} for row in chart)
    assert "q [rad]" in out and "time from 0 to 0.499 s" in out
    signs = [max(row.rstrip("\u2800"), default="") for row in chart]
    assert signs[0] and signs[-1]  # it reaches its largest and its least value
    values = 2 * np.sin(7 * np.arange(500) * 0.001 + 1.0)
    assert f"{values.max():.4g}" in out and f"{values.min():.4g}" in out


def test_many_columns_are_lines_in_the_terminal(logs):
    out = succeed("log", "plot", *logs, "--text").out
    assert re.search(r"^  elbow_q     old.h5 +-?[\d.]+ [▁-█]+ +-?[\d.]+$", out, re.MULTILINE)
    assert max(map(len, out.splitlines())) <= 80


def test_a_terminal_without_unicode_gets_ascii(logs):
    assert text_plot(subplots_of(logs[1:]), 60, unicode=False).isascii()


def test_values_that_are_not_numbers_leave_a_gap(tmp_path):
    header = arm_header()
    values = np.array([0.0, np.nan, 2.0])
    with LogWriter(tmp_path / "a.h5", header) as log:
        fields = {field.path: values for field in header.fields}
        log.append(time=np.arange(3.0), q=np.full((3, 2), np.nan), v=np.ones((3, 2)), **fields)
        log.finish("complete", 0)
    out = succeed("log", "plot", tmp_path / "a.h5", "--text").out
    assert "nan" in out and "Traceback" not in out


def test_without_a_display_the_plot_is_text(logs, monkeypatch):
    from mbcli.cli import log_plot

    monkeypatch.setattr(log_plot, "_has_display", lambda: True)  # stdout is no terminal
    assert "┤" in succeed("log", "plot", logs[1], "--fields", "elbow_q").out


def test_with_a_display_the_plot_is_a_window(logs, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    from mbcli.cli import log_plot

    pyplot.close("all")  # those of other tests
    shown = []
    monkeypatch.setattr(log_plot, "_is_terminal", lambda: True)
    monkeypatch.setattr(log_plot, "_has_display", lambda: True)
    monkeypatch.setattr(pyplot, "show", lambda block=None: shown.append((block, pyplot.get_fignums())))
    subplots = subplots_of(logs[1:], ["q"])
    monkeypatch.setattr(log_plot, "WITHOUT_WINDOWS", ())
    window = log_plot._Window.opened()
    assert window.draw(None, 0.001) and window.draw(subplots, 0.001) and window.draw(subplots, 0.001)
    turns = []

    def turn(canvas, timeout):
        turns.append(timeout)
        if len(turns) == 3:
            pyplot.close("all")  # as the user does

    monkeypatch.setattr("matplotlib.backend_bases.FigureCanvasBase.start_event_loop", turn)
    window.last(subplots)
    assert len(turns) == 3 and shown == [(False, [1])]  # one window, brought to the front once
    assert not window.draw(None, 0.001)  # it was closed
    monkeypatch.setattr(log_plot, "WITHOUT_WINDOWS", (pyplot.get_backend().lower(),))
    assert log_plot._Window.opened() is None


@pytest.fixture
def screen(tmp_path):
    """A display without a screen: its number, and () -> its pixels (height, width, 3)."""
    if shutil.which("Xvfb") is None or find_spec("_tkinter") is None:
        pytest.skip("needs Xvfb and Tk")
    pytest.importorskip("matplotlib")
    reads, writes = os.pipe()
    command = ["Xvfb", "-displayfd", str(writes), "-screen", "0", "1200x900x24", "-fbdir", str(tmp_path)]
    with subprocess.Popen(command, pass_fds=[writes], stderr=subprocess.DEVNULL) as server:
        number = os.read(reads, 20).decode().strip()

        def pixels():
            content = (tmp_path / "Xvfb_screen0").read_bytes()  # an X window dump
            head, width, height, colors = (struct.unpack_from(">I", content, at)[0] for at in (0, 16, 20, 76))
            picture = np.frombuffer(content, np.uint8, 4 * width * height, head + 12 * colors)
            return picture.reshape(height, width, 4)[:, :, :3]

        yield f":{number}", pixels
        server.terminate()
    os.close(reads)
    os.close(writes)


@pytest.mark.parametrize("sent, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_window_follows_a_run_and_hears_signals(screen, tmp_path, sent, code):
    display, pixels = screen
    settings = {"env": {"DISPLAY": display, "MBCLI_JIT": "0", "MPLBACKEND": "TkAgg"}}
    run = start("-q", "simulate", PENDULUM, "--at", "elbow=1", "-t", 1000, "-o", tmp_path / "a.h5", **settings)
    wait_for((tmp_path / "a.h5.partial").exists)
    ours, theirs = os.openpty()
    words = ("log", "plot", tmp_path / "a.h5", "--follow", "--fields", "q", "--interval", 0.3)
    plot = start(*words, stdout=theirs, **settings)
    wait_for(lambda: (pixels() > 250).mean() > 0.05)  # the white of the figure
    before = pixels()
    wait_for(lambda: (pixels() != before).any(axis=2).sum() > 200)  # the curves have grown
    run.terminate()
    assert run.wait(60) == 143
    time.sleep(1.0)  # the plot sees the end of the run, and waits for its window
    assert plot.poll() is None
    plot.send_signal(sent)
    assert plot.wait(20) == code and "Traceback" not in plot.stderr.read()
    os.close(ours)
    os.close(theirs)


# ---------------------------------------------------------------------------------------------- follow


def wait_for(what, timeout=60):
    end = time.monotonic() + timeout
    while not (found := what()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


class LiveLog:
    """A log that is being written, by a thread of this process that is told how far."""

    def __init__(self, path):
        self.log = LogWriter(path, arm_header())
        self.rows = 0

    def add(self, count):
        self.log.append(**rows(self.rows, count))
        self.log.flush()
        self.rows += count


def test_a_figure_follows_a_run_to_its_end(tmp_path):
    pytest.importorskip("matplotlib")
    path, figure, seen = tmp_path / "a.h5", tmp_path / "a.png", []
    live = LiveLog(path)

    def write():
        def new():
            content = figure.read_bytes() if figure.exists() else b""
            return content not in (b"", *seen) and content

        time.sleep(0.3)  # it waits for the first rows
        for _ in range(3):
            assert not list(tmp_path.glob("a.png"))[len(seen) :]
            live.add(50)
            seen.append(wait_for(new))
        live.add(7)
        live.log.finish("complete", 0)

    writer = threading.Thread(target=write)
    writer.start()
    result = succeed("log", "plot", path, "--follow", "--interval", "0.05", "-o", figure, "--fields", "q")
    writer.join()
    assert len(set(seen)) == 3 and result.out == ""
    succeed("log", "plot", path, "-o", tmp_path / "whole.png", "--fields", "q")
    assert figure.read_bytes() == (tmp_path / "whole.png").read_bytes()  # all rows, the last ones too
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.h5", "a.png", "whole.png"]


def test_a_terminal_follows_a_run_and_a_pipe_gets_its_end(tmp_path, monkeypatch):
    from mbcli.cli import log_plot

    path = tmp_path / "a.h5"
    live = LiveLog(path)
    live.add(50)
    drawn = []

    def sleep(seconds):
        drawn.append(seconds)
        if len(drawn) < 3:
            live.add(50)
        else:
            live.log.finish("complete", 0)

    monkeypatch.setattr(log_plot.time, "sleep", sleep)
    words = ("log", "plot", path, "--follow", "--text", "--fields", "elbow_q")
    piped = succeed(*words).out
    assert piped.count("time from") == 1 and "time from 0 to 149 s" in piped and "\x1b" not in piped
    assert drawn == [1.0, 1.0, 1.0]
    (tmp_path / "a.h5").unlink()
    drawn.clear()
    live = LiveLog(path)
    live.add(50)
    monkeypatch.setattr(log_plot, "_is_terminal", lambda: True)
    terminal = succeed(*words).out
    ends = re.findall(r"time from 0 to (\d+) s", terminal)
    assert ends == ["49", "99", "149", "149"]
    assert terminal.count("\x1b[") == 6  # three times up and clear


def test_a_run_that_was_killed_is_drawn_and_ends_the_following(tmp_path):
    live = LiveLog(tmp_path / "a.h5")
    live.add(50)
    content = (tmp_path / "a.h5.partial").read_bytes()
    live.log.finish("complete", 0)
    (tmp_path / "b.h5.partial").write_bytes(content)  # nobody writes it
    out = succeed("log", "plot", tmp_path / "b.h5", "--follow", "--text", "--fields", "elbow_q").out
    assert "time from 0 to 49 s" in out


def test_a_run_that_ended_without_rows_is_said(tmp_path):
    live = LiveLog(tmp_path / "a.h5")
    live.log.finish("complete", 0)
    result = cli("log", "plot", tmp_path / "a.h5", "--follow", "--text")
    assert result.code == 3 and "no rows" in result.err


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        (["nowhere.h5"], 4, "nowhere.h5"),
        (["LOG", "-o", "x.jpg"], 2, ".png"),
        (["LOG", "-o", "/nowhere/x.png"], 6, "no folder"),
        (["LOG", "--fields", "knee"], 2, "knee"),
        (["LOG", "--fields", "contact"], 2, "contact"),
        (["LOG", "--from", "99"], 4, "no rows between these times: the log goes from 0 to"),
        (["LOG", "--text", "-o", "x.png"], 2, "exclude"),
        ([], 2, "LOG"),
    ],
)
def test_log_plot_refuses_in_one_line(logs, arguments, code, message):
    result = cli("log", "plot", *(str(logs[1]) if word == "LOG" else word for word in arguments))
    assert result.code == code and message in result.err and result.err.count("\n") == 1
