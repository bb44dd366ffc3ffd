"""YAML reading: what each scalar means, what is refused and where, and how a dataclass is filled."""

import dataclasses
import math

import pytest
import yaml
from mbcli.parsers import yaml_source
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.spec import SourceLocation
from mbcli.parsers.yaml_records import read_into
from mbcli.parsers.yaml_source import ANY_TAG, read_yaml

from mbcli.config.config_fields import setting
from mbcli.errors import ModelError, ResourceError


@pytest.fixture(params=["SafeLoader", "CSafeLoader"], autouse=True)
def loader(request, monkeypatch):
    """Every test runs on PyYAML's own scanner and on libyaml's: which one a machine has must not matter."""
    if not hasattr(yaml, request.param):
        pytest.skip("PyYAML is built without libyaml")
    monkeypatch.setattr(yaml_source, "_loader", lambda yaml: getattr(yaml, request.param))


def read(text, tags=()):
    diagnostics = Diagnostics()
    node = read_yaml(text if isinstance(text, bytes) else text.encode(), diagnostics, tags, name="f.yaml")
    return node, diagnostics


def plain(text, tags=()):
    node, diagnostics = read(text, tags)
    diagnostics.raise_if_errors()
    return node.plain()


def only_error(text, tags=()):
    _, diagnostics = read(text, tags)
    (finding,) = diagnostics.errors
    return finding


# ---------------------------------------------------------------------------------------------- scalars


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 1e-3),
        ("1E+3", 1e3),
        ("-.5", -0.5),
        ("+4.", 4.0),
        ("12", 12),
        ("-7", -7),
        ("017", 17),
        ("0o17", 15),
        ("0x1F", 31),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("yes", "yes"),
        ("on", "on"),
        ("tRUE", "tRUE"),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("0b11", "0b11"),
        ("1e", "1e"),
        ("inf", "inf"),
        ("nan", "nan"),
        ("2026-01-02", "2026-01-02"),
        ("1,5", "1,5"),
        ("'12'", "12"),
        ('"true"', "true"),
        ("! 12", "12"),
        ("!!str 12", "12"),
        ("!!float 12", 12.0),
        ("!!int '12'", 12),
        ("!!null ''", None),
    ],
)
def test_scalars_mean_what_yaml_1_2_says(text, value):
    found = plain(f"key: {text}")["key"]
    assert found == value
    assert type(found) is type(value)


def test_nan_is_a_float():
    assert math.isnan(plain("key: .nan")["key"])


def test_an_arabic_digit_is_text():
    assert plain("key: ١٢")["key"] == "١٢"


@pytest.mark.parametrize("text", ["1e999", "-1e400", "9" * 5000])
def test_a_number_out_of_range_is_an_error_not_infinity(text):
    finding = only_error(f"key: {text}")
    assert finding.code == "VALUE_RANGE"
    assert finding.place == SourceLocation("f.yaml", 1, 6)


def test_a_standard_tag_that_contradicts_its_text_is_an_error():
    assert only_error("key: !!int twelve").code == "VALUE_TYPE"
    assert only_error("key: !!bool 1").code == "VALUE_TYPE"


# ----------------------------------------------------------------------------------------- nodes and places


def test_every_node_knows_line_and_column():
    root, _ = read("a: 1\nb:\n  - x\n  - {c: 2.5}\n")
    assert root.place == SourceLocation("f.yaml", 1, 1)
    assert root.get("a").place == SourceLocation("f.yaml", 1, 4)
    assert root.key_place("b") == SourceLocation("f.yaml", 2, 1)
    first, second = root.get("b")
    assert first.place == SourceLocation("f.yaml", 3, 5)
    assert second.get("c").place == SourceLocation("f.yaml", 4, 9)
    assert second.get("c").text == "2.5"
    assert str(second.get("c").place) == "f.yaml:4:9"


def test_columns_count_characters_not_bytes():
    root, _ = read("{ü: é, b: x}")
    assert root.key_place("b") == SourceLocation("f.yaml", 1, 8)


def test_a_question_of_the_wrong_kind_has_an_empty_answer():
    root, _ = read("a: 1")
    scalar = root.get("a")
    assert scalar.get("x") is None
    assert list(scalar.items()) == list(scalar.keys()) == list(scalar) == list(root) == []
    assert len(scalar) == 0
    assert len(root) == 1
    assert root.get("missing") is None


def test_an_empty_collection_is_true_so_that_only_none_means_missing():
    root, _ = read("a: {}\nb: []")
    assert root.get("a")
    assert root.get("b")


def test_keys_are_strings_as_written():
    assert plain("1: a\nyes: b\n0x1: c") == {"1": "a", "yes": "b", "0x1": "c"}


def test_an_empty_file_is_a_null_without_errors():
    for text in ("", "# nothing\n", "---\n"):
        assert plain(text) is None


def test_the_root_knows_its_source_file():
    root, _ = read("a: 1")
    assert root.document.path == "f.yaml"
    assert root.document.content == b"a: 1"
    assert len(root.document.sha256) == 64


def test_a_byte_order_mark_is_no_part_of_the_first_key():
    assert plain(b"\xef\xbb\xbfa: 1") == {"a": 1}


def test_a_file_is_read_by_path(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("a: 1e-3\n")
    diagnostics = Diagnostics()
    assert read_yaml(path, diagnostics).plain() == {"a": 1e-3}
    assert read_yaml(str(path), diagnostics).place.file == str(path)


def test_a_missing_file_is_a_resource_error(tmp_path):
    for path in (tmp_path / "absent.yaml", tmp_path, "a\0b"):
        diagnostics = Diagnostics()
        assert read_yaml(path, diagnostics) is None
        with pytest.raises(ResourceError, match="cannot read"):
            diagnostics.raise_if_errors()


# ------------------------------------------------------------------------------------------ what is refused


def test_duplicate_keys_are_refused_and_both_places_named():
    finding = only_error("a: 1\nb: 2\na: 3\n")
    assert finding.code == "DUPLICATE_KEY"
    assert finding.place == SourceLocation("f.yaml", 3, 1)
    assert finding.related == (SourceLocation("f.yaml", 1, 1),)


def test_a_key_quoted_once_and_plain_once_is_a_duplicate():
    assert only_error("a: 1\n'a': 3\n").code == "DUPLICATE_KEY"


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("a: 1\n---\nb: 2\n", "YAML_DOCUMENTS", 2),
        ("a: [1, 2\nb: 3\n", "YAML_SYNTAX", 2),
        ("a: 1\n b: 2\n", "YAML_SYNTAX", 2),
        ("a: *nowhere\n", "YAML_ALIAS", 1),
        ("a: &x\n  b: *x\n", "YAML_ALIAS", 2),
        ("? [1, 2]\n: x\n", "YAML_KEY", 1),
        ("a: 1\n?\n: x\n", "YAML_KEY", 2),
        ("!!str a: x\n", "YAML_KEY", 1),
        ("%YAML 1.1\n---\na: yes\n", "YAML_VERSION", 1),
        ("a: !!python/object/apply:os.system ['true']\n", "YAML_TAG", 1),
        ("a: !!binary aGVsbG8=\n", "YAML_TAG", 1),
        ("a: !!set {x, y}\n", "YAML_TAG", 1),
        ("a: !Rpy {deg: [0, 0, 0]}\n", "YAML_TAG", 1),
        ("<<: 3\na: 1\n", "YAML_MERGE", 1),
    ],
)
def test_a_fault_is_one_error_with_its_line(text, code, line):
    finding = only_error(text)
    assert finding.code == code
    assert finding.place.line == line
    assert finding.place.file == "f.yaml"


def test_control_characters_are_refused():
    assert only_error(b"a: \x1b[31mred\n").code == "YAML_SYNTAX"


def test_bytes_that_are_not_utf8_are_refused_with_their_line():
    finding = only_error(b"a: 1\nb: caf\xe9\n")
    assert finding.code == "YAML_ENCODING"
    assert finding.place.line == 2
    assert only_error("a: 1".encode("utf-16")).code == "YAML_ENCODING"


def test_a_version_directive_that_is_no_version_is_an_error():
    _, diagnostics = read("%YAML one\n---\na: 1\n")
    assert [finding.code for finding in diagnostics.errors] == ["YAML_SYNTAX"]


# ---------------------------------------------------------------------------------------------- tags


def test_listed_tags_are_pairs_of_tag_and_value():
    text = "a: !Rpy {deg: [1, 2, 3]}\nb: !Uniform [0, 1]\nc: !Named 1.5\n"
    found = plain(text, tags=("!Rpy", "!Uniform", "!Named"))
    assert found == {"a": ("!Rpy", {"deg": [1, 2, 3]}), "b": ("!Uniform", [0, 1]), "c": ("!Named", 1.5)}


def test_an_unlisted_tag_names_the_likely_one():
    finding = only_error("a: !Rpi {deg: [1, 2, 3]}", tags=("!Rpy", "!AngleAxis"))
    assert finding.code == "YAML_TAG"
    assert "!Rpi" in finding.message
    assert finding.hint == 'did you mean "!Rpy"?'


def test_any_tag_lets_local_tags_pass_and_no_others():
    assert plain("a: !Anything 1", tags=ANY_TAG) == {"a": ("!Anything", 1)}
    assert only_error("a: !!python/name:os.system x", tags=ANY_TAG).code == "YAML_TAG"


# --------------------------------------------------------------------------------- anchors, merges, budgets


def test_an_alias_stands_for_its_anchor():
    root, _ = read("a: &x [1, 2]\nb: *x\n")
    assert root.plain() == {"a": [1, 2], "b": [1, 2]}
    assert root.get("b").place == SourceLocation("f.yaml", 1, 4)


def test_merged_keys_give_way_to_own_and_earlier_ones():
    text = "p: &p {a: 1, b: 1}\nq: &q {b: 2, c: 2}\nr:\n  <<: [*p, *q]\n  c: 3\n"
    assert plain(text)["r"] == {"a": 1, "b": 1, "c": 3}
    assert plain("p: &p {a: 1}\nr: {<<: *p, b: 2}\n")["r"] == {"a": 1, "b": 2}


def test_a_quoted_merge_sign_is_an_ordinary_key():
    assert plain("'<<': 3\n") == {"<<": 3}


def test_an_alias_bomb_is_refused_before_it_is_built():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [" + ", ".join([f"*a{i - 1}"] * 9) + "]" for i in range(1, 12)]
    finding = only_error("\n".join(lines))
    assert finding.code == "YAML_TOO_LARGE"
    assert finding.place.line < 8


def test_a_bomb_of_merges_is_refused():
    lines = ["a0: &a0 {k: [x, x, x, x]}"]
    lines += [f"a{i}: &a{i} {{m{i}: {{<<: *a{i - 1}}}, n{i}: {{<<: *a{i - 1}}}}}" for i in range(1, 40)]
    assert only_error("\n".join(lines)).code == "YAML_TOO_LARGE"


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 100_000, "- " * 5000 + "x"])
def test_deep_nesting_is_refused(text):
    assert only_error(text).code == "YAML_TOO_DEEP"


def test_nesting_through_aliases_counts():
    text = "a: &a " + "[" * 40 + "]" * 40 + "\nb: " + "[" * 40 + "*a" + "]" * 40
    assert only_error(text).code == "YAML_TOO_DEEP"


def test_nesting_up_to_the_limit_is_read():
    depth = yaml_source.MAX_DEPTH - 1
    assert plain("a: " + "[" * depth + "]" * depth)["a"] is not None


def test_many_nodes_are_refused(monkeypatch):
    monkeypatch.setattr(yaml_source, "MAX_NODES", 100)
    assert plain("[" + "1, " * 99 + "]") == [1] * 99
    assert only_error("[" + "1, " * 100 + "]").code == "YAML_TOO_LARGE"


def test_a_large_file_is_refused_without_reading_all(monkeypatch, tmp_path):
    monkeypatch.setattr(yaml_source, "MAX_BYTES", 10)
    path = tmp_path / "big.yaml"
    path.write_text("a: 12345678\n")
    diagnostics = Diagnostics()
    assert read_yaml(path, diagnostics) is None
    assert diagnostics.errors[0].code == "YAML_TOO_LARGE"


# -------------------------------------------------------------------------------------- filling a dataclass


@dataclasses.dataclass(frozen=True)
class Point:
    xyz: tuple[float, float, float]
    place: SourceLocation
    label: str = ""


@dataclasses.dataclass
class Record:
    count: int = setting(1, "count", minimum=0)
    ratio: float = setting(0.5, "ratio", above=0.0, unit="m")
    active: bool = setting(True, "active")
    mode: str = setting("soft", "mode", choices=("soft", "stiff"))
    note: str | None = None
    numbers: tuple[float, ...] = setting((), "numbers", minimum=0)
    names: list[str] = dataclasses.field(default_factory=list)
    gains: dict[str, float] = dataclasses.field(default_factory=dict)
    points: list[Point] = dataclasses.field(default_factory=list)
    origin: Point | None = None

    def __post_init__(self):
        if self.count > 10 and not self.active:
            raise ModelError("more than 10 and not active")


def fill(text, kind=Record, unsupported=(), tags=()):
    node, diagnostics = read(text, tags)
    diagnostics.raise_if_errors()
    return read_into(kind, node, diagnostics, unsupported), diagnostics


def test_a_dataclass_is_filled_from_a_mapping():
    text = """
    count: 3
    ratio: 2
    active: false
    mode: stiff
    note: hello
    numbers: [1, 2.5]
    names: [a, b]
    gains: {p: 1, d: 0.5}
    points:
      - {xyz: [1, 2, 3], label: one}
    origin: {xyz: [0, 0, 0]}
    """
    record, diagnostics = fill(text)
    assert diagnostics.findings == []
    assert record == Record(
        count=3,
        ratio=2.0,
        active=False,
        mode="stiff",
        note="hello",
        numbers=(1.0, 2.5),
        names=["a", "b"],
        gains={"p": 1.0, "d": 0.5},
        points=[Point((1.0, 2.0, 3.0), SourceLocation("f.yaml", 11, 9), "one")],
        origin=Point((0.0, 0.0, 0.0), SourceLocation("f.yaml", 12, 13)),
    )
    assert type(record.ratio) is float
    assert type(record.numbers[0]) is float


def test_absent_keys_keep_their_defaults_and_null_is_none():
    assert fill("{}")[0] == Record()
    assert fill("{note: null, origin: ~}")[0] == Record()


@pytest.mark.parametrize(
    ("text", "code", "column", "message"),
    [
        ("{count: 1.5}", "VALUE_TYPE", 9, "count must be an integer; found 1.5"),
        ("{count: true}", "VALUE_TYPE", 9, "count must be an integer; found true"),
        ("{count: -1}", "VALUE_RANGE", 9, "count must be at least 0; found -1"),
        ("{ratio: '1'}", "VALUE_TYPE", 9, "ratio must be a number; found the string '1'"),
        ("{ratio: 0}", "VALUE_RANGE", 9, "ratio must be greater than 0 m; found 0.0"),
        ("{ratio: .nan}", "VALUE_RANGE", 9, "ratio must be a finite number; found nan"),
        ("{ratio: .inf}", "VALUE_RANGE", 9, "ratio must be a finite number; found inf"),
        ("{ratio: {a: 1}}", "VALUE_TYPE", 9, "ratio must be a number; found a mapping of 1 keys"),
        ("{ratio: }", "VALUE_TYPE", None, "ratio must be a number; found nothing"),
        ("{active: yes}", "VALUE_TYPE", 10, "active must be true or false; found the string 'yes'"),
        ("{active: 1}", "VALUE_TYPE", 10, "active must be true or false; found 1"),
        ("{mode: sof}", "VALUE_CHOICE", 8, "mode must be one of soft, stiff; found the string 'sof'"),
        ("{mode: 3}", "VALUE_TYPE", 8, "mode must be a string; found 3"),
        ("{numbers: 3}", "VALUE_TYPE", 11, "numbers must be a list; found 3"),
        ("{numbers: [1, x]}", "VALUE_TYPE", 15, "numbers[1] must be a number; found the string 'x'"),
        ("{numbers: [1, -2]}", "VALUE_RANGE", 15, "numbers[1] must be at least 0; found -2.0"),
        ("{gains: [1]}", "VALUE_TYPE", 9, "gains must be a mapping; found a list of 1 items"),
        ("{gains: {p: x}}", "VALUE_TYPE", 13, "gains.p must be a number; found the string 'x'"),
        (
            "{origin: {xyz: [1, 2]}}",
            "VALUE_TYPE",
            16,
            "xyz must be a list of 3 items; found a list of 2 items",
        ),
        ("{origin: {label: a}}", "KEY_MISSING", 10, 'key "xyz" of Point is missing'),
        ("{origin: 3}", "VALUE_TYPE", 10, "Point must be a mapping; found 3"),
        ("{points: [{xyz: [1, 2, 3], place: 3}]}", "KEY_UNKNOWN", 28, 'unknown key "place" in Point'),
        ("{cuont: 3}", "KEY_UNKNOWN", 2, 'unknown key "cuont" in Record'),
        ("{count: 11, active: false}", "VALUE_INVALID", 1, "more than 10 and not active"),
        ("[1]", "VALUE_TYPE", 1, "Record must be a mapping; found a list of 1 items"),
    ],
)
def test_a_wrong_value_is_one_error_at_its_place(text, code, column, message):
    record, diagnostics = fill(text)
    (finding,) = diagnostics.findings
    assert record is None
    assert (finding.severity, finding.code, finding.message) == ("error", code, message)
    assert finding.place.line == 1
    if column is not None:  # the two scanners place an absent value differently
        assert finding.place.column == column


def test_hints_name_the_likely_key_choice_and_boolean():
    assert fill("{cuont: 3}")[1].errors[0].hint == 'did you mean "count"?'
    assert fill("{mode: sof}")[1].errors[0].hint == 'did you mean "soft"?'
    assert fill("{active: yes}")[1].errors[0].hint == "YAML 1.2 writes true or false"
    assert fill("{zzzz: 3}")[1].errors[0].hint.startswith("one of count, ratio")


def test_all_findings_of_a_mapping_are_collected():
    _, diagnostics = fill("count: -1\nratio: x\nmodee: soft\norigin: {xyz: [a, 2, b]}\n")
    assert [finding.place.line for finding in diagnostics.errors] == [1, 2, 4, 4, 3]


def test_an_unsupported_key_is_a_warning_with_its_place():
    record, diagnostics = fill("count: 2\ncameras: {a: {}}\n", unsupported=("cameras", "drivers"))
    assert record == Record(count=2)
    (finding,) = diagnostics.findings
    assert (finding.severity, finding.code) == ("warning", "KEY_UNSUPPORTED")
    assert str(finding) == 'f.yaml:2:1: warning: "cameras" is not used yet [KEY_UNSUPPORTED]'


def test_a_tag_where_none_is_expected_is_an_error():
    for text in ("{count: !Uniform 3}", "{origin: !Rpy {xyz: [1, 2, 3]}}", "!Rpy {}"):
        record, diagnostics = fill(text, tags=ANY_TAG)
        assert record is None
        assert [finding.code for finding in diagnostics.errors] == ["YAML_TAG"]
