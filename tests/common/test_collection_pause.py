"""Loading without the garbage collector: models that nobody has any more go all the same."""

import gc
import weakref

from repository import SAMPLES

from mbcli.common import collection_pause
from mbcli.models.loading import load_model

QUADRUPED = SAMPLES / "quadruped.urdf"


def test_models_that_are_loaded_one_after_another_do_not_all_stay(monkeypatch):
    monkeypatch.setattr(collection_pause, "FEW", 10_000)
    monkeypatch.setattr(collection_pause._Unwalked, "alive", 0)
    monkeypatch.setattr(collection_pause, "_alive", lambda: 0)  # otherwise a test of some thousand loads
    plants = [weakref.ref(load_model(str(QUADRUPED)).plant) for _ in range(30)]
    assert sum(plant() is not None for plant in plants) < 15


def test_objects_are_counted_and_none_is_frozen_by_it():
    gc.collect()
    kept = [[] for _ in range(10_000)]
    before = len(gc.get_objects())
    assert abs(collection_pause._alive() - before) < 100
    assert gc.get_freeze_count() == 0
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        collection_pause._alive()
        still = gc.get_freeze_count()  # threads of the test runner drop a few of theirs meanwhile
        assert frozen - 100 < still <= frozen and still > len(kept)
    finally:
        gc.unfreeze()


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
