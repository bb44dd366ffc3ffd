"""What every command of the program is tried with: see test_cli_every_command.py.

Words of a command line are one text, split at spaces; files are those of material().
"""

import json
from typing import NamedTuple

import h5py
import numpy as np
from command_line import succeed
from measured_motion import measured_columns, write_csv
from repository import SAMPLES

USAGE, INVALID, MISSING, NUMERICAL, OUTPUT = 2, 3, 4, 5, 6
KINDS = (
    "missing file",
    "broken file",
    "wrong value",
    "wrong name",
    "contradiction",
    "wrong shape",
    "unwritable output",
    "missing argument",
)


class Fault(NamedTuple):
    """What a user does wrong: of a kind; the words behind the command, the exit code, part of the one line."""

    kind: str
    words: str
    code: int
    says: str


class Trial(NamedTuple):
    """A command that works: words behind it and part of its text; words for JSON; further exit codes; its faults.

    json: words whose result is one document (--json is in them), or None; rows: whether it is one document a line.
    found: (words, exit code) of results that are not 0.
    """

    words: str
    shows: str
    json: str | None
    faults: list[Fault]
    found: tuple[tuple[str, int], ...] = ()
    rows: bool = False


def _of_model(*, at="m.urdf", states=True, output="gone/out.json"):
    """Faults that every command on one state of a model shares."""
    faults = [
        Fault("missing argument", "", USAGE, "Missing argument 'MODEL...'"),
        Fault("missing file", "gone.urdf", MISSING, "gone.urdf: no such file"),
        Fault("broken file", "broken.urdf", INVALID, "broken.urdf:4:"),
        Fault("broken file", f"{at} --config broken.yaml", INVALID, "broken.yaml:3:"),
        Fault("broken file", "m.urdf --set joint.elbow.damping=soft", USAGE, "joint.elbow.damping"),
        Fault("wrong name", f"{at} --weld upperr", USAGE, "did you mean 'upper'?"),
        Fault("wrong name", f"{at} --at elbw=1", USAGE, "did you mean 'elbow'?"),
        Fault("wrong shape", f"{at} --q 1,2,3", USAGE, "--q needs 2 numbers, it has 3"),
        Fault("wrong shape", f"{at} --state wide.json", INVALID, "wide.json"),
        Fault("contradiction", f"{at} --pose home --random 1", USAGE, "--pose excludes --random and --state"),
        Fault("unwritable output", f"{at} -o {output}", OUTPUT, f"{output}: error: cannot be written"),
    ]
    if states:
        faults += [
            Fault("missing file", f"{at} --states gone.csv", MISSING, "gone.csv: error: cannot read the states"),
            Fault("wrong shape", f"{at} --states short.csv", INVALID, "short.csv:2: error"),
            Fault("wrong name", f"{at} --states misnamed.csv", INVALID, "did you mean 'elbow'"),
            Fault("contradiction", f"{at} --states rows.csv --json", USAGE, "--states gives rows"),
        ]
    return faults


def _with(words, faults):
    """The faults with more words, those that the command needs."""
    return [fault._replace(words=f"{fault.words} {words}") if fault.words else fault for fault in faults]


def _of_log(words="", missing="gone.h5: error: cannot be read"):
    """Faults that commands on one log share."""
    return [
        Fault("missing argument", "", USAGE, "Missing argument"),
        Fault("missing file", f"gone.h5 {words}", MISSING, missing),
        Fault("broken file", f"text.h5 {words}", INVALID, "text.h5: error"),
    ]


TRIALS = {
    "simulate": Trial(
        "m.urdf -t 0.02 -o out.h5",
        "log: out.h5 (3 rows)",
        "m.urdf -t 0.02 --no-log --json",
        [
            Fault("missing argument", "", USAGE, "Missing argument 'MODEL...'"),
            Fault("missing file", "gone.urdf", MISSING, "gone.urdf: no such file"),
            Fault("missing file", "m.urdf --input gone.csv", MISSING, "gone.csv: error: no such file"),
            Fault("broken file", "broken.urdf", INVALID, "broken.urdf:4:"),
            Fault("broken file", "--resume text.h5", INVALID, "text.h5: error"),
            Fault("wrong value", "m.urdf -t -1", USAGE, "-1 is less than 0"),
            Fault("wrong name", "m.urdf --integrator rungekutta3", USAGE, "there is no 'rungekutta3'"),
            Fault("wrong name", "m.urdf --fields energie", USAGE, "there is no 'energie'"),
            Fault("wrong name", "m.urdf --drive elbw=1", USAGE, "did you mean 'elbow'?"),
            Fault("contradiction", "m.urdf --no-log -o out.h5", USAGE, "--no-log and -o exclude each other"),
            Fault("contradiction", "m.urdf --resume run.h5 --at elbow=1", USAGE, "--resume takes its state from"),
            Fault("contradiction", "loop.urdf --resume run.h5 -t 1", INVALID, "run.h5: error: is of other model files"),
            Fault("wrong shape", "m.urdf --v 1", USAGE, "--v needs 2 numbers, it has 1"),
            Fault("wrong shape", "m.urdf --input misnamed.csv", INVALID, "misnamed.csv"),
            Fault(
                "unwritable output",
                "m.urdf -o gone/out.h5",
                OUTPUT,
                "gone/out.h5: error: cannot be written: there is no",
            ),
            Fault("unwritable output", "m.urdf -t 0 -o run.h5", OUTPUT, "run.h5: error"),
        ],
        found=(("massless.urdf -t 0.01 --no-log", NUMERICAL),),
    ),
    "sweep": Trial(
        "m.urdf --vary joint.elbow.damping=0,1 -t 0.01 -j 1",
        "\n1,",
        "m.urdf --vary joint.elbow.damping=0,1 -t 0.01 -j 1 --json",
        [
            Fault("missing argument", "m.urdf", USAGE, "--vary PATH=VALUES or --points FILE says"),
            Fault("missing file", "gone.urdf --vary u.elbow=1", MISSING, "gone.urdf: no such file"),
            Fault("missing file", "m.urdf --points gone.csv", MISSING, "gone.csv"),
            Fault("broken file", "broken.urdf --vary u.elbow=1", INVALID, "broken.urdf:4:"),
            Fault("wrong value", "m.urdf --vary joint.elbow.damping=linspace(0", USAGE, "joint.elbow.damping"),
            Fault("wrong name", "m.urdf --vary joint.elbw.damping=1", USAGE, "elbow"),
            Fault("wrong name", "m.urdf --vary state.elbow=1 --measure max(elbw)", USAGE, "elbow"),
            Fault("wrong shape", "m.urdf --points short.csv", INVALID, "short.csv"),
            Fault("contradiction", "m.urdf --vary state.elbow=1 --points rows.csv", USAGE, "--points"),
            Fault("contradiction", "m.urdf --vary state.elbow=1 --resume", USAGE, "--resume"),
            Fault("unwritable output", "m.urdf --vary state.elbow=1 -o gone/x.csv", OUTPUT, "gone/x.csv"),
            Fault("unwritable output", "m.urdf --vary state.elbow=1 -o rows.csv", OUTPUT, "rows.csv"),
        ],
        found=(("massless.urdf --vary state.j=0,1 -t 0.01 -j 1", NUMERICAL),),
    ),
    "check": Trial(
        "m.urdf",
        "m.urdf: ",
        "m.urdf --json",
        [
            Fault("missing argument", "", USAGE, "Missing argument 'MODEL...'"),
            Fault("missing file", "m.urdf --package a=gone", MISSING, "gone is not a directory"),
            Fault("wrong value", "m.urdf --fail-on serious", USAGE, "'serious' is not one of"),
            Fault("wrong value", "m.urdf --max-findings -1", USAGE, "-1 is not in the range"),
            Fault("contradiction", "m.urdf --sarif --json", USAGE, "one format"),
            Fault("contradiction", "- -", USAGE, "stdin can be read once"),
            Fault("unwritable output", "m.urdf -o gone/x.txt", OUTPUT, "gone/x.txt: error: cannot be written"),
            Fault("unwritable output", "m.urdf -o rows.csv", OUTPUT, "rows.csv: error"),
        ],
        found=(
            ("broken.urdf", 1),
            ("m.urdf broken.urdf", 1),
            ("gone.urdf", MISSING),
            ("m.urdf --srdf gone.srdf", MISSING),
            ("rows.csv", INVALID),
        ),
    ),
    "inspect": Trial(
        "m.urdf",
        "elbow",
        "m.urdf --json",
        [
            fault
            for fault in _of_model(states=False)
            if not fault.words.startswith(("m.urdf --q", "m.urdf --state"))
            and "--at" not in fault.words
            and "--pose" not in fault.words
        ]
        + [
            Fault("wrong value", "m.urdf --tree svg", USAGE, "'svg' is not one of"),
            Fault("contradiction", "m.urdf --tree dot --json", USAGE, "--tree gives text, dot or mermaid"),
        ],
    ),
    "compare": Trial(
        "m.urdf m.urdf",
        "the same",
        "m.urdf m.urdf --json",
        [
            Fault("missing argument", "", USAGE, "Missing argument 'MODEL...'"),
            Fault("missing file", "m.urdf gone.urdf", MISSING, "gone.urdf: no such file"),
            Fault("broken file", "m.urdf broken.urdf", INVALID, "broken.urdf:4:"),
            Fault("wrong name", "m.urdf --engines mujuco", USAGE, "mujoco"),
            Fault("wrong value", "m.urdf m.sdf --tolerance -1", USAGE, "-1 is"),
            Fault("wrong shape", "m.urdf --engines pinocchio --q 1,2,3", USAGE, "--q needs 2 numbers"),
            Fault("contradiction", "m.urdf m.sdf --engines mujoco", USAGE, "--engines"),
            Fault("contradiction", "m.urdf m.sdf --duration 2", USAGE, "--duration is for one model"),
            Fault("contradiction", "m.urdf m.sdf --shapes --dynamics-only", USAGE, "leave nothing to compare"),
            Fault("contradiction", "m.urdf --shapes", USAGE, "are for two models"),
            Fault("unwritable output", "m.urdf m.urdf -o gone/x.txt", OUTPUT, "gone/x.txt"),
        ],
        found=(("m.urdf loop.urdf", 1),),
    ),
    "convert": Trial(
        "m.urdf --to sdf",
        "<sdf version=",
        "m.urdf -o out.sdf --json",
        [
            Fault("missing argument", "", USAGE, "Missing argument 'MODEL...'"),
            Fault("missing argument", "m.urdf m.sdf --to mjcf", USAGE, "2 MODELs need -o with a folder"),
            Fault("contradiction", "m.urdf --to mjcf --kp 5", USAGE, "need --actuators position"),
            Fault("missing file", "gone.urdf --to sdf", MISSING, "gone.urdf: no such file"),
            Fault("broken file", "broken.urdf --to sdf", INVALID, "broken.urdf:4:"),
            Fault("wrong value", "m.urdf --to step", USAGE, "'step' is not one of"),
            Fault("contradiction", "m.urdf", USAGE, "--to"),
            Fault("contradiction", "m.urdf --to sdf --bundle", USAGE, "--bundle"),
            Fault("wrong name", "m.urdf --to sdf --set joint.elbw.damping=1", USAGE, "elbow"),
            Fault("unwritable output", "m.urdf -o gone/x.sdf", OUTPUT, "gone/x.sdf: error: cannot be written"),
            Fault("unwritable output", "m.urdf -o m.sdf", OUTPUT, "m.sdf: error"),
        ],
        found=(("m.sdf --to urdf", 0), ("loop.urdf --to sdf", INVALID)),
    ),
    "kinematics": Trial(
        "m.urdf --frame lower",
        "lower",
        "m.urdf --vdot 0,1 --json",
        [
            *_of_model(),
            Fault("wrong name", "m.urdf --frame lowr", USAGE, "did you mean 'lower'?"),
            Fault("wrong value", "m.urdf --ik lower=1,2", USAGE, "--ik"),
            Fault("wrong name", "m.urdf --targets rows.csv --frame lowr", USAGE, "did you mean 'lower'?"),
            Fault("missing file", "m.urdf --targets gone.csv --frame lower", MISSING, "gone.csv"),
            Fault("missing argument", "m.urdf --targets rows.csv", USAGE, "--frame NAME"),
            Fault("contradiction", "m.urdf --targets rows.csv --frame lower --states rows.csv", USAGE, "exclude"),
            Fault("contradiction", "m.urdf --collisions", USAGE, "are for --ik and --targets"),
        ],
        found=(("m.urdf --ik lower=9,9,9", NUMERICAL),),
    ),
    "jacobian": Trial(
        "m.urdf --frame lower",
        "elbow",
        "m.urdf --frame lower --json",
        [
            *_with("--frame lower", _of_model()[1:]),
            Fault("missing argument", "m.urdf", USAGE, "--kind spatial needs --frame"),
            Fault("wrong name", "m.urdf --frame lowr", USAGE, "did you mean 'lower'?"),
            Fault("wrong value", "m.urdf --frame lower --point 1,2", USAGE, "--point"),
            Fault("contradiction", "m.urdf --kind com --frame lower", USAGE, "--kind com"),
        ],
    ),
    "mass-matrix": Trial(
        "m.urdf",
        "elbow",
        "m.urdf --json",
        [
            *_of_model(),
            Fault("contradiction", "m.urdf --inverse --derivatives", USAGE, "not together with --inverse"),
            Fault("contradiction", "m.urdf --json --format csv", USAGE, "exclude each other"),
        ],
        found=(("massless.urdf --inverse", NUMERICAL),),
    ),
    "inverse-dynamics": Trial(
        "m.urdf --vdot 1,0",
        "elbow",
        "m.urdf --json",
        [
            *_of_model(),
            Fault("wrong shape", "m.urdf --vdot 1", USAGE, "--vdot needs 2 numbers, it has 1"),
            Fault("wrong name", "m.urdf --vdot elbw=1", USAGE, "did you mean 'elbow'?"),
            Fault("contradiction", "m.urdf --exact --relaxed", USAGE, "--exact and --relaxed exclude each other"),
            Fault("wrong value", "m.urdf --force-on lower=1,2", USAGE, "--force-on takes BODY="),
        ],
    ),
    "forward-dynamics": Trial(
        "m.urdf --tau 1,0",
        "elbow",
        "m.urdf --json",
        [
            *_of_model(),
            Fault("wrong shape", "m.urdf --tau 1", USAGE, "--tau needs 2 numbers, it has 1"),
            Fault("wrong name", "m.urdf --u elbw=1", USAGE, "--u: there is no actuator named 'elbw'"),
        ],
        found=(("massless.urdf", NUMERICAL),),
    ),
    "assemble": Trial(
        "loop.urdf",
        "position error 4",
        "loop.urdf --json",
        [
            *_of_model(),
            Fault("wrong shape", "m.urdf --weights 1", USAGE, "--weights needs 2 numbers, it has 1"),
            Fault("wrong value", "m.urdf --tolerance 0", USAGE, "0 is not greater than 0"),
            Fault("wrong value", "m.urdf --max-iterations 0", USAGE, "0 is not in the range"),
            Fault("missing file", "m.urdf --constraints gone.yaml", MISSING, "gone.yaml"),
        ],
        found=(("m.urdf --constraints apart.yaml", NUMERICAL),),
    ),
    "constrained-dynamics": Trial(
        "loop.urdf",
        "constraint ",
        "loop.urdf --json",
        [
            *_of_model(),
            Fault("contradiction", "loop.urdf --exact --relaxed", USAGE, "--exact"),
            Fault("contradiction", "loop.urdf --vdot 1", USAGE, "--vdot"),
            Fault("wrong value", "loop.urdf --method fast", USAGE, "'fast' is not one of"),
            Fault("wrong name", "m.urdf --relaxed --actuated elbw", USAGE, "elbow"),
        ],
    ),
    "bias": Trial("m.urdf --v 1,2", "elbow", "m.urdf --json", _of_model()),
    "gravity": Trial("m.urdf", "elbow", "m.urdf --json", _of_model()),
    "symbolic": Trial(
        "m.urdf --no-simplify",
        "cos(",
        "m.urdf --no-simplify --json",
        [
            Fault("missing argument", "", USAGE, "Missing argument 'MODEL...'"),
            Fault("missing file", "gone.urdf", MISSING, "gone.urdf: no such file"),
            Fault("broken file", "broken.urdf", INVALID, "broken.urdf:4:"),
            Fault("wrong value", "m.urdf --quantity Q", USAGE, "'Q' is not one of"),
            Fault("wrong name", "m.urdf --frame lowr", USAGE, "did you mean 'lower'?"),
            Fault("contradiction", "m.urdf --quantity pose", USAGE, "--frame"),
            Fault("unwritable output", "m.urdf --quantity tau_g -o gone/x", OUTPUT, "gone/x: error"),
        ],
    ),
    "codegen": Trial(
        "m.urdf --functions mass_matrix --to python -o code",
        "mass_matrix",
        "m.urdf --functions mass_matrix --to python -o code --json",
        [
            Fault("missing argument", "-o code", USAGE, "Missing argument 'MODEL...'"),
            Fault("missing argument", "m.urdf", USAGE, "Missing option '-o'"),
            Fault("missing file", "gone.urdf -o code", MISSING, "gone.urdf: no such file"),
            Fault("broken file", "broken.urdf -o code", INVALID, "broken.urdf:4:"),
            Fault("wrong name", "m.urdf --functions mass_matrx -o code", USAGE, 'did you mean "mass_matrix"?'),
            Fault("wrong name", "m.urdf --functions jacobian:lowr -o code", USAGE, "did you mean 'lower'?"),
            Fault("wrong value", "m.urdf --to ada -o code", USAGE, "'ada' is not one of"),
            Fault("wrong value", "m.urdf --name 2x -o code", USAGE, "'m_2x' is"),
            Fault("contradiction", "m.urdf --to python --real float -o code", USAGE, "--real float is for C"),
            Fault("contradiction", "m.urdf --functions jacobian -o code", USAGE, "jacobian:FRAME"),
            Fault("contradiction", "m.urdf --functions gravity,gravity -o code", USAGE, "both would be called"),
            Fault(
                "contradiction", "m.urdf --to fmi --functions inverse_dynamics -o code", USAGE, "follow from q and v"
            ),
            Fault("contradiction", "m.urdf --to fmi --derivatives -o code", USAGE, "--derivatives is not for FMUs"),
            Fault("unwritable output", "m.urdf --to python -o gone/code", OUTPUT, "gone/code: error"),
        ],
    ),
    "energy": Trial(
        "m.urdf --bodies",
        "kinetic",
        "m.urdf --json",
        [*_of_model(), Fault("contradiction", "m.urdf --bodies --states rows.csv", USAGE, "--bodies is for one state")],
    ),
    "com": Trial(
        "m.urdf --bodies",
        "kg",
        "m.urdf --json",
        [*_of_model(), Fault("contradiction", "m.urdf --bodies --states rows.csv", USAGE, "--bodies is for one state")],
    ),
    "momentum": Trial(
        "m.urdf --point com",
        "kg m",
        "m.urdf --json",
        [*_of_model(), Fault("wrong value", "m.urdf --point 1,2", USAGE, "--point")],
    ),
    "spatial": Trial(
        "shift --vector 0,0,1,2,0,0 --offset 0,0.5,0 --frames vector=W,B,W --frames offset=B,C,W",
        "0 0 1 1.5 0 0  velocity (W, C, W)",
        "compose --vector 0,0,1,2,0,0 --offset 0,0.5,0 --other 0,0,0,0,0,1 --json",
        [
            Fault("missing argument", "", USAGE, "Missing argument"),
            Fault("missing argument", "shift --vector 0,0,1,2,0,0", USAGE, "needs --offset"),
            Fault("missing file", "shift --states gone.csv --offset 0,0,1", MISSING, "gone.csv"),
            Fault("broken file", "shift --states text.h5 --offset 0,0,1", INVALID, "text.h5"),
            Fault("wrong value", "shift --vector 0,0,1,2,0,x --offset 0,0,1", USAGE, "'x' is not a finite number"),
            Fault("wrong name", "turn", USAGE, "'turn' is not one of"),
            Fault("wrong name", "dot --frames axis=W,B,W", USAGE, "--frames axis=W,B,W"),
            Fault("wrong shape", "shift --vector 0,0,1 --offset 0,0,1", USAGE, "--vector needs 6 numbers, it has 3"),
            Fault("wrong shape", "shift --states short.csv --offset 0,0,1", INVALID, "short.csv"),
            Fault("contradiction", "dot --vector 0,0,1,2,0,0 --offset 0,0,1", USAGE, "takes no --offset"),
            Fault(
                "contradiction",
                "dot --vector 0,0,1,2,0,0 --other 0,0,0,0,0,1 --frames vector=W,B,W --frames other=A,B,B",
                USAGE,
                "the force is expressed in B, but the velocity in W",
            ),
            Fault(
                "unwritable output",
                "dot --vector 0,0,1,2,0,0 --other 0,0,0,0,0,1 -o gone/x.json",
                OUTPUT,
                "gone/x.json: error",
            ),
        ],
    ),
    "bushing": Trial(
        "--load 50 --displacement 0.002 --inertia 2.5",
        "damping          500  N s/m or N m s/rad",
        "--inertia 0.2 --settling-time 0.1 --json",
        [
            Fault("missing argument", "", USAGE, "--settling-time says how stiff the axis is"),
            Fault("missing argument", "--load 5", USAGE, "--load and --displacement go together"),
            Fault("missing argument", "--frequency 5", USAGE, "needs --inertia"),
            Fault("missing file", "--torques gone.csv", MISSING, "gone.csv"),
            Fault("broken file", "--torques text.h5", INVALID, "text.h5"),
            Fault("wrong value", "--stiffness 0", USAGE, "0 is not greater than 0"),
            Fault("wrong shape", "--torques short.csv", INVALID, "short.csv"),
            Fault("contradiction", "--stiffness 5 --frequency 2 --inertia 1", USAGE, "one of --stiffness"),
            Fault("contradiction", "--stiffness 5 --decay 2 --damping-ratio 1", USAGE, "exclude each other"),
            Fault("unwritable output", "--stiffness 5 -o gone/x.txt", OUTPUT, "gone/x.txt: error"),
        ],
    ),
    "contact": Trial(
        "m.urdf --ground",
        "",
        "m.urdf --ground --distances --json",
        [
            *_of_model(states=False),
            Fault("contradiction", "m.urdf --max-distance 1", USAGE, "--max-distance"),
            Fault("contradiction", "m.urdf --faces", USAGE, "--faces"),
            Fault("wrong value", "m.urdf --distances --max-distance -1", USAGE, "-1"),
        ],
    ),
    "linearize": Trial(
        "m.urdf",
        "elbow",
        "m.urdf --json",
        [
            *_of_model(),
            Fault("wrong name", "m.urdf --u elbw=1", USAGE, "there is no actuator named 'elbw'"),
            Fault("contradiction", "m.urdf --discrete --set plant_config.time_step=0", INVALID, "--discrete needs"),
            Fault("contradiction", "m.urdf --ground", USAGE, "--ground needs --discrete"),
        ],
    ),
    "optimize": Trial(
        "--task go.control.yaml",
        "no step is left that would make it cheaper",
        "m.urdf --task go.control.yaml --json",
        [
            Fault("missing argument", "", USAGE, "Missing option '--task'"),
            Fault("missing file", "--task gone.yaml", MISSING, "gone.yaml: error"),
            Fault("missing file", "gone.urdf --task go.control.yaml", MISSING, "gone.urdf: no such file"),
            Fault("broken file", "--task broken.yaml", INVALID, "broken.yaml:"),
            Fault("broken file", "broken.urdf --task go.control.yaml", INVALID, "broken.urdf:4:"),
            Fault("wrong value", "--task go.control.yaml --iterations 0", USAGE, "0 is not in the range"),
            Fault("unwritable output", "--task go.control.yaml -o gone/plan.h5", OUTPUT, "gone/plan.h5"),
        ],
    ),
    "identify": Trial(
        "m.urdf --data measured.csv --validate measured.csv --friction none",
        "combinations that motions can show",
        "m.urdf --data measured.csv --json",
        [
            Fault("missing argument", "--data measured.csv", USAGE, "Missing argument 'MODEL...'"),
            Fault("missing argument", "m.urdf", USAGE, "--data names files of measured motion"),
            Fault("missing file", "gone.urdf --data measured.csv", MISSING, "gone.urdf: no such file"),
            Fault("missing file", "m.urdf --data gone.csv", MISSING, "gone.csv: error: cannot read the states"),
            Fault("broken file", "broken.urdf --data measured.csv", INVALID, "broken.urdf:4:"),
            Fault("wrong shape", "m.urdf --data rows.csv", INVALID, "rows.csv: error: 2 rows"),
            Fault("wrong shape", "m.urdf --data measured.csv --effort-gain 1,2,3", USAGE, "--effort-gain needs 2"),
            Fault("wrong value", "m.urdf --data measured.csv --cutoff 0", USAGE, "0 is not greater than 0"),
            Fault("wrong name", "m.urdf --data measured.csv --friction wet", USAGE, "there is no 'wet'"),
            Fault(
                "wrong name",
                "m.urdf --data measured.csv --payload tool",
                USAGE,
                "no link with a mass on a joint named 'tool'",
            ),
            Fault("contradiction", "m.urdf --validate measured.csv -o out.urdf", USAGE, "-o needs --data"),
            Fault("contradiction", "m.urdf --data measured.csv --parameters delay", USAGE, "need --fit trajectory"),
            Fault("unwritable output", "m.urdf --data measured.csv -o m.urdf", OUTPUT, "m.urdf: error"),
        ],
        found=(("m.urdf --data mirrored.csv", 1),),
    ),
    "excite": Trial(
        "m.urdf -t 5 --tries 0 -o out.csv",
        "motion: out.csv",
        "m.urdf -t 5 --tries 0 --json",
        [
            Fault("missing argument", "", USAGE, "Missing argument 'MODEL...'"),
            Fault("missing file", "gone.urdf", MISSING, "gone.urdf: no such file"),
            Fault("broken file", "broken.urdf", INVALID, "broken.urdf:4:"),
            Fault("wrong value", "m.urdf -t 0", USAGE, "0 is not greater than 0"),
            Fault("wrong value", "m.urdf --margin 2", USAGE, "margin is 2"),
            Fault("wrong shape", "loop.urdf --no-collisions", INVALID, "without closed chains"),
            Fault("unwritable output", "m.urdf --tries 0 -t 5 -o gone/out.csv", OUTPUT, "gone/out.csv"),
        ],
    ),
    "loads": Trial(
        "run.h5",
        "elbow",
        "run.h5 --json",
        [
            *_of_log(),
            Fault("contradiction", "run.h5 --csv --json", USAGE, "exclude each other"),
            Fault("unwritable output", "run.h5 -o gone/out.csv", OUTPUT, "gone/out.csv"),
        ],
    ),
    "serve": Trial(
        "m.urdf",
        "",
        None,
        [
            Fault("missing argument", "", USAGE, "Missing argument 'MODEL...'"),
            Fault("missing file", "gone.urdf", MISSING, "gone.urdf: no such file"),
            Fault("broken file", "broken.urdf", INVALID, "broken.urdf:4:"),
            Fault("wrong name", "m.urdf --weld upperr", USAGE, "did you mean 'upper'?"),
            Fault("contradiction", "- --input-format urdf", USAGE, "stdin, where the questions come from"),
            Fault("unwritable output", "m.urdf --socket m.urdf", OUTPUT, "m.urdf: error: is there already"),
            Fault("unwritable output", "m.urdf --socket gone/s", OUTPUT, "gone/s: error: cannot listen there"),
        ],
    ),
    "view": Trial(
        "m.urdf --no-browser",
        "http://127.0.0.1:",
        "m.urdf --no-browser --json",
        [
            Fault("missing argument", "", USAGE, "Missing argument 'MODEL...'"),
            Fault("missing file", "gone.urdf --no-browser", MISSING, "gone.urdf: no such file"),
            Fault("broken file", "broken.urdf --no-browser", INVALID, "broken.urdf:4:"),
            Fault("wrong value", "m.urdf --no-browser --port 70000", USAGE, "70000 is not in the range"),
            Fault("wrong name", "m.urdf --no-browser --at elbw=1", USAGE, "did you mean 'elbow'?"),
            Fault("wrong shape", "m.urdf --no-browser --q 1", USAGE, "--q needs 2 numbers"),
        ],
    ),
    "replay": Trial(
        "run.h5 -o out.html",
        "",
        "run.h5 -o out.html --json",
        [
            *_of_log("-o out.html"),
            Fault("wrong name", "run.h5 -o out.html --trace lowr", USAGE, "did you mean 'lower'?"),
            Fault("wrong value", "run.h5 -o out.html --fps 0", USAGE, "0 is not greater than 0"),
            Fault("wrong value", "run.h5 -o out.png --size 3", USAGE, "--size"),
            Fault("unwritable output", "run.h5 -o gone/out.html", OUTPUT, "gone/out.html"),
            Fault("unwritable output", "run.h5 -o rows.csv", USAGE, "rows.csv"),
        ],
    ),
    "log info": Trial(
        "run.h5",
        "complete",
        "run.h5 --json",
        [*_of_log(), Fault("missing argument", "run.h5 other.h5", USAGE, "unexpected extra argument")],
        found=(("spoiled.h5", INVALID),),
    ),
    "log show": Trial(
        "run.h5",
        "elbow",
        "run.h5 --json",
        [
            *_of_log(),
            Fault("wrong name", "run.h5 --fields energy_kinetc", USAGE, "energy_kinetic"),
            Fault("wrong value", "run.h5 --time soon", USAGE, "'soon' is not a finite number"),
            Fault("wrong value", "run.h5 --time 9", MISSING, "run.h5: error: no sample at 9 s"),
        ],
    ),
    "log tail": Trial(
        "run.h5 -n 2",
        "0.03",
        "run.h5 --json",
        [
            *_of_log(),
            Fault("wrong name", "run.h5 --fields energy_kinetc", USAGE, "energy_kinetic"),
            Fault("wrong value", "run.h5 -n -1", USAGE, "-1 is not in the range"),
        ],
        rows=True,
    ),
    "log diff": Trial(
        "run.h5 run.h5",
        "",
        "run.h5 run.h5 --json",
        [
            Fault("missing argument", "run.h5", USAGE, "Missing argument 'B'"),
            Fault("missing file", "run.h5 gone.h5", MISSING, "gone.h5: error: cannot be read"),
            Fault("broken file", "run.h5 text.h5", INVALID, "text.h5: error"),
            Fault("wrong value", "run.h5 run.h5 --tolerance -1", USAGE, "-1 is less than 0"),
            Fault("wrong name", "run.h5 run.h5 --fields energy_kinetc", USAGE, "energy_kinetic"),
        ],
        found=(("run.h5 other.h5", 1), ("run.h5 other.h5 --tolerance 9", 0)),
    ),
    "log verify": Trial(
        "run.h5",
        "",
        "run.h5 --json",
        [
            *_of_log(),
            Fault("wrong value", "run.h5 --tolerance -1", USAGE, "-1 is less than 0"),
            Fault("unwritable output", "run.h5 -o gone/out.h5", OUTPUT, "gone/out.h5"),
            Fault("unwritable output", "run.h5 -o other.h5", OUTPUT, "other.h5"),
            Fault("unwritable output", "run.h5 -o run.h5 --force", OUTPUT, "run.h5: error: is an input"),
        ],
        found=(("altered.h5", 1),),
    ),
    "log recover": Trial(
        "run.h5 -o out.h5",
        "out.h5",
        "run.h5 -o out.h5 --json",
        [
            *_of_log(missing="gone.h5: error: no such file"),
            Fault("unwritable output", "run.h5 -o gone/out.h5", OUTPUT, "gone/out.h5"),
            Fault("unwritable output", "run.h5 -o other.h5", OUTPUT, "other.h5"),
            Fault("unwritable output", "run.h5 -o /dev/full --force", OUTPUT, "/dev/full: error: is not a regular"),
        ],
    ),
    "log export": Trial(
        "run.h5 --to csv --fields q,v",
        "time",
        "run.h5 -o out.csv --json",
        [
            *_of_log("--to csv"),
            Fault("missing argument", "run.h5", USAGE, "--to"),
            Fault("wrong value", "run.h5 --to xls", USAGE, "'xls' is not one of"),
            Fault("wrong name", "run.h5 --to csv --fields energy_kinetc", USAGE, "energy_kinetic"),
            Fault("contradiction", "run.h5 --to csv --fields contact,q", USAGE, "contact"),
            Fault("contradiction", "run.h5 --to csv --json", USAGE, "it needs a file, -o FILE"),
            Fault("unwritable output", "run.h5 -o gone/out.csv", OUTPUT, "gone/out.csv"),
            Fault("unwritable output", "run.h5 -o rows.csv", OUTPUT, "rows.csv"),
        ],
    ),
    "log plot": Trial(
        "run.h5 --text",
        "elbow",
        "run.h5 -o out.png --json",
        [
            *_of_log("--text"),
            Fault("wrong name", "run.h5 --text --fields elbw_q", USAGE, "elbow"),
            Fault("wrong value", "run.h5 --text --from soon", USAGE, "'soon' is not a finite number"),
            Fault("contradiction", "run.h5 --text -o out.png", USAGE, "--text"),
            Fault("contradiction", "run.h5 --text --json", USAGE, "it needs a file, -o FILE"),
            Fault("contradiction", "run.h5 --text --interval 1", USAGE, "--interval is for --follow"),
            Fault("unwritable output", "run.h5 -o out.xyz", USAGE, "out.xyz"),
            Fault("unwritable output", "run.h5 -o gone/out.png", OUTPUT, "gone/out.png"),
        ],
    ),
    "schema": Trial(
        "",
        "results",
        None,
        [
            Fault("wrong name", "scenrio", USAGE, 'did you mean "scenario"?'),
            Fault("missing argument", "log results", USAGE, "unexpected extra argument"),
            Fault("unwritable output", "log -o gone/x.json", OUTPUT, "gone/x.json: error"),
            Fault("wrong value", "log --json", USAGE, "No such option '--json'"),
        ],
    ),
    "explain": Trial(
        "LINK_INERTIA_INVALID",
        "LINK_INERTIA_INVALID: ",
        "LINK_INERTIA_INVALID --json",
        [
            Fault("wrong name", "LINK_INERTIA_INVLID", USAGE, "did you mean LINK_INERTIA_INVALID?"),
            Fault("missing argument", "A B", USAGE, "unexpected extra argument"),
            Fault("wrong value", "--code", USAGE, "No such option '--code'"),
        ],
    ),
    "doctor": Trial(
        "",
        "kernels",
        "--json",
        [
            Fault("missing argument", "m.urdf", USAGE, "unexpected extra argument"),
            Fault("wrong value", "--jsn", USAGE, "'--jsn'"),
            Fault("contradiction", "--json --json=1", USAGE, "--json"),
        ],
    ),
    "completion": Trial(
        "bash",
        "_mbcli_completion",
        None,
        [
            Fault("missing argument", "", USAGE, "Missing argument"),
            Fault("wrong name", "bsh", USAGE, "'bsh' is not one of 'bash', 'zsh', 'fish', 'man'"),
            Fault("wrong value", "bash --x", USAGE, "'--x'"),
        ],
    ),
}

INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
MASSLESS = f"""<robot name="r"><link name="a"><inertial><mass value="1"/>{INERTIA}</inertial></link><link name="b"/>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint></robot>
"""
APART = """constraints:
- distance: {body_A: world, body_B: lower, distance: 99}
"""


CONTROL = """model: m.urdf
period: 0.05
horizon: 0.15
load: {dt: 0.05}
cost:
  - {term: efforts, of: all, target: 0, weight: 1}
  - {term: positions, of: elbow, target: 0.5, weight: 10, at: end}
"""


def material(folder):
    """Writes the files that the words of TRIALS name."""
    for name, source in (
        ("m.urdf", "double_pendulum.urdf"),
        ("m.sdf", "double_pendulum.sdf"),
        ("loop.urdf", "closed_chains/andrews.urdf"),
    ):
        (folder / name).write_bytes((SAMPLES / source).read_bytes())
    texts = {
        "broken.urdf": '<robot name="r">\n<link name="a"/>\n<link name="b">\n</robot>\n',
        "broken.yaml": "a: 1\nplant_config: [\n",
        "massless.urdf": MASSLESS,
        "apart.yaml": APART,
        "wide.json": json.dumps({"q": [1, 2, 3]}),
        "rows.csv": "shoulder,elbow,shoulder_w,elbow_w\n0,0,0,0\n1,1,0,0\n",
        "short.csv": "shoulder,elbow,shoulder_w,elbow_w\n1\n",
        "misnamed.csv": "shoulder,elbw,shoulder_w,elbow_w\n0,0,0,0\n",
        "text.h5": "no log\n",
        "go.control.yaml": CONTROL,
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    columns = measured_columns(folder / "m.urdf", 200, 6.0)
    write_csv(folder / "measured.csv", columns)
    write_csv(
        folder / "mirrored.csv",
        {name: -x if name.startswith("v:") and name.endswith("elbow_w") else x for name, x in columns.items()},
    )
    run = ("-q", "simulate", folder / "m.urdf", "-t", 0.03)
    succeed(*run, "-o", folder / "run.h5")
    succeed(*run, "--at", "elbow=0.5", "-o", folder / "other.h5")
    _alter(folder / "run.h5", folder / "altered.h5", folder / "spoiled.h5")


def _alter(run, altered, spoiled):
    """Writes a log whose record has another start than its rows, and one with a wrong byte among its positions."""
    content = run.read_bytes()
    altered.write_bytes(content)
    with h5py.File(altered, "r+") as file:
        words = json.loads(file.attrs["argv"])
        file.attrs["argv"] = np.bytes_(json.dumps([*words, "--at", "shoulder=0.5"]))
    with h5py.File(run) as file:
        start = file["state/q"].id.get_chunk_info(0).byte_offset
    spoiled.write_bytes(content[:start] + bytes([content[start] ^ 1]) + content[start + 1 :])
