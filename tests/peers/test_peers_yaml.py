"""Documents as data and as objects, and the texts of objects, are those of pydrake.common.yaml."""

import dataclasses
import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Dict, List, Literal, Optional, Union  # noqa: UP035

import numpy as np
import pytest
from introspection import own_module
from peer_modules import peer

pytestmark = pytest.mark.peers("pydrake")
THEIRS, OURS = peer("pydrake.common.yaml"), import_module("mbcli.common.yaml")


@dataclass
class Spring:
    stiffness: float = 100.0
    length: float = 0.5


@dataclass
class Rod:
    length: float = 1.0


@dataclass
class Motor:
    gear: int


@dataclass
class Scalars:
    b: bool = False
    i: int = 1
    f: float = 2.0
    s: str = "s"
    raw: bytes = b""
    path: Path = Path("p")
    maybe: Optional[int] = None  # noqa: UP045
    maybe_new: float | None = None
    set_before: Optional[str] = "x"  # noqa: UP045


@dataclass
class Containers:
    x: np.ndarray = field(default_factory=lambda: np.zeros(2))
    numbers: List[float] = field(default_factory=list)  # noqa: UP006
    names: list[str] = field(default_factory=lambda: ["a"])
    springs: List[Spring] = field(default_factory=lambda: [Spring(1.0)])  # noqa: UP006
    maybes: list[Optional[int]] = field(default_factory=list)  # noqa: UP045
    arrays: list[np.ndarray] = field(default_factory=list)
    values: Dict[str, float] = field(default_factory=lambda: {"a": 1.0, "b": 2.0})  # noqa: UP006
    by_name: Mapping[str, Spring] = field(default_factory=lambda: {"left": Spring(7.0)})
    paths: dict[str, Path] = field(default_factory=dict)


@dataclass
class Unions:
    part: Union[Spring, Rod] = field(default_factory=Spring)  # noqa: UP007
    spare: Union[Rod, Spring, None] = None  # noqa: UP007
    level: Union[str, float] = "low"  # noqa: UP007
    number: Union[bool, int, float, str] = True  # noqa: UP007
    parts: list[Union[int, Rod]] = field(default_factory=list)  # noqa: UP007
    new: Spring | Rod | None = None
    array: Union[np.ndarray, Rod] = field(default_factory=lambda: np.ones(1))  # noqa: UP007


@dataclass
class Nested:
    spring: Spring = field(default_factory=lambda: Spring(5.0))
    spare: Optional[Spring] = None  # noqa: UP045
    containers: Containers = field(default_factory=Containers)
    unions: Unions = field(default_factory=Unions)


def outcome(act, lib):
    """The text of what comes back, or the class of the exception."""
    try:
        return repr(act(lib))
    except Exception as error:  # noqa: BLE001
        return type(error)


def assert_same(act):
    theirs, ours = outcome(act, THEIRS), outcome(act, OURS)
    if isinstance(theirs, type) and isinstance(ours, type):
        assert issubclass(ours, theirs)
    else:
        assert ours == theirs


@pytest.mark.parametrize("name", OURS.__all__)
def test_arguments(name):
    def arguments(lib):
        return [(p.name, p.kind, p.default) for p in inspect.signature(getattr(lib, name)).parameters.values()]

    assert THEIRS.__all__ == OURS.__all__
    assert arguments(THEIRS) == arguments(OURS)


# ------------------------------------------------------------------------------------------------ as data

DATA = """
a: 1|a: [yes, no, on, y, True, ~, null, 017, 0o17, 0x1F, 0b11, 1_000, 1:30]|a: [1e3, 1.0e+3, .inf, -.inf, .5, 1., '1']
a: 2020-01-01|a: !!binary aGk=|a: !!set {x, y}|a: !!float 1|a: !!str 1|a: !!int x|a: !!bool x|a: 2020-13-45
- 1|3|~||_a|[]|{}|a: !One {x: 1}|a: !One {}|!One {x: 1}|[!One {a: !Two {b: 1}}]|a: !One 3|a: !One [1]|a: !One|a: ! 12
_a: &a {x: 1}%b: {<<: *a, y: 2}|_a: &a {x: 1}%_b: &b {x: 2, y: 2}%c: {<<: [*a, *b], z: 3}|a: &a !One {x: 1}%b: {<<: *a}
a: &a [1, 2]%b: *a|a: *b|<<: 3|<<: {a: 1}|a: 1%a: 2|a: {_b: 1}|_tag: x%b: 1|a: !One {_tag: 3}|a: {1: 2, 2.5: 3}
? [1]%: 2|a: 1%---%b: 2|%YAML 1.1%---%a: 1|a: [|a: }|a: 'x|a: !!python/object:os.system {}|a: !!python/name:os.system
a: "é"|a: |a: !!omap [b: 1]|a: !!pairs [b: 1]|a: !<tag:x> {b: 1}|a: !<x> {b: 1}|a: "\\x00\\u00e9"
""".strip().replace("\n", "|").replace("%YAML", "\0").split("|")  # fmt: skip


@pytest.mark.parametrize("text", [text.replace("%", "\n").replace("\0", "%YAML") for text in DATA])
@pytest.mark.parametrize("private", [False, True])
def test_data(text, private):
    assert_same(lambda lib: sorted_sets(lib.yaml_load_data(text, private=private)))
    if text:
        assert_same(lambda lib: sorted_sets(lib.yaml_load(data=text, private=private)))


def sorted_sets(data):
    if isinstance(data, dict):
        return {key: sorted_sets(value) for key, value in data.items()}
    return sorted(data) if isinstance(data, set) else data


@pytest.mark.parametrize(
    "content", [b"a: 1", b"_a: 1\nb: !T {c: 1}", b"\xef\xbb\xbfa: 1", b"a: \xff", b"a: \x00", b"a: 1\r\nb: 2", None]
)
def test_files(content, tmp_path):
    path = tmp_path / "a.yaml"
    if content is not None:
        path.write_bytes(content)
    assert_same(lambda lib: lib.yaml_load_file(path))
    assert_same(lambda lib: lib.yaml_load(filename=str(path), private=True))
    assert_same(lambda lib: lib.yaml_load_typed(schema=Spring, filename=path, allow_yaml_with_no_schema=True))


@pytest.mark.parametrize("given", [{}, {"data": "a: 1", "filename": "a.yaml"}, {"data": 3}, {"filename": "."}])
def test_misuse_of_loading(given):
    assert_same(lambda lib: lib.yaml_load(**given))
    assert_same(lambda lib: lib.yaml_load_typed(schema=Spring, **given))


SHARED = [1, 2]
TREES = [
    {"b": 1, "a": [1, 2, {"c": 3}]},
    {"a": {"_tag": "!One", "x": 1}, "b": {"_tag": "!Two"}},
    {"_tag": "!One", "x": {"_tag": "!Two", "y": [1]}},
    [1, [2, {"a": None}], {}, []],
    {"a": 1e-3, "b": float("inf"), "c": "yes", "d": "1e3", "e": "x\ny", "f": "é", "g": b"hi", "h": (1, 2)},
    {"a": SHARED, "b": SHARED},
    {"a": ["long" * 10] * 5, "_b": 1, 3: 4},
    "text",
    None,
    {"a": np.ones(2)},
    {"a": Path("a")},
    {"a": {"_tag": 3}},
    {"a": object()},
]


@pytest.mark.parametrize("tree", TREES, ids=range(len(TREES)))
def test_texts_of_data(tree, tmp_path):
    assert_same(lambda lib: lib.yaml_dump(tree))
    assert_same(lambda lib: (lib.yaml_dump(tree, filename=tmp_path / "a.yaml"), (tmp_path / "a.yaml").read_text()))


# --------------------------------------------------------------------------------------------- as objects

DOCUMENTS = [
    *(
        (Scalars, f"{name}: {value}")
        for name in ("b", "i", "f", "s", "raw", "path", "maybe", "maybe_new")
        for value in (
            *("1", "-1.5", "1.0", "1e3", "'1'", "' 1 '", "1_000", "0x1f", "017", "yes", "'true'", "'yes'", "True"),
            *("text", "''", "", "null", "'null'", "[1]", "{a: 1}", ".inf", "inf", ".nan", "2020-01-01"),
            *("!!binary aGk=", "!!str 1", "!!float 1", "!!set {a}", "!One 1", "!One {a: 1}", "1e400"),
            *("9" * 20, "9" * 400, "'9" + "9" * 5000 + "'"),
        )
    ),
    (Scalars, "{}"),
    (Scalars, "set_before: null"),
    (Scalars, "nothing: 1"),
    (Scalars, "_private: 1\ni: 2"),
    (Scalars, "!Scalars {i: 2}"),
    (Scalars, "!Other {i: 2}"),
    (Scalars, "null"),
    (Scalars, "3"),
    (Scalars, "[1]"),
    (Scalars, "i: 1\ni: 2"),
    (Scalars, "i: 1\n---\ni: 2"),
    *(
        (Containers, text)
        for text in (
            *("x: [1, 2.5, '3', 1e2]", "x: []", "x: [[1, 2], [3, 4]]", "x: [[1], [2, 3]]", "x: [a]", "x: {}", "x: 3"),
            *("numbers: [1, '2', 3e0]", "numbers: []", "numbers: [a]", "numbers: [null]", "numbers: [[1]]"),
            *("numbers: 3", "numbers: null", "names: [b, c]", "names: [1]", "names: []"),
            *(
                "springs: [{}, {length: 2}]",
                "springs: []",
                "springs: [3]",
                "springs: [{x: 1}]",
                "springs: [!Spring {}]",
            ),
            *("maybes: [1, null]", "maybes: [x]", "arrays: [[1], [2, 3]]", "paths: {a: b/c}", "paths: {a: 1}"),
            *("values: {a: 5, c: 6}", "values: {}", "values: {a: x}", "values: [1]", "values: 3", "values: null"),
            *("values: {1: 2}", "values: !One {a: 1}", "by_name: {left: {length: 2}, right: {}}", "by_name: {left: 3}"),
            *("_s: &s {length: 4}\nsprings: [*s, {<<: *s, stiffness: 2}]\nby_name: {a: *s}",),
        )
    ),
    *(
        (Unions, text)
        for text in (
            *("part: !Rod {length: 3}", "part: !Spring {length: 3}", "part: {length: 3}", "part: !Rod {}", "part: {}"),
            *("part: !Rod {stiffness: 3}", "part: !Motor {gear: 3}", "part: !rod {}", "part: [1]", "part: !Rod 3"),
            *("spare: null", "spare: !Spring {}", "spare: {length: 2}", "spare: !Motor {}", "new: !Rod {}", "new: "),
            *("level: high", "level: 1.5", "level: '1.5'", "level: 1", "level: true", "level: null", "level: [1]"),
            *("number: true", "number: 1", "number: 1.5", "number: x", "number: null", "number: {}", "number: !!str 1"),
            *("parts: [1, !Rod {length: 2}]", "parts: [1.5]", "parts: [x]", "parts: [{length: 2}]"),
            *("array: [1, 2]", "array: !Rod {}", "array: {}", "array: x", "array: 1.5", "array: null"),
        )
    ),
    (Nested, "spring: {length: 2}"),
    (Nested, "spare: {length: 2}"),
    (Nested, "spring: null"),
    (Nested, "spring: {stiffness: {x: 1}}"),
    (Nested, "containers: {springs: [{length: 1}], by_name: {left: {length: 3}}, values: {b: 3, c: 4}}"),
    (Nested, "unions: {part: {stiffness: 2}, new: !Spring {length: 1}}"),
    (Nested, "unions: {part: !Rod {lenght: 2}}"),
    (object, "{}"),
    (int, "3"),
    (Optional[Spring], "{}"),  # noqa: UP045
    *(
        (dataclasses.make_dataclass("Odd", [("x", kind, None)]), f"x: {value}")
        for kind in (Literal["a"], set[int], list, dict, Sequence[int], dict[int, int], object, Any, complex)
        for value in ("1", "[1]", "{a: 1}")
    ),
]
OPTIONS = (
    {},
    {"allow_yaml_with_no_schema": True},
    {"allow_schema_with_no_yaml": False},
    {"retain_map_defaults": False},
)


@pytest.mark.parametrize("number", range(len(DOCUMENTS)))
def test_objects(number):
    schema, text = DOCUMENTS[number]
    for options in OPTIONS:
        assert_same(lambda lib, given=options: lib.yaml_load_typed(schema=schema, data=text, **given))
    indented = "\n".join(f"  {line}" for line in text.splitlines())
    if "---" not in text:
        for child in ("a", "b"):
            assert_same(lambda lib, c=child: lib.yaml_load_typed(schema=schema, data=f"a:\n{indented}", child_name=c))


@pytest.mark.parametrize(
    ("defaults", "text"),
    [
        (Spring(3.0, 4.0), "length: 5"),
        (Motor(3), "{}"),
        (Motor(3), "gear: 4"),
        (Nested(spare=Spring(8.0)), "spare: {length: 1}\nspring: {}"),
        (Nested(spare=Spring(8.0)), "spare: null"),
        (Containers(by_name={"a": Spring(9.0)}, springs=[Spring(9.0)]), "by_name: {a: {length: 2}}\nsprings: [{}]"),
        (Unions(part=Rod(9.0), spare=Spring(9.0)), "part: !Rod {}\nspare: !Spring {length: 2}"),
        (Unions(part=Rod(9.0)), "part: {stiffness: 2}"),
    ],
)
def test_objects_with_defaults(defaults, text):
    before = repr(defaults)
    for schema in (None, type(defaults)):
        for options in OPTIONS:
            assert_same(
                lambda lib, s=schema, o=options: lib.yaml_load_typed(schema=s, data=text, defaults=defaults, **o)
            )
    assert repr(defaults) == before


def test_a_field_without_a_default_that_is_missing():
    assert_same(lambda lib: lib.yaml_load_typed(schema=Motor, data="{}"))


# ----------------------------------------------------------------------------------------- texts of objects

OBJECTS = [
    Spring(),
    Scalars(),
    Scalars(True, 3, 1e-9, "yes", b"hi", Path("a/b"), 4, 0.5),
    Scalars(f=float("inf"), s="x\ny", maybe=0),
    Scalars(i=np.int64(3), f=np.float64(2), s=""),
    Containers(),
    Containers(
        np.array([[1.0, np.inf]]), [1e20, 1.0], ["yes", "1"], [Spring()], [1, None], [np.ones(2)], {"c": 1}, {},
        {"p": Path("q")},
    ),
    Unions(),
    Unions(Rod(2.0), Spring(3.0), 2.5, 3, [1, Rod()], Rod(), np.ones((2, 2))),
    Unions(level="1", number="s", new=Spring()),
    Unions(number=1.5, array=np.zeros(0)),
    Nested(),
    Nested(Spring(1.0), Spring(2.0), Containers(by_name={"x": Spring()}), Unions(part=Rod())),
    Motor(3),
    Motor("x"),
    Scalars(f=None),
    Unions(level=True),
    Unions(part=Motor(3)),
    3,
    "text",
    [Spring()],
    {"a": Spring()},
]  # fmt: skip


@pytest.mark.parametrize("value", OBJECTS, ids=range(len(OBJECTS)))
def test_texts_of_objects(value, tmp_path):
    assert_same(lambda lib: lib.yaml_dump_typed(value))
    assert_same(lambda lib: lib.yaml_dump_typed(value, child_name="a"))
    assert_same(lambda lib: lib.yaml_dump_typed(value, filename=tmp_path / "a.yaml"))
    text = outcome(lambda lib: lib.yaml_dump_typed(value), OURS)
    if isinstance(text, str):
        for lib in (THEIRS, OURS):
            loaded = lib.yaml_load_typed(schema=type(value), filename=tmp_path / "a.yaml", defaults=value)
            assert OURS.yaml_dump_typed(loaded) == OURS.yaml_dump_typed(value)


@pytest.mark.parametrize(
    ("value", "defaults"),
    [
        (Spring(), Spring()),
        (Spring(3.0), Spring()),
        (Scalars(i=5, maybe=3, s="t"), Scalars()),
        (Containers(values={"a": 1.0, "b": 3.0, "c": 4.0}), Containers()),
        (Containers(values={"a": 1.0}), Containers()),
        (Containers(by_name={"left": Spring(7.0, 9.0), "right": Spring()}), Containers()),
        (Containers(by_name={}, springs=[]), Containers()),
        (Containers(springs=[Spring(1.0), Spring()]), Containers()),
        (Containers(np.ones(2)), Containers()),
        (Unions(part=Spring(4.0)), Unions()),
        (Unions(part=Rod(4.0), level=2.0), Unions()),
        (Nested(Spring(6.0), Spring(2.0)), Nested()),
        (Nested(spare=Spring(2.0)), Nested(spare=Spring())),
        (Spring(), Rod()),
    ],
)
def test_texts_of_what_differs_from_defaults(value, defaults):
    assert_same(lambda lib: lib.yaml_dump_typed(value, defaults=defaults))


@pytest.mark.parametrize("schema", [Mapping[str, Spring], Dict[str, Spring], dict[str, Spring]])  # noqa: UP006
def test_texts_of_mappings(schema):
    for value in ({}, {"b": Spring(), "a": Spring(2.0)}):
        for defaults in (None, {}, {"a": Spring(3.0)}):
            assert_same(lambda lib, v=value, d=defaults: lib.yaml_dump_typed(v, schema=schema, defaults=d))
    assert_same(lambda lib: lib.yaml_dump_typed({"a": Spring()}, schema=schema, child_name="c"))


# ------------------------------------------------------------------------------------------ classes of pydrake

RECORDS = [
    ("multibody.plant.MultibodyPlantConfig", "time_step: 0.01\ncontact_model: point\npenetration_allowance: 2e-3"),
    ("multibody.plant.MultibodyPlantConfig", "time_step: x"),
    ("multibody.plant.MultibodyPlantConfig", "step: 0.01"),
    ("geometry.SceneGraphConfig", "default_proximity_properties: {compliance_type: compliant, margin: 0.1}"),
    ("geometry.SceneGraphConfig", "default_proximity_properties: {dynamic_friction: [1]}"),
    ("geometry.DefaultProximityProperties", "slab_thickness: 0.1\nrelaxation_time: 3"),
    ("geometry.Rgba", "{}"),
    ("geometry.Rgba", "rgba: [0.1, 0.2, 0.3]"),
    ("geometry.Rgba", "rgba: [0.1, 0.2, 0.3, 0.4]"),
    ("geometry.Rgba", "rgba: [0.1]"),
    ("geometry.Rgba", "rgba: [0.1, 0.2, 0.3, 2]"),
    ("geometry.Rgba", "r: 0.1"),
    ("systems.analysis.SimulatorConfig", "integration_scheme: radau3\nuse_error_control: false"),
    ("systems.analysis.InitializeParams", "suppress_initialization_events: true"),
    ("multibody.tree.DoorHingeConfig", "spring_constant: 3"),
    ("visualization.VisualizationConfig", "publish_period: 0.1\ndefault_proximity_color: {rgba: [1, 0, 0]}"),
    ("multibody.meshcat.ContactVisualizerParams", "radius: 2\ncolor: {rgba: [1, 0, 0, 0.5]}"),
    ("geometry.MeshcatParams", "port: 7001"),
    ("geometry.MeshcatVisualizerParams", "role: kProximity"),
    ("solvers.SolverOptions", "options: {IPOPT: {tol: 0.1}, SNOPT: {x: y}}"),
    ("common.schema.Gaussian", "mean: 3\nstddev: 2"),
    ("common.schema.Uniform", "min: 3\nmax: 4"),
    ("common.schema.UniformDiscrete", "values: [1, 2]"),
    ("common.schema.Deterministic", "value: 2"),
    ("common.schema.Rotation", "value: !Rpy {deg: [1, 2, 3]}"),
    ("common.schema.Rotation", "value: !Rpy {deg: !UniformVector {min: [1, 2, 3], max: [4, 5, 6]}}"),
    ("common.schema.Rotation", "value: !Quaternion {}"),
    ("common.schema.Transform", "base_frame: b\ntranslation: [1, 2, 3]\nrotation: !Rpy {deg: [10, 20, 30]}"),
    ("common.schema.Transform", "translation: !GaussianVector {mean: [1, 2, 3], stddev: [1]}\nrotation: !Uniform {}"),
    ("common.schema.Transform", "rotation: !AngleAxis {angle_deg: !Uniform {min: 1, max: 2}, axis: [1, 0, 0]}"),
    ("common.schema.Transform", "rotation: !Identity {}"),
    ("common.schema.Transform", "translation: !Uniform {min: 1, max: 3}"),
    ("common.schema.Transform", "rotation: [1, 2, 3]"),
    ("multibody.parsing.ModelDirectives", "directives:\n- add_model: {file: 'package://x', name: y}\n"
     "- add_weld: {parent: a, child: b, X_PC: {translation: [1, 2, 3]}}\n- add_directives: {file: f}"),
    ("solvers.SolverOptions", "options: {IPOPT: {tol: 1}}"),
    ("solvers.SolverOptions", "options: {IPOPT: {tol: [1]}}"),
    ("multibody.parsing.ModelDirectives", "directives: [{add_models: {}}]"),
]  # fmt: skip


def record_text(lib, schema, text):
    """The text of a document's object: what is not the default, or all if pydrake cannot compare unions."""
    value = lib.yaml_load_typed(schema=schema, data=text)
    try:
        return lib.yaml_dump_typed(value, defaults=schema())
    except AttributeError:
        return re.sub(r"translation: \[0.0, 0.0, 0.0\]\n", "", lib.yaml_dump_typed(value))


@pytest.mark.parametrize(("path", "text"), RECORDS)
def test_records_of_pydrake(path, text):
    module, _, name = path.rpartition(".")
    theirs = getattr(import_module(f"pydrake.{module}"), name)
    assert_same(lambda lib: record_text(lib, theirs if lib is THEIRS else getattr(own_module(module), name), text))


# ------------------------------------------------------------------------------------------------ differences


@dataclass(frozen=True)
class Fixed:
    x: int = 1


@dataclass
class Others:
    late: "list[float]" = field(default_factory=list)
    pair: tuple[int, int] = (1, 2)
    springs: Optional[List[Spring]] = None  # noqa: UP006, UP045
    lists: List[List[int]] = field(default_factory=list)  # noqa: UP006
    mappings: Dict[str, Dict[str, int]] = field(default_factory=dict)  # noqa: UP006


def loaded(schema, text, **options):
    return lambda lib: lib.yaml_load_typed(schema=schema, data=text, **options)


def dumped(value, defaults=None):
    return lambda lib: lib.yaml_dump_typed(value, defaults=defaults)


DIFFERENCES = {  # what pydrake does, and what is done here
    "an empty text is a document": (lambda lib: lib.yaml_load(data=""), TypeError, "None"),
    "keys of the root may be numbers": (lambda lib: lib.yaml_load_data("1: 2"), AttributeError, "{1: 2}"),
    "no anchor contains itself": (lambda lib: lib.yaml_load_data("a: &a [*a]"), "{'a': [[...]]}", RuntimeError),
    "fields without a default are read": (loaded(Motor, "gear: 3"), TypeError, "Motor(gear=3)"),
    "frozen classes are filled": (loaded(Fixed, "x: 3"), dataclasses.FrozenInstanceError, "Fixed(x=3)"),
    "mappings are schemas": (loaded(Mapping[str, Rod], "a: {}"), TypeError, "{'a': Rod(length=1.0)}"),
    "with defaults too": (loaded(dict[str, Rod], "a: {}", defaults={}), AssertionError, "{'a': Rod(length=1.0)}"),
    "annotations may be texts": (loaded(Others, "late: [1]"), AssertionError, repr(Others(late=[1.0]))),
    "tuples": (loaded(Others, "pair: [3, 4]"), NotImplementedError, repr(Others(pair=(3, 4)))),
    "lists may be optional": (loaded(Others, "springs: [{}]"), TypeError, repr(Others(springs=[Spring()]))),
    "lists of lists": (loaded(Others, "lists: [[1], []]"), TypeError, repr(Others(lists=[[1], []]))),
    "mappings of mappings": (loaded(Others, "mappings: {a: {}}"), TypeError, repr(Others(mappings={"a": {}}))),
    "a text is no list": (loaded(Containers, "names: ab"), repr(Containers(names=["a", "b"])), TypeError),
    "a number is no object": (loaded(Unions, "part: 3"), repr(Unions(part=Spring(3))), RuntimeError),
    "defaults are of the schema": (loaded(Rod, "{}", defaults=Spring()), repr(Spring()), TypeError),
    "the tag of a changed default": (dumped(Unions(part=Rod(2.0)), Unions(part=Rod())), "'part:\\n  length: 2.0\\n'",
                                     "'part: !Rod\\n  length: 2.0\\n'"),
    "None in place of a default": (dumped(Nested(), Nested(spare=Spring())), "'{}\\n'", "'spare: null\\n'"),
    "arrays of integers": (dumped(Containers(np.ones(1, int)), Containers()), AssertionError, "'x: [1.0]\\n'"),
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENCES)
def test_differences(name):
    act, theirs, ours = DIFFERENCES[name]
    assert outcome(act, THEIRS) == theirs
    found = outcome(act, OURS)
    assert issubclass(found, ours) if isinstance(ours, type) else found == ours
