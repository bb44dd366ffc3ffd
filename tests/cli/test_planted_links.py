"""Links that came with a folder decide nothing: no run overwrites what they lead to, with --force or without."""

import os
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import cli, succeed
from repository import SAMPLES

from mbcli.common.output_files import new_file, replacing, write_in_place
from mbcli.errors import OutputError
from mbcli.pictures.images import write_images
from mbcli.sweeps.journal import Journal

PENDULUM = SAMPLES / "pendulum.urdf"
RUN = ("-t", "0.02")
PRECIOUS = "precious"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder; beside it lies what links lead to."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def link(name):
    """A link in the working folder to a file outside; the file."""
    victim = Path("../outside", name.replace("/", "_"))
    victim.write_text(PRECIOUS)
    os.symlink(victim, name)
    return victim


def test_temporary_names_that_were_guessed_before_are_no_longer_written(folder):
    names = ("run.h5.partial.packed", "p.png.partial.png", "t.csv.journal.new", "t.parquet.new", ".r.h5.recovering")
    victims = [link(name) for name in names]
    succeed("simulate", PENDULUM, *RUN, "-o", "run.h5")
    succeed("log", "plot", "run.h5", "-o", "p.png")
    succeed("log", "recover", "run.h5", "-o", "r.h5")
    assert [victim.read_text() for victim in victims] == [PRECIOUS] * len(names)
    assert all(Path(name).is_file() and not Path(name).is_symlink() for name in ("run.h5", "p.png", "r.h5"))
    left = {path.name for path in folder.iterdir()}
    assert left == {*names, "run.h5", "p.png", "r.h5"}


OUTPUTS = {
    "log": ("run.h5", ("simulate", PENDULUM, *RUN, "-o")),
    "worlds": ("each.h5", ("simulate", PENDULUM, *RUN, "--states", "each.csv", "--each", "-o")),
    "text": ("a.txt", ("inspect", PENDULUM, "-o")),
    "model": ("a.sdf", ("convert", PENDULUM, "-o")),
    "batch": ("a.csv", ("energy", PENDULUM, "--states", "each.csv", "-o")),
    "page": ("a.html", ("replay", "log.h5", "-o")),
}


@pytest.mark.parametrize("kind", OUTPUTS)
def test_a_link_is_refused_without_force_and_replaced_with_it(folder, kind):
    name, words = OUTPUTS[kind]
    Path("each.csv").write_text("hinge_q,hinge_w\n0.1,0\n0.2,0\n")
    if kind == "page":
        succeed("simulate", PENDULUM, *RUN, "-o", "log.h5")
    victim = link(name)
    refused = cli(*words, name)
    assert refused.code == 6, refused.err
    assert victim.read_text() == PRECIOUS
    done = cli(*words, name, "--force")
    assert done.code == 0, done.err
    assert victim.read_text() == PRECIOUS
    assert not Path(name).is_symlink()


@contextmanager
def watched_opens(names):
    """Collects what is opened while it lasts."""
    is_on = True

    def watch(event, arguments):
        if is_on and event == "open":
            names.append(arguments[0])

    sys.addaudithook(watch)
    yield
    is_on = False


@pytest.mark.parametrize("there", [True, False], ids=["to a file", "to nothing"])
def test_the_name_of_a_running_log_is_no_way_out_either(folder, there):
    victim = link("run.h5.partial")
    if not there:
        victim.unlink()
    opened = []
    with watched_opens(opened):
        assert cli("simulate", PENDULUM, *RUN, "-o", "run.h5").code == 6
    assert not [name for name in opened if "partial" in str(name)]
    succeed("simulate", PENDULUM, *RUN, "-o", "run.h5", "--force")
    assert victim.read_text() == PRECIOUS if there else not victim.exists()
    assert not Path("run.h5").is_symlink()


def test_images_and_journals_replace_links(folder):
    (folder / "images").mkdir()
    victim, journal = link("images/0000.png"), link("j")
    with pytest.raises(OutputError, match="PNG files in it already"):
        write_images("images", iter([b"new"]), 1)
    write_images("images", iter([b"new"]), 1, force=True)
    Journal("j", {}, ["a"])
    assert (victim.read_text(), journal.read_text()) == (PRECIOUS, PRECIOUS)
    assert Path("images/0000.png").read_bytes() == b"new"


def test_a_bundle_does_not_leave_its_folder_by_a_link(folder):
    mesh = b"solid a\n"
    mesh += b"facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid"
    Path("a.stl").write_bytes(mesh)
    shape = '<geometry><mesh filename="a.stl"/></geometry>'
    Path("m.urdf").write_text(f'<robot name="m"><link name="base"><visual>{shape}</visual></link></robot>')
    Path("out").mkdir()
    Path("out/meshes").symlink_to("../../outside")
    refused = cli("convert", "m.urdf", "-o", "out/m.sdf", "--bundle")
    assert refused.code == 6, refused.err
    assert "leads out of" in refused.err
    assert not list(Path("../outside").iterdir())


def test_new_files_are_random_exclusive_and_as_the_umask_has_them(folder):
    before = os.umask(0o027)
    try:
        made = [new_file("a" * 250, ".png") for _ in range(20)]
        write_in_place("b", b"content")
    finally:
        os.umask(before)
    for descriptor, name in made:
        os.close(descriptor)
        assert stat.S_IMODE(os.stat(name).st_mode) == 0o640
        assert name.endswith(".png")
    assert len({name for _, name in made}) == 20
    assert stat.S_IMODE(os.stat("b").st_mode) == 0o640
    with pytest.raises(RuntimeError), replacing("b") as name:
        Path(name).write_text("half")
        raise RuntimeError
    assert Path("b").read_bytes() == b"content"
    assert not Path(name).exists()


def test_the_link_to_stdout_is_written_to_and_stays(folder):
    with open("shown", "wb") as file:
        command = [sys.executable, "-m", "mbcli", "inspect", str(PENDULUM), "-o", "/dev/stdout"]
        subprocess.run(command, stdout=file, check=True, env={**os.environ, "MBCLI_JIT": "0"})
    assert "hinge" in Path("shown").read_text()
    assert os.path.islink("/dev/stdout")
