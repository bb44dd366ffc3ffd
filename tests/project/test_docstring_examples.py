"""The docstrings of the most used functions have examples that run, shapes, units, and a place in the reference.

`documented_methods.txt` lists them as users name them. What a docstring must have is what `faults` says, and no more:
an example of one to four lines, a line for every argument, `Returns:` for a result, `Raises:` where the function itself
raises, and, where an annotation is an array, a shape in parentheses and a unit in brackets.
"""

import ast
import doctest
import inspect
import pydoc
import re
import textwrap

import pytest
from repository import ROOT
from test_documents import described_arguments, members_on_the_page
from test_public_types import ours

NAMES = (ROOT / "tests" / "project" / "documented_methods.txt").read_text(encoding="utf-8").split()
PAGE = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
ONCE, EACH_TIME = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
COLLECTED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)  # *arguments and **named
OWN = ("self", "cls", "kind", "plant")  # what a method is called on; `plant` is the first of the functions of a plant
ARRAYS = re.compile(r"\b(ArrayLike|Vector\d?|Matrix|Array|Points|ndarray)\b")
SIZE = r"(?:\d+|n[a-z]?|num_\w+|[pkm]|rows|steps|worlds|\.\.\.)"
SHAPE = re.compile(rf"\((?:{SIZE}(?: (?:[+*] |// )?{SIZE})*,? ?)+\)")  # (3,), (nq + nv,), (n, 3 p)
UNIT = re.compile(r"\[(?:1|%|unit|rad|m|s|kg|N|J|W|Hz|K|A|V)\b[^\]]*\]")


def function_of(found):
    """The function that has the docstring, or the class."""
    if isinstance(found, property):
        found = found.fget
    return found if inspect.isclass(found) else ours(getattr(found, "__func__", found))


def sections_of(text):
    """{title: lines} of a docstring; what stands before the first title has none."""
    parts = re.split(r"^(Args|Returns|Raises|Example):\n", text, flags=re.M)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def raises_itself(function):
    """Whether the body of a function has a statement `raise` that users meet; functions within it do not count."""
    if inspect.isclass(function):
        return False
    statements = list(ast.parse(textwrap.dedent(inspect.getsource(function))).body[0].body)
    while statements:
        node = statements.pop()
        if isinstance(node, ast.Raise) and "NotImplementedError" not in ast.unparse(node):
            return True
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            statements += ast.iter_child_nodes(node)
    return False


def faults(function):
    """What the docstring of a function or class lacks."""
    text = inspect.getdoc(function) or ""
    sections, signature = sections_of(text), inspect.signature(function)
    annotations = [str(p.annotation) for p in signature.parameters.values()]
    if not inspect.isclass(function):
        annotations.append(str(signature.return_annotation))
    parameters = [p for p in signature.parameters.values() if p.kind not in COLLECTED]
    if inspect.isfunction(function) and parameters and parameters[0].name in OWN:
        parameters = parameters[1:]
    arguments = [p.name for p in parameters]
    lines = len(re.findall(r"^ *>>> ", sections.get("Example", ""), re.M))
    missing = [f"the argument {name}" for name in arguments if name not in described_arguments(function)]
    if not 1 <= lines <= 4:
        missing.append(f"an example of one to four lines, it has {lines}")
    if "Returns" not in sections and not inspect.isclass(function) and annotations[-1] != "None":
        missing.append("Returns:")
    if "Raises" not in sections and raises_itself(function):
        missing.append("Raises:")
    if any(map(ARRAYS.search, annotations)):
        said = text.partition("Example:")[0]
        missing += [what for what, pattern in (("a shape", SHAPE), ("a unit", UNIT)) if not pattern.search(said)]
    return missing


class SameNumbers(doctest.OutputChecker):
    """Takes prints for equal that differ by white space alone, or by the sign of a zero."""

    def check_output(self, want, got, optionflags):
        want, got = (re.sub(r"-(0\.0*)(?!\d)", r"\1", re.sub(r"\s", "", text)) for text in (want, got))
        return super().check_output(want, got, optionflags)


def failed_examples(text, names):
    """The examples of a docstring that print something else than it says, with what they print."""
    test = doctest.DocTestParser().get_doctest(sections_of(text)["Example"], names, "docstring", None, None)
    report = []
    doctest.DocTestRunner(SameNumbers(), optionflags=doctest.ELLIPSIS).run(test, out=report.append)
    return "".join(report)


@pytest.fixture(scope="module")
def shared_names():
    """What the first block of the page makes, with interpreted kernels where there is no library of them."""
    from mbcli.engine.runtime.precompiled import precompiled_library

    names = {}
    with pytest.MonkeyPatch.context() as patch:
        if precompiled_library() is None:
            patch.setenv("MBCLI_JIT", "0")
        patch.chdir(ROOT)
        exec(ONCE, names)
        yield names


@pytest.fixture
def names_in_a_folder(shared_names, tmp_path, monkeypatch):
    """The names of an example, in a folder of its own, with links to what a checkout has."""
    for name in ("sample_models", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    names = dict(shared_names)
    exec(EACH_TIME, names)
    return names


def test_the_list_is_sorted_and_has_each_name_once():
    assert sorted(set(NAMES)) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_docstring_says_what_a_function_takes_and_gives(name):
    assert faults(function_of(pydoc.locate(name))) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_a_docstring_prints_what_it_says(name, names_in_a_folder):
    assert failed_examples(inspect.getdoc(pydoc.locate(name)), names_in_a_folder) == ""


def test_help_shows_the_examples():
    """Also of names that are imported late, and of the methods that a plant has from the files of its subjects."""
    assert [name for name in NAMES if ">>> " not in pydoc.render_doc(name, renderer=pydoc.plaintext)] == []


def test_the_reference_shows_what_is_listed():
    shown = {id(inspect.unwrap(function)) for _, function in members_on_the_page()}
    places = {name: name.rpartition(".")[0] if name.endswith("__") else name for name in NAMES}
    assert [name for name, place in places.items() if id(function_of(pydoc.locate(place))) not in shown] == []


def good(q: "ArrayLike") -> "Vector":  # noqa: F821
    """Twice q.

    Args:
      q: (nq,) [rad].

    Returns:
      (nq,) [rad].

    Raises:
      RuntimeError: q is empty.

    Example:
      >>> 1 + 1
      2
    """
    if not q:
        raise RuntimeError("empty")
    return q + q


PARTS = (
    ("  q: (nq,) [rad].", "  p: (nq,) [rad].", "the argument q"),
    ("(nq,) ", "", "a shape"),
    (" [rad]", "", "a unit"),
    (" [rad]", " [q]", "a unit"),
    ("Returns:", "Gives:", "Returns:"),
    ("Raises:", "Fails:", "Raises:"),
    ("  >>> 1 + 1\n  2", "  two", "an example of one to four lines, it has 0"),
    ("  >>> 1 + 1\n", "  >>> 1 + 1\n" * 5, "an example of one to four lines, it has 5"),
)


@pytest.mark.parametrize(("part", "other", "missing"), PARTS, ids=[missing for *_, missing in PARTS])
def test_a_docstring_without_a_part_is_found(part, other, missing, monkeypatch):
    assert faults(good) == []
    text = inspect.getdoc(good)
    assert part in text
    monkeypatch.setattr(good, "__doc__", text.replace(part, other))
    assert faults(good) == [missing]


def test_signs_of_zeros_and_white_space_alone_differ_from_machine_to_machine():
    same = SameNumbers().check_output
    assert same("array([-0.,  1. ])\n", "array([0., 1.])\n", 0)
    assert not same("array([-0.5])", "array([0.5])", 0) and not same("-0.05", "0.05", 0) and not same("-1.0", "1.0", 0)


def test_an_example_that_prints_something_else_is_found():
    text = inspect.getdoc(good)
    assert failed_examples(text, {}) == ""
    assert "Expected:\n    3\nGot:\n    2" in failed_examples(text.replace("\n  2", "\n  3"), {})
    assert "NameError" in failed_examples(text.replace(">>> 1", ">>> one"), {})
