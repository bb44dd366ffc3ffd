"""SDFormat worlds in which things slide, roll, drop and stand: closed forms, with the friction that the file states."""

import numpy as np
import pytest

from benchmarks.dart_contacts import KINDS, apart, ours, sdformat

ROUND = 0


@pytest.mark.parametrize("kind", KINDS)
def test_bodies_rest_and_slide_as_closed_forms_say(tmp_path, kind):
    description = KINDS[kind](np.random.default_rng([ROUND, list(KINDS).index(kind)]))
    path = tmp_path / "world.sdf"
    path.write_text(sdformat(description))
    found = apart(description, ours(path, description))
    assert found and max(found.values()) < 0.02, found


def test_another_friction_slides_another_way(tmp_path):
    # the closed form of the world as it was is missed, so that the test above can fail
    description = KINDS["a box slides"](np.random.default_rng(ROUND))
    changed = description | {"bodies": [body | {"mu": 0.9 * body["mu"]} for body in description["bodies"]]}
    path = tmp_path / "world.sdf"
    path.write_text(sdformat(changed))
    assert apart(description, ours(path, changed))["body slides"] > 0.05
