"""Finds, in the text of the tests, which engines each test imports, and which its mark `peers` names.

The units are functions, classes and what is assigned at the top of a file, of all files below tests/ and benchmarks/.
A unit imports an engine by `import`, or by a function of IMPORTING with the name of a module. One that calls such a
function with a name that is not in its text, `import_module(f"{library}.math")`, imports every engine whose name is
a text in it or in a unit through which a test reaches it. Types are not followed: `scene.start()` is any method of
classes that are named somewhere on the way. A benchmark that asks whether an engine is installed does without it.
"""

import ast
from dataclasses import dataclass, field

from peer_modules import PEERS

IMPORTING = ("import_module", "importorskip", "__import__", "peer")
ASKING = ("find_spec", "installed")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def engine_of(module):
    """The engine that a dotted name of a module begins with, or None."""
    name = (module or "").partition(".")[0]
    return name if name in PEERS else None


@dataclass
class Unit:
    """What a piece of a file does: engines it imports by name, and the names of other pieces that it uses."""

    engines: set = field(default_factory=set)  # imported here
    texts: set = field(default_factory=set)  # engines whose name is a text here
    imports_any: bool = False  # by a name that is not in the text
    uses: set = field(default_factory=set)  # (module, name); the name None for what runs as the module is imported
    asks: bool = False  # whether an engine is installed
    is_value: bool = False  # assigned at the top of a file, such as the cases of a test
    strings: set = field(default_factory=set)
    picks_fixtures: bool = False  # by names that are texts in it


class _Reader(ast.NodeVisitor):
    """Fills a Unit from a part of a module's tree."""

    def __init__(self, module, unit, own=""):
        self.module, self.unit, self.own = module, unit, own

    def read(self, node):
        inside = list(ast.walk(node))
        self.local = {inner.arg for inner in inside if isinstance(inner, ast.arg)}
        if not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.ClassDef):
            self.local |= {n.id for n in inside if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        self.bound = {}
        for inner in inside:
            if isinstance(inner, ast.Import | ast.ImportFrom):
                self.take_import(inner)
        self.visit(node)
        return self.unit

    def take_import(self, node):
        names = imported(node)
        self.unit.engines |= {engine for module, *_ in names if (engine := engine_of(module))}
        self.unit.uses |= {(module, None) for module, *_ in names}
        self.bound |= {name: (module, member) for module, member, name in names}

    def visit_Name(self, node):
        if node.id in self.bound:
            self.unit.uses.add(self.bound[node.id])
        elif node.id not in self.local:
            self.unit.uses.add((self.module.name, node.id))

    def visit_Attribute(self, node):
        base = node.value
        if isinstance(base, ast.Name):
            if base.id in ("self", "cls") and self.own:
                self.unit.uses.add((self.module.name, f"{self.own}.{node.attr}"))
            target = self.bound.get(base.id) or self.module.bound.get(base.id)
            if target is not None:
                module, member = target
                self.unit.uses |= {(f"{module}.{member}" if member else module, node.attr)}
        self.generic_visit(node)

    def visit_Constant(self, node):
        if isinstance(node.value, str):
            self.unit.strings.add(node.value)
            self.unit.texts |= {engine_of(node.value)} - {None}

    def visit_Call(self, node):
        called = called_name(node)
        if called in IMPORTING and node.args:
            self.take_call(node.args[0])
        self.unit.asks |= called in ASKING
        self.unit.picks_fixtures |= called == "getfixturevalue"
        self.generic_visit(node)

    def take_call(self, name):
        if isinstance(name, ast.JoinedStr):
            name = name.values[0]
        if not isinstance(name, ast.Constant):
            self.unit.imports_any = True
        elif engine_of(name.value):
            self.unit.engines.add(engine_of(name.value))


def imported(node):
    """[(module, member or None, name it has here)] of an import."""
    if isinstance(node, ast.Import):
        modules = [(each.name if each.asname else each.name.partition(".")[0], each.asname) for each in node.names]
        return [(module, None, name or module) for module, name in modules]
    return [(node.module or "", a.name, a.asname or a.name) for a in node.names]


def marks_of(nodes):
    """[names in a mark] for each mark `peers` in expressions; a mark without names is an empty list."""
    found = []
    calls = [inner for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Call)]
    called = {id(call.func) for call in calls}
    for call in calls:
        if _is_mark(call.func):
            found.append([argument.value for argument in call.args if isinstance(argument, ast.Constant)])
    bare = [n for node in nodes for n in ast.walk(node) if _is_mark(n) and id(n) not in called]
    return found + [[] for _ in bare]


def _is_mark(node):
    return isinstance(node, ast.Attribute) and node.attr == "peers" and getattr(node.value, "attr", None) == "mark"


@dataclass
class Case:
    """A test: where it stands, what it uses, and its marks."""

    unit: tuple
    marks: list
    fixtures: list
    lineno: int


class Module:
    """The units and tests of a file."""

    def __init__(self, name, text):
        self.name, self.units, self.tests, self.bound = name, {}, [], {}
        self.fixtures, self.always = {}, []  # arguments of fixtures, and those that are used unasked
        self.marks = []
        tree = ast.parse(text)
        self.at_top = Unit()
        self._bind(tree.body)
        for node in tree.body:
            self._take(node)

    def _bind(self, body):
        for node in body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = imported(node)
                self.bound |= {name: (module, member) for module, member, name in names}
                self.at_top.engines |= {engine for module, *_ in names if (engine := engine_of(module))}
                self.at_top.uses |= {(module, None) for module, *_ in names}
            elif isinstance(node, ast.If | ast.Try | ast.With):
                self._bind([n for n in ast.iter_child_nodes(node) if isinstance(n, ast.stmt)])

    def _take(self, node):
        if isinstance(node, FUNCTIONS):
            self._take_function(node, node.name)
        elif isinstance(node, ast.ClassDef):
            self._take_class(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            self._take_assignment(node)
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.For) and "__main__" not in ast.unparse(node):
            for inner in ast.iter_child_nodes(node):
                if isinstance(inner, ast.stmt):
                    self._take(inner)
        elif isinstance(node, ast.Expr):
            _Reader(self, self.at_top).read(node)

    def _take_assignment(self, node):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
        if names == ["pytestmark"]:
            self.marks = marks_of([node.value])
            return
        for name in names:
            _Reader(self, self.units.setdefault(name, Unit(is_value=True))).read(node)
        self._run(node)

    def _run(self, *nodes):
        """Takes the calls that are made as the file is imported."""
        reader = _Reader(self, self.at_top)
        for call in (call for node in nodes for call in direct_calls(node)):
            called = called_name(call)
            if isinstance(call.func, ast.Name):
                self.at_top.uses.add(self.bound.get(called, (self.name, called)))
            if called in IMPORTING and called != "peer" and call.args:
                reader.take_call(call.args[0])

    def _take_function(self, node, name, marks=(), own=""):
        self.units[name] = _Reader(self, Unit(), own).read(node)
        self._run(*node.decorator_list, *node.args.defaults)
        arguments = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        texts = [ast.unparse(decorator) for decorator in node.decorator_list]
        if any("fixture" in text for text in texts):
            self.fixtures[name.rpartition(".")[2]] = (name, arguments)
            if any("autouse=True" in text for text in texts):
                self.always.append(name.rpartition(".")[2])
        elif node.name.startswith("test"):
            used = [
                argument.value
                for decorator in node.decorator_list
                if "usefixtures" in ast.unparse(decorator)
                for argument in decorator.args
            ]
            own_marks = [*marks, *marks_of(node.decorator_list)]
            self.tests.append(Case((self.name, name), own_marks, arguments + used, node.lineno))

    def _take_class(self, node):
        self.units[node.name] = _Reader(self, Unit(), node.name).read(node)
        self._run(*(inner for inner in node.body if isinstance(inner, ast.Assign | ast.AnnAssign)))
        marks = marks_of([*node.decorator_list, *(n.value for n in node.body if isinstance(n, ast.Assign))])
        for inner in node.body:
            if isinstance(inner, FUNCTIONS):
                if node.name.startswith("Test"):
                    self._take_function(inner, f"{node.name}.{inner.name}", marks, node.name)
                else:
                    self.units[f"{node.name}.{inner.name}"] = _Reader(self, Unit(), node.name).read(inner)


def called_name(call):
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", None)


def direct_calls(node):
    """Calls that code at the top of a file makes as it is imported: not those in functions that it defines."""
    if isinstance(node, ast.Lambda):
        return []
    inner = [call for child in ast.iter_child_nodes(node) for call in direct_calls(child)]
    return [node, *inner] if isinstance(node, ast.Call) else inner


class PeerImports:
    """Of files, {name by which tests import it: text}: what is wrong with the marks of their tests."""

    def __init__(self, texts):
        self.modules = {name: Module(name, text) for name, text in texts.items()}

    def faults(self):
        """Lines that name a test and an engine that it reaches and its mark does not name, or a file and an engine."""
        found = [f"conftest: {name} imports an engine for every test" for name in self._fixtures_of_all()]
        for name, module in sorted(self.modules.items()):
            if name.startswith("benchmarks"):
                continue
            engines = self.engines_at_top(name)
            found += [f"{name} imports {engine} as it is collected" for engine in sorted(engines)]
            for test in module.tests:
                marks = [*module.marks, *test.marks]
                where = f"{name}.py:{test.lineno} {test.unit[1]}"
                found += [f"{where}: a mark names no engine" for names in marks if not names]
                missing = self.engines_of(test) - engines - {engine for names in marks for engine in names}
                found += [f"{where}: no mark names {engine}" for engine in sorted(missing)]
        return found

    def engines_at_top(self, name):
        return self._engines([(name, None)])

    def engines_of(self, test):
        return self._engines([test.unit, *self._fixtures(test)])

    def _fixtures(self, test):
        """The units of the fixtures that a test asks for, and of those that these ask for."""
        name, unit = test.unit[0], self._unit(test.unit)
        asked = unit.strings if unit.picks_fixtures else ()
        wanted = [*test.fixtures, *asked, *self.modules[name].always]
        found, seen = [], set()
        while wanted:
            fixture = wanted.pop()
            home = self._home_of_fixture(name, fixture)
            if fixture not in seen and home is not None:
                seen.add(fixture)
                unit, arguments = self.modules[home].fixtures[fixture]
                found.append((home, unit))
                wanted += arguments
        return found

    def _home_of_fixture(self, name, fixture):
        module = self.modules[name]
        target = module.bound.get(fixture, (None, None))[0]
        for home in (name, target, "conftest"):
            if home in self.modules and fixture in self.modules[home].fixtures:
                return home
        return None

    def _fixtures_of_all(self):
        conftest = self.modules.get("conftest")
        return [name for name in conftest.always if self._engines([("conftest", name)])] if conftest else []

    def _follow(self, use):
        """(module, name) of the unit that a use stands for, or None if it is none of these files."""
        module, name = use
        for _ in range(9):
            if module not in self.modules:
                return None
            here = self.modules[module]
            if name is None or name in here.units:
                return module, name
            if f"{module}.{name}" in self.modules:
                return f"{module}.{name}", None
            if name not in here.bound:
                return None
            module, name = here.bound[name]
        return None

    def _unit(self, use):
        module, name = use
        return self.modules[module].at_top if name is None else self.modules[module].units[name]

    def _uses(self, use):
        """Units that one uses: those it names."""
        if self._unit(use).asks and use[0].startswith("benchmarks"):
            return set()
        return {found for each in self._unit(use).uses if (found := self._follow(each)) is not None}

    def _engines(self, start):
        """The engines that units reach."""
        edges, open_ = {}, [found for use in start if (found := self._follow(use)) is not None]
        while open_:
            use = open_.pop()
            if use not in edges:
                edges[use] = self._uses(use)
                open_ += edges[use]
        engines = {engine for use in edges for engine in self._unit(use).engines}
        loose = {use for use in edges if self._unit(use).imports_any}
        grown = True
        while grown:
            more = {use for use, targets in edges.items() if use not in loose and targets & loose}
            loose |= more
            grown = bool(more)
        values = {target for use in loose for target in edges[use] if self._unit(target).is_value}
        return engines | {engine for use in loose | values for engine in self._unit(use).texts}
