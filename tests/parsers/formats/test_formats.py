"""A file format is one file and one line: what it lacks is told at import, and nobody else asks for its name."""

import re
import sys
import types
from pathlib import Path

import pytest
from mbcli.parsers import formats
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.formats import (
    CONSTANTS,
    FORMATS,
    OF_MODELS,
    OF_SCENES,
    TARGETS,
    checked_format,
    formats_by_name,
    mjcf,
)
from mbcli.parsers.formats.late import LateFunction
from repository import ROOT


def copy_of(name):
    """The file of a format, to be changed."""
    copied = types.ModuleType(f"mbcli.parsers.formats.{name}")
    vars(copied).update(vars(FORMATS[name]))
    return copied


@pytest.mark.parametrize("missing", [*CONSTANTS, *OF_MODELS, "read", "has_joint_frame", "target", "engine_proof"])
def test_a_format_of_models_without_one_of_its_names_fails_at_import(missing, monkeypatch):
    incomplete = copy_of("urdf")
    delattr(incomplete, missing)
    monkeypatch.setitem(sys.modules, "mbcli.parsers.formats.incomplete", incomplete)
    with pytest.raises(TypeError, match=rf"the file format 'incomplete' lacks {missing}"):
        formats_by_name(["sdf", "incomplete"])


@pytest.mark.parametrize("missing", [*OF_SCENES, "read_scenes"])
def test_a_format_of_scenes_without_one_of_its_names_fails_at_import(missing):
    incomplete = copy_of("dmd")
    delattr(incomplete, missing)
    with pytest.raises(TypeError, match=rf"the file format 'dmd' lacks {missing}"):
        checked_format("dmd", incomplete)


def test_two_formats_of_one_suffix_or_element_are_an_error(monkeypatch):
    twin = copy_of("urdf")
    monkeypatch.setitem(sys.modules, "mbcli.parsers.formats.twin", twin)
    with pytest.raises(TypeError, match="'urdf' and 'twin' have both .urdf"):
        formats_by_name(["urdf", "twin"])
    twin.SUFFIXES = (".twin",)
    with pytest.raises(TypeError, match="'urdf' and 'twin' have both <robot>"):
        formats_by_name(["urdf", "twin"])


def test_functions_that_are_imported_late_are_there():
    late = [value for known in FORMATS.values() for value in vars(known).values() if isinstance(value, LateFunction)]
    assert len(late) >= len(FORMATS) + len(TARGETS)
    assert all(callable(function.function()) for function in late)
    assert [FORMATS[name].target().arranged for name in TARGETS]


def test_the_longest_suffix_counts_and_small_letters_do_not_matter():
    names = ["A.DMD.YAML", "a.yaml", "a.urdf.yml", "b/robot.Urdf", "c.world", "robot.xml", "dmd.yaml"]
    found = [formats.format_of_name(name) for name in names]
    assert found == ["dmd", "scenario", "scenario", "urdf", "sdf", None, "scenario"]


def test_no_module_compares_the_name_of_a_format():
    word = rf"""["'](?:{"|".join(FORMATS)})["']"""
    asks = re.compile(rf"""(==|!=|\bin\b) *\(?{word}|{word} *(==|!=|\bin\b)|\bif .*{word} *[:)]|\belse {word}""")
    own = [ROOT / "parsers" / name for name in FORMATS]  # where the word is an element, or a type of geom
    files = [path for folder in ("mbcli", "parsers") for path in sorted((ROOT / folder).rglob("*.py"))]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in files
        if not any(map(path.is_relative_to, own))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if asks.search(line)
    ]
    assert found == []


def test_mesh_files_that_mujoco_reads(tmp_path):
    """An STL that is not text has 84 bytes and 50 for each triangle; MuJoCo takes 200,000 of them at most."""

    def stl(count, size):
        path = tmp_path / "m.STL"
        path.write_bytes(bytes(80) + count.to_bytes(4, "little") + bytes(size))
        return mjcf.readable_mesh(str(path))

    assert stl(3, 150) and not stl(3, 149) and not stl(0, 0) and not stl(200_001, 50 * 200_001)
    assert mjcf.readable_mesh("a.obj") and mjcf.readable_mesh("a.MSH") and not mjcf.readable_mesh("a.dae")


def test_files_of_scenes_are_said_once_they_are_read(tmp_path):
    directives = "directives: []\n"
    for kind, name, text in (("dmd", "a.dmd.yaml", directives), ("scenario", "b.yaml", f"One:\n  {directives}")):
        path, sources = tmp_path / name, []
        path.write_text(text)
        FORMATS[kind].read_scenes(path, Diagnostics(), name=None, sources=sources)
        assert [Path(source.path).name for source in sources] == [name]
