"""Which tests `-m quick` runs: those that call what differs from the last commit, and those that call much."""

import json
import subprocess

import pytest
import quick_set
from repository import files_of_tests

BEFORE = """
LIMIT = 1

class Row:
    size = 2

    def put(self, x):
        def inner(y):
            return y
        return inner(x)

def other():
    return 1
"""
CHANGES = {
    "nothing": ("", "", set()),
    "a comment": ("LIMIT = 1", "LIMIT = 1  # of rows", set()),
    "what stands in no function": ("LIMIT = 1", "LIMIT = 2", {""}),
    "what stands in a class": ("size = 2", "size = 3", {""}),
    "a method": ("return inner(x)", "return inner(2 * x)", {"Row.put"}),
    "a function in a function": ("return y", "return -y", {"Row.put.inner"}),
    "a default": ("def other():", "def other(n=2):", {"other"}),
    "a new function": ("def other():", "def newer():\n    return 2\n\ndef other():", {"newer"}),
    "no Python": ("def other():", "def other(:", {"", "Row.put", "Row.put.inner", "other"}),
}
RECORD = {
    "tests": [["test_a.py", "test_one", 1.0], ["test_a.py", "test_two", 50.0], ["test_b.py", "test_b", 9.5]],
    "functions": {"mbcli/rows.py": {"Row.put": [0, 2], "other": [1]}},
}


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A repository with one file in its last commit."""
    monkeypatch.setattr(quick_set, "ROOT", tmp_path)
    (tmp_path / "mbcli").mkdir()
    (tmp_path / "mbcli" / "rows.py").write_text(BEFORE)
    author = ["-c", "user.name=a", "-c", "user.email=a@localhost"]
    for command in (["init", "-q"], ["add", "."], [*author, "commit", "-q", "-m", "rows"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize("name", CHANGES)
def test_the_functions_that_differ_from_the_last_commit_are_found(checkout, name):
    old, new, functions = CHANGES[name]
    (checkout / "mbcli" / "rows.py").write_text(BEFORE.replace(old, new, 1) if old else BEFORE)
    changed = quick_set.changed_functions()
    assert changed.get("mbcli/rows.py", set()) == functions


def test_files_that_are_new_or_gone_differ_as_a_whole(checkout):
    (checkout / "mbcli" / "rows.py").unlink()
    (checkout / "mbcli" / "new.py").write_text("def first():\n    pass\n")
    changed = quick_set.changed_functions()
    assert changed == {"mbcli/rows.py": {"", "Row.put", "Row.put.inner", "other"}, "mbcli/new.py": {"first"}}


def test_without_git_no_test_is_near(tmp_path, monkeypatch):
    monkeypatch.setattr(quick_set, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert quick_set.changed_functions() == {}
    assert quick_set.QuickSet().near == set()


def test_tests_are_near_that_call_what_has_changed_and_of_what_no_record_names_all_of_its_file():
    def near(functions):
        return list(quick_set.near_tests({"mbcli/rows.py": functions}, RECORD))

    one, two, b = (("test_a.py", "test_one"), ("test_a.py", "test_two"), ("test_b.py", "test_b"))
    assert near({"Row.put"}) == [one, b]
    assert near({"other"}) == [two]
    assert near({"Row.put", "other"}) == [one, two]  # 60 s are spent
    assert near({"newer"}) == [one, two]
    assert list(quick_set.near_tests({"mbcli/unknown.py": {"f"}}, RECORD)) == []


def test_tests_with_a_rare_word_of_the_lines_that_differ_are_near(checkout, monkeypatch):
    (checkout / "mbcli" / "rows.py").write_text(BEFORE.replace("return inner(x)", "return inner(x, rotor)"))
    words = quick_set.changed_words()
    assert words == {"return", "inner", "rotor"}
    tests = "".join(f"def test_{k}():\n    return {k}\n" for k in range(30)) + "def test_r():\n    assert rotor\n"
    (checkout / "test_b.py").write_text(tests)
    monkeypatch.setattr(quick_set, "files_of_tests", lambda: [checkout / "test_b.py"])
    measured = {("test_b.py", "test_r"): 1.0} | {("test_b.py", f"test_{k}"): 1.0 for k in range(30)}
    found = quick_set.tests_with(words, measured)
    assert found == [("test_b.py", "test_r")]
    record = RECORD | {"tests": [*RECORD["tests"], ["test_b.py", "test_r", 1.0]]}
    assert list(quick_set.near_tests({"mbcli/rows.py": {"other"}}, record, found)) == [
        ("test_a.py", "test_two"),
        *found,
    ]


def test_of_a_function_the_tests_of_its_file_come_first_then_one_of_each_other(tmp_path):
    g, h = ["mbcli/log/writer.py", "g"], ["mbcli/log/writer.py", "h"]
    calls = {
        "test_any": {
            "test_large": (1.0, [g, h, ["m.py", "f"]]),
            "test_middle": (2.0, [g, h]),
            "test_small": (2.0, [g]),
        },
        "test_log_writer": {"test_b": (0.1, [g, ["m.py", "f"], ["m.py", "<lambda>"]]), "test_a": (0.1, [g])},
    }
    for name, content in calls.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    record = quick_set.choose(sorted(tmp_path.glob("*.json")))
    names = [test for _, test, _ in record["tests"]]
    assert {name: [names[k] for k in tests] for name, tests in record["functions"]["mbcli/log/writer.py"].items()} == {
        "g": ["test_a", "test_b", "test_middle"],
        "h": ["test_middle", "test_large"],
    }


def test_the_tests_that_call_much_are_chosen_by_what_they_add_in_their_time(monkeypatch):
    functions = {"wide": {1, 2, 3, 4}, "within it": {1, 2}, "slow": {5}, "small": {6}}
    seconds = {"wide": 1.0, "within it": 0.1, "slow": 9.0, "small": 0.5}
    monkeypatch.setattr(quick_set, "WIDE_SECONDS", 2.0)
    assert quick_set._widest(functions, seconds) == ["within it", "wide", "small"]
    seconds["within it"] = 0.9
    assert quick_set._widest(functions, seconds) == ["wide", "small"]


def test_nearly_all_tests_of_the_record_are_there():
    record = json.loads(quick_set.RECORD.read_text())
    texts = {path.name: path.read_text() for path in files_of_tests()}
    there = [f"def {test.rpartition('.')[2]}(" in texts.get(file, "") for file, test, _ in record["tests"]]
    assert sum(there) > 0.9 * len(there), "make the record anew, by reach.py and quick_set.py"
