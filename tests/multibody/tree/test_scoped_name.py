"""Scoped names: the table of edge cases, and pydrake on random strings of letters and colons."""

import pickle
import random

import pytest

from mbcli.errors import ModelError
from mbcli.multibody.tree import ScopedName


def parts(name):
    return name.get_namespace(), name.get_element()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("::a::::b::", ("a", "b")),
        ("box", ("", "box")),
        ("a::b::c", ("a::b", "c")),
        ("", ("", "")),
        ("::", ("", "")),
        ("::::", ("", "")),
        (":a:b:", ("", ":a:b:")),
        ("a:::b", ("a:", "b")),
        (":::a", ("", ":a")),
        ("a:::", ("", "a:")),
        ("a::::::b::::c", ("a::b", "c")),
    ],
)
def test_parse(text, expected):
    """29: leading, trailing and repeated delimiters are dropped; one colon is an ordinary character."""
    assert parts(ScopedName.Parse(text)) == expected


@pytest.mark.parametrize(
    ("name1", "name2", "expected"),
    [
        ("::r1::", "x::y", ("r1::x", "y")),
        ("a", "b", ("a", "b")),
        ("", "b", ("", "b")),
        ("a::b", "", ("a", "b")),
        ("", "", ("", "")),
        ("::a::::b", "::c", ("a::b", "c")),
    ],
)
def test_join(name1, name2, expected):
    """29: the last token of both names together is the element."""
    assert parts(ScopedName.Join(name1, name2)) == expected


@pytest.mark.parametrize(
    ("namespace", "element"),
    [("a::", "b"), ("::a", "b"), ("::", "b"), ("a", ""), ("", ""), ("a", "b::c"), ("a", "::b"), ("a", "b::")],
)
def test_misplaced_delimiters(namespace, element):
    """29: the constructor raises, Make() returns None."""
    with pytest.raises(ModelError, match="ScopedName"):
        ScopedName(namespace, element)
    assert ScopedName.Make(namespace, element) is None


def test_parts_full_name_and_setters():
    """29: no leading delimiter without a namespace; setters keep the old value when they raise."""
    name = ScopedName("a::b", "c")
    assert parts(name) == ("a::b", "c")
    assert name.get_full() == name.to_string() == str(name) == "a::b::c"
    assert ScopedName("", "c").get_full() == "c"
    assert parts(ScopedName.Make("", "c")) == ("", "c")
    assert parts(ScopedName(namespace_name="a:", element_name=":b")) == ("a:", ":b")
    for setter, wrong in ((name.set_namespace, "c::"), (name.set_element, ""), (name.set_element, "c::d")):
        with pytest.raises(ModelError):
            setter(wrong)
    assert parts(name) == ("a::b", "c")
    name.set_namespace("x::y")
    name.set_element("z")
    assert name.get_full() == "x::y::z"
    assert repr(name) == "ScopedName('x::y', 'z')"
    assert parts(pickle.loads(pickle.dumps(name))) == ("x::y", "z")
    assert parts(ScopedName()) == ("", "") and ScopedName().get_full() == ""
    for wrong in (("a",), (1, 2), (None, "b")):
        with pytest.raises(TypeError):
            ScopedName(*wrong)


def test_a_long_run_of_colons_is_parsed_in_linear_time():
    assert parts(ScopedName.Parse(":" * 2_000_001 + "a")) == ("", ":a")


@pytest.mark.peers("pydrake")
def test_random_strings_as_in_pydrake():
    from pydrake.multibody.tree import ScopedName as theirs

    draw = random.Random(5)
    for _ in range(5000):
        a = "".join(draw.choice("ab:::") for _ in range(draw.randint(0, 12)))
        b = "".join(draw.choice("ab::") for _ in range(draw.randint(0, 6)))
        assert parts(ScopedName.Parse(a)) == parts(theirs.Parse(a)), a
        assert parts(ScopedName.Join(a, b)) == parts(theirs.Join(a, b)), (a, b)
        assert ScopedName.Parse(a).get_full() == theirs.Parse(a).get_full()
        assert (ScopedName.Make(a, b) is None) == (theirs.Make(a, b) is None), (a, b)
    assert {n for n in dir(theirs) if not n.startswith("_")} <= set(dir(ScopedName))
