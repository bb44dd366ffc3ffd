"""Model files are untrusted: what XML could do to its reader, and what names could do to a terminal or a shell."""

import ast
import subprocess
import sys
import time

import pytest
from command_line import cli
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from repository import ROOT

from mbcli.cli import COMMANDS

SECRET = "swordfish"


def read(text, **options):
    diagnostics = Diagnostics(thorough=True)
    content = text if isinstance(text, bytes) else text.encode()
    options.setdefault("input_format", "urdf")
    return load_models(content, diagnostics=diagnostics, **options), diagnostics


def refused(text, **options):
    models, diagnostics = read(text, **options)
    assert models == ()
    assert diagnostics.errors
    return "\n".join(map(str, diagnostics.findings))


# ---------------------------------------------------------------------------------------------------- XML

LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
BILLION_LAUGHS = f'<!DOCTYPE r [<!ENTITY l0 "lol">{LAUGHS}]><robot name="&l11;"><link name="a"/></robot>'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-8-sig"])
@pytest.mark.parametrize("input_format", ["urdf", "sdf", None])
def test_entities_are_not_expanded(encoding, input_format):
    text = BILLION_LAUGHS.encode(encoding)  # expanded, it would fill any memory
    assert "a model file must not have a DOCTYPE" in refused(text, input_format=input_format)


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE r SYSTEM "{uri}">',
        '<!DOCTYPE r PUBLIC "x" "{uri}">',
        '<!DOCTYPE r [<!ENTITY x SYSTEM "{uri}">]>',
        '<!DOCTYPE r [<!ENTITY % x SYSTEM "{uri}"> %x;]>',
        '<?xml version="1.0"?>\n<!-- c -->\n<!DOCTYPE r [<!ENTITY x SYSTEM "{uri}">]>',
    ],
)
def test_no_file_and_no_network_is_read_by_the_xml_parser(tmp_path, doctype):
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    for uri in (secret.as_uri(), "http://127.0.0.1:9/x.dtd"):
        text = doctype.format(uri=uri) + '<robot name="r"><link name="a">&x;</link></robot>'
        said = refused(text)
        assert SECRET not in said
        assert "DOCTYPE" in said


def test_xinclude_and_stylesheets_are_only_text(tmp_path):
    secret = tmp_path / "secret.xml"
    secret.write_text(f"<link name='{SECRET}'/>")
    text = (
        f'<?xml version="1.0"?><?xml-stylesheet href="{secret.as_uri()}"?>'
        '<robot name="r" xmlns:xi="http://www.w3.org/2001/XInclude"><link name="a"/>'
        f'<xi:include href="{secret.as_uri()}"/></robot>'
    )
    (model,), diagnostics = read(text)
    assert [link.name for link in model.links] == ["a"]
    assert "ELEMENT_FOREIGN" in [f.code for f in diagnostics.findings]


@pytest.mark.parametrize("root", ["robot", "sdf", "mujoco"])
def test_deep_nesting_is_refused(root):
    text = f"<{root}>" + "<a>" * 100_000 + "</a>" * 100_000 + f"</{root}>"
    assert refused(text, input_format={"robot": "urdf", "sdf": "sdf", "mujoco": "mjcf"}[root])


def test_the_size_of_a_file_is_limited(tmp_path):
    path = tmp_path / "big.urdf"
    with open(path, "wb") as file:
        file.write(b'<robot name="r">')
        file.truncate(1 << 40)  # a hole: takes no space on disk
    diagnostics = Diagnostics()
    assert load_models(path, diagnostics=diagnostics) == ()
    assert "the file is larger than 128 MiB" in str(diagnostics.errors[0])


def test_a_device_is_read_no_further_than_a_file():
    diagnostics = Diagnostics()
    assert load_models("/dev/zero", input_format="urdf", diagnostics=diagnostics) == ()
    assert "the file is larger than 128 MiB" in str(diagnostics.errors[0])


def test_the_count_of_elements_is_limited():
    assert "more than 4000000 tags" in refused("<robot name='r'>" + "<a/>" * 4_000_001 + "</robot>")


@pytest.mark.parametrize(
    "text",
    [
        "<robot name='r'>" + "<link name='a'/>" * 30_000 + "</robot>",
        "<robot name='r'>" + "".join(f"<x{n}/>" for n in range(30_000)) + "</robot>",
        "<robot name='r'><link name='a' " + " ".join(f"x{n}='1'" for n in range(30_000)) + "/></robot>",
        f"<robot name='{'n' * 1_000_000}'><link name='{'l' * 1_000_000}'/></robot>",
        f"<robot name='r'><link name='a'><inertial><mass value='{'1' * 1_000_000}'/></inertial></link></robot>",
        f"<robot name='r'><link name='a'>{'text ' * 200_000}</link></robot>",
        "<robot name='r'>" + "<!-- - -->" * 100_000 + "<link name='a'/></robot>",
        "<!" * 100_000,
        "<!--" * 100_000,
        "<?" * 100_000,
        "<!DOCTYPE [" * 100_000,
        " " * 1_000_000 + "<robot/>",
    ],
    ids=range(12),
)
def test_time_grows_with_the_size_of_the_file_only(text):
    """Of the processor, below a second for each; a reader that takes the square of the size needs minutes."""
    started = time.process_time()
    for input_format in ("urdf", None):
        try:
            _, diagnostics = read(text, input_format=input_format)
        except RuntimeError:
            continue
        assert all(len(str(finding)) < 5_000_000 for finding in diagnostics.findings)
    assert time.process_time() - started < 20


MEASURED = """
import resource, sys
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from mbcli.parsers.urdf.read_urdf import read_urdf
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
text = ("<robot name='r'>" + "<link name='a'/>" * int(sys.argv[1]) + "</robot>").encode()
load_models(text, input_format="urdf", diagnostics=Diagnostics())
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / len(text))
"""


def test_memory_grows_with_the_size_of_the_file_only():
    """Bytes of memory for a byte of a file in which every element is an error."""
    ratios = [
        float(subprocess.run([sys.executable, "-c", MEASURED, n], capture_output=True, text=True, check=True).stdout)
        for n in ("20000", "80000")
    ]
    assert ratios[1] < 150
    assert ratios[1] < 2 * ratios[0] + 10


# ------------------------------------------------------------------------------------- terminals and shells

EVIL = "a&#x9b;31mb&#x202e;c&#10;d&#x85;e&#x7f;f&#xad;g`touch x`$(touch y);touch z|\"'&quot;&lt;script>"
EVIL_ATTRIBUTE = EVIL.replace('"', "").replace("<", "&lt;")
BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
EVIL_ROBOT = f"""<robot name="{EVIL_ATTRIBUTE}">
<link name="base{EVIL_ATTRIBUTE}">{BODY}</link><link name="arm{EVIL_ATTRIBUTE}">{BODY}</link>
<joint name="j{EVIL_ATTRIBUTE}" type="revolute"><parent link="base{EVIL_ATTRIBUTE}"/>
<child link="arm{EVIL_ATTRIBUTE}"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<transmission name="t"><type>SimpleTransmission</type><joint name="j{EVIL_ATTRIBUTE}"/>
<actuator name="m{EVIL_ATTRIBUTE}"/></transmission><{{}} x="{EVIL_ATTRIBUTE}"/></robot>"""
SOUND_BUT_EVIL = EVIL_ROBOT.format("gazebo")
ANALYSES = [name for name in COMMANDS if name not in ("log", "simulate", "replay", "view", "convert", "schema")]
NEEDED = {"symbolic": ["--weld-base"]}  # the formulas of a floating base take minutes


def assert_harmless(result):
    for stream in (result.out, result.err):
        bad = {c for c in stream if not c.isprintable() and c != "\n"}
        assert not bad, (bad, stream[:2000])


@pytest.fixture
def evil_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "evil.urdf"
    path.write_text(SOUND_BUT_EVIL)
    return path


@pytest.mark.parametrize("json", [False, True])
@pytest.mark.parametrize("command", ANALYSES)
def test_no_command_sends_control_characters_of_a_file_to_a_terminal(evil_file, command, json):
    result = cli("-v", command, evil_file.name, *NEEDED.get(command, []), *(["--json"] if json else []))
    assert_harmless(result)
    assert result.code != 70, result.err
    assert sorted(path.name for path in evil_file.parent.iterdir()) == ["evil.urdf"]


@pytest.mark.parametrize("tree", ["text", "dot", "mermaid"])
def test_trees_quote_names(evil_file, tree):
    result = cli("inspect", evil_file.name, "--tree", tree)
    assert result.code == 0, result.err
    assert_harmless(result)
    assert "<script>" not in result.out or tree != "mermaid"


def test_findings_escape_what_they_quote(evil_file):
    evil_file.write_text(EVIL_ROBOT.format("links").replace('type="revolute"', f'type="{EVIL_ATTRIBUTE}"'))
    for arguments in ([], ["--json"], ["--sarif"], ["--format", "jsonl"]):
        result = cli("-v", "check", evil_file.name, *arguments)
        assert_harmless(result)
        assert result.code == 1


NASTY = "x\x1b]0;title\x07\x9b31m\u202e\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", NASTY],
        ["check", f"{NASTY}.urdf"],
        ["inspect", f"{NASTY}.urdf"],
        ["inspect", f"package://{NASTY}/x.urdf"],
        ["inspect", "evil.urdf", "--weld", NASTY],
        ["inspect", "evil.urdf", "--package", NASTY],
        ["inspect", "evil.urdf", "--set", f"{NASTY}=1"],
        ["inspect", "evil.urdf", "--config", NASTY],
        ["inspect", "evil.urdf", f"--{NASTY}"],
        ["inspect", "evil.urdf", "--tree", NASTY],
        ["inspect", "evil.urdf", "-o", f"{NASTY}/x"],
        ["mass-matrix", "evil.urdf", "--at", f"{NASTY}=1"],
        ["mass-matrix", "evil.urdf", "--q", NASTY],
        ["kinematics", "evil.urdf", "--frame", NASTY],
        ["mass-matrix", "evil.urdf", "--states", NASTY],
        ["log", "info", NASTY],
        ["log", NASTY],
        [NASTY],
    ],
    ids=lambda arguments: " ".join(arguments[:3]).encode("unicode_escape").decode(),
)
def test_messages_on_arguments_are_harmless(evil_file, arguments):
    result = cli(*arguments)
    assert_harmless(result)
    assert result.code not in (0, 70), result


def test_bad_names_in_a_file_give_one_harmless_line_each(evil_file):
    evil_file.write_text(SOUND_BUT_EVIL.replace('<parent link="base', '<parent link="bse'))
    result = cli("inspect", evil_file.name)
    assert_harmless(result)
    assert result.code == 3
    assert [line.count(": error: ") for line in result.err.splitlines()] == [1]


# ---------------------------------------------------------------------------------------- what is not there

FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "system", "popen", "execfile"}
FORBIDDEN_MODULES = {
    "pickle",
    "marshal",
    "shelve",
    "dill",
    "cloudpickle",
    "requests",
    "urllib.request",
    "http",
    "socket",
}
SOURCES = [p for folder in ("mbcli", "parsers", "schemas") for p in sorted((ROOT / folder).rglob("*.py"))]
# the kernels are Python functions that are compiled for other scalars, and the functions of dataclasses are made of the
# names of their fields; no text of a file gets there
ALLOWED = {
    ("mbcli/engine", "exec"),
    ("mbcli/engine", "compile"),
    ("mbcli/common/fast_dataclass.py", "exec"),
    ("mbcli/sweeps/ray_workers.py", "exec"),  # of a constant of its own, which Ray sends whole
    ("mbcli/sweeps/ray_workers.py", "import socket"),  # to see whether a cluster is at the address that a user gives
    ("mbcli/codegen/python_code.py", "exec"),  # of code that it has just made of numbers, to prove it
    ("mbcli/codegen/python_code.py", "compile"),
    ("mbcli/engine/runtime/kernel_cache.py", "import pickle"),  # of files that kept_files.py has found to be its own
    ("mbcli/common/test_utilities/pickle_compare.py", "import pickle"),  # of what it has just written
    ("mbcli/simulation/control/python.py", "import pickle"),  # of a state that --controller-pickle has asked for
}


def _calls_and_imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name):
                yield node.lineno, function.id
            elif isinstance(function, ast.Attribute):
                owner = function.value.id if isinstance(function.value, ast.Name) else ""
                yield node.lineno, function.attr if owner in ("os", "builtins", "subprocess") else f".{function.attr}"
            for keyword in node.keywords:
                if keyword.arg in ("shell", "allow_pickle") and not (
                    isinstance(keyword.value, ast.Constant) and keyword.value.value is False
                ):
                    yield node.lineno, keyword.arg
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, f"import {alias.name}") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, f"import {node.module}"


def test_nothing_evaluates_unpickles_downloads_or_starts_a_shell():
    forbidden = FORBIDDEN_CALLS | {f"import {name}" for name in FORBIDDEN_MODULES} | {"shell", "allow_pickle"}
    found = []
    for path in SOURCES:
        relative = path.relative_to(ROOT).as_posix()
        for line, name in _calls_and_imports(path):
            if name in forbidden and not any(relative.startswith(folder) and name == call for folder, call in ALLOWED):
                found.append(f"{relative}:{line}: {name}")
    assert found == []


def test_the_search_for_what_is_forbidden_would_find_it(tmp_path):
    path = tmp_path / "bad.py"
    path.write_text("import pickle\nimport os\neval('1')\nos.system('x')\nf(shell=True)\nnp.load(x, allow_pickle=1)\n")
    assert [name for _, name in _calls_and_imports(path)] == [
        "import pickle", "import os", "eval", "system", "f", "shell", ".load", "allow_pickle",
    ]  # fmt: skip


def test_arrays_of_objects_are_not_unpickled(evil_file):
    import numpy as np

    np.savez(evil_file.parent / "states.npz", q=np.array([{"a": 1}], dtype=object))
    result = cli("mass-matrix", evil_file.name, "--states", "states.npz")
    assert result.code in (2, 3, 4)
    assert_harmless(result)
