"""Loading large files: the work and the memory for each link, and what contexts under constraints share."""

import gc
import sys
import tracemalloc

import numpy as np
import pytest
from mbcli.parsers import xml_document
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from mbcli.parsers.xml_source import read_xml
from small_process import run_alone

from benchmarks.loading import chain_urdf, hand_urdf, loops_urdf
from mbcli.models.measures import reach
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant

MAKERS = {"chain": chain_urdf, "mimics": hand_urdf, "loops": loops_urdf}


def loaded(text):
    plant = MultibodyPlant(0.001)
    Parser(plant).AddModelsFromString(text, "urdf")
    plant.Finalize()
    return plant


def calls(function, *arguments):
    """How many functions a call calls, those of Python and of libraries."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    gc.disable()
    sys.setprofile(note)
    try:
        function(*arguments)
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


@pytest.mark.parametrize("kind", MAKERS)
def test_the_work_of_loading_grows_with_the_file(kind):
    make = MAKERS[kind]
    loaded(make(3))  # what is made once
    few, some, many = (calls(loaded, make(count)) for count in (50, 100, 200))
    assert many - some < 2.1 * (some - few)


def test_the_reach_of_a_very_long_chain_is_not_sought():
    assert reach(loaded(chain_urdf(30)))["distance"] > 3.0
    assert reach(loaded(chain_urdf(600))) is None


def test_a_link_with_its_joint_takes_a_bounded_number_of_calls():
    loaded(chain_urdf(3))
    short, long = (calls(loaded, chain_urdf(links)) for links in (50, 150))
    assert (long - short) / 100 < 1000


def test_reading_takes_less_memory_than_twenty_times_the_file():
    text = chain_urdf(300).encode()
    load_models(chain_urdf(3).encode(), input_format="urdf", diagnostics=Diagnostics())
    gc.collect()
    tracemalloc.start()
    try:
        models = load_models(text, input_format="urdf", diagnostics=Diagnostics())
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert models
    assert most < 20 * len(text)


def nodes_are_gone():
    def count():
        return sum(type(thing) is xml_document.Node for thing in gc.get_objects())

    gc.collect()
    gc.disable()
    before = count()
    assert load_models(chain_urdf(20).encode(), input_format="urdf", diagnostics=Diagnostics())
    assert count() == before
    root = read_xml(b"<a><b/></a>", Diagnostics())
    assert count() == before + 2
    del root


def test_nodes_are_gone_after_loading_without_the_collector():
    run_alone(nodes_are_gone)


@pytest.mark.parametrize("kind", ["mimics", "loops"])
def test_contexts_share_the_arrays_of_constraints_until_a_parameter_is_changed(kind):
    plant = loaded(MAKERS[kind](5))
    first, second = plant.CreateDefaultContext(), plant.CreateDefaultContext()
    arrays = first.state.constraints.arrays
    assert second.state.constraints.arrays is arrays
    assert second.state.constraints.work is not first.state.constraints.work
    plant.GetBodyByName("a1").SetMass(second, 7.0)
    own = second.state.current_constraints().arrays
    assert own is not arrays
    np.testing.assert_array_equal(own.row_axis, arrays.row_axis)
    assert plant.CreateDefaultContext().state.constraints.arrays is arrays
    assert first.state.current_constraints().arrays is arrays


def test_a_constraint_that_is_switched_off_in_one_context_acts_in_others():
    plant = loaded(hand_urdf(2))
    rest, moved = plant.CreateDefaultContext(), plant.CreateDefaultContext()
    constraint = plant.GetConstraintIds()[0]
    plant.SetConstraintActiveStatus(moved, constraint, False)
    assert len(moved.state.current_constraints().rows) == 1
    assert len(rest.state.current_constraints().rows) == 2
    assert len(plant.CreateDefaultContext().state.constraints.rows) == 2


def test_poses_need_no_arrays_of_constraints(monkeypatch):
    """Those of a long chain of joints that follow each other grow with the cube of its length."""
    from mbcli.multibody.core import active_constraints

    plant = loaded(chain_urdf(40, followers=15))
    compiled = []
    monkeypatch.setattr(
        active_constraints,
        "compile_constraints",
        lambda *arguments, compile=active_constraints.compile_constraints: compiled.append(1) or compile(*arguments),
    )
    context = plant.CreateDefaultContext()
    plant.EvalBodyPoseInWorld(context, plant.GetBodyByName("link_39"))
    assert not compiled
    assert context.state.constraints.arrays.sizes["nrow"] == 15
    assert compiled == [1]


def test_describing_a_long_chain_of_followers_does_not_take_its_cube(monkeypatch):
    from mbcli.models.description import describe
    from mbcli.multibody.core import active_constraints

    monkeypatch.setattr(active_constraints, "compile_constraints", None)
    mobility = describe(loaded(chain_urdf(1201, followers=600)))["mobility"]
    assert mobility == {"rows": 600, "problem": "so many coupled equations are not analysed here"}


def test_what_constraints_share_is_counted_as_their_arrays_have_it():
    from mbcli.multibody.compilation.compile_constraints import compile_constraints, share_at_most
    from mbcli.multibody.compilation.constraint_rows import constraint_rows

    for text in (chain_urdf(40, followers=15), hand_urdf(12), loops_urdf(9)):
        plant = loaded(text)
        rows, _ = constraint_rows(plant)
        shared = compile_constraints(plant.model, rows).sizes["nshared"]
        assert share_at_most(plant.model, rows, shared) and not share_at_most(plant.model, rows, shared - 1)
