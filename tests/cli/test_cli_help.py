"""Help: commands by groups, `mbcli help`, what people type elsewhere, and -h, a line an option.

The first jobs of who knows MuJoCo or ROS: what is typed first either does it, or is told in one line what does.
"""

import pytest
from command_line import cli, commands, succeed

import mbcli as library
from mbcli.cli import COMMANDS, ELSEWHERE, GROUPS, OPTIONS_ELSEWHERE, mbcli


def test_every_command_is_in_one_group():
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(COMMANDS)
    out = succeed("--help").out
    assert all(f"{title}:" in out for title in GROUPS)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_people_type_elsewhere_leads_to_a_command(name):
    done = cli(name, "x")
    assert done.code == 2 and f"Did you mean '{ELSEWHERE[name]}'?" in done.err
    words = ELSEWHERE[name].split()
    assert words[0] in COMMANDS and name not in COMMANDS
    assert cli(*[word for word in words if not word.startswith("-")], "--help").code == 0


@pytest.mark.parametrize("option", OPTIONS_ELSEWHERE)
def test_options_that_people_type_elsewhere_lead_to_one(option):
    """Where the command, or another one that is named, has it."""
    meant = OPTIONS_ELSEWHERE[option]
    known = {name: {o for param in command.params for o in param.opts} for name, command in commands(mbcli)}
    having = [name for name, options in known.items() if meant.split()[0] in options or " of mbcli " in meant]
    done = cli(*having[0].split(), f"{option}=1")
    assert done.code == 2 and done.err.count("\n") == 1
    assert f"No such option '{option}'. Did you mean {meant}?" in done.err
    assert {word.strip(",") for word in meant.split() if word.startswith("-")} <= set().union(*known.values())
    assert " of mbcli " in meant or f"Did you mean {meant}" not in cli("doctor", f"{option}=1").err


def test_help_is_a_command_too():
    assert succeed("help", "gravity").out == succeed("gravity", "--help").out
    assert succeed("help", "log", "show").out == succeed("log", "show", "--help").out
    assert succeed("help").out == succeed("--help").out


def test_every_command_is_described_by_its_own_function():
    """Commands share decorators, which keep nothing of the command before."""
    for name, command in commands(mbcli):
        assert command.help == command.callback.__doc__, name


@pytest.mark.parametrize("name", [name for name, _ in commands(mbcli)])
def test_short_help_has_each_option_and_fits_a_screen_or_two(name):
    command = dict(commands(mbcli))[name]
    out = succeed(*name.split(), "-h").out
    flags = [p.opts[0] for p in command.params if getattr(p, "help", None) and p.name not in ("h", "help_model")]
    assert all(flag in out for flag in flags)
    assert len(out.splitlines()) <= 80 and max(map(len, out.splitlines())) <= 115
    assert f"{name} --help explains all of them." in out
    assert len(out) <= len(succeed(*name.split(), "--help").out)


ARM = """<robot name="arm">
<link name="base_link"/>
<link name="upper_arm_link"><inertial><origin xyz="0 0 0.2"/><mass value="2"/>
 <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.002"/></inertial></link>
<link name="tool0"/>
<joint name="lift_joint" type="revolute"><parent link="base_link"/><child link="upper_arm_link"/><axis xyz="0 1 0"/>
 <limit lower="-2" upper="2" effort="50" velocity="9"/></joint>
<joint name="flange" type="fixed"><parent link="upper_arm_link"/><child link="tool0"/><origin xyz="0 0 0.4"/></joint>
</robot>"""


@pytest.fixture
def arm(tmp_path, monkeypatch):
    """An arm as makers ship it, without a transmission, with a base that nothing holds."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.urdf").write_text(ARM)
    (tmp_path / "starts.csv").write_text("lift\n-1\n0.5\n")
    return "arm.urdf"


FIRST_WORDS = [  # what is typed, and what of the answer leads on
    ("simulate arm.urdf -t 0.01 --no-log", "--weld-base holds it where its file puts it"),
    ("simulate arm.urdf -t 0.01 --hold --no-log", "--weld-base holds it where its file puts it"),
    ("simulate arm.urdf --fixed-base -t 0.01", "Did you mean --weld-base?"),
    ("simulate arm.urdf --weld world -t 0.01", "--weld-base welds the base"),
    ("gravity arm.urdf --q 0.3", "7 are those of bases that float, which --weld-base holds"),
    ("simulate arm.urdf --weld-base --torque lift=2 -t 0.01", "Did you mean --u ACTUATOR=VALUE?"),
    ("simulate arm.urdf --weld-base --u lift=2 -t 0.01", "--actuators motor"),
    ("gravity arm.urdf --weld-base --at lift=-90", "--degrees reads plain angles as degrees, and 30deg is one"),
    ("gravity arm.urdf --weld-base --joint lift=1", "Did you mean --at NAME=VALUE?"),
    ("simulate arm.urdf --weld-base --worlds 5", "Did you mean --states STARTS?"),
    ("simulate arm.urdf --weld-base --each", "--each needs --states FILE: a row for each run"),
    ("ik arm.urdf --target tool0=0.2,0,0.3", "Did you mean --to FRAME=x,y,z?"),
    ("ik arm.urdf --frame tool0 --position 0.2,0,0.3", "Did you mean --to FRAME=x,y,z?"),
    ("fk arm.urdf --link tool0", "Did you mean --frame NAME?"),
    ("energy arm.urdf --bag run.mcap", "--states BAG"),
    ("bag run.h5", "Did you mean 'log export --to ros'?"),
    ("simulate arm.urdf --weld-base -o run.gif", "`mbcli replay LOG -o run.gif` makes this of one"),
    ("simulate arm.urdf --weld-base -o run.csv", "`mbcli log export LOG -o run.csv` makes this of one"),
    ("replay arm.urdf", "is not an HDF5 file; it is XML: mbcli view shows a model"),
    ("check arm.urdf --repair", "Did you mean --fix?"),
    ("ik arm.urdf --weld-base", "ik needs where frames are to be: --to FRAME=x,y,z, or --targets FILE"),
    ("live arm.urdf", "Did you mean 'simulate --view'?"),
    ("simulate arm.urdf --gui", "Did you mean --view?"),
    ("fix arm.urdf", "Did you mean 'check --fix'?"),
    ("gif run.h5", "Did you mean 'replay'?"),
    ("simulate arm.urdf --gif", "Did you mean -o FILE.gif of mbcli replay?"),
]


@pytest.mark.parametrize(("words", "leads"), FIRST_WORDS, ids=[words for words, _ in FIRST_WORDS])
def test_a_guess_is_told_the_words(words, leads, arm, ready_kernels):
    result = cli(*words.split())
    assert leads in result.err and "internal error" not in result.err


def test_the_words_do_the_jobs(arm, tmp_path, ready_kernels):
    pandas = pytest.importorskip("pandas")
    run = ["-q", "simulate", arm, "--weld-base", "-t", "0.02"]
    succeed(*run, "-o", "held.h5")
    succeed(*run, "--actuators", "motor", "--u", "lift=2", "-o", "turned.h5")
    assert library.open_log("turned.h5")["lift_w"][-1] > library.open_log("held.h5")["lift_w"][-1]
    degrees = [succeed("gravity", arm, "--weld-base", "--at", f"lift={text}").out for text in ("30deg", "30°", "pi/6")]
    assert degrees[0] == degrees[1] == degrees[2]
    succeed(*run, "--states", "starts.csv", "-o", "all.h5")
    table = library.open_log("all.h5").to_pandas()
    assert isinstance(table, pandas.DataFrame) and sorted(table.index.get_level_values("world").unique()) == [0, 1]
    found = succeed("ik", arm, "--weld-base", "--to", f"tool0={0.4 * 0.5**0.5},0,{0.4 * 0.5**0.5}", "--json").json()
    assert found["q"] == [pytest.approx(0.7853981633974483, abs=1e-9)]
    assert succeed("fk", arm, "--weld-base", "--frame", "upper_arm").out.split()[-8] == "upper_arm"
    pytest.importorskip("rosbags")
    succeed("log", "export", "held.h5", "--to", "ros", "-o", "run.mcap")
    assert succeed("energy", arm, "--weld-base", "--states", "run.mcap", "--format", "csv").out.count("\n") == 4
    assert succeed("check", arm, "--fix").code == 0
