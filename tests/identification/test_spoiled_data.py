"""Data that are not what they claim to be: each is an error or a finding that names file, column and reason."""

import json

import numpy as np
import pytest
from command_line import cli
from measured_motion import measured_columns, write_csv
from repository import SAMPLES

from mbcli.identification.data_checks import saturated
from mbcli.identification.identify import Settings, identify as identify_plant
from mbcli.identification.records import read_record
from mbcli.models.loading import load_model
from mbcli.simulation.worlds import Worlds


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """The columns of a motion of a 7-joint arm with encoders and current sensors as they are, by name."""
    folder = tmp_path_factory.mktemp("good")
    columns = measured_columns(SAMPLES / "arm7.urdf", 900, 9.0)
    names = [name[2:-2] for name in columns if name.startswith("q:")]
    return folder, names, columns


def identify(path, *words):
    return cli("identify", str(SAMPLES / "arm7.urdf"), "--data", str(path), "--json", *words)


def findings(result):
    return {(f["code"], f["column"]) for f in json.loads(result.out)["findings"]}


def changed(columns, **changes):
    return {name: changes.get(name, values) for name, values in columns.items()}


def test_good_data_have_no_findings_but_what_the_file_has_no_place_for(good, tmp_path):
    _, _, columns = good
    result = identify(write_csv(tmp_path / "a.csv", columns))
    assert result.code == 0, result.err
    assert {code for code, _ in findings(result)} == set()
    document = json.loads(result.out)
    assert document["errors"]["after"] < 0.02 and document["rank"] == document["largest_rank"]


def joint(names, k):
    return f"q:{names[k]}_q", f"v:{names[k]}_w", f"tau:{names[k]}_w"


SPOILED = {
    "degrees of position": (lambda c, n: {joint(n, 2)[0]: np.degrees(c[joint(n, 2)[0]])}, "DATA_UNITS", 2),
    "degrees of velocity": (lambda c, n: {joint(n, 3)[1]: np.degrees(c[joint(n, 3)[1]])}, "DATA_UNITS", 3),
    "mirrored velocity": (lambda c, n: {joint(n, 1)[1]: -c[joint(n, 1)[1]]}, "DATA_SIGN", 1),
    "mirrored effort": (lambda c, n: {joint(n, 1)[2]: -c[joint(n, 1)[2]]}, "DATA_SIGN", 1),
    "mirrored position and velocity": (
        lambda c, n: {joint(n, 3)[0]: -c[joint(n, 3)[0]], joint(n, 3)[1]: -c[joint(n, 3)[1]]},
        "DATA_SIGN",
        3,
    ),
    "swapped velocities": (
        lambda c, n: {joint(n, 0)[1]: c[joint(n, 1)[1]], joint(n, 1)[1]: c[joint(n, 0)[1]]},
        "DATA_SWAPPED",
        0,
    ),
    "swapped efforts": (
        lambda c, n: {joint(n, 1)[2]: c[joint(n, 3)[2]], joint(n, 3)[2]: c[joint(n, 1)[2]]},
        "DATA_SWAPPED",
        1,
    ),
    "swapped positions": (
        lambda c, n: {joint(n, 0)[0]: c[joint(n, 3)[0]], joint(n, 3)[0]: c[joint(n, 0)[0]]},
        "DATA_SWAPPED",
        0,
    ),
    "a joint that turns the other way": (
        lambda c, n: {what: -c[what] for what in joint(n, 3)},
        "DATA_SIGN",
        3,
    ),
    "late velocities": (lambda c, n: {joint(n, 2)[1]: np.roll(c[joint(n, 2)[1]], 5)}, "DATA_LAG", 2),
    "late efforts": (lambda c, n: {joint(n, k)[2]: np.roll(c[joint(n, k)[2]], 5) for k in range(7)}, "DATA_LAG", None),
    "one late effort": (lambda c, n: {joint(n, 3)[2]: np.roll(c[joint(n, 3)[2]], 6)}, "DATA_LAG", 3),
    "constant effort": (lambda c, n: {joint(n, 1)[2]: np.zeros(900)}, "DATA_DEAD", 1),
    "constant velocity": (lambda c, n: {joint(n, 4)[1]: np.zeros(900)}, "DATA_DEAD", 4),
    "constant position": (
        lambda c, n: {joint(n, 0)[0]: np.zeros(900), joint(n, 0)[1]: np.zeros(900)},
        "DATA_CONSTANT",
        0,
    ),
    "saturated effort": (
        lambda c, n: {joint(n, 1)[2]: np.clip(c[joint(n, 1)[2]], -0.6 * abs(c[joint(n, 1)[2]]).max(), 1e9)},
        "DATA_SATURATED",
        1,
    ),
}
ERRORS = ("DATA_UNITS", "DATA_SIGN", "DATA_SWAPPED", "DATA_LAG", "DATA_DEAD")


@pytest.mark.parametrize("what", SPOILED)
def test_spoiled_columns_are_findings_that_name_them(what, good, tmp_path):
    _, names, columns = good
    spoil, code, k = SPOILED[what]
    result = identify(write_csv(tmp_path / "a.csv", changed(columns, **spoil(columns, names))))
    found = json.loads(result.out)["findings"]
    of_kind = [f for f in found if f["code"] == code]
    assert of_kind, (result.err, found)
    assert k is None or any(names[k] in (f["column"] or "") for f in of_kind), of_kind
    assert all(f["file"] == str(tmp_path / "a.csv") for f in of_kind)
    assert result.code == 1 or code not in ERRORS
    assert f"[{code}]" in result.err


@pytest.mark.parametrize("steps", [6, 12, 30])
@pytest.mark.parametrize("rate", [0.4, 1.0, 2.5])
def test_efforts_in_steps_are_no_saturation_and_those_that_are_cut_are(steps, rate):
    time = np.linspace(0.0, 20.0, 4001)
    effort = 5.0 * np.sin(2.0 * np.pi * rate * time / 2.0) + 2.0 * np.sin(3.1 * rate * time)
    quantum = 14.0 / steps
    assert not saturated(quantum * np.round(effort / quantum)).any()
    assert not saturated(effort).any()
    cut = saturated(np.clip(effort, -3.0, 3.0))
    np.testing.assert_array_equal(cut, np.abs(effort) >= 3.0)
    assert saturated(0.01 * np.round(np.clip(effort, -3.0, 3.0) / 0.01)).sum() > 0.9 * cut.sum()


def test_a_gap_in_time_is_a_finding_with_its_line(good, tmp_path):
    _, _, columns = good
    kept = np.r_[0:400, 500:900]
    result = identify(write_csv(tmp_path / "a.csv", {name: values[kept] for name, values in columns.items()}))
    assert result.code == 0
    (gap,) = [f for f in json.loads(result.out)["findings"] if f["code"] == "DATA_GAP"]
    assert gap["line"] == 402 and gap["column"] == "time"


def without(columns, *words):
    return {name: values for name, values in columns.items() if not any(word in name for word in words)}


FAULTS = {
    "no efforts of a joint": (lambda c, n: without(c, f"tau:{n[2]}"), 3, "no efforts of"),
    "no positions of a joint": (lambda c, n: without(c, f"q:{n[2]}"), 3, "no positions of"),
    "no efforts": (lambda c, n: without(c, "tau:"), 3, "no efforts"),
    "no time": (lambda c, n: without(c, "time"), 3, "no column 'time'"),
    "time that stands still": (lambda c, n: changed(c, time=np.zeros(900)), 3, ":3: error: column 'time'"),
    "two rows": (lambda c, n: {name: values[:2] for name, values in c.items()}, 3, "2 rows"),
    "a position that nothing has": (
        lambda c, n: changed(c, **{f"q:{n[1]}_q": np.r_[np.zeros(200), 1e300, np.zeros(699)]}),
        3,
        ":202: error: the positions have a number above 1e+15",
    ),
    "time that goes back": (
        lambda c, n: changed(c, time=np.r_[c["time"][:300], c["time"][:600]]),
        3,
        ":302: error: column 'time'",
    ),
}


@pytest.mark.parametrize("what", FAULTS)
def test_what_cannot_be_used_is_an_error_of_one_line(what, good, tmp_path):
    _, names, columns = good
    spoil, code, says = FAULTS[what]
    path = write_csv(tmp_path / "a.csv", spoil(columns, names))
    result = identify(path, "-o", str(tmp_path / "out.urdf"))
    assert result.code == code and says in result.err, result.err
    assert path in result.err and len(result.err.strip().splitlines()) == 1
    assert not (tmp_path / "out.urdf").exists()


def test_a_column_that_is_there_twice_is_an_error_that_names_it(good, tmp_path):
    _, names, columns = good
    path = write_csv(tmp_path / "a.csv", columns)
    lines = (tmp_path / "a.csv").read_text().splitlines()
    lines[0] = lines[0].replace(f"q:{names[1]}_q", f"q:{names[0]}_q")
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    result = identify(path)
    assert result.code == 3 and f"{names[0]}_q" in result.err and len(result.err.strip().splitlines()) == 1


def test_a_line_that_is_cut_short_is_an_error_with_its_number(good, tmp_path):
    path = write_csv(tmp_path / "a.csv", good[2])
    lines = (tmp_path / "a.csv").read_text().splitlines()
    lines[500] = lines[500].rpartition(",")[0]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    result = identify(path)
    assert result.code == 3 and f"{path}:501: error" in result.err


@pytest.mark.parametrize("word", ["nan", "inf", "", "1.2.3", "overload"])
def test_a_cell_that_is_no_number_is_an_error_with_line_and_column(word, good, tmp_path):
    _, names, columns = good
    path = write_csv(tmp_path / "a.csv", columns)
    lines = (tmp_path / "a.csv").read_text().splitlines()
    cells = lines[99].split(",")
    cells[3] = word
    lines[99] = ",".join(cells)
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    result = identify(path)
    assert result.code == 3
    assert f"{path}:100: error: column 'q:{names[2]}_q'" in result.err


def test_rows_without_a_header_need_names(good, tmp_path):
    _, _, columns = good
    np.savetxt(tmp_path / "a.csv", np.column_stack(list(columns.values())), delimiter=",", fmt="%.9g")
    result = identify(tmp_path / "a.csv")
    assert result.code == 3 and "--columns names them" in result.err
    named = identify(tmp_path / "a.csv", "--columns", "time,q,v,tau")
    assert named.code == 0
    assert json.loads(named.out)["errors"]["after"] < 0.02
    assert identify(tmp_path / "a.csv", "--columns", "time,q,v,tau,-*3").code == 3


def test_currents_become_efforts_by_their_gain(good, tmp_path):
    _, names, columns = good
    gains = np.arange(2.0, 9.0)
    currents = {
        name: values / gains[names.index(name[4:-2])] if name.startswith("tau:") else values
        for name, values in columns.items()
    }
    path = write_csv(tmp_path / "a.csv", currents)
    wanted = json.loads(identify(write_csv(tmp_path / "b.csv", columns)).out)
    found = json.loads(identify(path, "--effort-gain", ",".join(map(str, gains))).out)
    for a, b in zip(found["parameters"], wanted["parameters"], strict=True):
        assert a["new"] == pytest.approx(b["new"], rel=1e-3, abs=1e-4)


SERVO = """<mujoco model="swing"><worldbody>
  <body name="rod"><joint name="hinge" axis="0 1 0" damping="0.1"/>
    <inertial pos="0 0 -{c}" mass="1" diaginertia="0.02 0.02 0.001"/></body></worldbody>
  <actuator><position name="servo" joint="hinge" kp="35" kv="1.6" forcerange="-9 9"/></actuator></mujoco>
"""


def test_controls_of_a_servo_become_the_efforts_of_its_law_and_not_efforts_themselves(tmp_path):
    (tmp_path / "true.xml").write_text(SERVO.format(c=0.2))
    (tmp_path / "file.xml").write_text(SERVO.format(c=0.3))
    steps = np.arange(100000) * 0.0001
    controls = 0.6 * np.sin(2.1 * steps) + 0.4 * np.sin(5.3 * steps + 0.5)
    time, control = steps[::50], controls[::50]
    worlds = Worlds(load_model(str(tmp_path / "true.xml"), dt=1e-4), 1, warn=lambda line: None)
    states = worlds.rollout(100000, 35.0 * controls[None, :, None], every=50)[0]
    states = np.vstack((np.zeros(2), states[:-1]))
    rows = np.column_stack((time, states, control))
    np.savetxt(tmp_path / "a.csv", rows, delimiter=",", header="time,q:hinge,v:hinge,u:servo", comments="")
    plant = load_model(str(tmp_path / "file.xml")).plant
    record = read_record(str(tmp_path / "a.csv"), plant)
    wanted = np.clip(35.0 * (control - states[:, 0]) - 1.6 * states[:, 1], -9.0, 9.0)
    np.testing.assert_allclose(record.tau[:, 0], wanted, atol=1e-12)
    result = identify_plant(plant, [str(tmp_path / "a.csv")], settings=Settings())
    found = dict(zip(result.subject.names, result.x, strict=True))
    assert found["rod.mcz"] == pytest.approx(-0.2, rel=0.01)
    assert found["hinge.viscous"] == pytest.approx(0.1, rel=0.1)
    np.savetxt(tmp_path / "b.csv", rows[:, [0, 1, 3]], delimiter=",", header="time,q:hinge,u:servo", comments="")
    near = read_record(str(tmp_path / "b.csv"), plant).tau[:, 0]  # velocities by differences
    assert np.linalg.norm(near - wanted) < 0.02 * np.linalg.norm(wanted)


def test_time_in_milliseconds_is_a_finding_with_and_without_velocities(good, tmp_path):
    _, names, columns = good
    late = changed(columns, time=1e3 * columns["time"])
    assert ("DATA_UNITS", "time") in findings(identify(write_csv(tmp_path / "a.csv", late)))
    alone = {name: values for name, values in late.items() if not name.startswith("v:")}
    result = identify(write_csv(tmp_path / "b.csv", alone))
    assert result.code != 0 and "the time is in milliseconds" in result.err


def mcap_of(path, messages, encoding="json"):
    """A file with messages [(seconds, topic, object)]."""
    with open(path, "wb") as stream:
        writer = pytest.importorskip("mcap.writer").Writer(stream)
        writer.start(profile="", library="test")
        channels = {}
        for time, topic, message in messages:
            if topic not in channels:
                channels[topic] = writer.register_channel(topic=topic, message_encoding=encoding, schema_id=0)
            stamp = round(1e9 * time)
            writer.add_message(channels[topic], log_time=stamp, publish_time=stamp, data=json.dumps(message).encode())
        writer.finish()
    return str(path)


def joint_states(names, columns):
    for k, time in enumerate(columns["time"].tolist()):
        message = {"name": names, "header": {"stamp": {"sec": 100 + int(time), "nanosec": round(1e9 * (time % 1.0))}}}
        for key, field, end in (("position", "q", "q"), ("velocity", "v", "w"), ("effort", "tau", "w")):
            message[key] = [float(columns[f"{field}:{name}_{end}"][k]) for name in names]
        yield 500.0 + time, "/joint_states", message


def test_messages_of_joints_in_mcap_are_data_as_tables_are(good, tmp_path):
    _, names, columns = good
    wanted = json.loads(identify(write_csv(tmp_path / "a.csv", columns)).out)
    messages = list(joint_states(names, columns))
    result = identify(mcap_of(tmp_path / "a.mcap", messages))
    assert result.code == 0, result.err
    for a, b in zip(json.loads(result.out)["parameters"], wanted["parameters"], strict=True):
        assert a["new"] == pytest.approx(b["new"], rel=1e-3, abs=1e-4)
    del messages[3][2]["effort"]
    result = identify(mcap_of(tmp_path / "b.mcap", messages))
    assert result.code == 3 and "is not in all messages" in result.err
    for encoding, what in (("cdr", "no type"), ("protobuf", "protobuf")):
        result = identify(mcap_of(tmp_path / "c.mcap", messages, encoding))
        assert (
            result.code == 3
            and f"no messages with the positions of joints; there are /joint_states ({what})" in result.err
        )
    (tmp_path / "d.mcap").write_bytes(b"\x89MCAP0\r\n and no more")
    assert identify(tmp_path / "d.mcap").code == 3
