"""The quick set: what `bash .ci/test -m quick` runs before a commit, kernels interpreted, in a minute on two cores.

usage: python tests/support/quick_set.py    chooses it anew, from what reach.py has written down

It has three parts. First the tests near a change: those that call the functions that differ from the last commit. Then
some that call as many functions of the whole program as they can in their time. Then all that compare with recorded
numbers and texts (recorded.py). Of the tests near a change as many cases run as
take a second, of the others the first.

recorded/quick_set.json says which tests call a function, for each a few: of the file of tests that its room and name
say is about it, then one of each other file. A function that it does not name, as a new one, has the tests of its file.
Tests are near too that have a rare word of the lines that differ. What a set notices is counted by `python -m
benchmarks.mutations`.
"""

import ast
import functools
import json
import re
import subprocess
import sys
from collections import defaultdict
from functools import cached_property
from pathlib import Path

from repository import ROOT, SUPPORT, TESTS, files_of_tests

RECORD = SUPPORT / "recorded" / "quick_set.json"
NEAR_SECONDS = 60.0  # [s] of tests that are near, as reach.py measures them
WIDE_SECONDS = 50.0  # [s] of those that call much
CASES_SECONDS = 1.0  # [s] of the cases of a test that is near
RARE = 20  # tests that have a rare word, at most
TESTS_OF_A_FUNCTION, OF_ITS_FILE = 40, 15
FOLDERS = ("mbcli", "parsers", "schemas")
ROOMS = {path.name: path.parent for path in files_of_tests()}


class QuickSet:
    """Which tests are in it: (name of a file, name of a function of tests)."""

    def __init__(self):
        record = json.loads(RECORD.read_text())
        self._measured = {(file, test): seconds for file, test, seconds in record["tests"]}
        changed = changed_functions()
        self.near = set(near_tests(changed, record, tests_with(changed_words(), self._measured) if changed else []))
        self.tests = self.near | {tuple(record["tests"][number][:2]) for number in record["wide"]}
        self.near_files = {file for file, _ in self.near}

    @cached_property
    def _files(self):
        return {file for file, _ in self.tests}

    def may_have(self, path):
        """Whether a file of tests may have some of the set."""
        return path.name in self._files or "same_as_recorded" in path.read_text()

    def measured(self, item):
        """Whether a test is in the record: a test that takes longer than reach.py lets it is not."""
        return (item.path.name, item.function.__qualname__) in self._measured

    def of(self, items):
        """Those of the collected tests that are in it."""
        cases = defaultdict(list)
        for item in items:
            cases[item.path.name, item.function.__qualname__].append(item)
        chosen = [item for item in items if "same_as_recorded" in item.function.__code__.co_names]
        for test in sorted(self.tests & cases.keys()):
            most = max(1, int(CASES_SECONDS / (self._measured[test] + 1e-3))) if test in self.near else 1
            step = max(1.0, len(cases[test]) / most)
            chosen += [cases[test][int(k * step)] for k in range(int(len(cases[test]) / step))]
        return chosen


def changed_functions():
    """{file of the program: names of the functions that differ from the last commit; "" for what stands outside}."""
    try:
        names = _git("diff", "--name-only", "HEAD", "--", *FOLDERS)
        names += _git("ls-files", "-o", "--exclude-standard", "--", *FOLDERS)
    except (OSError, subprocess.CalledProcessError):  # no git, or no commit
        return {}
    changed = {}
    for name in names.split():
        if name.endswith(".py"):
            before = _functions(_git("show", f"HEAD:{name}", fails=""))
            after = _functions((ROOT / name).read_text() if (ROOT / name).exists() else "")
            changed[name] = {each for each in before.keys() | after.keys() if before.get(each) != after.get(each)}
    return changed


def changed_words():
    """The names in the lines of the program that differ from the last commit."""
    lines = _git("diff", "-U0", "HEAD", "--", *FOLDERS, fails="").splitlines()
    return set(re.findall(r"[A-Za-z]\w{4,}", "\n".join(line for line in lines if re.match(r"[-+](?![-+])", line))))


def tests_with(words, measured):
    """The measured tests that have one of the words, if it is rare: in few of them."""
    found = defaultdict(list)
    for path in files_of_tests():
        text = path.read_text()
        here = words & set(re.findall(r"[A-Za-z]\w{4,}", text))
        if here:
            for function in (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)):
                if (path.name, function.name) in measured:
                    for word in here & set(re.findall(r"[A-Za-z]\w{4,}", ast.get_source_segment(text, function))):
                        found[word].append((path.name, function.name))
    return [test for word in sorted(found) if len(found[word]) <= RARE for test in found[word]]


def _git(*arguments, fails=None):
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=fails is None)
    return fails if done.returncode else done.stdout


def _functions(text):
    """{name: text} of the functions of a module, each without those inside of it, and "": what stands in none."""
    found = defaultdict(list)

    def visit(node, outer, function):
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{outer}.{inner.name}" if outer else inner.name
                visit(inner, name, function if isinstance(inner, ast.ClassDef) else name)
            elif any(isinstance(part, ast.FunctionDef | ast.ClassDef) for part in ast.walk(inner)):
                visit(inner, outer, function)
            else:
                found[function].append(ast.unparse(inner))

    try:
        visit(ast.parse(text), "", "")
    except SyntaxError:  # the tests of the file say so
        return {"": [text]}
    return found


def near_tests(changed, record, others=()):
    """The tests of what has changed, as (file, test), each function's first ones first, as many as take their time.

    others: tests that are near for another reason, which are its first ones too.
    """
    numbers = {tuple(test[:2]): number for number, test in enumerate(record["tests"])}
    ranked = defaultdict(lambda: sys.maxsize, {numbers[test]: 0 for test in others})
    for file, functions in changed.items():
        known = record["functions"].get(file, {})
        called = [known[function] for function in functions if function in known] or list(known.values())
        for tests in called:
            for rank, test in enumerate(tests):
                ranked[test] = min(ranked[test], rank)
    left = NEAR_SECONDS
    for test in sorted(ranked, key=lambda test: (ranked[test], test)):
        file, name, seconds = record["tests"][test]
        left -= max(seconds, 0.5 * CASES_SECONDS)  # not all have as many cases
        if left < 0.0:
            break
        yield file, name


# ------------------------------------------------------------------------------------------ how it is chosen


def choose(kept):
    """The record: {"tests": [[file, test, seconds]], "wide": numbers, "functions": {file: {function: numbers}}}."""
    functions, seconds = {}, {}
    for path in kept:
        for name, (took, called) in json.loads(path.read_text()).items():
            test = (f"{path.stem}.py", name)
            functions[test], seconds[test] = {tuple(each) for each in called if "<" not in each[1]}, took
    callers = defaultdict(list)
    for test, called in functions.items():
        for function in called:
            callers[function].append(test)
    sizes = {test: (len(called), seconds[test], test) for test, called in functions.items()}
    chosen = {function: _closest(function[0], tests, sizes) for function, tests in callers.items()}
    wide = _widest(functions, seconds)
    tests = sorted({test for tests in chosen.values() for test in tests} | set(wide))
    numbers = {test: number for number, test in enumerate(tests)}
    of_files = defaultdict(dict)
    for (file, function), found in sorted(chosen.items()):
        of_files[file][function] = [numbers[test] for test in found]
    return {
        "tests": [[*test, seconds[test]] for test in tests],
        "wide": sorted(numbers[test] for test in wide),
        "functions": of_files,
    }


def _closest(file, tests, sizes):
    """Tests of a function: some of the test file that is about it, then of each other one that of the middle size.

    Those that call the least are often of faults that end a call early, those that call the most of whole runs.
    """
    of_files = defaultdict(list)
    for test in sorted(tests, key=sizes.__getitem__):
        of_files[test[0]].append(test)
    middle = {name: sizes[found[len(found) // 2]] for name, found in of_files.items()}
    own, *others = sorted(of_files, key=lambda name: (-_words_in_common(file, name), middle[name]))
    step = max(1.0, len(of_files[own]) / OF_ITS_FILE)
    chosen = [of_files[own][int(k * step)] for k in range(int(len(of_files[own]) / step))]
    chosen += [middle[name][2] for name in others]
    return chosen[:TESTS_OF_A_FUNCTION]


@functools.cache
def _words_in_common(file, test_file):
    """How much a file of tests says that it is about a file of the program: by its room, and words of its name."""
    path = Path(file)
    folder = Path(*path.parts[1:-1]) if path.parts[0] == "mbcli" else path.parent
    room = 1 if TESTS / folder == ROOMS.get(test_file) else 0
    return room + 2 * len({*path.stem.split("_"), folder.name} & set(test_file[5:-3].split("_")))


def _widest(functions, seconds):
    """Tests that together call as many functions as they can: again and again the one with the most new in its time."""
    left, called, chosen = WIDE_SECONDS, set(), []
    gains = {test: len(each) / (seconds[test] + 0.05) for test, each in functions.items()}
    while gains:
        best = max(gains, key=gains.__getitem__)
        gain = len(functions[best] - called) / (seconds[best] + 0.05)
        if gain < gains[best]:  # since it was ranked, others have called some of them
            gains[best] = gain
            continue
        del gains[best]
        if gain and seconds[best] <= left:
            left -= seconds[best]
            called |= functions[best]
            chosen.append(best)
    return chosen


def main():
    from reach import REACHED

    record = choose(sorted(REACHED.glob("*.json")))

    def rows(values):
        return ",\n".join(json.dumps(value, separators=(",", ":")) for value in values)

    files = ",\n".join(f"{json.dumps(file)}:{rows([functions])}" for file, functions in record["functions"].items())
    text = (
        f'{{"tests":[\n{rows(record["tests"])}\n],\n"wide":{rows([record["wide"]])},\n"functions":{{\n{files}\n}}}}\n'
    )
    RECORD.write_text(text)
    print(f"{len(record['wide'])} tests that call much; {len(record['tests'])} near changes", file=sys.stderr)


if __name__ == "__main__":
    main()
