"""Loading without the garbage collector: models that nobody has any more go all the same."""

import gc
import weakref

from repository import SAMPLES
from small_process import run_alone

from mbcli.common import collection_pause
from mbcli.models.loading import load_model

QUADRUPED = SAMPLES / "quadruped.urdf"


def models_do_not_all_stay():
    collection_pause.FEW = 10_000
    plants = [weakref.ref(load_model(str(QUADRUPED)).plant) for _ in range(30)]
    assert sum(plant() is not None for plant in plants) < 15


def objects_are_counted_and_none_is_frozen():
    gc.collect()
    kept = [[] for _ in range(10_000)]
    before = len(gc.get_objects())
    assert abs(collection_pause._alive() - before) < 100
    assert gc.get_freeze_count() == 0
    gc.freeze()
    frozen = gc.get_freeze_count()
    collection_pause._alive()
    assert gc.get_freeze_count() == frozen > len(kept)


def test_models_that_are_loaded_one_after_another_do_not_all_stay():
    run_alone(models_do_not_all_stay)


def test_objects_are_counted_and_none_is_frozen_by_it():
    run_alone(objects_are_counted_and_none_is_frozen)


def test_collection_goes_on_after_an_error_and_stays_off_where_it_was_off():
    with collection_pause.paused_collection():
        assert not gc.isenabled()
    assert gc.isenabled()
    try:
        with collection_pause.paused_collection():
            raise ValueError
    except ValueError:
        assert gc.isenabled()
    gc.disable()
    try:
        with collection_pause.paused_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
