"""Damaged model files give findings: no traceback, no hang, no flood of memory.

Real files and samples, damaged token by token. MBCLI_FUZZ_SECONDS sets how long each format is tried (5 s); with more
than that the damage is new in every run.
"""

import copy
import os
import re
import time
import warnings
from contextlib import suppress
from pathlib import Path

import pytest
from lxml import etree
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.formats import FORMATS as KNOWN, MODEL_FORMATS
from mbcli.parsers.scenes.scenario import read_run_config
from repository import MODELS, SAMPLES

from mbcli.checks.file_check import check_file
from mbcli.errors import MbcliError
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant

hypothesis = pytest.importorskip("hypothesis")
strategies = hypothesis.strategies

SECONDS = float(os.environ.get("MBCLI_FUZZ_SECONDS", 5))
BATCH = 50  # files between looks at the clock
LONGEST = 10.0  # [s] for one file, on a busy machine
LARGEST_FILE = 60_000  # bytes of a file that is worth damaging
MOST_MEMORY = 600e6  # bytes more than before

_XML_TOKENS = re.compile(r"""<!--.*?-->|</?[\w:.]+|/?>|[\w:.]+=|"[^"]*"|'[^']*'|\s+|[^\s<>"']+""", re.DOTALL)
_YAML_TOKENS = re.compile(r"""\n *|[-:,\[\]{}!&*|>#]|"[^"]*"|'[^']*'|\s+|[^\s:,\[\]{}]+""")
NASTY = [
    "", "0", "-1", "1e308", "-1e308", "1e-320", "9" * 400, "nan", "inf", "-inf", "1,5", "1_0", "0x1", "1 2",
    "1 2 3 4", "0 0 0", "true", "world", "__model__", "a::b", "::", "base", "../..", "/dev/zero", "package://x/y",
    "model://", "http://x/y", "file:///etc/passwd", "\x00", "\ufffe", "\u202e", "é", "関節", "${x}", "$(find x)",
    "&lt;", "&#0;", "&x;", "<", ">", '"', "'", "<a>", "</a>", "<a/>", "<!--", "-->", "<![CDATA[", "]]>", "<?x",
    "<!DOCTYPE x>", "<link", "<joint", "<pose>", "<include>", "xmlns:drake=", "drake:", "name=", "<<: *a", "&a",
    "*a", "!Rpy", "!!python/object:os.system", "- ", ": ", "\t", "|", "{", "[", "revolute", "fixed", "floating",
    "prismatic", "ball", "mesh", "1.12", "2.0",
]  # fmt: skip


def _sources():
    """{format: texts of small files}."""
    texts = {}
    for path in sorted((*SAMPLES.iterdir(), *(MODELS.rglob("*") if MODELS.is_dir() else ()))):
        if not path.is_file() or path.stat().st_size > LARGEST_FILE:
            continue
        suffix = path.suffix.lower()
        if suffix == ".xml" and "<mujoco" in path.read_text(errors="replace"):
            suffix = ".mjcf"
        elif path.name.endswith(".dmd.yaml"):
            suffix = ".directives"
        texts.setdefault(suffix.lstrip("."), []).append(path.read_text(errors="replace"))
    texts.setdefault("mjcf", []).append(MJCF)
    texts["settings"] = [SETTINGS]
    return texts


MJCF = """<mujoco model="m"><compiler angle="radian"/><default><joint damping="1"/><default class="c"><geom size="0.1"/>
</default></default><worldbody><body name="a" pos="0 0 1"><joint name="j" axis="0 1 0" range="-1 1"/><joint name="k"
type="slide"/><geom type="capsule" size="0.1 0.2" fromto="0 0 0 0 0 1"/><body name="b"><freejoint/><inertial mass="1"
pos="0 0 0" diaginertia="1 1 1"/><geom class="c"/><site name="s"/></body></body></worldbody><actuator><motor joint="j"
gear="2"/></actuator><equality><connect body1="a" body2="b" anchor="0 0 0"/><joint joint1="j" joint2="k"/></equality>
</mujoco>"""
SETTINGS = """plant_config:
  time_step: 0.002
  discrete_contact_approximation: sap
simulator_config: {integration_scheme: runge_kutta3, max_step_size: 0.01}
random_seed: 3
"""
SOURCES = _sources()
XML = [name for name in MODEL_FORMATS if KNOWN[name].ROOT_ELEMENTS]  # USD has its own: tests/parsers/usd
FORMATS = [*XML, "directives", "settings"]


@strategies.composite
def damaged(draw, input_format):
    """The bytes of a file of that format with one to six things damaged; mostly it is still good XML or YAML."""
    text = draw(strategies.sampled_from(SOURCES[input_format]))
    times = draw(strategies.integers(1, 6))
    if draw(strategies.integers(0, 3)):
        damage = _damage_yaml if input_format in ("directives", "settings") else _damage_xml
        return damage(draw, text, times)
    pattern = _YAML_TOKENS if input_format in ("directives", "settings") else _XML_TOKENS
    tokens = pattern.findall(text)
    for _ in range(times):
        at = draw(strategies.integers(0, max(0, len(tokens) - 1)))
        kind = draw(strategies.sampled_from(["delete", "double", "swap", "replace", "number", "cut", "insert", "move"]))
        _damage(draw, tokens, at, kind)
    content = "".join(tokens).encode("utf-8", "surrogatepass")
    if draw(strategies.integers(0, 2)) == 0 and content:  # bytes
        at = draw(strategies.integers(0, len(content) - 1))
        content = content[:at] + draw(strategies.binary(max_size=4)) + content[at + 1 :]
    return content


_GOOD_IN_XML = [text for text in NASTY if not set(text) & set("\x00\ufffe")]
_NUMBERS = [text for text in NASTY if re.fullmatch(r"[-+.\deE ]+|-?inf|nan", text)]


def _damage_xml(draw, text, times):
    """Elements deleted, doubled, moved, renamed; attributes and texts changed, taken away, exchanged."""
    text = text.replace("<robot ", '<robot xmlns:drake="http://drake.mit.edu" ') if "xmlns:drake" not in text else text
    text = text.replace("<sdf ", '<sdf xmlns:drake="http://drake.mit.edu" ') if "xmlns:drake" not in text else text
    root = etree.fromstring(text.encode(), etree.XMLParser(recover=True, remove_comments=True, remove_pis=True))
    for _ in range(times):
        elements = list(root.iter("*"))
        element, other = (draw(strategies.sampled_from(elements)) for _ in range(2))
        kind = draw(strategies.sampled_from(["delete", "double", "move", "rename", *["value"] * 8]))
        if kind == "value":
            _damage_value(draw, element, other)
        elif kind == "rename":
            element.tag = other.tag
        elif element.getparent() is not None and kind == "delete":
            element.getparent().remove(element)
        elif element.getparent() is not None and len(elements) < 3000:
            target = element.getparent() if kind == "double" else other
            target.append(copy.deepcopy(element))
    return etree.tostring(root, encoding="utf-8")


def _damage_value(draw, element, other):
    names = [*element.attrib, *(["text"] if (element.text or "").strip() else [])]
    if not names:
        return
    name = draw(strategies.sampled_from(names))
    old = element.text if name == "text" else element.attrib[name]
    kind = draw(strategies.sampled_from(["nasty", "number", "number", "delete", "other", "rename"]))
    if kind == "delete" and name != "text":
        del element.attrib[name]
        return
    if kind == "rename" and name != "text":
        element.attrib[f"{name[:-1]}x"] = element.attrib.pop(name)
        return
    if kind == "other":
        texts = [*other.attrib.values(), other.text or ""]
        new = draw(strategies.sampled_from(texts))
    elif kind == "number" and re.search(r"\d", old):
        numbers = list(re.finditer(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?", old))
        match = draw(strategies.sampled_from(numbers))
        new = old[: match.start()] + draw(strategies.sampled_from(_NUMBERS)) + old[match.end() :]
    else:
        new = draw(strategies.sampled_from(_GOOD_IN_XML))
    if name == "text":
        element.text = new
    else:
        element.attrib[name] = new


def _damage_yaml(draw, text, times):
    """Lines deleted, doubled, moved, shifted; values replaced."""
    lines = text.splitlines()
    for _ in range(times):
        at, other = (draw(strategies.integers(0, len(lines) - 1)) for _ in range(2))
        kind = draw(strategies.sampled_from(["delete", "double", "swap", "shift", *["value"] * 6]))
        if kind == "delete" and len(lines) > 1:
            del lines[at]
        elif kind == "double":
            lines.insert(at, lines[at])
        elif kind == "swap":
            lines[at], lines[other] = lines[other], lines[at]
        elif kind == "shift":
            lines[at] = "  " + lines[at]
        else:
            key, colon, _ = lines[at].partition(": ")
            nasty = draw(strategies.sampled_from(NASTY))
            lines[at] = f"{key}{colon}{nasty}" if colon else lines[at] + nasty
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _damage(draw, tokens, at, kind):
    if not tokens:
        return
    other = draw(strategies.integers(0, len(tokens) - 1))
    if kind == "delete":
        del tokens[at : at + draw(strategies.integers(1, 8))]
    elif kind == "double":
        tokens[at:at] = tokens[at : at + draw(strategies.integers(1, 60))]
    elif kind == "swap":
        tokens[at], tokens[other] = tokens[other], tokens[at]
    elif kind == "move":
        tokens[other:other] = tokens[at : at + draw(strategies.integers(1, 60))]
    elif kind == "cut":
        del tokens[at:]
    elif kind == "insert":
        tokens.insert(at, draw(strategies.sampled_from(NASTY)))
    else:
        nasty = draw(strategies.sampled_from(NASTY))
        token = tokens[at]
        tokens[at] = f'"{nasty}"' if token[:1] in ('"', "'") else nasty
        if kind == "number" and re.search(r"\d", token):
            tokens[at] = re.sub(r"[-+\d.eE]+", nasty.replace("\\", ""), token, count=1)


def read(content, input_format):
    """Runs a file through everything that reads one; MbcliError is an answer."""
    if input_format == "directives":
        check_file(content, name="x", input_format="dmd")
    elif input_format == "settings":
        read_run_config(content, Diagnostics(), None)
    else:
        result = check_file(content, name="x", input_format=input_format)
        for finding in result.findings:
            assert str(finding).isprintable()
        if not any(finding.severity == "error" for finding in result.findings):
            plant = MultibodyPlant(0.001)
            Parser(plant).AddModels(file_contents=content, file_type=input_format)
            try:
                plant.Finalize()
            except MbcliError:
                raise
            except RuntimeError:  # what a plant says of models that cannot be
                pass


def resident_memory():
    """Bytes, where the system says so."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    except OSError:
        return 0


@pytest.mark.parametrize("input_format", FORMATS)
def test_damaged_files_give_findings_and_nothing_else(input_format):
    end = time.monotonic() + SECONDS
    memory = resident_memory()

    @hypothesis.settings(
        max_examples=BATCH,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
    )
    @hypothesis.given(damaged(input_format))
    def tried(content):
        started = time.monotonic()
        with suppress(MbcliError), warnings.catch_warnings():
            warnings.simplefilter("error")  # a warning of numpy would go to the user's terminal
            warnings.filterwarnings("ignore", ".*closes a loop|a continuous plant does not enforce")
            read(content, input_format)
        assert time.monotonic() - started < LONGEST

    seed = 0 if SECONDS <= 5 else time.time_ns()
    while time.monotonic() < end:
        hypothesis.seed(seed)(tried)()
        seed += 1
    assert resident_memory() - memory < MOST_MEMORY
