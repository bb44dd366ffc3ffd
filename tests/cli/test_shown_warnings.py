"""Warnings of a file that one command after another would print: once on a terminal, always to files and pipes."""

import os
import sys
import time
from types import SimpleNamespace

import click
import pytest
from mbcli.parsers.diagnostics import Diagnostic, SourceLocation

from mbcli.cli import shown_warnings
from mbcli.cli.model import report


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """(findings, verbosity, whether stderr is a terminal) -> the lines that a command prints."""
    monkeypatch.setenv("MBCLI_CACHE_DIR", str(tmp_path / "cache"))

    def lines(findings, verbosity=0, terminal=True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
        report(findings, SimpleNamespace(obj={"verbosity": verbosity}))
        return click.unstyle(capsys.readouterr().err).splitlines()

    return lines


def warnings(*numbers, severity="warning"):
    return [Diagnostic(f"CODE_{n}", severity, f"message {n}", SourceLocation("robot.urdf", n)) for n in numbers]


def test_a_terminal_shows_several_warnings_once_and_then_one_line(said):
    first = said(warnings(1, 2))
    assert [line.split(": ")[0] for line in first] == ["robot.urdf:1", "robot.urdf:2"]
    assert said(warnings(1, 2)) == ["mbcli: 2 warnings of robot.urdf as before (mbcli check lists them)"]
    assert said(warnings(1, 2), verbosity=1) == first


def test_other_warnings_are_shown_and_those_of_a_file_or_pipe_always(said):
    first = said(warnings(1, 2))
    assert len(said(warnings(1, 2, 3))) == 3
    assert said(warnings(1, 2), terminal=False) == first
    assert said(warnings(1)) == said(warnings(1)) == first[:1]


def test_after_some_hours_they_are_shown_again(said, tmp_path):
    first = said(warnings(1, 2))
    (kept,) = (tmp_path / "cache" / "shown_warnings").iterdir()
    old = time.time() - shown_warnings.REMEMBERED - 1.0
    os.utime(kept, (old, old))
    said(warnings(4, 5))  # forgets what is old
    assert not kept.exists()
    assert said(warnings(1, 2)) == first
