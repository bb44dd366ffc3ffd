"""`mbcli check FOLDER`: which files, one result for all, and findings that are accepted."""

import json
import os

import pytest
from command_line import cli, hinge, one_robot

SOUND = one_robot("ab", hinge("j", "a", "b"))
WARNED = SOUND.replace("<axis ", "<axes/><axis ")
FAULTY = WARNED.replace('<mass value="1"/>', '<mass value="1,5"/>', 1)
MJCF = "<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>"
SDF = "<sdf version='1.9'><model name='m'><link name='a'><inertial><mass>1</mass></inertial></link></model></sdf>"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {
        "robots/b.urdf": WARNED,
        "robots/a.urdf": SOUND,
        "robots/deep/er/c.SDF": SDF,
        "robots/d.xml": MJCF,
        "robots/e.world": SDF,
        "robots/scene.dmd.yaml": "directives:\n- add_model: {name: a, file: a.urdf}\n",
        "robots/package.xml": "<package><name>p</name></package>",
        "robots/part.xml": "<mujocoinclude/>",
        "robots/macro.xacro": SOUND,
        "robots/plain.yaml": "a: 1\n",
        "robots/notes.txt": FAULTY,
        "robots/.hidden/x.urdf": FAULTY,
        "robots/.y.urdf": FAULTY,
        "empty/readme.md": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    os.symlink(tmp_path, tmp_path / "robots" / "circle")
    return tmp_path


FILES = [
    "robots/a.urdf",
    "robots/b.urdf",
    "robots/d.xml",
    "robots/e.world",
    "robots/scene.dmd.yaml",
    "robots/deep/er/c.SDF",
]


def test_every_model_file_below_a_folder_is_checked(folder):
    document = cli("check", "robots", "--json").json()
    assert document["model"]["name"].split(", ") == FILES
    assert [(f["file"], f["code"]) for f in document["findings"] if f["severity"] == "warning"] == [
        ("robots/b.urdf", "ELEMENT_UNKNOWN")
    ]
    result = cli("check", "robots/", "robots/b.urdf")
    assert result.out.splitlines()[-1].startswith("6 files: ")  # each once
    assert cli("check", "robots", "--strict").code == 1


def test_a_folder_without_models_and_options_of_files_are_refused(folder):
    assert cli("check", "empty").code == 4
    assert "there is no model file below this folder" in cli("check", "empty").err
    assert cli("check", "robots", "--input-format", "urdf").code == 2
    assert cli("check", "robots", "--srdf", "x.srdf").code == 2


def test_one_sarif_log_has_the_findings_of_all(folder):
    (folder / "robots" / "z.urdf").write_text(FAULTY)
    log = json.loads(cli("check", "robots", "--sarif").out)
    (run,) = log["runs"]
    places = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"]}
    assert {"robots/b.urdf", "robots/z.urdf"} <= places
    assert len(run["artifacts"]) >= len(FILES)


def test_accepted_findings_do_not_count_and_new_ones_do(folder):
    assert cli("check", "robots", "--json", "-o", "accepted.json").code == 0
    result = cli("check", "robots", "--baseline", "accepted.json", "--fail-on", "note")
    assert (result.code, "accepted findings" in result.out) == (0, True)
    assert cli("check", "./robots", "--baseline", "accepted.json", "--fail-on", "note").code == 0
    document = cli("check", "robots", "--baseline", "accepted.json", "--json").json()
    assert (document["findings"], document["counts"]) == ([], {"error": 0, "warning": 0, "note": 0})

    (folder / "robots" / "b.urdf").write_text("\n\n" + WARNED)  # further down: the same
    assert cli("check", "robots", "--baseline", "accepted.json", "--strict").code == 0
    (folder / "robots" / "b.urdf").write_text(WARNED.replace("<axes/>", "<axes/><axos/>"))
    found = cli("check", "robots", "--baseline", "accepted.json", "--json").json()["findings"]
    assert [f["xpath"].rpartition("/")[2] for f in found] == ["axos"]
    (folder / "robots" / "b.urdf").write_text(SOUND)
    result = cli("check", "robots", "--baseline", "accepted.json")
    assert "; 1 are gone" in result.out


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (None, 4, "No such file"),
        ("{", 3, "is not JSON"),
        ("[]", 3, "no result of `mbcli check --json`"),
        ('{"schema": "mbcli/inspect"}', 3, "no result of `mbcli check --json`"),
        ('{"schema": "mbcli/check"}', 3, "are not those of"),
        ('{"schema": "mbcli/check", "findings": [3]}', 3, "are not those of"),
        ('{"schema": "mbcli/check", "findings": [], "findings_left_out": 7}', 3, "7 findings are not in it"),
    ],
)
def test_a_baseline_that_cannot_be_used_is_an_error(folder, text, code, words):
    if text is not None:
        (folder / "accepted.json").write_text(text)
    result = cli("check", "robots", "--baseline", "accepted.json")
    assert (result.code, words in result.err) == (code, True), result
    assert result.err.count("\n") <= 1
