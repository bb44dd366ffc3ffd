"""The file that identification writes is the one it read, with other numbers, in URDF, SDFormat and MJCF."""

import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from command_line import cli, succeed
from measured_motion import measured_columns, plant_of, write_csv
from repository import SAMPLES

from mbcli.identification.subject import Subject

NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")
FILES = ("double_pendulum.urdf", "double_pendulum.sdf", "double_pendulum.xml")

pytestmark = pytest.mark.usefixtures("ready_kernels")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A motion of the double pendulum with friction, and heavier than its file says by a payload."""
    folder = tmp_path_factory.mktemp("data")
    text = (SAMPLES / "double_pendulum.urdf").read_text()
    (folder / "heavy.urdf").write_text(text.replace('<mass value="1.2"', '<mass value="1.8"'))
    return write_csv(folder / "a.csv", measured_columns(folder / "heavy.urdf", 400, 8.0))


def parameters_of_file(path, armature=True):
    subject = Subject(plant_of(path, weld_base=True), frictions=("viscous", "coulomb", "offset"), armature=armature)
    return dict(zip(subject.names, subject.x0, strict=True))


@pytest.mark.parametrize("name", FILES)
def test_the_written_file_has_the_identified_numbers(name, data, tmp_path):
    out = tmp_path / name
    document = succeed("-q", "identify", SAMPLES / name, "--data", data, "-o", out, "--json").json()
    found = {p["name"]: p for p in document["parameters"]}
    there = parameters_of_file(out)
    placed = [key for key, p in found.items() if p["kind"] in ("inertial", "viscous", "coulomb")]
    if name.endswith(".xml"):
        placed += [key for key, p in found.items() if p["kind"] == "armature"]
    for key in placed:
        assert there[key] == pytest.approx(found[key]["in_file"], rel=1e-9, abs=1e-9), key
    assert document["errors"]["after"] < 0.1 < document["errors"]["before"]
    missing = {f["message"].split()[7] for f in document["findings"] if f["code"] == "MODEL_PLACE"}
    assert missing == ({"offset"} if name.endswith(".xml") else {"offset", "armature"})


def test_a_file_of_a_robot_that_is_right_stays_right_where_it_has_no_place_for_rotors(tmp_path):
    """Inertias of rotors and links can be told apart only by the file: a fit with both takes a part from each link."""
    path = write_csv(tmp_path / "a.csv", measured_columns(SAMPLES / "double_pendulum.urdf", 400, 8.0))
    words = ("--data", path, "--validate", path, "--json")
    errors = succeed("-q", "identify", SAMPLES / "double_pendulum.urdf", *words).json()["errors"]
    assert errors["validation_of_file"] < 1.1 * errors["validation"] < 0.1


@pytest.mark.parametrize("name", FILES)
def test_only_numbers_change_and_what_is_added_is_said_to_be_friction(name, data, tmp_path):
    out = tmp_path / name
    succeed("-q", "identify", SAMPLES / name, "--data", data, "-o", out)
    old, new = (SAMPLES / name).read_text(), out.read_text()
    added = re.compile(
        r'\s*<dynamics damping="#" friction="#"/>|\s*<dynamics>.*?</dynamics>|<friction>#</friction>|'
        r' (?:damping|frictionloss|armature|friction)="#"|<(?:damping)>#</damping>',
        re.DOTALL,
    )

    def skeleton(text):
        return re.sub(r"\s+", " ", added.sub("", re.sub(r"#(?:\s+#)+", "#", NUMBER.sub("#", text))))

    before, after = skeleton(old), skeleton(new)
    if name.endswith(".urdf"):
        assert after == before
    comments = re.findall(r"<!--.*?-->", old, re.DOTALL)
    assert all(comment in new for comment in comments)
    tags = [re.findall(r"<(\w[\w:]*)", text) for text in (before, after)]
    extra = [tag for tag in tags[1] if tag not in tags[0]]
    assert set(extra) <= {"inertial", "pose", "inertia", "ixx", "ixy", "ixz", "iyy", "iyz", "izz", "mass"}


def test_a_payload_changes_one_link_alone(tmp_path):
    text = (SAMPLES / "double_pendulum.urdf").read_text()
    _, second = (m.start() for m in re.finditer("<mass", text))
    (tmp_path / "held.urdf").write_text(text[:second] + re.sub(r'value="[^"]*"', 'value="2.5"', text[second:], count=1))
    plant = plant_of(tmp_path / "held.urdf", weld_base=True)
    columns = measured_columns(tmp_path / "held.urdf", 400, 8.0)
    for name in columns:  # without the friction that the file does not have
        if name.startswith("tau:"):
            v = columns["v:" + name[4:]]
            columns[name] = columns[name] - 0.3 * v - 0.4 * np.sign(v)
    data = write_csv(tmp_path / "a.csv", columns)
    out = tmp_path / "out.urdf"
    result = succeed(
        "-q", "identify", SAMPLES / "double_pendulum.urdf", "--data", data, "--payload", "lower", "-o", out, "--json"
    )
    document = result.json()
    kinds = {(p["name"].split(".")[0], p["kind"]) for p in document["parameters"]}
    assert kinds == {("lower", "inertial"), ("shoulder", "offset"), ("elbow", "offset")}
    assert parameters_of_file(out)["lower.m"] == pytest.approx(
        parameters_of_file(tmp_path / "held.urdf")["lower.m"], rel=0.1
    )
    assert out.read_text()[: second - 20].count("\n") == text[: second - 20].count("\n")
    assert document["errors"]["after"] < 0.05 < document["errors"]["before"]
    assert plant.num_velocities() == 2


@pytest.mark.parametrize("offset", [2.0, -1.0, 0.5])
def test_a_payload_is_found_together_with_offsets_that_its_file_has_lost(offset, tmp_path):
    """Alone, the link would take the offsets for a mass of its own, or for a lag."""
    text = (SAMPLES / "double_pendulum.urdf").read_text()
    at = [m.start() for m in re.finditer("<mass", text)][1]
    (tmp_path / "held.urdf").write_text(text[:at] + re.sub(r'value="[^"]*"', 'value="1.5"', text[at:], count=1))
    wanted, before = parameters_of_file(tmp_path / "held.urdf"), parameters_of_file(SAMPLES / "double_pendulum.urdf")
    columns = measured_columns(tmp_path / "held.urdf", 1000, 20.0)
    for name in columns:
        if name.startswith("tau:"):
            v = columns["v:" + name[4:]]
            columns[name] = columns[name] - 0.3 * v - 0.4 * np.sign(v) + offset
    data = write_csv(tmp_path / "a.csv", columns)
    words = ("-q", "identify", SAMPLES / "double_pendulum.urdf", "--data", data, "--payload", "lower", "--json")
    out = tmp_path / "out.urdf"
    document = succeed(*words, "-o", out).json()
    assert {f["code"] for f in document["findings"]} <= {"MODEL_PLACE"}
    found = {p["name"]: p for p in document["parameters"]}
    gained = found["lower.mcz"]["new"] - before["lower.mcz"]
    assert gained == pytest.approx(wanted["lower.mcz"] - before["lower.mcz"], rel=0.03)
    assert found["elbow.offset"]["new"] == pytest.approx(offset, rel=0.05)
    assert parameters_of_file(out)["lower.mcz"] == pytest.approx(found["lower.mcz"]["new"], rel=1e-6)
    alone = {p["name"]: p["new"] for p in cli(*words, "--friction", "none").json()["parameters"]}
    assert "elbow.offset" not in alone


def test_every_inertia_of_a_written_file_is_possible(data, tmp_path):
    out = tmp_path / "out.urdf"
    succeed("-q", "identify", SAMPLES / "double_pendulum.urdf", "--data", data, "-o", out)
    result = cli("check", out, "--json")
    assert result.code == 0
    assert not [f for f in json.loads(result.out)["findings"] if "INERTIA" in f["code"] or "MASS" in f["code"]]


def test_the_report_has_a_plot_of_each_joint_and_loads_nothing(data, tmp_path):
    page = tmp_path / "report.html"
    succeed("-q", "identify", SAMPLES / "double_pendulum.urdf", "--data", data, "--validate", data, "--report", page)
    text = page.read_text()
    assert text.count("<svg") == 2 and text.count("polyline class='m'") == 2
    assert "http" not in text and "<script" not in text


def test_a_report_of_svg_is_the_plots_alone(data, tmp_path):
    picture = tmp_path / "report.svg"
    succeed("-q", "identify", SAMPLES / "double_pendulum.urdf", "--data", data, "--report", picture)
    svg = "{http://www.w3.org/2000/svg}"
    plots = ElementTree.parse(picture).getroot().findall(f"{svg}svg")
    assert [len(plot.findall(f"{svg}polyline")) for plot in plots] == [3, 3]


def test_without_data_the_file_itself_is_tried(data, tmp_path):
    out = tmp_path / "out.urdf"
    succeed("-q", "identify", SAMPLES / "double_pendulum.urdf", "--data", data, "-o", out, "--no-armature")
    before = succeed("-q", "identify", SAMPLES / "double_pendulum.urdf", "--validate", data, "--json").json()["errors"]
    after = succeed("-q", "identify", out, "--validate", data, "--json").json()["errors"]
    assert after["validation"] < 0.1 < before["validation"]
    assert after["before"] is None and after["after"] is None


def test_nothing_is_written_over_a_file_that_is_there(data, tmp_path):
    out = tmp_path / "out.urdf"
    out.write_text("mine")
    result = cli("identify", SAMPLES / "double_pendulum.urdf", "--data", data, "-o", out)
    assert result.code == 6 and out.read_text() == "mine"
