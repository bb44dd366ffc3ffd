"""Mutants of all files that commands read: models, stages, tables, settings, logs, questions; each is one kind below.

A kind is a function (folder, draw) that writes its files into a folder and gives the commands that read them, as words,
and the bytes of stdin. `leads()` gives references to the files that are planted outside of that folder.
"""

import json
import os
import random
import re
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import hostile_logs
from damaged_texts import damaged_bytes, damaged_text
from outside_watch import FILES
from repository import SAMPLES
from test_fuzz_models import MJCF, NASTY
from usd_texts import ARM

MODELS = ("double_pendulum.urdf", "quadruped.urdf", "all_joints.sdf", "cart_pole.sdf", "double_pendulum.xml")
NUMBERS = [text for text in NASTY if text.strip("+-").replace(".", "").replace("e", "").replace("-", "").isdigit()]
NUMBERS += ["1e30", "1e-30", "1e99", "-1e99", "1e17", "0.0"]
DEPTHS = (3, 40, 200, 500, 1500, 6000, 30000)
ODD = [
    *("a" * 300, "b" * 70_000, "\x1b[31mred\x1b]0;title\x07", "\x7f\x9b", "two\nlines\r\t", "\u202e\u200b\ufeff", "-o"),
    *("--help", "=", "a=b", "::", "a::b", "world", "..", "/", "*", "${x}", "$(find x)", "%s%n", "{0}", "'\"`", "<&>"),
    *("\ud800", "𝔘𝔫𝔦", "e\u0301" * 2000, "__class__", " ", "\x00", "COM1", "nan", "0"),
]


class Mutant(NamedTuple):
    commands: list
    stdin: bytes = b""


def leads(outside, draw, suffix=""):
    """A reference to a planted file."""
    name = draw.choice([name for name in FILES if name.endswith(suffix)])
    forms = ("../{f}/{n}", "file://{o}/{n}", "{o}/{n}", "package://{f}/{n}", "model://../{f}/{n}", "link_{n}")
    form = draw.choice(forms)
    return form.format(f=os.path.basename(outside), n=name, o=outside)


def outside_of(folder):
    return str(Path(folder).parent / "outside")


# ------------------------------------------------------------------------------------------------ values


def texts():
    found = [(name, (SAMPLES / name).read_text()) for name in MODELS]
    return [*found, ("m.xml", MJCF)]


def _with_other_values(text, draw, nasty=NASTY):
    """The text with one to four of its quoted values or texts of elements replaced."""
    parts = text.split('"')
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(1, max(len(parts) - 1, 2), 2) if len(parts) > 2 else 0
        values = parts[at].split() if parts[at].strip() else [""]
        values[draw.randrange(len(values))] = draw.choice(NUMBERS if draw.random() < 0.7 else nasty)
        if draw.random() < 0.1:
            values = draw.choice(parts[1::2]).split()
        parts[at] = " ".join(values)
    text = '"'.join(parts)
    if draw.random() < 0.5 and ">" in text:
        pieces = text.split(">")
        at = draw.randrange(len(pieces))
        if "<" in pieces[at] and pieces[at].partition("<")[0].strip():
            value, _, rest = pieces[at].partition("<")
            numbers = value.split()
            numbers[draw.randrange(len(numbers))] = draw.choice(NUMBERS)
            pieces[at] = f"{' '.join(numbers)}<{rest}"
        text = ">".join(pieces)
    return text


def _write(path, text):
    content = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    Path(path).write_bytes(content)
    return str(path)


def values(folder, draw):
    """Numbers and texts of a model."""
    name, text = draw.choice(texts())
    path = _write(Path(folder) / f"mutant{os.path.splitext(name)[1]}", _with_other_values(text, draw))
    return Mutant(of_model(path, folder))


# ------------------------------------------------------------------------------------------------ references

_REFERENCES = {
    "r.urdf": '<robot name="r"><link name="b"><visual><geometry><mesh filename="{}"/></geometry></visual></link>'
    "</robot>",
    "r.sdf": '<sdf version="1.10"><model name="m"><include><uri>{}</uri></include><link name="b"/></model></sdf>',
    "r.xml": '<mujoco><include file="{}"/><worldbody/></mujoco>',
    "a.xml": '<mujoco><asset><mesh name="a" file="{}"/><texture type="2d" file="{}" name="t"/></asset></mujoco>',
    "n.xml": '<mujoco><asset><model name="a" file="{}"/></asset><worldbody><attach model="a"/></worldbody></mujoco>',
    "r.dmd.yaml": "directives:\n- add_model: {{name: a, file: {}}}\n",
    "d.dmd.yaml": "directives:\n- add_directives: {{file: {}}}\n",
    "r.scenario.yaml": "s:\n  directives:\n  - add_model: {{name: a, file: {}}}\n",
    "x.urdf.xacro": '<robot xmlns:xacro="http://ros.org/wiki/xacro" name="r"><xacro:include filename="{}"/></robot>',
    "y.urdf.xacro": '<robot xmlns:xacro="http://ros.org/wiki/xacro" name="r">'
    '<xacro:property name="p" value="${{xacro.load_yaml(\'{}\')}}"/><link name="${{p}}"/></robot>',
    "m.obj": "mtllib {}\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "r.usda": '#usda 1.0\n(defaultPrim = "r"\nsubLayers = [@{}@])\ndef Xform "r" {{}}\n',
    "p.usda": '#usda 1.0\n(defaultPrim = "r")\ndef Xform "r" (payload = @{}@) {{}}\n',
}


def references(folder, draw):
    """Files that lead out of their folder, straight or by one that they include, or by a link."""
    outside = outside_of(folder)
    for name in FILES:
        link = Path(folder) / f"link_{name}"
        if not link.is_symlink():
            os.symlink(Path(outside) / name, link)
    name = draw.choice([name for name in _REFERENCES if _has_usd() or not name.endswith("usda")])
    text = _REFERENCES[name]
    lead = [leads(outside, draw) for _ in range(text.count("{}"))]
    path = _write(Path(folder) / name, text.format(*lead))
    if name == "m.obj":
        path = _write(Path(folder) / "m.urdf", _REFERENCES["r.urdf"].format("m.obj"))
    return Mutant(of_model(path, folder) + [["check", path, "--meshes"], ["check", path, "--json"]])


# ------------------------------------------------------------------------------------------------ depth


def _nested(opening, closing, n, inside=""):
    return opening * n + inside + closing * n


_XACRO = '<robot xmlns:xacro="http://ros.org/wiki/xacro" name="r'
_DEEP = {  # file: (before, opening, inside, closing, behind)
    "b.xml": ("<mujoco><worldbody>", '<body><joint/><geom size=".1"/>', "", "</body>", "</worldbody></mujoco>"),
    "d.xml": ("<mujoco><default>", '<default class="a">', "", "</default>", "</default></mujoco>"),
    "p.xml": ("<mujoco><worldbody>", '<replicate count="2">', "<body/>", "</replicate>", "</worldbody></mujoco>"),
    "f.xml": ("<mujoco><worldbody>", '<frame pos="0 0 1">', "<body/>", "</frame>", "</worldbody></mujoco>"),
    "u.xml": ("", "<a>", "", "</a>", ""),
    "o.xml": ("", "<mujoco>", "", "", ""),
    "m.sdf": ('<sdf version="1.9">', '<model name="m">', '<link name="a"/>', "</model>", "</sdf>"),
    "l.urdf": ('<robot name="r">', '<link name="a">', "", "</link>", "</robot>"),
    "a.dmd.yaml": ("directives: ", "[", "", "]", ""),
    "x.urdf.xacro": (f"{_XACRO}${{", "(", "1", ")", '}"/>'),
    "i.urdf.xacro": (f'{_XACRO}">', '<xacro:if value="1">', '<link name="a"/>', "</xacro:if>", "</robot>"),
    "s.usda": ('#usda 1.0\n(defaultPrim = "a")\n', 'def Xform "a" {\n', "", "}\n", ""),
    "l.usda": ("#usda 1.0\n(customLayerData = { ", "dictionary a = { ", "", " }", " })\n"),
}
_LINK = '<link name="l{0}"/><joint name="j{0}" type="{1}"><parent link="l{2}"/><child link="l{0}"/></joint>'


def _chain(n, kind):
    return '<robot name="r"><link name="l0"/>' + "".join(_LINK.format(k, kind, k - 1) for k in range(1, n)) + "</robot>"


def depth(folder, draw):
    """Elements in each other, chains of links, files that include the next, lists in lists."""
    name = draw.choice([name for name in _DEEP if _has_usd() or not name.endswith("usda")])
    before, opening, inside, closing, behind = _DEEP[name]
    path = _write(Path(folder) / name, before + _nested(opening, closing, draw.choice(DEPTHS), inside) + behind)
    if draw.random() < 0.1:
        chain = _chain(draw.choice((40, 400, 3000)), draw.choice(("fixed", "floating", "continuous")))
        path = _write(Path(folder) / "chain.urdf", chain)
    elif draw.random() < 0.15:
        n = draw.choice((5, 60, 400))
        for k in range(n):
            text = f'<mujoco><include file="i{k + 1}.xml"/></mujoco>' if k < n - 1 else "<mujoco/>"
            _write(Path(folder) / f"i{k}.xml", text)
        path = str(Path(folder) / "i0.xml")
    return Mutant(of_model(path, folder))


# ------------------------------------------------------------------------------------------------ names


def _escaped(name):
    return "".join(c if c not in "<&\"'" else f"&#{ord(c)};" for c in name)


def names(folder, draw):
    """Names in a model, and those of files, that are long, empty, unprintable or not of UTF-8."""
    odd = draw.choice(ODD)
    source, text = draw.choice(texts())
    parts = text.split('name="')
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(1, len(parts)) if len(parts) > 1 else 0
        old, quote, rest = parts[at].partition('"')
        parts[at] = _escaped(odd) + quote + rest
        if draw.random() < 0.7 and old:  # what refers to it does so by its new name
            text = text.replace(f'"{old}"', f'"{_escaped(odd)}"').replace(f">{old}<", f">{_escaped(odd)}<")
    content = (text if draw.random() < 0.5 else 'name="'.join(parts)).encode("utf-8", "surrogatepass")
    if draw.random() < 0.3:
        content = content.replace(b'name="', b'name="' + draw.choice((b"\xff\xfe", b"\xc3", b"\xe9t\xe9", b"\x00")), 1)
    if draw.random() < 0.2:
        encoding = draw.choice(("latin-1", "utf-16", "utf-7", "ascii", "x", "", "idna", "unicode_escape", "a" * 5000))
        content = f'<?xml version="1.0" encoding="{encoding}"?>'.encode() + content
    stem = draw.choice((b"mutant", b"\xff\xfe", b"a\nb", b"\x1b[31m", b"n" * 200, "é".encode(), b" ", b"a b'\"$(x)"))
    path = os.fsdecode(os.fsencode(str(folder)) + b"/" + stem + os.path.splitext(source)[1].encode())
    _write(path, content)
    word = odd.replace("\x00", "")[:5000].encode("utf-8", "surrogateescape" if "\ud800" not in odd else "ignore")
    word = os.fsdecode(word)
    return Mutant(
        of_model(path, folder)
        + [
            ["energy", path, "--at", f"{word}=0.1"],
            ["inspect", path, "--set", f"body.{word}.mass=1"],
            ["jacobian", path, "--frame", word],
            ["simulate", path, "-t", "0.01", "--no-log", "--weld", word],
            ["simulate", path, "-t", "0.01", "--fields", word, "-o", f"{folder}/out.h5", "--force"],
            ["kinematics", path, "--pose", word],
            ["explain", word],
        ]
    )


# ------------------------------------------------------------------------------------------------ USD


def _has_usd():
    return find_spec("pxr") is not None


def usd(folder, draw):
    """Stages of text and of the binary form."""
    path = Path(folder) / f"mutant.{draw.choice(('usda', 'usd'))}"
    if draw.random() < 0.4:
        from pxr import Sdf

        _write(Path(folder) / "whole.usda", ARM)
        layer = Sdf.Layer.FindOrOpen(str(Path(folder) / "whole.usda"))
        layer.Export(str(Path(folder) / "whole.usdc"))
        path = path.with_suffix(draw.choice((".usdc", ".usd")))
        content = damaged_bytes((Path(folder) / "whole.usdc").read_bytes(), draw)
    else:
        content = damaged_text(ARM, draw)
        for _ in range(draw.randint(0, 2)):  # and values that a stage of a stranger has
            odd = draw.choice(ODD + NASTY).encode("utf-8", "surrogatepass").replace(b'"', b"")
            content = content.replace(draw.choice((b'"Y"', b'"elbow"', b'"robot"', b"/robot/arm", b"30")), odd, 1)
    return Mutant(of_model(_write(path, content), folder))


# ------------------------------------------------------------------------------------------------ tables, settings


_STARTS = "shoulder,elbow,shoulder_w,elbow_w\n0.1,0.2,0,0\n0.3,0.4,0,0.1\n0.2,0.1,0.3,0\n"
_MOTION = "time,shoulder,elbow\n0,0,0\n0.01,0.1,0.2\n0.02,0.2,0.3\n0.03,0.2,0.3\n"
_MEASURED = "time,shoulder,elbow,v:shoulder,v:elbow,tau:shoulder,tau:elbow\n"
_MEASURED += "".join(
    f"{k / 100},{k * k / 5000},{-k / 90},{k / 25},{-1 / 0.9},{(k % 7) / 9},{k / 70}\n" for k in range(60)
)
_INPUT = "time,elbow\n0,0\n0.005,1\n0.01,-2\n"
_POINTS = "joint.shoulder.damping,state.elbow\n0.1,0.2\n0.2,-0.1\n"
_ROWS = '{"q": [0.1, 0.2], "v": [0, 0]}\n{"q": [0.3, 0.4], "v": [0, 1]}\n'
_STATE = '{"q": [0.1, 0.2], "v": [0, 0], "position_names": ["double_pendulum_shoulder_q", "double_pendulum_elbow_q"]}'


def _spoiled_lines(text, draw):
    """Bytes of a table or document in which cells, separators, lines, quotes or the encoding are others."""
    lines = text.splitlines()
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(lines))
        cells = lines[at].split(",")
        k = draw.randrange(len(cells))
        kind = draw.randrange(9)
        if kind < 4:
            cells[k] = draw.choice(NUMBERS + NASTY + ODD)
        elif kind == 4:
            cells = cells * draw.choice((2, 500, 20_000))
        elif kind == 5:
            cells[k] = f'"{cells[k]}' + draw.choice(("", '"', '""', "\n"))
        elif kind == 6:
            del cells[k]
        elif kind == 7:
            cells = ["[" * draw.choice((2, 2000, 100_000)) + cells[0]]
        lines[at] = draw.choice((",", ",", ",", ";", "\t", " ")).join(cells)
        if kind == 8:
            lines += [lines[-1]] * draw.choice((1, 1000, 50_000))
    content = draw.choice(("\n", "\n", "\r\n", "\r")).join(lines).encode("utf-8", "surrogatepass")
    end = draw.random()
    if end < 0.1:
        return content.decode("utf-8", "replace").encode(draw.choice(("utf-16", "utf-8-sig", "utf-32")))
    return damaged_bytes(content, draw) if end < 0.3 and content else content


def tables(folder, draw):
    """States, inputs, motions, measurements and points of sweeps, for the commands that take such.

    Half of them have another number alone, so that what computes with it is reached.
    """
    path = _write(Path(folder) / "arm.urdf", driven_arm())
    suffix, text, commands = draw.choice(_TABLES)
    spoiled = _with_other_number(text, draw) if draw.random() < 0.5 else _spoiled_lines(text, draw)
    table, out = _write(Path(folder) / f"table{suffix}", spoiled), f"{folder}/out"
    named = {"MODEL": path, "TABLE": table, "LOG": f"{out}.h5", "OUT": f"{out}.csv"}
    return Mutant([[named.get(word, word) for word in command.split()] for command in commands])


def _with_other_number(text, draw):
    """The text with one of its numbers, or two, replaced."""
    numbers = list(re.finditer(r"(?<![\w.])-?\d+(\.\d+)?(?![\w.])", text))
    for found in sorted(draw.sample(numbers, draw.randint(1, 2)), key=lambda found: -found.start()):
        text = text[: found.start()] + draw.choice(NUMBERS) + text[found.end() :]
    return text


def driven_arm():
    """The double pendulum with a drive on each joint."""
    drive = '<transmission name="b"><type>SimpleTransmission</type><joint name="shoulder"/><actuator name="shoulder"/>'
    return (SAMPLES / "double_pendulum.urdf").read_text().replace("</robot>", f"{drive}</transmission></robot>")


_OF_STATES = (
    "energy MODEL --states TABLE",
    "inverse-dynamics MODEL --states TABLE --fill default --vdot zero -o OUT --force",
    "simulate MODEL -t 0.01 --states TABLE --each -o LOG --force",
)
_OF_ONE_STATE = ("kinematics MODEL --state TABLE --json", "simulate MODEL -t 0.01 --state TABLE --no-log")
_OF_MOTIONS = ("simulate MODEL -t 0.01 --trajectory TABLE --no-log", _OF_STATES[1])
_TABLES = (
    (".csv", _STARTS, _OF_STATES),
    (".jsonl", _ROWS, _OF_STATES),
    (".json", _STATE, _OF_ONE_STATE),
    (".csv", _MOTION, _OF_MOTIONS),
    (".csv", _MEASURED, ("identify MODEL --data TABLE", _OF_STATES[1])),
    (".csv", _INPUT, ("simulate MODEL -t 0.02 --input TABLE --no-log",)),
    (".csv", _POINTS, ("sweep MODEL --points TABLE -t 0.01 --jobs 1 -o OUT --force",)),
)


_CONFIG = "plant_config:\n  time_step: 0.002\n  discrete_contact_approximation: sap\n"
_CONFIG += "simulator_config:\n  max_step_size: 0.01\n"
_CONSTRAINTS = "constraints:\n- type: distance\n  body_A: upper\n  body_B: lower\n  distance: 0.3\n"
_CONSTRAINTS += "- {type: weld, frame_A: world, frame_B: upper}\n"
_SRDF = (
    '<robot name="double_pendulum">'
    '<group_state name="up" group="all"><joint name="shoulder" value="0.3"/></group_state>'
    '<group name="all"><joint name="shoulder"/><chain base_link="a" tip_link="b"/></group>'
    '<disable_collisions link1="a" link2="b" reason="Never"/></robot>'
)


def settings(folder, draw):
    """Configurations, constraints, directives, scenarios, postures."""
    path = _write(Path(folder) / "arm.urdf", (SAMPLES / "double_pendulum.urdf").read_bytes())
    run = ["simulate", path, "-t", "0.01", "--no-log"]
    directives = "directives:\n- add_model:\n    name: a\n    file: arm.urdf\n"
    directives += "- add_weld: {parent: world, child: a::upper}\n"
    scenario = "random_seed: 7\nsimulation_duration: 0.01\nplant_config: {time_step: 0.002}\n" + directives
    kinds = {
        "c.yaml": (_CONFIG, [[*run, "--config"]]),
        "k.yaml": (_CONSTRAINTS, [[*run, "--constraints"], ["assemble", path, "--constraints"]]),
        "p.srdf": (_SRDF, [[*run, "--srdf"], ["inspect", path, "--srdf"]]),
        "d.dmd.yaml": (directives, [["check"], ["inspect"], ["simulate", "-t", "0.01", "--no-log"]]),
        "s.scenario.yaml": (scenario, [["check"], ["inspect"], ["simulate", "--no-log"]]),
    }
    name = draw.choice(list(kinds))
    text, ways = kinds[name]
    if name == "p.srdf":
        content = _with_other_values(text, draw, NASTY + [_escaped(odd) for odd in ODD])
    else:
        content = _spoiled_lines(text.replace(", ", ",\n   ") if draw.random() < 0.2 else text, draw)
    file = _write(Path(folder) / name, content)
    return Mutant([[*words, file] for words in ways])


# ------------------------------------------------------------------------------------------------ logs, questions


def logs(folder, draw, contents=()):
    """Logs that a disk has damaged or that somebody has made to do harm."""
    path = os.path.join(folder, "spoiled.h5")
    hostile_logs.spoiled(draw.choice(contents), path, str(folder), draw.random())
    return Mutant(hostile_logs.commands(path, str(folder), slow=draw.random() < 0.1))


_QUESTIONS = (
    {"command": "mass-matrix", "at": {"elbow": 0.3}, "id": 1},
    {"command": "inverse-dynamics", "q": [0.1, 0.2], "v": [0, 1], "vdot": [0, 0], "id": [7, "a"]},
    {"command": "jacobian", "point": [0, 0, 0.1], "wrt": "v"},
    {"command": "energy", "bodies": True},
    {"command": "kinematics", "frame": ["upper"], "q": "0.1 0.2"},
    {"command": "linearize"},
    {"command": "contact", "ground": 0},
)


def questions(folder, draw):
    """Lines for `mbcli serve`: each gets one answer, whatever it is."""
    path = _write(Path(folder) / "arm.urdf", (SAMPLES / "double_pendulum.urdf").read_bytes())
    lines = []
    for _ in range(draw.randint(3, 8)):
        question = dict(draw.choice(_QUESTIONS))
        for _ in range(draw.randint(1, 2)):
            key = draw.choice([*question, "command", "id", "q", "at", "vdot", "ground", "state", "package", "output"])
            kind = draw.randrange(8)
            if kind < 4:
                question[key] = draw.choice([*ODD, *NASTY, 10**400, -(10**30), 1e308, None, True, [], {}, [[]], [None]])
            elif kind == 4:
                question[key] = [draw.choice((0, 1e300, "a", None))] * draw.choice((1, 3, 50_000))
            elif kind == 5:
                question[draw.choice(ODD)] = question.pop(key, 0)
            elif kind == 6:
                question[key] = dict.fromkeys(draw.sample(ODD, 3), 0.1)
            else:
                question.pop(key, None)
        line = json.dumps(question).encode()
        if draw.random() < 0.3:
            deep = draw.choice((30, 70, 5000, 200_000))
            opening, closing = draw.choice((("[", "]"), ('{"a":', "}")))
            line = b'{"command":"gravity","id":' + _nested(opening, closing, deep, "1").encode() + b"}"
        if draw.random() < 0.3:
            line = damaged_bytes(line, draw).replace(b"\n", b" ")
        lines.append(line)
    return Mutant([["serve", path]], b"\n".join(lines) + b"\n")


def of_model(path, folder):
    """Every command that takes a model, as words."""
    out = os.path.join(folder, "out")
    return [
        ["check", path],
        ["inspect", path, "--json"],
        ["kinematics", path],
        ["jacobian", path, "--point", "0,0,0", "--wrt", "v"],
        ["mass-matrix", path],
        ["inverse-dynamics", path, "--json"],
        ["forward-dynamics", path],
        ["assemble", path],
        ["constrained-dynamics", path],
        ["bias", path],
        ["gravity", path],
        ["energy", path],
        ["com", path],
        ["momentum", path],
        ["contact", path],
        ["linearize", path],
        ["simulate", path, "-t", "0.005", "--no-log", "--ground"],
        ["simulate", path, "-t", "0.005", "--dt", "0", "--log-rate", "1000", "-o", f"{out}.h5", "--force"],
        ["convert", path, "--to", "sdf", "--lossy", "-o", f"{out}.sdf", "--force"],
        ["convert", path, "--to", "urdf", "--lossy", "-o", f"{out}.urdf", "--force"],
        ["convert", path, "--to", "mjcf", "--lossy", "-o", f"{out}.xml", "--force"],
        ["compare", path, path],
    ]


KINDS = {
    "values": values,
    "references": references,
    "depth": depth,
    "names": names,
    "tables": tables,
    "settings": settings,
    "logs": logs,
    "questions": questions,
} | ({"usd": usd} if _has_usd() else {})


def drawn(kind, folder, seed, contents):
    """The Mutant of a kind with this seed."""
    draw = random.Random(f"{kind} {seed}")
    return KINDS[kind](folder, draw, contents) if kind == "logs" else KINDS[kind](folder, draw)
