"""Runs the command line in this process: arguments and stdin in; exit code, stdout and stderr out."""

import ctypes
import io
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import NamedTuple

import click
from repository import SAMPLES

from mbcli.cli import run

MODELS = sorted(path for path in SAMPLES.iterdir() if path.suffix in (".urdf", ".sdf", ".xml"))


def commands(group, path=()):
    """(name, click command) of every command that is no group."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


class Result(NamedTuple):
    code: int
    out: str
    err: str

    def json(self):
        return json.loads(self.out)


def cli(*arguments, stdin="", joined=False):
    """The result of `mbcli ARGUMENTS`; binary output reads as latin-1. joined: both streams in `out`, as they come."""
    content = stdin.encode() if isinstance(stdin, str) else stdin
    before = sys.stdin, sys.stdout, sys.stderr
    out = io.BytesIO()
    err = out if joined else io.BytesIO()
    streams = [io.TextIOWrapper(stream, encoding="utf-8", write_through=True) for stream in (out, err)]
    sys.stdin, sys.stdout, sys.stderr = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"), *streams
    try:
        code = run([str(argument) for argument in arguments])
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
    raw = out.getvalue()
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return Result(code, text, "" if joined else err.getvalue().decode())


def succeed(*arguments, stdin=""):
    result = cli(*arguments, stdin=stdin)
    assert result.code == 0, result.err
    return result


started = []  # processes that a test has started; conftest.py ends those that it leaves


def end_with_parent():
    """Linux ends the process that calls this when its parent ends, killed or not."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _as_from_a_terminal():
    """A script that puts tests into the background has them, and what they start, ignore interrupts; nohup hangups."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    end_with_parent()


def start(*arguments, **settings):
    """A process of its own, compiled, with pipes for stdout and stderr; it ends with its test and hears interrupts."""
    environment = {**os.environ, "MBCLI_JIT": "1", **settings.pop("env", {})}
    command = [sys.executable, "-m", "mbcli", *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | settings
    process = subprocess.Popen(command, env=environment, text=True, preexec_fn=_as_from_a_terminal, **pipes)
    started.append(process)
    return process


def end_started():
    """Kills the processes of start() that are still there."""
    while started:
        process = started.pop()
        if process.poll() is None:
            process.kill()
            process.wait()


def one_robot(links, joints=""):
    """A URDF of links (with mass unless their name ends in 0) and joint elements."""
    inertial = '<inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>'
    bodies = "".join(f'<link name="{name}">{"" if name.endswith("0") else inertial}</link>' for name in links)
    return f'<robot name="r">{bodies}{joints}</robot>'


def hinge(name, parent, child, **limits):
    given = "".join(f' {key}="{value}"' for key, value in ({"effort": 9, "velocity": 9} | limits).items())
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="0 1 0"/><limit lower="-3" upper="3"{given}/></joint>'
    )
