"""mbcli.common.yaml: documents as data and as objects, back to text, and documents of strangers."""

import dataclasses
import io
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Optional, Union

import numpy as np
import pytest
import yaml

from mbcli.common.schema import Rotation, Transform
from mbcli.common.yaml import (
    yaml_dump,
    yaml_dump_typed,
    yaml_load,
    yaml_load_data,
    yaml_load_file,
    yaml_load_typed,
)
from mbcli.config.simulator_config import SimulatorConfig
from mbcli.errors import ModelError
from mbcli.geometry import Rgba, SceneGraphConfig
from mbcli.multibody.parsing import AddWeld, ModelDirectives
from mbcli.multibody.plant import MultibodyPlantConfig
from mbcli.multibody.tree import DoorHingeConfig
from mbcli.solvers import SolverOptions
from mbcli.systems.analysis import InitializeParams
from mbcli.visualization import VisualizationConfig


@dataclass
class Spring:
    stiffness: float = 100.0
    length: float = 0.5


@dataclass(frozen=True)
class Rod:
    length: float = 1.0


@dataclass
class Motor:
    gear: int  # has no default


@dataclass
class Machine:
    name: str = "m"
    active: bool = False
    count: int = 1
    raw: bytes = b""
    path: Path = Path("here")
    gains: np.ndarray = field(default_factory=lambda: np.zeros(2))
    spring: Spring = field(default_factory=Spring)
    spare: Spring | None = None
    springs: list[Spring] = field(default_factory=list)
    limits: tuple[float, float] = (0.0, 1.0)
    by_name: dict[str, Spring] = field(default_factory=lambda: {"left": Spring(7.0)})
    offsets: dict[str, float] = field(default_factory=lambda: {"a": 1.0, "b": 2.0})
    part: Union[Spring, Rod, None] = None  # noqa: UP007
    level: Union[str, float] = "low"  # noqa: UP007
    label: Optional[str] = None  # noqa: UP045


def machine(text, **options):
    return yaml_load_typed(schema=Machine, data=text, **options)


def same(one, other):
    """Whether two objects are equal, arrays among them."""
    return repr(one) == repr(other)


# ------------------------------------------------------------------------------------------------ as data


def test_a_tag_is_an_item_of_its_mapping_at_any_depth():
    data = yaml_load_data("a: !One {x: 1, b: [!Two {}]}")
    assert data == {"a": {"x": 1, "b": [{"_tag": "!Two"}], "_tag": "!One"}}


def test_private_keys_of_the_root_alone_are_removed():
    text = "_template: &t {x: 1, y: 2}\nb: {<<: *t, y: 3, _z: 4}"
    assert yaml_load_data(text) == {"b": {"x": 1, "y": 3, "_z": 4}}
    assert yaml_load(data=text, private=True)["_template"] == {"x": 1, "y": 2}


def test_scalars_mean_what_yaml_1_1_takes_them_for():
    assert yaml_load_data("[yes, 017, 1e3, 1.0e+3, ~, 0x1f, '1']") == [True, 15, "1e3", 1000.0, None, 31, "1"]


def test_texts_streams_and_files_are_read(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("_b: 1\na: 2")
    assert yaml_load_data(io.StringIO("a: 2")) == yaml_load_data(b"a: 2") == {"a": 2}
    assert yaml_load_file(path) == yaml_load(filename=str(path)) == {"a": 2}
    assert yaml_load_file(path, private=True) == {"_b": 1, "a": 2}


def test_one_of_data_and_filename_is_wanted():
    for given in ({}, {"data": "a: 1", "filename": "a.yaml"}):
        with pytest.raises(RuntimeError, match="one of data and filename"):
            yaml_load(**given)
        with pytest.raises(RuntimeError, match="one of data and filename"):
            yaml_load_typed(schema=Spring, **given)


def test_data_that_are_written_are_read_again(tmp_path):
    data = {"b": {"_tag": "!One", "x": [1, 2.5, None, "yes"]}, "a": {"_tag": "!Two"}, "_c": "é"}
    text = yaml_dump(data)
    assert yaml_load(data=text, private=True) == data
    assert text == "_c: \"\\xE9\"\na: !Two {}\nb: !One\n  x: [1, 2.5, null, 'yes']\n"
    assert yaml_dump(data, filename=tmp_path / "a.yaml") is None
    assert (tmp_path / "a.yaml").read_text() == text


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("a: [1", yaml.YAMLError, "<string>:.*while parsing a flow sequence, .*expected"),
        ("a: 1\nb: *c", yaml.YAMLError, "<string>:2:4: found undefined alias"),
        ("a: 1\n---\nb: 2", yaml.YAMLError, "<string>:2:1: expected a single document.*another document"),
        ("a: !One 3", yaml.YAMLError, "<string>:1:4: expected a mapping node, but found scalar"),
        ("a: !!python/object/apply:os.system [ls]", yaml.YAMLError, "<string>:1:4: expected a mapping"),
        ("? [1]\n: 2", yaml.YAMLError, "<string>:1:3: while constructing a mapping, found unhashable key"),
        ("a:\n- 2020-13-45", ValueError, "<string>:2:3: month must be in 1..12"),
        ("a: !!bool maybe", KeyError, "<string>:1:4: 'maybe'"),
    ],
)
def test_what_is_no_yaml_is_refused_in_one_line_with_its_place(text, error, message):
    with pytest.raises(error, match=message) as caught:
        yaml_load_data(text)
    assert "\n" not in str(caught.value)


def test_files_that_are_missing_or_not_utf_8_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"gone\.yaml"):
        yaml_load_file(tmp_path / "gone.yaml")
    (tmp_path / "bad.yaml").write_bytes(b"a: \xff")
    with pytest.raises(UnicodeDecodeError, match=r"bad\.yaml"):
        yaml_load_file(tmp_path / "bad.yaml")


# ------------------------------------------------------------------------------------ documents of strangers

TENFOLD = [f"b{k}: &b{k} [{', '.join([f'*b{k - 1}'] * 10)}]" for k in range(1, 9)]
MERGED = [f"b{k}: &b{k} {{<<: [{', '.join([f'*b{k - 1}'] * 10)}]}}" for k in range(1, 9)]
CHAIN = [f"b{k}: &b{k} [*b{k - 1}]" for k in range(1, 300)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n".join(["b0: &b0 [1, 1]", *TENFOLD]), "more than 250000 nodes, aliases expanded"),
        ("\n".join(["b0: &b0 {a: 1, b: 2}", *MERGED]), "more than 250000 nodes, aliases expanded"),
        ("\n".join(["b0: &b0 [1]", *CHAIN]), "nesting is deeper than 64 levels"),
        ("[" * 70 + "]" * 70, "nesting is deeper than 64 levels"),
        ("a: &a [*a]", 'alias "\\*a" stands inside its own anchor'),
        ("a: &a {b: {<<: *a}}", 'alias "\\*a" stands inside its own anchor'),
        ("a: '" + "x" * 2**22 + "'", "larger than 4 MiB"),
    ],
)
def test_bombs_are_refused(text, message):
    started = time.process_time()
    with pytest.raises(ModelError, match=f"^<string>.*{message}"):
        yaml_load_data(text)
    with pytest.raises(ModelError, match=message):
        machine(text)
    assert time.process_time() - started < 5.0


@pytest.mark.parametrize("number", ["1" + ":00" * 100_000, "1" * 100_000, "0x" + "f" * 100_000])
def test_integers_of_too_many_digits_are_refused_at_once(number):
    started = time.process_time()
    with pytest.raises(ValueError, match="<string>:1:4: the integer has too many digits"):
        yaml_load_data(f"a: {number}")
    assert time.process_time() - started < 1.0


def test_keys_and_tags_of_strangers_do_not_break_the_line():
    for text in ('"a\\nb": 1', "part: !a%0Ab {}", '"offsets": {"a\\nb": x}'):
        with pytest.raises(Exception, match="<string>") as caught:
            machine(text)
        assert "\n" not in str(caught.value)


# ------------------------------------------------------------------------------------------------ as objects


def test_every_type_of_field_is_filled():
    found = machine(
        """
        {name: '1', active: true, count: 2.0, raw: !!binary aGk=, path: a/b, gains: [1, 2e0, '3'],
         spring: {stiffness: 1e2}, spare: {length: 3}, springs: [{length: 1}, {}], limits: [0, 5],
         by_name: {right: {length: 2}}, offsets: {c: 4}, part: !Rod {length: 2}, level: 3.5, label: x}
        """
    )
    wanted = Machine(
        "1", True, 2, b"hi", Path("a/b"), np.array([1.0, 2.0, 3.0]), Spring(), Spring(length=3.0),
        [Spring(length=1.0), Spring()], (0.0, 5.0), {"left": Spring(7.0), "right": Spring(length=2.0)},
        {"a": 1.0, "b": 2.0, "c": 4.0}, Rod(2.0), 3.5, "x",
    )  # fmt: skip
    assert same(found, wanted)
    assert type(found.count) is int and type(found.spring.stiffness) is float and found.gains.dtype == float


def test_what_a_document_does_not_name_keeps_its_default():
    assert same(machine("{}"), Machine())
    assert machine("by_name: {left: {length: 2}}").by_name == {"left": Spring(7.0, 2.0)}
    assert machine("by_name: {left: {length: 2}}", retain_map_defaults=False).by_name == {"left": Spring(length=2.0)}


def test_defaults_take_the_place_of_the_schema_and_stay_as_they_are():
    before = Machine(count=5, spring=Spring(1.0), part=Rod(9.0), spare=Spring(3.0))
    for schema in (None, Machine):
        found = yaml_load_typed(
            schema=schema, defaults=before, data="spring: {length: 2}\npart: !Rod {}\nspare: {length: 4}"
        )
        assert (found.count, found.spring, found.part, found.spare) == (5, Spring(1.0, 2.0), Rod(9.0), Spring(3.0, 4.0))
    assert before.spring == Spring(1.0) and before.spare == Spring(3.0)
    assert machine("spare: null", defaults=before).spare is None


def test_defaults_that_a_class_shares_are_not_changed():
    shared = Spring()

    @dataclass
    class Holder:
        spring: Spring = field(default_factory=lambda: shared)

    assert yaml_load_typed(schema=Holder, data="spring: {length: 9}").spring == Spring(length=9.0)
    assert shared == Spring()


def test_fields_without_a_default_come_from_the_document():
    assert yaml_load_typed(schema=Motor, data="gear: 3") == Motor(3)
    with pytest.raises(TypeError, match="<string>: .*missing 1 required .*gear"):
        yaml_load_typed(schema=Motor, data="{}")


def test_the_child_of_the_root_is_read():
    text = "_t: &t {length: 2}\na: {<<: *t}\nb: 3"
    assert yaml_load_typed(schema=Spring, data=text, child_name="a") == Spring(length=2.0)
    with pytest.raises(KeyError, match='the root has no key "c"'):
        yaml_load_typed(schema=Spring, data=text, child_name="c")
    with pytest.raises(KeyError, match="_t"):
        yaml_load_typed(schema=Spring, data=text, child_name="_t")
    with pytest.raises(RuntimeError, match="<string>: b: must be a mapping; found 3"):
        yaml_load_typed(schema=Spring, data=text, child_name="b")


def test_mappings_are_schemas_too():
    text = "a: {length: 2}\nb: {}"
    for schema in (Mapping[str, Spring], dict[str, Spring]):
        assert yaml_load_typed(schema=schema, data=text) == {"a": Spring(length=2.0), "b": Spring()}
    defaults = {"a": Spring(3.0), "c": Spring(4.0)}
    kept = yaml_load_typed(schema=dict[str, Spring], data=text, defaults=defaults)
    assert kept == {"a": Spring(3.0, 2.0), "b": Spring(), "c": Spring(4.0)}
    assert yaml_load_typed(schema=dict[str, list[float]], data="a: [1, '2']") == {"a": [1.0, 2.0]}


def test_unknown_and_missing_keys_are_allowed_where_it_is_said():
    with pytest.raises(RuntimeError, match='<string>: spring: unknown key "lenght" in Spring, did you mean "length"'):
        machine("spring: {lenght: 2}")
    assert machine("spring: {lenght: 2}\nz: 3", allow_yaml_with_no_schema=True).spring == Spring()
    with pytest.raises(RuntimeError, match="<string>: length missing in Spring"):
        yaml_load_typed(schema=Spring, data="stiffness: 1", allow_schema_with_no_yaml=False)

    @dataclass
    class Optionals:
        x: int | None = 5

    assert yaml_load_typed(schema=Optionals, data="{}", allow_schema_with_no_yaml=False) == Optionals(None)
    assert yaml_load_typed(schema=Optionals, data="{}") == Optionals(5)


def test_the_tag_chooses_the_class_of_a_union_and_a_scalar_its_own_type():
    assert machine("part: !Rod {length: 3}").part == Rod(3.0)
    assert machine("part: !Spring {length: 3}").part == machine("part: {length: 3}").part == Spring(length=3.0)
    assert (machine("level: 1.5").level, machine("level: high").level, machine("level: '1.5'").level) == (
        1.5,
        "high",
        "1.5",
    )
    with pytest.raises(RuntimeError, match='<string>: part: takes no tag "!Rodd", did you mean "!Rod"'):
        machine("part: !Rodd {length: 3}")


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("active: 1", RuntimeError, "active: must be bool; found 1"),
        ("active: 'yes'", RuntimeError, "active: must be bool; found the string 'yes'"),
        ("count: 1.5", RuntimeError, "count: must be int; found 1.5"),
        ("count: .inf", RuntimeError, "count: must be int; found inf"),
        ("count: one", ValueError, "count: invalid literal for int"),
        ("name: 3", RuntimeError, "name: must be str; found 3"),
        ("path: [a]", RuntimeError, "path: must be Path; found a list of 1"),
        ("raw: hi", RuntimeError, "raw: must be bytes; found the string 'hi'"),
        ("gains: [x]", ValueError, "gains: could not convert string to float"),
        ("gains: {}", TypeError, "gains: float"),
        ("spring: 3", AssertionError, "spring: Spring must be a mapping; found 3"),
        ("spring: !Spring {}", RuntimeError, 'spring: unknown key "_tag" in Spring'),
        ("springs: {}", TypeError, "springs: must be a list; found a mapping of 0"),
        ("springs: [{}, {length: x}]", ValueError, r"springs\[1\]\.length: could not convert"),
        ("limits: [1, 2, 3]", ValueError, "limits: must have 2 items; found 3"),
        ("by_name: []", AttributeError, "by_name: must be a mapping; found a list of 0"),
        ("offsets: {a: x}", ValueError, r"offsets\.a: could not convert string to float: 'x'"),
        ("level: [1]", RuntimeError, "level: must be str; found a list of 1"),
        ("part: {_tag: [1]}", RuntimeError, r'part: takes no tag "\[1\]"'),
        ("count: x\nname: 3", RuntimeError, "name: must be str"),
        ("part: 3", RuntimeError, "part: must be one of Spring, Rod; found 3"),
        ("[1]", RuntimeError, "must be a mapping; found a list of 1"),
        ("", RuntimeError, "must be a mapping; found nothing"),
    ],
)
def test_what_does_not_fit_is_named_with_document_and_keys(text, error, message):
    with pytest.raises(error, match=f"^<string>: {message}") as caught:
        machine(text)
    assert "\n" not in str(caught.value)


def test_the_file_is_named(tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text("count: x")
    with pytest.raises(ValueError, match=r"m\.yaml: count: invalid"):
        yaml_load_typed(schema=Machine, filename=path)


@pytest.mark.parametrize("kind", [Literal["a"], set[int], list, dict, dict[int, int], object, complex])
def test_types_that_are_not_supported_are_named(kind):
    schema = dataclasses.make_dataclass("Odd", [("x", kind, None)])
    for error in (NotImplementedError, AssertionError):  # pydrake has both
        with pytest.raises(error, match="<string>: x: .* cannot be read"):
            yaml_load_typed(schema=schema, data="x: {}")
        with pytest.raises(error, match=r"Odd\.x: .* cannot be written"):
            yaml_dump_typed(schema({}))


def test_schemas_that_are_none_are_refused():
    with pytest.raises(ValueError, match="schema or defaults must be given"):
        yaml_load_typed(data="a: 1")
    with pytest.raises(TypeError, match="should have been a dict or a class"):
        yaml_load_typed(schema=Union[Spring, Rod], data="{}")  # noqa: UP007
    with pytest.raises(TypeError, match="defaults must be of the schema Spring, not Rod"):
        yaml_load_typed(schema=Spring, data="{}", defaults=Rod())
    with pytest.raises(NotImplementedError, match="cannot be read"):
        yaml_load_typed(schema=object, data="{}")


def test_annotations_may_be_texts():
    @dataclass
    class Late:
        x: "list[float]" = field(default_factory=list)

    assert yaml_load_typed(schema=Late, data="x: ['1']") == Late([1.0])


# --------------------------------------------------------------------------------------------------- to text

FULL = Machine(
    "yes", True, 3, b"\x00", Path("a/b"), np.array([[1.5, np.inf]]), Spring(1.0), Spring(2.0), [Spring(), Spring(3.0)],
    (1.0, 2.0), {"left": Spring(), "right": Spring(4.0)}, {"a": -0.0, "b": 1e-20}, Rod(2.0), 3.0, "'",
)  # fmt: skip


@pytest.mark.parametrize("value", [Machine(), FULL, Machine(part=Spring(5.0)), Machine(level="3.0")], ids=range(4))
def test_objects_that_are_written_are_read_again(value, tmp_path):
    assert same(machine(yaml_dump_typed(value)), value)
    assert same(machine(yaml_dump_typed(value, child_name="a"), child_name="a"), value)
    assert yaml_dump_typed(value, filename=tmp_path / "a.yaml") is None
    assert same(yaml_load_typed(schema=Machine, filename=tmp_path / "a.yaml"), value)
    for defaults in (Machine(), FULL):
        text = yaml_dump_typed(value, defaults=defaults)
        assert same(machine(text, defaults=defaults).__dict__ | {"by_name": None}, value.__dict__ | {"by_name": None})


def test_the_text_of_an_object_has_a_line_for_each_field():
    spring = yaml_dump_typed(Machine(spare=Spring(), part=Rod(), level=3.0))
    assert "spare:\n  stiffness: 100.0\n  length: 0.5\n" in spring
    assert "part: !Rod\n  length: 1.0\nlevel: !!float '3.0'\n" in spring
    assert "gains: [0.0, 0.0]\n" in spring and "label" not in spring


def test_only_what_differs_from_the_defaults_is_written():
    changed = Machine(count=2, spring=Spring(length=1.0), offsets={"a": 1.0, "b": 3.0}, part=Rod(2.0))
    text = yaml_dump_typed(changed, defaults=Machine())
    assert text == "count: 2\nspring:\n  length: 1.0\noffsets:\n  b: 3.0\npart: !Rod\n  length: 2.0\n"
    assert yaml_dump_typed(Machine(part=Rod(3.0)), defaults=Machine(part=Rod(2.0))) == "part: !Rod\n  length: 3.0\n"
    assert yaml_dump_typed(Machine(), defaults=Machine(spare=Spring())) == "spare: null\n"
    assert yaml_dump_typed(FULL, defaults=FULL) == "{}\n"


def test_mappings_are_written_by_their_schema():
    assert yaml_dump_typed({"a": Rod(2.0)}, schema=Mapping[str, Rod]) == "a:\n  length: 2.0\n"
    with pytest.raises(NotImplementedError, match="cannot be written"):
        yaml_dump_typed({"a": Rod(2.0)})


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (Machine(count="x"), ValueError, r"Machine\.count: invalid literal"),
        (Machine(name=None), TypeError, r"Machine\.name: must be str; found None"),
        (Machine(raw=5), TypeError, r"Machine\.raw: memoryview"),
        (Machine(level=True), RuntimeError, r"Machine\.level: must be one of str, float; found true"),
        (Machine(limits=(1.0,)), ValueError, r"Machine\.limits: must have 2 items; found 1"),
        (Machine(offsets={1: 2.0}), RuntimeError, r"Machine\.offsets: keys must be strings"),
        (3, RuntimeError, "root of a document should have been a dict"),
    ],
)
def test_values_that_are_not_of_their_type_are_not_written(value, error, message):
    with pytest.raises(error, match=message):
        yaml_dump_typed(value)


def test_a_union_is_written_only_where_a_tag_can_tell_it():
    schema = dataclasses.make_dataclass("Odd", [("x", Union[Spring, list[int]])])  # noqa: UP007
    with pytest.raises(TypeError, match=r"Odd\.x: .* must be the first type of its union"):
        yaml_dump_typed(schema([1]))


# ----------------------------------------------------------------------------------------- schemas of mbcli


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (MultibodyPlantConfig, "time_step: 0.01\ncontact_model: point\n"),
        (SceneGraphConfig, "default_proximity_properties:\n  compliance_type: compliant\n  margin: 0.1\n"),
        (SimulatorConfig, "integration_scheme: radau3\nuse_error_control: false\n"),
        (VisualizationConfig, "publish_period: 0.1\ndefault_proximity_color:\n  rgba: [1.0, 0.0, 0.0, 1.0]\n"),
        (DoorHingeConfig, "spring_constant: 3.0\n"),
        (InitializeParams, "suppress_initialization_events: true\n"),
        (SolverOptions, "options:\n  IPOPT:\n    max_iter: !!int '5'\n    tol: 0.1\n"),
        (Rgba, "rgba: [0.0, 0.5, 1.0, 1.0]\n"),
        (Rotation, "value: !Rpy\n  deg: [1.0, 2.0, 3.0]\n"),
        (Transform, "base_frame: b\ntranslation: [1.0, 2.0, 3.0]\nrotation: !Uniform {}\n"),
        (
            Transform,
            "translation: !GaussianVector\n  mean: [1.0, 2.0, 3.0]\n  stddev: [0.1]\nrotation: !AngleAxis\n"
            "  angle_deg: !Uniform\n    min: 1.0\n    max: 2.0\n  axis: [0.0, 1.0, 0.0]\n",
        ),
        (
            ModelDirectives,
            "directives:\n- add_model:\n    file: package://p/m.sdf\n    name: m\n    default_joint_positions:\n"
            "      j: [1.0]\n    default_free_body_pose: {}\n- add_weld:\n    parent: world\n    child: m::b\n"
            "    X_PC:\n      translation: [0.0, 0.0, 1.0]\n      rotation: {}\n",
        ),
    ],
)
def test_the_records_of_mbcli_are_schemas(schema, text):
    assert yaml_dump_typed(yaml_load_typed(schema=schema, data=text), defaults=schema()) == text


def test_a_colour_that_is_not_given_is_white():
    assert yaml_dump_typed(yaml_load_typed(schema=Rgba, data="{}")) == "rgba: [1.0, 1.0, 1.0, 1.0]\n"


def test_their_own_checks_are_told_with_the_keys():
    with pytest.raises(RuntimeError, match=r"default_proximity_properties: .*margin must be at least 0"):
        yaml_load_typed(schema=SceneGraphConfig, data="default_proximity_properties: {margin: -1}")
    with pytest.raises(ValueError, match="add_weld: X_PC of add_weld takes no base_frame"):
        yaml_load_typed(schema=dict[str, AddWeld], data="add_weld: {parent: a, child: b, X_PC: {base_frame: c}}")


def test_scripts_for_pydrake_find_the_names():
    script = "import mbcli.pydrake\nfrom pydrake.common.yaml import yaml_load_typed\nimport pydrake.all as a\n"
    script += "assert a.yaml_dump_typed is not None and yaml_load_typed is a.yaml_load_typed\n"
    subprocess.run([sys.executable, "-c", script], check=True)
