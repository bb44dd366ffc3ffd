"""Each attribute of MJCF that moves something in MuJoCo acts, is warned of, or is a note as of its solver alone."""

import pytest
from lxml import etree
from mjcf_severity import END, MODEL, START, Walk, read, table
from severity_tables import on_page


@pytest.fixture(scope="module")
def walk():
    return Walk()


@pytest.mark.peers("mujoco")
def test_each_attribute_acts_or_is_named(walk):
    assert [key for key, outcome in walk.outcomes.items() if outcome == "nothing"] == []
    assert len(walk.outcomes) > 400


@pytest.mark.peers("mujoco")
def test_the_page_says_what_each_attribute_does(walk):
    assert on_page(START, END) == table(walk.outcomes)


@pytest.mark.parametrize("tag", ["intvelocity", "damper", "cylinder"])
@pytest.mark.parametrize("other", [("tendon", "ts"), ("site", "sa"), ("jointinparent", "jc")])
def test_a_second_transmission_of_an_actuator_is_warned_of(tag, other):
    root = etree.fromstring(MODEL)
    _, before = read(root)
    root.xpath(f"//actuator/{tag}")[0].set(*other)
    _, after = read(root)
    told = f'attribute "{other[0]}" in <{tag}> is not followed: the actuator acts through its joint'
    assert ("warning", told) in after - before


def test_the_limit_of_a_tendon_whose_joints_follow_one_limits_its_motor():
    root = etree.fromstring(MODEL)
    without, _ = read(root)
    root.xpath("//tendon/fixed")[0].set("actuatorfrcrange", "-3 2")
    limited, _ = read(root)
    assert limited != without and "[-3.0, 2.0]" in limited
