"""`mbcli check`: its formats, what it counts, its exit codes."""

import json

import pytest
from command_line import cli, hinge, one_robot, start, succeed
from repository import ROOT, SAMPLES

SOUND = one_robot("ab", hinge("j", "a", "b"))
WARNED = SOUND.replace("<axis ", "<axes/><axis ")
FAULTY = WARNED.replace('<mass value="1"/>', '<mass value="1,5"/>', 1)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (("sound", SOUND), ("warned", WARNED), ("faulty", FAULTY)):
        (tmp_path / f"{name}.urdf").write_text(text)
    return tmp_path


def test_a_sound_file_has_one_line(folder):
    result = cli("check", "sound.urdf")
    assert (result.code, result.out, result.err) == (0, "sound.urdf: nothing found\n", "")


def test_a_finding_is_a_line_with_the_element_and_a_hint_below(folder):
    result = cli("check", "faulty.urdf")
    column = FAULTY.index('value="1,5"') + 1
    assert result.code == 1
    assert result.out.splitlines()[:3] == [
        f'faulty.urdf:1:{column}: error: attribute "value" of <mass> must be a finite number, found "1,5" '
        "[ATTRIBUTE_INVALID]",
        "  at /robot[@name='r']/link[@name='a']/inertial/mass",
        "  hint: the decimal sign is a point, and numbers are separated by blanks",
    ]
    assert result.out.splitlines()[-1] == "faulty.urdf: 1 error, 1 warning"


def test_findings_are_in_the_order_of_the_file(folder):
    places = [(f["line"], f["column"]) for f in cli("check", "faulty.urdf", "--json").json()["findings"]]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("files", "arguments", "code"),
    [
        (["sound"], [], 0),
        (["warned"], [], 0),
        (["warned"], ["--fail-on", "warning"], 1),
        (["warned"], ["--strict"], 1),
        (["warned"], ["--strict", "--fail-on", "note"], 1),
        (["sound"], ["--fail-on", "note"], 0),
        (["faulty"], [], 1),
        (["sound", "faulty"], [], 1),
        (["missing"], [], 4),
        (["faulty", "missing"], [], 4),
        (["notes"], [], 3),
        (["notes", "missing"], [], 4),
        (["broken"], [], 1),
    ],
)
def test_exit_codes(folder, files, arguments, code):
    (folder / "notes.txt").write_text("no model")
    (folder / "broken.urdf").write_text("<robot><link></robot>")
    names = [{"notes": "notes.txt"}.get(name, f"{name}.urdf") for name in files]
    result = cli("check", *names, *arguments)
    assert (result.code, result.err) == (code, ""), result


@pytest.mark.parametrize("arguments", [[], ["--json"], ["--format", "jsonl"]])
def test_a_missing_file_is_a_finding_too(folder, arguments):
    result = cli("check", "missing.urdf", "faulty.urdf", *arguments)
    assert result.code == 4
    assert "FILE_READ" in result.out
    assert "ATTRIBUTE_INVALID" in result.out


def test_stdin_and_its_name(folder):
    result = cli("check", "-", "--input-format", "urdf", "--json", stdin=FAULTY)
    assert {f["file"] for f in result.json()["findings"]} == {"<stdin>"}
    assert result.code == 1
    assert cli("check", "-", stdin=SOUND).out == "<stdin>: nothing found\n"
    assert cli("check", "-", "-").code == 2


def test_quiet_prints_only_what_fails(folder):
    assert cli("check", "-q", "warned.urdf").out == ""
    assert cli("-q", "check", "warned.urdf").out == ""
    result = cli("check", "-q", "faulty.urdf")
    assert "ATTRIBUTE_INVALID" in result.out
    assert "ELEMENT_UNKNOWN" not in result.out
    assert "1 error" not in result.out


def test_notes_are_printed_when_asked_for():
    model = SAMPLES / "cart_pole.sdf"
    assert ": note: " not in cli("check", model).out
    assert ": note: " in cli("-v", "check", model).out
    assert ": note: " in cli("check", model, "--fail-on", "note").out


def test_a_good_robot_has_one_line_that_counts_its_notes(folder):
    good = SOUND.replace("</robot>", "<gazebo/>" * 3 + '<ros2_control name="c"/></robot>')
    (folder / "good.urdf").write_text(good)
    line = "good.urdf: no faults, 2 notes (2 ELEMENT_FOREIGN; mbcli -v check prints them)\n"
    assert (cli("check", "good.urdf").code, cli("check", "good.urdf").out) == (0, line)
    lines = cli("-v", "check", "good.urdf").out.splitlines()
    assert ["ELEMENT_FOREIGN" in line for line in lines].count(True) == 2
    assert lines[-1] == "good.urdf: no faults, 2 notes"


def test_ten_findings_of_a_kind_are_printed_and_the_rest_is_counted(folder):
    faults = "".join(f'<link name="l{k}"><visual/></link>' for k in range(2000))
    (folder / "many.urdf").write_text(SOUND.replace("</robot>", f"{faults}</robot>"))
    out = cli("check", "many.urdf").out
    assert out.count("must have a <geometry>") == 10
    assert "many.urdf: warning: and 1,990 more [ELEMENT_MISSING]\n" in out
    assert cli("-v", "check", "many.urdf", "--max-findings", 5000).out.count("must have a <geometry>") == 2000
    err = cli("inspect", "many.urdf").err
    assert err.count("must have a <geometry>") == 10
    assert err.splitlines()[-1] == "many.urdf: warning: and 1,990 more [ELEMENT_MISSING]"
    result = cli("inspect", "many.urdf", "--strict")
    assert result.code == 3
    assert result.err.count("must have a <geometry>") == 10
    assert "many.urdf: warning: and 1,990 more [ELEMENT_MISSING]" in result.err


def test_the_json_document_has_its_keys(folder):
    document = cli("check", "faulty.urdf", "sound.urdf", "--json").json()
    assert list(document) == ["schema", "schema_version", "model", "findings", "counts"]
    assert document["schema"] == "mbcli/check"
    assert [file["path"] for file in document["model"]["files"]] == ["faulty.urdf", "sound.urdf"]
    assert all(len(file["sha256"]) == 64 for file in document["model"]["files"])
    assert document["counts"] == {"error": 1, "warning": 1, "note": 0}
    keys = {"code", "severity", "message", "file", "line", "column", "xpath", "hint"}
    assert all(keys <= set(finding) for finding in document["findings"])


def test_findings_shown_are_limited_and_all_are_counted(folder):
    (folder / "many.urdf").write_text("<robot name='r'>" + "<link name='a' x='1'/>" * 30 + "</robot>")
    result = cli("check", "many.urdf", "--max-findings", 2)
    assert result.out.count(": error: ") + result.out.count(": warning: ") == 2
    assert "more findings (--max-findings)" in result.out
    assert "29 errors" in result.out
    document = cli("check", "many.urdf", "--max-findings", 2, "--json").json()
    assert len(document["findings"]) == 2
    assert document["findings_left_out"] == sum(document["counts"].values()) - 2
    assert result.code == 1
    assert cli("check", "many.urdf", "--max-findings", 0).code == 1


def test_json_lines_are_one_finding_each(folder):
    lines = cli("check", "faulty.urdf", "--format", "jsonl").out.splitlines()
    assert [json.loads(line)["code"] for line in lines] == ["ATTRIBUTE_INVALID", "ELEMENT_UNKNOWN"]
    assert cli("check", "sound.urdf", "--format", "jsonl").out == ""


def test_formats_exclude_each_other(folder):
    assert cli("check", "sound.urdf", "--json", "--sarif").code == 2


def test_a_result_goes_to_a_file_that_is_not_overwritten(folder):
    assert cli("check", "faulty.urdf", "-o", "x.txt").code == 1
    assert "\x1b" not in (folder / "x.txt").read_text()
    assert cli("check", "faulty.urdf", "-o", "x.txt").code == 6
    assert cli("check", "sound.urdf", "--sarif", "-o", "x.txt", "--force").code == 0
    assert json.loads((folder / "x.txt").read_text())["version"] == "2.1.0"


# --------------------------------------------------------------------------------------------------- SARIF

# what the schema of SARIF 2.1.0 demands of the objects that are used here
TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
LOCATION = {
    "type": "object",
    "required": ["physicalLocation"],
    "properties": {
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation"],
            "properties": {
                "artifactLocation": {
                    "required": ["uri"],
                    "properties": {"uri": {"type": "string", "pattern": "^[A-Za-z0-9/:._~%-]+$"}},
                },
                "region": {
                    "required": ["startLine"],
                    "properties": {
                        "startLine": {"type": "integer", "minimum": 1},
                        "startColumn": {"type": "integer", "minimum": 1},
                    },
                    "additionalProperties": False,
                },
            },
        },
        "logicalLocations": {"type": "array", "items": {"required": ["fullyQualifiedName"]}},
    },
    "additionalProperties": False,
}
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "$schema": {"type": "string", "format": "uri"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "tool": {
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "required": ["name"],
                                "properties": {
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {"required": ["id"], "properties": {"shortDescription": TEXT}},
                                    }
                                },
                            }
                        },
                    },
                    "artifacts": {
                        "type": "array",
                        "items": {
                            "properties": {
                                "location": {"required": ["uri"]},
                                "hashes": {"type": "object", "additionalProperties": {"type": "string"}},
                            }
                        },
                    },
                    "invocations": {"type": "array", "items": {"required": ["executionSuccessful"]}},
                    "results": {
                        "type": "array",
                        "items": {
                            "required": ["message"],
                            "properties": {
                                "ruleId": {"type": "string"},
                                "ruleIndex": {"type": "integer", "minimum": 0},
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": TEXT,
                                "locations": {"type": "array", "items": LOCATION},
                                "relatedLocations": {"type": "array", "items": LOCATION},
                            },
                            "additionalProperties": False,
                        },
                    },
                },
            },
        },
    },
    "additionalProperties": False,
}


def test_sarif_has_the_structure_of_version_2_1(folder):
    jsonschema = pytest.importorskip("jsonschema")
    (folder / "strange name#1.urdf").write_text(FAULTY)
    log = cli(
        "check", "strange name#1.urdf", "warned.urdf", SAMPLES / "cart_pole.sdf", "missing.urdf", "--sarif"
    ).json()
    jsonschema.validate(log, SARIF)
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [rules[result["ruleIndex"]] for result in run["results"]] == [r["ruleId"] for r in run["results"]]
    first = run["results"][0]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "strange%20name%231.urdf"
    assert place["region"] == {"startLine": 1, "startColumn": FAULTY.index('value="1,5"') + 1}
    assert first["locations"][0]["logicalLocations"][0]["fullyQualifiedName"].endswith("/inertial/mass")
    absolute = [artifact["location"]["uri"] for artifact in run["artifacts"]][-1]
    assert absolute.startswith("file:///")


QUIET = SAMPLES / "double_pendulum.urdf"  # nothing is found in it


def test_a_result_file_is_written_even_if_there_is_nothing_to_say(tmp_path):
    for words in (("-q", "check", QUIET), ("check", QUIET, "--format", "jsonl")):
        path = tmp_path / f"{len(words)}.txt"
        succeed(*words, "-o", path)
        assert path.read_text() == ""
        assert cli(*words, "-o", path).code == 6


def test_a_missing_srdf_file_is_not_a_fault_of_the_model(tmp_path):
    result = cli("check", QUIET, "--srdf", tmp_path / "gone.srdf")
    assert result.code == 4 and f"{tmp_path}/gone.srdf: error: cannot read the file" in result.out


def codes(*options):
    result = cli("check", "faulty.urdf", "--json", *options)
    return result.code, {finding["code"] for finding in result.json()["findings"]}


def test_findings_are_selected_and_ignored_by_their_codes(folder):
    assert codes() == (1, {"ATTRIBUTE_INVALID", "ELEMENT_UNKNOWN"})
    assert codes("--select", "element_unknown") == (0, {"ELEMENT_UNKNOWN"})
    assert codes("--select", "ELEMENT_*,ATTRIBUTE_*") == codes()
    assert codes("--ignore", "ATTRIBUTE_INVALID") == (0, {"ELEMENT_UNKNOWN"})
    assert codes("--select", "*", "--ignore", "ATTRIBUTE_*", "--ignore", "ELEMENT_*") == (0, set())
    assert cli("check", "gone.urdf", "--ignore", "*").code == 4
    result = cli("check", "faulty.urdf", "--ignore", "ELEMENT_UNKNWON")
    assert (
        result.code == 2 and "--ignore: there is no code 'ELEMENT_UNKNWON'; did you mean ELEMENT_UNKNOWN?" in result.err
    )


def test_annotations_of_github_have_their_places_and_escapes(folder):
    (folder / "a,b.urdf").write_text(FAULTY.replace('"1,5"', '"100%"'))
    result = cli("check", "a,b.urdf", "--format", "github")
    column = FAULTY.index('value="1,5"') + 1
    assert result.code == 1
    assert f"::error file=a%2Cb.urdf,line=1,col={column},title=ATTRIBUTE_INVALID::attribute" in result.out
    assert 'found "100%25"' in result.out and "\n::warning file=a%2Cb.urdf,line=1," in "\n" + result.out


def test_a_file_that_is_watched_is_checked_again_when_it_is_saved(folder):
    path = folder / "sound.urdf"
    process = start("check", path, "--watch", env={"MBCLI_JIT": "0"}, cwd=ROOT)
    assert process.stdout.readline() == f"{path}: nothing found\n"
    path.write_text(FAULTY)
    assert process.stdout.readline().startswith(f"{path}:1:")
    process.terminate()
    assert process.wait(10) == 143
    for words in (["-"], ["sound.urdf", "-o", "out.txt"], ["sound.urdf", "--json"]):
        assert cli("check", "--watch", *words, stdin=SOUND).code == 2
