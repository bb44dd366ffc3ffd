"""The pages of docs/reference/commands: what a command prints in an example, its help, and where to read on.

`python tests/support/command_pages.py [NAME...]` runs the examples and writes the pages, all of them or those of the
commands that are named; with `--help-only` before the names it renews the help alone, within seconds. PAGES and
docs/reference/commands/index.md are written by hand.
"""

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import click
from command_line import commands
from document_commands import Command, commands_of, environment_in, run_here
from repository import ROOT

from mbcli.cli import mbcli

FOLDER = ROOT / "docs" / "reference" / "commands"
ARM = "sample_models/double_pendulum.urdf"
RUN = f"mbcli -q simulate {ARM} --at elbow=1 -t 0.2 --no-contact -o run.h5"


class Page(NamedTuple):
    """Lines of a shell, run in one empty folder with the sample models; shown: those that wait for a user or a browser.

    see: {link from docs/: its text}.
    """

    lines: tuple[str, ...]
    see: dict[str, str]
    shown: tuple[str, ...] = ()


STATE = {"reference/rows.md": "Tables of states and inputs", "reference/conventions.md": "Conventions"}
RECIPES = {"how-to/howto.md": "Short recipes"}
LOG = {"reference/log_format.md": "The log", **RECIPES}
EQUATIONS = {"reference/conventions.md#equations-of-motion": "Equations of motion", **STATE}

PAGES = {
    "simulate": Page(
        (f"mbcli simulate {ARM} --at elbow=1 -t 0.5 --no-contact -o run.h5", "mbcli log show run.h5 --fields q,v"),
        {
            "tutorials/tour.md": "Ten minutes with mbcli",
            "how-to/howto.md#simulate-with-torques-from-a-file": "Simulate with torques from a file",
            "reference/log_format.md": "The log",
            "explanation/discrete_steps.md": "Discrete steps",
            "explanation/contact_defaults.md": "Contact defaults",
        },
    ),
    "sweep": Page(
        (
            f"mbcli -q sweep {ARM} --no-contact -t 0.1 -j 1 --vary joint.elbow.damping=0,0.5,1 --vary state.elbow=1 "
            '--measure "max(elbow_w)" -o sweep.csv',
            "cat sweep.csv",
        ),
        {"how-to/sweeps.md": "Sweeps", "how-to/parameters.md": "Parameters by name"},
    ),
    "check": Page(
        ("mbcli check sample_models/quadruped.urdf sample_models/cart_pole.sdf",),
        {"reference/check.md": "Findings", "tutorials/tour.md": "Ten minutes with mbcli", **RECIPES},
    ),
    "inspect": Page(
        ("mbcli inspect sample_models/cart_pole.sdf",),
        {"tutorials/tour.md": "Ten minutes with mbcli", "explanation/concepts.md": "Concepts"},
    ),
    "compare": Page(
        (
            f"mbcli compare {ARM} sample_models/double_pendulum.sdf --dynamics-only",
            f"mbcli compare {ARM} sample_models/double_pendulum.sdf",
        ),
        {"how-to/compare.md": "Comparing models and engines"},
    ),
    "convert": Page(
        (f"mbcli convert {ARM} -o arm.sdf", "mbcli inspect arm.sdf --tree text"),
        {"how-to/convert.md": "Converting models", "reference/mjcf.md": "MJCF"},
    ),
    "kinematics": Page(
        (f"mbcli kinematics {ARM} --at elbow=0.3", f"mbcli kinematics {ARM} --at elbow=0.3 --frame lower --json"),
        {"how-to/howto.md#put-a-frame-somewhere": "Put a frame somewhere", **STATE},
    ),
    "jacobian": Page(
        (f"mbcli jacobian {ARM} --at elbow=0.3 --frame lower",), {"explanation/concepts.md": "Concepts", **STATE}
    ),
    "mass-matrix": Page((f"mbcli mass-matrix {ARM} --at elbow=0.3",), EQUATIONS),
    "inverse-dynamics": Page((f'mbcli inverse-dynamics {ARM} --at elbow=0.3 --vdot "1 0"',), EQUATIONS),
    "forward-dynamics": Page((f"mbcli forward-dynamics {ARM} --at elbow=0.3 --u elbow=1",), EQUATIONS),
    "assemble": Page(
        ("mbcli assemble sample_models/closed_chains/four_bar.urdf",),
        {"how-to/howto.md#close-a-loop": "Close a loop", "reference/conventions.md#constraints": "Constraints"},
    ),
    "constrained-dynamics": Page(
        (
            "mbcli -q assemble sample_models/closed_chains/four_bar.urdf --at left=0.3 --json > on.json",
            "mbcli -q constrained-dynamics sample_models/closed_chains/four_bar.urdf --state on.json",
        ),
        {"reference/conventions.md#constraints": "Constraints", "how-to/howto.md#close-a-loop": "Close a loop"},
    ),
    "bias": Page((f"mbcli bias {ARM} --at elbow=0.3 --at shoulder_w=1",), EQUATIONS),
    "gravity": Page((f"mbcli gravity {ARM} --at elbow=0.3",), EQUATIONS),
    "symbolic": Page(
        ("mbcli symbolic sample_models/pendulum.urdf",),
        {"how-to/install.md#extras": "Extras", "reference/conventions.md#equations-of-motion": "Equations of motion"},
    ),
    "codegen": Page(
        (
            f"mbcli codegen {ARM} --functions gravity,jacobian:lower --to python -o arm",
            "head -n 40 arm/double_pendulum.py",
        ),
        {"how-to/codegen.md": "A model as code", "how-to/install.md#extras": "Extras"},
    ),
    "energy": Page((f"mbcli energy {ARM} --at elbow=0.3 --at elbow_w=1 --bodies",), STATE),
    "com": Page((f"mbcli com {ARM} --at elbow=0.3 --at elbow_w=1",), STATE),
    "momentum": Page((f"mbcli momentum {ARM} --at elbow_w=1 --point com",), STATE),
    "spatial": Page(
        (
            "mbcli spatial shift --vector 0,0,1,2,0,0 --offset 0,0.5,0 --frames vector=W,B,W --frames offset=B,C,W",
            "printf 'rx,ry,rz,tx,ty,tz\\n0,0,1,2,0,0\\n0,1,0,2,0,1\\n' > V_WB.csv",
            "mbcli spatial rotate --states V_WB.csv --rotation 0.8,0,0,0.6 --format csv",
            "mbcli spatial dot --states V_WB.csv --other 0,0,3,4,0,0",
        ),
        {"reference/conventions.md": "Conventions"},
    ),
    "bushing": Page(
        (
            "mbcli bushing --load 50 --displacement 0.002 --inertia 2.5",
            "mbcli bushing --inertia 0.2 --settling-time 0.1 --decay 4",
            "printf 'angle,torque\\n0.5,-3.0\\n1.0,-4.25\\n1.5,-5.5\\n' > door.csv",
            "mbcli bushing --torques door.csv",
        ),
        {"reference/conventions.md": "Conventions"},
    ),
    "contact": Page(
        ("mbcli contact sample_models/quadruped.urdf --ground --at trunk_z=0.45",),
        {
            "explanation/concepts.md#contact": "Contact, and the sign of its forces",
            "explanation/contact_defaults.md": "Contact defaults",
            "reference/hydroelastic.md": "Contact surfaces",
        },
    ),
    "linearize": Page((f"mbcli linearize {ARM} --at elbow=0.3",), STATE),
    "optimize": Page(
        (
            "mbcli optimize --task docs/examples/lift.control.yaml -o plan.h5",
            "mbcli log show plan.h5 --fields u,q,v",
        ),
        {"how-to/control.md#plans": "Plans", "how-to/control.md": "Control", **LOG},
    ),
    "identify": Page(
        (
            f"mbcli -q excite {ARM} -t 5 --tries 0 -o motion.csv",
            f"mbcli -q inverse-dynamics {ARM} --set body.lower.mass=0.8 --states motion.csv -o torques.csv",
            "paste -d, motion.csv <(cut -d, -f2- torques.csv) > measured.csv",
            f"mbcli -q identify {ARM} --data measured.csv --friction none -o identified.urdf | sed -n 1,4p",
        ),
        {"how-to/identify.md": "Identify"},
    ),
    "excite": Page(
        (f"mbcli excite {ARM} -t 5 --tries 0 -o motion.csv", "head -n 1 motion.csv"), {"how-to/identify.md": "Identify"}
    ),
    "loads": Page(
        (RUN.replace("-o", "--u elbow=1 -o"), "mbcli -q loads run.h5"), {"how-to/control.md": "Control", **LOG}
    ),
    "serve": Page(
        (f"""echo '{{"command": "gravity", "at": {{"elbow": 0.3}}, "id": 1}}' | mbcli serve {ARM}""",),
        {"how-to/serve.md": "Serve", "reference/schemas.md": "Schemas"},
    ),
    "view": Page(
        (), {"how-to/pictures.md": "Pictures"}, ("mbcli view sample_models/quadruped.urdf --ground --at trunk_z=0.46",)
    ),
    "replay": Page(
        (RUN, "mbcli replay run.h5 -o run.html"),
        {"how-to/pictures.md": "Pictures"},
        ("mbcli replay run.h5",),
    ),
    "log info": Page((RUN, 'mbcli log info run.h5 | sed -n "1,4p;/^fields/,/potential/p"'), LOG),
    "log show": Page((RUN, "mbcli log show run.h5", "mbcli log show run.h5 --fields q --time 0.1 --time 0.2"), LOG),
    "log tail": Page((RUN, "mbcli log tail run.h5 -n 2 --fields q"), LOG),
    "log diff": Page(
        (RUN, RUN.replace("elbow=1 ", "elbow=1.1 ").replace("run.h5", "other.h5"), "mbcli log diff run.h5 other.h5"),
        LOG,
    ),
    "log verify": Page((RUN, "mbcli log verify run.h5"), LOG),
    "log recover": Page((RUN, "mbcli log recover run.h5 -o whole.h5"), LOG),
    "log export": Page((RUN, "mbcli log export run.h5 --to csv --fields q,v --every 10"), LOG),
    "log plot": Page((RUN, "mbcli log plot run.h5 --text --fields elbow_q", "mbcli log plot run.h5 -o run.svg"), LOG),
    "schema": Page(("mbcli schema",), {"reference/schemas.md": "Schemas"}),
    "explain": Page(("mbcli explain LINK_MASS_INVALID",), {"reference/check.md": "Findings"}),
    "doctor": Page((), {"how-to/install.md": "Install"}, ("mbcli doctor",)),
    "completion": Page(
        ("mbcli completion bash | head -n 3",),
        {"how-to/howto.md#complete-lines-with-the-names-of-a-model": "Complete lines with the names of a model"},
        ('eval "$(mbcli completion bash)"',),
    ),
}


def file_of(name):
    """The page of a command."""
    return FOLDER / f"{name.replace(' ', '_')}.md"


def page_of(name, examples):
    """The text of a page; examples: the Commands of its lines with what they printed, and that of --help last."""
    page = PAGES[name]
    command = dict(commands(mbcli))[name]
    parts = [f"# mbcli {name}", click.formatting.wrap_text(first_sentence(command), 120)]
    if examples[:-1]:
        parts += ["## Example", block("console", examples[:-1])]
    if page.shown:
        parts += ["This runs until you end it:" if name in ("view", "replay") else "Type:"]
        parts += ["```text\n" + "".join(f"{line}\n" for line in page.shown) + "```"]
    parts += ["## Help", block("console", examples[-1:])]
    links = {**page.see, "reference/commands/index.md": "All commands"}
    parts += ["## Read on", "\n".join(f"- [{text}]({relative(link)})" for link, text in links.items())]
    return "\n\n".join(parts) + "\n"


def block(kind, examples):
    return f"```{kind}\n" + "".join(example.text() for example in examples) + "```"


def relative(link):
    """A link from docs/ as it is written in a page of a command."""
    return Path(os.path.relpath(f"docs/{link}", "docs/reference/commands")).as_posix()


def first_sentence(command):
    return " ".join(re.split(r"\n\s*\n", command.help.strip())[0].split())


def examples_of(lines, folder):
    """The lines, run in this folder, as Commands with what they print."""
    os.chdir(folder)
    os.environ.update(environment_in(folder))
    found = []
    for line in lines:
        printed, code = run_here(line, folder)
        if code not in (0, 1):
            raise ValueError(f"$ {line}\n{printed}")
        found.append(Command(line, printed))
    return found


def in_a_folder(lines):
    """As examples_of(), in an empty folder that is gone afterwards."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        try:
            return examples_of(lines, Path(folder))
        finally:
            os.chdir(before)


def lines_of(name):
    return [*PAGES[name].lines, f"mbcli {name} --help"]


def written_examples(name):
    """The Commands that the page of a command has now."""
    blocks = re.findall(r"```console\n(.*?)^```", file_of(name).read_text(), re.S | re.M)
    return [command for text in blocks for command in commands_of(text)]


def main(words):
    """Writes the pages of these commands, or of all; with --help-only first, keeps what their examples print."""
    FOLDER.mkdir(exist_ok=True)
    keeps = words[:1] == ["--help-only"]
    for name in words[keeps:] or PAGES:
        if keeps:
            examples = [*written_examples(name)[:-1], *in_a_folder(lines_of(name)[-1:])]
        else:
            examples = in_a_folder(lines_of(name))
        file_of(name).write_text(page_of(name, examples))


if __name__ == "__main__":
    main(sys.argv[1:])
