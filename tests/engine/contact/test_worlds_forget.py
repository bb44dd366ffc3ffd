"""A world begins without what the search for contacts knows of another one: near elements are searched anew."""

from types import SimpleNamespace

from hydroelastic_scenes import HydroelasticScene

import mbcli.all as lib
from mbcli.engine.fields.collision_fields import COLLISION_BUILT
from mbcli.simulation import Worlds


def test_near_elements_are_forgotten_where_another_world_begins(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    scene = HydroelasticScene(lib)
    scene.add(("Box", 0.1, 0.1, 0.1), {"kind": "soft", "modulus": 1e6, "hint": 0.1})
    scene.fix(("Box", 1.0, 1.0, 0.2), {"kind": "soft", "modulus": 1e6, "hint": 0.5}, p=(0.0, 0.0, -0.149))
    scene.plant.Finalize()
    worlds = Worlds(scene.plant, 2, threads=1)
    worlds.step(1)
    state = worlds._stepping.workers[0][0].state
    counts = state.contact.collision.counts
    assert counts[COLLISION_BUILT] == 1
    rows = SimpleNamespace(
        world_q=worlds.q,
        world_v=worlds.v,
        world_desired=worlds.desired,
        world_carried=worlds._carried,
        world_activation=worlds._activations,
    )
    state.kernels.begin_world(state.data, rows, 1)
    assert counts[COLLISION_BUILT] == 0
