"""Directives and scenarios are untrusted: bombs, endless includes, ways out of the folder, the network, terminals."""

import os
import time

import pytest
from command_line import cli
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.scenes import directives as directives_module
from mbcli.parsers.scenes.directives import flatten_directives, read_directives
from mbcli.parsers.scenes.scenario import read_scenario
from repository import SAMPLES

INVALID, MISSING = 3, 4
PENDULUM = (SAMPLES / "pendulum.urdf").read_text()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory below tmp_path, which also has a secret beside it."""
    (tmp_path / "secret.urdf").write_text(PENDULUM)
    (tmp_path / "scenes").mkdir()
    monkeypatch.chdir(tmp_path / "scenes")
    return tmp_path / "scenes"


def inspect(text, name="s.dmd.yaml"):
    with open(name, "w") as file:
        file.write(text)
    started = time.process_time()
    result = cli("inspect", name)
    assert time.process_time() - started < 10.0
    assert "Traceback" not in result.err and "internal error" not in result.err
    return result


def alias_bomb(levels):
    lines = ["b0: &b0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"b{k}: &b{k} [{', '.join([f'*b{k - 1}'] * 10)}]" for k in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize("name", ["s.dmd.yaml", "s.yaml"])
def test_alias_bombs_are_refused(folder, name):
    result = inspect(f"directives: []\n{alias_bomb(9)}\n", name)
    assert result.code == INVALID
    assert "more than 250000 nodes, aliases expanded [YAML_TOO_LARGE]" in result.err


def test_an_anchor_inside_itself_is_refused(folder):
    assert "stands inside its own anchor" in inspect("directives: &a\n- *a\n").err


def test_deep_nesting_is_refused(folder):
    result = inspect("directives: " + "[" * 5000)
    assert (result.code, "YAML_TOO_DEEP" in result.err) == (INVALID, True)


@pytest.mark.parametrize(
    "tag", ["!!python/object/apply:os.system [echo owned]", "!!python/name:os.system ''", "!include /etc/passwd"]
)
@pytest.mark.parametrize("name", ["s.dmd.yaml", "s.yaml"])
def test_tags_make_no_objects(folder, tag, name):
    result = inspect(f"directives:\n- add_model_instance: {{name: {tag}}}\n", name)
    assert result.code == INVALID
    assert "YAML_TAG" in result.err and "owned" not in result.out


@pytest.mark.parametrize("last", ["[{add_frame: {name: f, X_PF: {base_frame: world}}}]", "[]"])
def test_includes_that_double_stop_at_a_budget(folder, monkeypatch, last):
    monkeypatch.setattr(directives_module, "MAX_DIRECTIVES", 1000)
    for k in range(25):
        twice = f"- add_directives: {{file: f{k + 1}.dmd.yaml}}\n" * 2
        (folder / f"f{k}.dmd.yaml").write_text(f"directives:\n{twice}")
    (folder / "f25.dmd.yaml").write_text(f"directives: {last}\n")
    diagnostics = Diagnostics()
    started = time.process_time()
    flat, _ = flatten_directives(read_directives("f0.dmd.yaml", diagnostics), PackageMap(), diagnostics)
    assert time.process_time() - started < 5.0
    assert [f.code for f in diagnostics.findings] == ["INCLUDE_TOO_LARGE"]
    assert len(flat.directives) < 1000


def test_a_cycle_of_includes_is_refused_with_its_chain(folder):
    (folder / "b.dmd.yaml").write_text("directives:\n- add_directives: {file: s.dmd.yaml}\n")
    result = inspect("directives:\n- add_directives: {file: b.dmd.yaml}\n")
    assert result.code == INVALID
    assert f"{folder / 's.dmd.yaml'} -> {folder / 'b.dmd.yaml'} -> {folder / 's.dmd.yaml'}" in result.err


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("../secret.urdf", "is outside of"),
        ("sub/../../secret.urdf", "is outside of"),
        ("{parent}/secret.urdf", "is outside of"),
        ("file://{parent}/secret.urdf", "is outside of"),
        ("package://p/../../secret.urdf", "is outside of"),
        ("package://p/%2e%2e/%2e%2e/secret.urdf", "is outside of"),
        ("link.urdf", "is outside of"),
        ("/dev/zero", "is outside of"),
        ("/proc/self/environ", "is outside of"),
        ("pipe.urdf", "is not a regular file"),
        ("http://localhost:1/a.urdf", "nothing is fetched from the network"),
        ("https://example.com/a.urdf", "nothing is fetched from the network"),
        ("ftp://example.com/a.urdf", "unknown scheme"),
        ("a\\0b.urdf", "null character"),
    ],
)
@pytest.mark.parametrize("kind", ["add_model: {name: a, file: ", "add_directives: {file: "])
def test_no_file_leads_out_of_the_folder_or_to_the_network(folder, kind, file, reason):
    (folder / "link.urdf").symlink_to(folder.parent / "secret.urdf")
    (folder / "p").mkdir()
    (folder / "p" / "package.xml").write_text("<package><name>p</name></package>")
    os.mkfifo(folder / "pipe.urdf")
    with open("s.dmd.yaml", "w") as stream:
        stream.write(f'directives:\n- {kind}"{file.format(parent=folder.parent)}"}}\n')
    result = cli("inspect", "s.dmd.yaml", "--package-path", str(folder))
    assert result.code == MISSING
    assert result.err.startswith("s.dmd.yaml:2:") and reason in result.err
    assert result.err.count("\n") == 1


def test_an_included_file_has_the_folder_that_it_stands_in(folder):
    (folder / "sub").mkdir()
    (folder / "a.urdf").write_text(PENDULUM)
    (folder / "sub" / "b.dmd.yaml").write_text("directives:\n- add_model: {name: a, file: ../a.urdf}\n")
    result = inspect("directives:\n- add_directives: {file: sub/b.dmd.yaml}\n")
    assert result.code == MISSING and "sub/b.dmd.yaml:2:14" in result.err and "is outside of" in result.err


def test_names_cannot_write_to_the_terminal(folder):
    result = inspect('directives:\n- add_weld: {parent: world, child: "\\e[31m\\a\\r\\nred"}\n')
    assert result.code == INVALID
    assert "\x1b" not in result.err and "\a" not in result.err and "\r" not in result.err
    assert result.err.count("\n") == 1
    result = inspect('directives:\n- add_model_instance: {name: "\\e[31mred"}\n- add_weld: {parent: a, child: b}\n')
    assert "\x1b" not in result.err


@pytest.mark.parametrize(
    "content", [b"\x00", b"\xff\xfe", b"\xff\xffdirectives: []", b"\x80", b"", b"- \n", b"%YAML 9.9\n---\na"]
)
@pytest.mark.parametrize("name", ["s.dmd.yaml", "s.yaml"])
def test_bytes_that_are_no_yaml_are_findings(folder, name, content):
    (folder / name).write_bytes(content)
    result = cli("inspect", name)
    if (name, content) == ("s.yaml", b"\xff\xfe"):
        assert result.code in (0, INVALID)
    assert result.code == INVALID, result.err
    assert result.err.startswith(f"{name}") and ": error: " in result.err and "Traceback" not in result.err


def test_the_text_of_an_option_is_as_untrusted_as_a_file():
    diagnostics = Diagnostics()
    assert read_scenario(b"{}", diagnostics, text=alias_bomb(9)) is None
    assert [f.code for f in diagnostics.findings] == ["YAML_TOO_LARGE"]
