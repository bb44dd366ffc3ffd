"""The dataclasses of mbcli.common.fast_dataclass are those of the standard library, only made later."""

import copy
import dataclasses
import pickle

import pytest

from mbcli.common.fast_dataclass import dataclass

OPTIONS = [{}, {"frozen": True}, {"eq": False}, {"frozen": True, "slots": True}, {"slots": True}, {"kw_only": True}]


def classes(**options):
    """The same class made by both decorators."""
    made = []
    for decorator in (dataclass, dataclasses.dataclass):

        class Point:
            """A point."""

            x: float
            name: str = "p"
            seen: list = dataclasses.field(default_factory=list, compare=False)
            hidden: int = dataclasses.field(default=3, repr=False)
            count: int = dataclasses.field(default=0, init=False)

            def __post_init__(self):
                object.__setattr__(self, "count", len(self.seen))

        made.append(decorator(**options)(Point))
    return made


@dataclass(frozen=True, slots=True)
class Kept:
    x: float
    names: tuple = ()


@dataclass
class Base:
    a: int
    b: int = 2


@dataclass
class Derived(Base):
    b: int = 5
    c: str = "c"


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_objects_are_made_compared_hashed_and_shown_as_by_the_standard_library(options):
    ours, theirs = classes(**options)
    calls = [{"x": 1.0}, {"x": 1.0, "name": "q"}, {"x": 1.0, "seen": [1]}, {"x": 1.0, "hidden": 4}, {"x": 1.0}]
    ours_made, theirs_made = ([cls(**call) for call in calls] for cls in (ours, theirs))
    assert list(map(repr, ours_made)) == list(map(repr, theirs_made))
    assert [dataclasses.asdict(o) for o in ours_made] == [dataclasses.asdict(o) for o in theirs_made]
    assert [[a == b for a in ours_made] for b in ours_made] == [[a == b for a in theirs_made] for b in theirs_made]
    assert ours_made[0] != theirs_made[0]
    assert (ours.__hash__ is None) == (theirs.__hash__ is None)
    if options == {"frozen": True}:
        assert list(map(hash, ours_made)) == list(map(hash, theirs_made))
    assert ours_made[0].seen is not ours_made[4].seen
    assert [f.name for f in dataclasses.fields(ours)] == [f.name for f in dataclasses.fields(theirs)]
    assert ours.__match_args__ == theirs.__match_args__
    assert hasattr(ours_made[0], "__dict__") == hasattr(theirs_made[0], "__dict__")
    assert dataclasses.replace(ours_made[0], x=2.0) == ours(x=2.0) or options == {"eq": False}


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(
    "arguments",
    [((), {}), ((1.0,), {"y": 2}), ((1.0, "a", [], 3, 4), {}), ((1.0,), {"x": 1.0}), ((1.0,), {"count": 1})],
)
def test_wrong_arguments_are_refused_in_the_words_of_the_standard_library(options, arguments):
    ours, theirs = classes(**options)
    messages = []
    for cls in (ours, theirs):
        with pytest.raises(TypeError) as caught:
            cls(*arguments[0], **arguments[1])
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("slots", [False, True])
def test_frozen_objects_stay_as_they_are(slots):
    ours, _ = classes(frozen=True, slots=slots)
    point = ours(1.0)
    for change in (lambda: setattr(point, "x", 2.0), lambda: setattr(point, "y", 2.0), lambda: delattr(point, "x")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()
    assert point.x == 1.0


def test_frozen_objects_in_slots_are_pickled_and_copied():
    kept = Kept(1.0, ("a",))
    assert pickle.loads(pickle.dumps(kept)) == copy.deepcopy(kept) == copy.copy(kept) == kept


def test_fields_of_bases_come_first_and_functions_of_a_class_stay():
    assert Derived(1) == Derived(1, 5, "c") != Derived(1, 2)
    assert repr(Base(1)) == "Base(a=1, b=2)" and repr(Derived(1)) == "Derived(a=1, b=5, c='c')"

    @dataclass(frozen=True)
    class Own:
        x: int

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 7

        def __repr__(self):
            return "own"

    assert Own(1) == Own(2) and hash(Own(1)) == 7 and repr(Own(1)) == "own"


def test_an_object_in_itself_is_shown():
    base = Base([])
    base.a.append(base)
    assert repr(base) == "Base(a=[...], b=2)"
