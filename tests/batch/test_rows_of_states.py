"""What rows of states say is what is computed: nothing that they do not give is made up, and every notation is read."""

import json

import numpy as np
import pytest
from command_line import cli
from repository import SAMPLES

PENDULUM = SAMPLES / "double_pendulum.urdf"
CRANE = """<robot name="crane"><link name="world"/>
<link name="cart"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="boom"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="rail" type="prismatic"><parent link="world"/><child link="cart"/><axis xyz="1 0 0"/>
<limit lower="-5" upper="5" effort="9" velocity="9"/></joint>
<joint name="hinge" type="revolute"><parent link="cart"/><child link="boom"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="9" velocity="9"/></joint></robot>"""


@pytest.fixture
def crane(tmp_path):
    (tmp_path / "crane.urdf").write_text(CRANE)
    return tmp_path / "crane.urdf"


def written(tmp_path, text, name="rows.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def rows_of(result):
    assert result.code == 0, result.err
    return [json.loads(line) for line in result.out.splitlines()]


def momenta(path, model, *options):
    """Linear momentum along x and angular about y: they tell all velocities, and the hinge's angle."""
    return np.array([row["L_WS_W"] for row in rows_of(cli("momentum", model, "--states", path, *options))])


# ------------------------------------------------------------------------------- what is not given


@pytest.mark.parametrize("command", ["momentum", "energy", "kinematics", "bias", "com", "forward-dynamics"])
@pytest.mark.parametrize(
    ("text", "lack"),
    [
        ("time,shoulder,shoulder_w,elbow_w\n0,1,2,3\n", "no position of double_pendulum_elbow_q"),
        ("shoulder,elbow\n1,2\n", "no velocities"),
        ("time\n0\n", "no positions"),
        ('{"q": [1, 2]}\n', "no velocities"),
        ('{"v": [1, 2], "shoulder": 1}\n', "no position of double_pendulum_elbow_q"),
    ],
)
def test_what_rows_do_not_give_is_an_error(command, text, lack, tmp_path):
    path = written(tmp_path, text, "rows.jsonl" if text.startswith("{") else "rows.csv")
    result = cli(command, PENDULUM, "--states", path)
    assert result.code == 3
    assert result.err == (
        f"{path}:1: error: the rows give {lack}: add columns, state them by --at, or take those of the model by "
        "--fill default\n"
    )
    assert cli(command, PENDULUM, "--states", path, "--fill", "default").code == 0


def test_arrays_and_logs_have_to_give_all_too(tmp_path):
    np.savez(tmp_path / "q.npz", q=np.zeros((2, 2)))
    assert "the rows give no velocities" in cli("energy", PENDULUM, "--states", tmp_path / "q.npz").err
    assert rows_of(cli("mass-matrix", PENDULUM, "--states", tmp_path / "q.npz"))


def test_a_command_that_asks_for_no_velocities_needs_none(tmp_path):
    path = written(tmp_path, "shoulder,elbow\n1,2\n")
    assert len(rows_of(cli("mass-matrix", PENDULUM, "--states", path))) == 1
    assert len(rows_of(cli("gravity", PENDULUM, "--states", path))) == 1


def test_at_states_what_rows_do_not_give_and_not_what_they_give(tmp_path):
    path = written(tmp_path, "shoulder,shoulder_w,elbow_w\n0,1,1\n0.5,1,1\n")
    given = written(tmp_path, "shoulder,elbow,shoulder_w,elbow_w\n0,0.3,1,1\n0.5,0.3,1,1\n", "all.csv")
    found = cli("energy", PENDULUM, "--states", path, "--at", "elbow=0.3")
    assert found.out == cli("energy", PENDULUM, "--states", given).out and found.code == 0
    result = cli("energy", PENDULUM, "--states", given, "--at", "elbow=0.3")
    assert result.code == 3
    assert "the position 'double_pendulum_elbow_q' is given by the rows and by --at" in result.err


def test_columns_that_mean_nothing_are_told_once(tmp_path):
    path = written(tmp_path, "time,shoulder,elbow,shoulder_w,elbow_w,temperature\n0,1,2,3,4,20\n1,1,2,3,4,21\n")
    result = cli("energy", PENDULUM, "--states", path)
    assert result.code == 0 and len(result.out.splitlines()) == 2
    assert result.err.count("\n") == 1 and "columns that are not used: 'temperature'" in result.err
    path = written(tmp_path, "shoulder,elbwo,shoulder_w,elbow_w\n0,1,2,3\n")
    result = cli("energy", PENDULUM, "--states", path)
    assert result.code == 3
    assert "no position of double_pendulum_elbow_q" in result.err and "not known: 'elbwo'; did you mean" in result.err
    lines = '{"q": [1, 2], "v": [3, 4], "force": 1}\n{"q": [1, 2], "v": [3, 4], "force": 2}\n'
    result = cli("energy", PENDULUM, "--states", written(tmp_path, lines, "rows.jsonl"))
    assert result.code == 0 and result.err.count("'force'") == 1


def test_a_header_without_rows_is_told(tmp_path):
    path = written(tmp_path, "shoulder,elbow,shoulder_w,elbow_w\n")
    result = cli("energy", PENDULUM, "--states", path)
    assert (result.code, result.out) == (0, "") and "no rows follow this header" in result.err


def test_a_row_outside_of_limits_is_told(crane, tmp_path):
    path = written(tmp_path, "rail,hinge,rail_v,hinge_w\n0,1,0,0\n0,400,0,0\n9,0,0,0\n")
    result = cli("energy", crane, "--states", path)
    assert result.code == 0 and result.err.count("\n") == 1
    assert "row 2: crane_hinge_q is 400, outside of its limits -3 and 3" in result.err


@pytest.mark.parametrize("options", [("--fill", "default"), ("--states-format", "csv")])
def test_options_of_rows_need_rows(options):
    assert f"{options[0]} needs --states" in cli("energy", PENDULUM, *options).err


# ------------------------------------------------------------------------------------- notations

PLAIN = "time,rail,hinge,rail_v,hinge_w\n0,0.25,0.5,1.5,0.75\n0.1,0.5,-1.25,0.5,0\n"
DEGREES = [str(np.degrees(x)) for x in (0.5, 0.75, -1.25)]
NOTATIONS = {
    "semicolons and decimal commas": PLAIN.replace(",", ";").replace(".", ","),
    "tabs": PLAIN.replace(",", "\t"),
    "tabs and decimal commas": PLAIN.replace(",", "\t").replace(".", ","),
    "blanks": PLAIN.replace(",", "   "),
    "spaces after commas": PLAIN.replace(",", ", "),
    "quotes": PLAIN.replace("rail,", '"rail",').replace("0.25", '"0.25"'),
    "comments": "# recorded 2026-01-01\n% lab 3\n" + PLAIN.replace("\n0.1", "\n# a pause\n0.1"),
    "header in a comment": "# " + PLAIN,
    "numpy.savetxt": "# " + PLAIN.replace(",", " "),
    "byte order mark": "\ufeff" + PLAIN,
    "carriage returns": PLAIN.replace("\n", "\r"),
    "both line ends": PLAIN.replace("\n", "\r\n"),
    "blank lines": "\n\n" + PLAIN.replace("\n", "\n\n"),
    "no last line end": PLAIN.rstrip(),
    "units in a row": "time,rail,hinge,rail_v,hinge_w\nms,mm,deg,m/s,deg/s\n"
    f"0,250,{DEGREES[0]},1.5,{DEGREES[1]}\n100,500,{DEGREES[2]},0.5,0\n",
    "units after names": "time [ms],rail [cm],hinge (°),rail_v [mm/s],hinge_w\n"
    f"0,25,{DEGREES[0]},1500,0.75\n100,50,{DEGREES[2]},500,0\n",
}


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("compiled", ["0", "1"])
def test_a_table_is_read_in_every_notation(notation, compiled, crane, tmp_path, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", compiled)
    expected = cli("energy", crane, "--states", written(tmp_path, PLAIN))
    found = cli("energy", crane, "--states", written(tmp_path, NOTATIONS[notation], "other.csv"))
    assert (found.code, found.err) == (0, "")
    for one, two in zip(rows_of(found), rows_of(expected), strict=True):
        np.testing.assert_allclose([*one.values()], [*two.values()], rtol=1e-12)


def test_degrees_by_an_option_are_of_angles_alone(crane, tmp_path):
    text = f"time,rail,hinge,rail_v,hinge_w\n0,0.25,{DEGREES[0]},1.5,{DEGREES[1]}\n0.1,0.5,{DEGREES[2]},0.5,0\n"
    expected = rows_of(cli("energy", crane, "--states", written(tmp_path, PLAIN)))
    found = rows_of(cli("energy", crane, "--states", written(tmp_path, text, "degrees.csv"), "--degrees"))
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_allclose([*one.values()], [*two.values()], rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rail,hinge,rail_v,hinge_w\ndeg,deg,m/s,rad/s\n0,0,0,0\n", "1: error: column 'rail' is in deg, expected m"),
        ("rail,hinge,rail_v,hinge_w\nm,furlong,m/s,rad/s\n0,0,0,0\n", "2: error: 'furlong' is no unit that is known"),
        ("rail,hinge,rail_v,hinge_w\n1,5;2,0,0\n", "2: error: column 'hinge': '5;2' is not a number"),
        ("rail;hinge;rail_v;hinge_w\n1.000,5;2;0;0\n", "2: error: column 'rail': '1.000,5' is not a number"),
    ],
)
def test_what_cannot_be_meant_is_named_by_its_line(text, message, crane, tmp_path):
    path = written(tmp_path, text)
    result = cli("energy", crane, "--states", path)
    assert result.code == 3 and result.err.startswith(f"{path}:{message}")


def test_inputs_and_points_are_tables_of_the_same_notations(crane, tmp_path):
    arm = SAMPLES / "double_pendulum.urdf"
    plain, other = "time,elbow\n0,0.5\n0.5,1.5\n", "# torques\ntime;elbow\ns;Nm\n0;0,5\n0,5;1,5\n"
    ends = []
    for text in (plain, other):
        result = cli("simulate", arm, "-t", "1", "--no-log", "--json", "--input", written(tmp_path, text, "u.csv"))
        ends.append(json.loads(result.out)["q"])
    assert ends[0] == ends[1]
    tables = []
    for text in (
        "joint.elbow.damping,state.elbow\n0.1,0.5\n0.2,1\n",
        "joint.elbow.damping;state.elbow\n0,1;0,5\n0,2;1\n",
    ):
        result = cli("sweep", arm, "--points", written(tmp_path, text, "points.csv"), "-t", "0.1")
        assert result.code == 0, result.err
        tables.append(result.out)
    assert tables[0] == tables[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time [m],elbow\n0,1\n", "1: error: column 'time' is in m, expected s"),
        ("time,elbow\ns,deg\n0,1\n", "1: error: column 'elbow' is in deg, expected N m"),
    ],
)
def test_an_input_in_units_of_another_quantity_is_refused(text, message, tmp_path):
    path = written(tmp_path, text)
    result = cli("simulate", PENDULUM, "-t", "1", "--no-log", "--input", path)
    assert result.code == 3 and result.err.startswith(f"{path}:{message}")


def test_rows_of_separators_alone_are_no_rows_of_inputs(tmp_path):
    path = written(tmp_path, "time,elbow\n0,0.5\n,\n0.5,1.5\n,\n")
    assert cli("simulate", PENDULUM, "-t", "1", "--no-log", "--input", path).code == 0


def test_an_input_that_begins_after_the_end_is_told(tmp_path):
    path = written(tmp_path, "time,elbow\n2,1\n")
    result = cli("simulate", PENDULUM, "-t", "1", "--no-log", "--input", path)
    assert result.code == 0 and "the input begins at 2 s, the run ends at 1 s: it does not act" in result.err
    assert "begins" not in cli("simulate", PENDULUM, "-t", "3", "--no-log", "--input", path).err


# -------------------------------------------------------------------------------- accelerations


@pytest.fixture(scope="module")
def swing(tmp_path_factory):
    """The default CSV of a log of a free double pendulum: all torques are 0."""
    folder = tmp_path_factory.mktemp("swing")
    log, table = folder / "swing.h5", folder / "swing.csv"
    assert cli("simulate", PENDULUM, "--at", "elbow=1", "-t", "3", "-o", log).code == 0
    assert cli("log", "export", log, "-o", table).code == 0
    return table


def test_accelerations_of_rows_are_not_made_up(swing):
    result = cli("inverse-dynamics", PENDULUM, "--states", swing)
    assert result.code == 3
    assert "give columns vdot:NAME, --vdot differentiate for the rates of the velocities, or --vdot zero" in result.err
    zero = np.array(
        [row["tau"] for row in rows_of(cli("inverse-dynamics", PENDULUM, "--states", swing, "--vdot", "zero"))]
    )
    assert abs(zero).max() > 1.0


def test_torques_of_a_free_pendulum_are_zero_by_the_rates_of_its_velocities(swing):
    result = cli("inverse-dynamics", PENDULUM, "--states", swing, "--vdot", "differentiate")
    assert "rates of the velocities, without what is faster than 25 Hz" in result.err
    tau = np.array([row["tau"] for row in rows_of(result)])
    assert abs(tau).max() < 0.1 and abs(tau[20:-20]).max() < 1e-3  # at its ends a filter knows half


def test_without_velocities_these_are_rates_of_the_positions(swing, tmp_path):
    columns = [0, 1, 2]
    lines = [",".join(line.split(",")[k] for k in columns) for line in swing.read_text().splitlines()]
    path = written(tmp_path, "\n".join(lines))
    result = cli("inverse-dynamics", PENDULUM, "--states", path, "--vdot", "differentiate", "--cutoff", "10")
    assert "rates of the positions, without what is faster than 10 Hz" in result.err
    tau = np.array([row["tau"] for row in rows_of(result)])
    assert abs(tau[20:-20]).max() < 0.05  # 20 N m where accelerations are taken for zero


def test_noise_is_filtered(swing, tmp_path):
    table = np.genfromtxt(swing, delimiter=",", names=True)
    names = list(table.dtype.names)[:5]
    rows = np.array([table[name] for name in names]).T
    rows[:, 3:] += np.random.default_rng(0).normal(scale=0.01, size=(len(rows), 2))
    path = tmp_path / "noisy.csv"
    np.savetxt(path, rows, header=",".join(names), delimiter=",")
    worst = []
    for cutoff in ("5", "40"):
        result = cli("inverse-dynamics", PENDULUM, "--states", path, "--vdot", "differentiate", "--cutoff", cutoff)
        worst.append(np.sqrt(np.mean(np.square([row["tau"] for row in rows_of(result)][20:-20]))))
    assert 10.0 * worst[0] < worst[1]


def test_columns_of_accelerations_are_taken_and_exclude_vdot(tmp_path):
    text = "shoulder,elbow,shoulder_w,elbow_w,vdot:shoulder,vdot:elbow\n0,1,0,0,2.309015538579326,-20.117661699588673\n"
    path = written(tmp_path, text)
    (row,) = rows_of(cli("inverse-dynamics", PENDULUM, "--states", path))
    np.testing.assert_allclose(row["tau"], 0.0, atol=1e-9)
    assert "no --vdot" in cli("inverse-dynamics", PENDULUM, "--states", path, "--vdot", "zero").err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("shoulder,elbow,shoulder_w,elbow_w\n" + "0,0,0,0\n" * 9, "rates need the time of each row"),
        ("time,shoulder,elbow,shoulder_w,elbow_w\n0,0,0,0,0\n1,0,0,0,0\n", "2 rows: rates need 8 or more"),
        ("time,shoulder,elbow,shoulder_w,elbow_w\n" + "0,0,0,0,0\n" * 9, "row 2: time 0 does not increase"),
    ],
)
def test_rates_need_times_that_increase(text, message, tmp_path):
    result = cli("inverse-dynamics", PENDULUM, "--states", written(tmp_path, text), "--vdot", "differentiate")
    assert result.code == 3 and message in result.err


def test_one_state_has_no_rates():
    assert cli("inverse-dynamics", PENDULUM, "--vdot", "differentiate").code == 2
    assert cli("inverse-dynamics", PENDULUM, "--cutoff", "5").code == 2
    zero = cli("inverse-dynamics", PENDULUM, "--q", "1 2", "--vdot", "zero")
    assert zero.out == cli("inverse-dynamics", PENDULUM, "--q", "1 2").out and zero.code == 0
