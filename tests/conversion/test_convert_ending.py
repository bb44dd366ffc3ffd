"""The last line of `mbcli convert`, what it lists, and engines that are installed by half: they disprove nothing."""

import pytest
from command_line import SAMPLES, cli, succeed

PENDULUM = SAMPLES / "double_pendulum.urdf"
FAILING = {
    "mujoco that fails at import": (
        {"mujoco/__init__.py": "raise ImportError('libmujoco.so: no such file')"},
        "MuJoCo did not prove it: it cannot be asked: ImportError: libmujoco.so: no such file",
    ),
    "mujoco that ends the process": (
        {"mujoco/__init__.py": "import os; os._exit(3)"},
        "MuJoCo did not prove it: it failed: exit code 3",
    ),
    "mujoco of another version": (
        {"mujoco/__init__.py": "__version__ = '0'"},
        "MuJoCo did not prove it: it cannot be asked: AttributeError: module 'mujoco' has no attribute 'MjModel'",
    ),
    "newton without warp": (
        {"newton/__init__.py": "import warp"},
        "Newton did not prove it: it cannot be asked: ModuleNotFoundError: No module named 'warp'",
    ),
    "newton that needs what is not there while it reads": (
        {
            "newton/__init__.py": "class ModelBuilder:\n  def add_usd(self, path):\n    import newton_usd_schemas",
            "warp/__init__.py": "class config: quiet = False",
        },
        "Newton did not prove it: it cannot be asked: ModuleNotFoundError: No module named 'newton_usd_schemas'",
    ),
    "newton of another version": (
        {"newton/__init__.py": "class ModelBuilder: pass", "warp/__init__.py": "class config: quiet = False"},
        "Newton did not prove it: it cannot be asked: AttributeError: 'ModelBuilder' object has no attribute 'add_usd'",
    ),
}
REFUSING = "class MjModel:\n  def from_xml_string(text): raise ValueError('Error: no such robot')"


def install(folder, monkeypatch, files):
    """Stubs of packages, in front of those that are installed, for this process and those that it starts."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.syspath_prepend(str(folder))


@pytest.mark.parametrize("case", FAILING)
def test_an_engine_that_is_installed_by_half_is_named_and_the_file_is_written(case, tmp_path, monkeypatch):
    files, said = FAILING[case]
    out = tmp_path / ("arm.xml" if "mujoco" in case else "arm.usda")
    if out.suffix == ".usda":
        pytest.importorskip("pxr", reason="usd-core is not installed")
    install(tmp_path / "stubs", monkeypatch, files)
    result = succeed("convert", PENDULUM, "-o", out)
    assert f"mbcli: warning: {said}\n" in result.err and "written, proved by mbcli " in result.err.splitlines()[-1]
    assert out.stat().st_size
    proof = succeed("convert", PENDULUM, "-o", out, "--force", "--json").json()["proof"]
    assert proof["engines"] == ["mbcli"] and proof["unproved"] == [said]
    table = succeed(
        "convert",
        PENDULUM,
        PENDULUM,
        "--to",
        out.suffix[1:].replace("xml", "mjcf").replace("usda", "usd"),
        "-o",
        tmp_path / "all",
    )
    assert table.out.splitlines()[-1] == said and table.out.count(said) == 1


def test_an_engine_that_loads_and_refuses_the_file_is_a_disproof(tmp_path, monkeypatch):
    install(tmp_path / "stubs", monkeypatch, {"mujoco/__init__.py": REFUSING})
    out = tmp_path / "arm.xml"
    result = cli("convert", PENDULUM, "-o", out)
    assert result.code == 5 and "MuJoCo refuses the model: no such robot; nothing is written" in result.err
    assert not out.exists()


@pytest.fixture
def alone(monkeypatch):
    """No other engine is there: its process takes a second each."""
    monkeypatch.setattr("mbcli.conversion.mujoco_proof.find_spec", lambda name: None)


def test_the_last_line_says_what_was_written_and_counts_what_is_lost_or_changed(tmp_path, alone):
    out = tmp_path / "dog.xml"
    lines = succeed("convert", SAMPLES / "quadruped.urdf", "-o", out).err.splitlines()
    listed = succeed("-v", "convert", SAMPLES / "quadruped.urdf", "-o", out, "--force").err
    losses = succeed("convert", SAMPLES / "quadruped.urdf", "-o", out, "--force", "--json").json()["losses"]
    kinds, codes = ([loss[key] for loss in losses] for key in ("kind", "code"))
    assert set(zip(kinds, codes, strict=True)) == {("lost", "JOINT_VELOCITY"), ("changed", "NAME")}
    counts = f"{kinds.count('lost')} lost, {kinds.count('changed')} changed"
    assert lines[-1].startswith(f"mbcli: {out}: written, proved by mbcli ")
    assert lines[-1].endswith(f"; {counts} (mbcli -v convert lists all)")
    assert [": changed: " in line for line in lines].count(True) == 2 and f"and {kinds.count('changed') - 1} more" in (
        "".join(lines)
    )
    assert listed.count(": changed: ") == kinds.count("changed") > 2 and listed.count(": lost: ") == kinds.count("lost")
    assert listed.splitlines()[-1].endswith(f"; {counts}")


def test_a_file_of_its_own_format_loses_nothing(tmp_path, alone):
    result = succeed("convert", PENDULUM, "-o", tmp_path / "arm.urdf")
    assert result.err.endswith("; nothing is lost or changed\n") and len(result.err.splitlines()) == 1
    assert succeed("convert", PENDULUM, "--to", "urdf").err.startswith("mbcli: stdout: written, proved by ")
    assert succeed("-q", "convert", PENDULUM, "--to", "urdf").err == ""
    assert succeed("convert", PENDULUM, "-o", tmp_path / "arm.urdf", "--force", "--json").err == ""
