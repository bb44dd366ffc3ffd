"""Flips one sign or index in the kernels at a time, and counts the mutants that no test notices.

usage: python tests/support/mutants.py COUNT [SEED] [N/M]  tries COUNT mutants (part N of M), lists survivors

A mutant is a kernel with another code object. It is tried in a process forked for it, by the tests that call the
kernel, as reach.py has written them down, as many as take two minutes without the mutant. Kernels are interpreted, so
nothing is compiled.
"""

import ast
import gc
import inspect
import json
import os
import random
import signal
import sys
import textwrap
from collections import defaultdict

from reach import REACHED
from repository import ROOT, files_of_tests

os.environ["MBCLI_JIT"] = "0"

import pytest
from _pytest.runner import runtestprotocol

from mbcli.engine import load_kernels
from mbcli.engine.runtime.kernel import KERNELS

SECONDS = 120.0  # of tests for one mutant
FLAGS = [
    "-q",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:xdist",
    "-p",
    "no:randomly",
    "-m",
    "not peers",
    "--no-header",
    "--first-cases",
]


def kernels():
    load_kernels(False)
    return {f"{f.__module__.removeprefix('mbcli.engine.')}.{f.__name__}": f for f in KERNELS}


class TooSlowError(Exception):
    pass


def stop_test(*_):
    raise TooSlowError


def load_calls():
    """{kernel: [(seconds, test that calls it), ...]}: the quickest of each file, then the next of each, and so on."""
    names = {
        (os.path.relpath(f.__code__.co_filename, ROOT), f.__qualname__.replace(".<locals>", "")): name
        for name, f in kernels().items()
    }
    files = {path.stem: path.relative_to(ROOT) for path in files_of_tests()}
    calls = {name: [] for name in names.values()}
    for path in REACHED.glob("*.json"):
        found = defaultdict(list)
        for test, (seconds, functions) in json.loads(path.read_text()).items():
            for function in map(tuple, functions):
                if function in names:
                    found[names[function]].append((seconds, f"{files[path.stem]}::{test}"))
        for name, tests in found.items():
            calls[name].extend((place, *test) for place, test in enumerate(sorted(tests)))
    return {name: [(seconds, node) for _, seconds, node in sorted(tests)] for name, tests in calls.items()}


# ------------------------------------------------------------------------------------------ mutants


class Sites(ast.NodeVisitor):
    """The places of a function where a sign or an index can be flipped: (description, function that flips it)."""

    def __init__(self):
        self.found = []

    def visit_BinOp(self, node):
        if isinstance(node.op, (ast.Add, ast.Sub)):
            other = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
            self.found.append((node, "op", other))
        self.generic_visit(node)

    def visit_AugAssign(self, node):
        if isinstance(node.op, (ast.Add, ast.Sub)):
            self.found.append((node, "op", ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()))
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.USub):
            self.found.append((node, "op", ast.UAdd()))
        self.generic_visit(node)

    def visit_Subscript(self, node):
        elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for element in elements:
            if isinstance(element, ast.Constant) and type(element.value) is int:
                self.found.append((element, "value", element.value - 1 if element.value > 0 else 1))
        self.generic_visit(node)


def tree_of(function):
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    tree.body[0].decorator_list = []
    return tree


def places_in(tree):
    visitor = Sites()
    visitor.visit(tree)
    return visitor.found


def mutant(function, number):
    """The line of a place, what it was and what it becomes, and the mutated tree."""
    tree = tree_of(function)
    node, field, other = places_in(tree)[number]
    statement = innermost(tree, node)
    before, line = ast.unparse(statement), function.__code__.co_firstlineno + statement.lineno
    setattr(node, field, other)
    return line, f"{before}   ->   {ast.unparse(statement)}", tree


def holds(statement, node):
    return any(n is node for n in ast.walk(statement))


def innermost(tree, node):
    """The smallest statement that holds the node."""
    statements = [s for s in ast.walk(tree) if isinstance(s, ast.stmt) and holds(s, node)]
    smallest = min(statements, key=lambda s: sum(1 for _ in ast.walk(s)))
    return smallest.test if isinstance(smallest, (ast.If, ast.While)) else smallest


def apply(function, tree):
    namespace = {}
    ast.fix_missing_locations(tree)
    exec(compile(tree, function.__code__.co_filename, "exec"), function.__globals__, namespace)
    function.__code__ = namespace[function.__name__].__code__


def chosen(count, seed):
    """So many mutants, drawn from all places of all kernels alike, and the number of these."""
    places = [(name, f, k) for name, f in sorted(kernels().items()) for k in range(len(places_in(tree_of(f))))]
    random.Random(seed).shuffle(places)
    return [(name, f, mutant(f, k)) for name, f, k in places[:count]], len(places)


class MutantLoop:
    """A pytest plugin that tries mutants in place of running the tests: these are collected once, for all."""

    def __init__(self, mutants, calls):
        self._mutants, self._calls = mutants, calls
        self.noticed, self.living = 0, []

    def pytest_runtestloop(self, session):
        items = {item.nodeid.partition("[")[0]: item for item in session.items}
        gc.freeze()  # so that forked processes share this memory
        for number, (name, function, (line, change, tree)) in enumerate(self._mutants, start=1):
            tests = [(seconds, items[node]) for seconds, node in self._calls[name] if node in items]
            if is_noticed(function, tree, tests):
                self.noticed += 1
            else:
                self.living.append(f"{name}, line {line} ({len(tests)} tests): {change}")
                print("\nlives:", self.living[-1], flush=True)
            print(f"\r{number} of {len(self._mutants)}", end="", flush=True, file=sys.stderr)
        return True


def is_noticed(function, tree, tests):
    """Whether one of the tests fails on a mutant; one that takes far too long fails too."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return status != 0
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    noticed = True
    try:
        apply(function, tree)
        signal.signal(signal.SIGALRM, stop_test)
        noticed = any(fails(item, seconds) for seconds, item in within_budget(tests))
    finally:
        os._exit(int(noticed))


def within_budget(tests):
    """As many of (seconds, test) as take SECONDS without the mutant."""
    left = SECONDS
    for seconds, item in tests:
        left -= seconds
        if left < 0.0:
            return
        yield seconds, item


def fails(item, seconds):
    signal.alarm(int(20 + 20 * seconds))
    try:
        return any(report.failed for report in runtestprotocol(item, log=False))
    finally:
        signal.alarm(0)


def run(count, seed=1, part="1/1"):
    calls = load_calls()
    number, parts = map(int, part.split("/"))
    mutants, total = chosen(count, seed)
    mutants = mutants[number - 1 :: parts]
    files = sorted({node.partition("::")[0] for name, _, _ in mutants for _, node in calls[name]})
    loop = MutantLoop(mutants, calls)
    pytest.main([*FLAGS, "-s", *files], plugins=[loop])
    print(f"{loop.noticed} noticed, {len(loop.living)} live, of {total} places", flush=True)


if __name__ == "__main__":
    os.chdir(ROOT)
    run(int(sys.argv[1]), *map(int, sys.argv[2:3]), *sys.argv[3:4])
