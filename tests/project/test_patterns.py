"""Regular expressions take time in proportion to a text: every one of the program, on texts made to be hostile to it.

`PYTHONPATH=.:tests/support python tests/project/test_patterns.py [FILE...]` names those that do not.
"""

import ast
import functools
import importlib
import json
import re
import sys
from pathlib import Path

import pytest
from hostile_strings import attacks, hostile, seconds
from repository import ROOT

METHODS = {"match", "fullmatch", "search", "finditer", "findall", "sub", "subn", "split"}
# characters; the small ones since exponential time doubles with each: what takes 2 ms takes 30 at the next
SIZES, LARGE = (8, 12, 16, 20, 24, 28, 40, 200, 800, 3_000), (12_000, 100_000)
SUSPICIOUS = 2e-3  # [s] for one of SIZES; a pattern that reads each character once takes less than a tenth of it
MOST = 0.3  # [s] for the last of LARGE; of the square of its length, 5 s or more
AT_RUN_TIME = {  # {file: [(pattern, method)] by its module}: those that are put together, or stand in a table
    "parsers/usd/usd_stage.py": lambda module: [(re.escape("r/a_0") + r"_\d+", "fullmatch")],
    "parsers/usd/usd_unused.py": lambda module: [(row[0], "fullmatch") for row in module.MOVES],
}


def product_files():
    return sorted([*(ROOT / "mbcli").rglob("*.py"), *(ROOT / "parsers").rglob("*.py")])


def name_of(path):
    return str(path.relative_to(ROOT))


def calls_of_re(path):
    """The calls re.compile(), re.match() ... of a file."""
    return [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in METHODS | {"compile"}
    ]


def module_of(path):
    words = path.relative_to(ROOT).with_suffix("").parts
    return importlib.import_module(".".join(words if words[0] == "mbcli" else ("mbcli", *words)))


def patterns_within(value):
    """Compiled patterns of a value of a module, or of its container."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from patterns_within(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from patterns_within(item)


@functools.cache
def uses():
    """{name of a compiled pattern, with its file if it is private: the methods that the program calls of it}."""
    found = {}
    for path in product_files():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                owner = node.value
                while isinstance(owner, (ast.Subscript, ast.Attribute)):
                    owner = owner.value
                if isinstance(owner, ast.Name):
                    found.setdefault((owner.id, path if owner.id[0] == "_" else None), set()).add(node.attr)
    return found


def patterns_of(path):
    """{(pattern, method)} of a file, and the calls whose pattern could not be found."""
    calls = calls_of_re(path)
    if not calls:
        return set(), []
    module = module_of(path)
    found = {(re.compile(text), method) for text, method in AT_RUN_TIME.get(name_of(path), lambda module: ())(module)}
    unknown = []
    for name, value in vars(module).items():
        methods = uses().get((name, path if name[0] == "_" else None), {"match", "fullmatch", "search"})
        for pattern in patterns_within(value):
            found |= {(pattern, method) for method in methods}
    for call in calls:
        if call.func.attr == "compile":
            continue
        try:
            text = eval(ast.unparse(call.args[0]), vars(module))
            flags = next((eval(ast.unparse(k.value), vars(module)) for k in call.keywords if k.arg == "flags"), 0)
            at = {"sub": 4, "subn": 4, "split": 3}.get(call.func.attr, 2)
            flags = eval(ast.unparse(call.args[at]), vars(module)) if len(call.args) > at else flags
            found.add((re.compile(text, flags), call.func.attr))
        except NameError:
            if name_of(path) not in AT_RUN_TIME:
                unknown.append(call)
    return found, unknown


def schema_patterns():
    def below(value):
        if isinstance(value, dict):
            for name, item in value.items():
                if name == "pattern" and isinstance(item, str):
                    yield item
                elif name == "patternProperties":
                    yield from item
                yield from below(item)
        elif isinstance(value, list):
            for item in value:
                yield from below(item)

    return {text for path in sorted((ROOT / "schemas").glob("*.json")) for text in below(json.loads(path.read_text()))}


def runner(pattern, method):
    """What the program does with a text."""
    call = getattr(pattern, method)
    if method in ("sub", "subn"):
        return lambda text: call(pattern.pattern[:0], text)
    if method == "finditer":
        return lambda text: sum(1 for _ in call(text))
    return call


def slow_attack(pattern, method):
    """(text shortened, size, seconds) of the first hostile text that takes too long, or None."""
    run, binary = runner(pattern, method), isinstance(pattern.pattern, bytes)

    def text_of(attack, size):
        text = hostile(attack, size)
        return text.encode("latin-1", "replace") if binary else text

    for attack in attacks(pattern):
        for size in SIZES:
            took = seconds(run, text_of(attack, size))
            if took > SUSPICIOUS:
                break
        else:
            continue
        if size < SIZES[-1] and min(seconds(run, text_of(attack, size)) for _ in range(3)) > SUSPICIOUS:
            return attack, size, took
        for size in LARGE:
            took = min(seconds(run, text_of(attack, size)) for _ in range(2))
            if took > MOST:
                return attack, size, took
    return None


# by their text: to parse all took 7 s of the 40 in which a process collects all tests, and their trees stayed in memory
FILES = [path for path in product_files() if re.search(r"\bre\.[a-z]", path.read_text())]


def needs(path):
    """Skips where a file cannot be imported."""
    if path.parent.name == "usd":
        pytest.importorskip("pxr", reason="usd-core is not installed")


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_pattern_of_a_file_takes_more_than_time_in_proportion(path):
    needs(path)
    found, unknown = patterns_of(path)
    assert not unknown, [ast.unparse(call) for call in unknown]
    for pattern, method in found:
        assert slow_attack(pattern, method) is None, (pattern.pattern, method)


def test_no_pattern_of_a_schema_takes_more_than_time_in_proportion():
    patterns = schema_patterns()
    assert len(patterns) > 1
    for text in patterns:
        assert slow_attack(re.compile(text), "search") is None, text


@pytest.mark.parametrize(
    ("pattern", "method"),
    [(r"(.*\S)\s*\[\s*([^\]]*?)\s*\]", "fullmatch"), (r"<!--.*?-->", "search"), (r"(a+)+b", "match")],
)
def test_a_pattern_of_square_cube_or_exponential_time_is_found(pattern, method):
    assert slow_attack(re.compile(pattern), method)


def main(paths):
    for path in paths:
        found, unknown = patterns_of(path)
        for call in unknown:
            print(f"{path}:{call.lineno}: pattern not found: {ast.unparse(call)}")
        for pattern, method in sorted(found, key=str):
            slow = slow_attack(pattern, method)
            print(f"{path}: {method} {str(pattern.pattern)[:80]!r}: {slow}" if slow else ".", flush=True)


if __name__ == "__main__":
    main([Path(name).resolve() for name in sys.argv[1:]] or FILES)
