"""What carries others gives way by what it carries: stacks, loads, arches, as deep as MuJoCo's at most."""

import numpy as np
import pytest

from benchmarks.sinking import WORLDS, mujocos, ours, stack, sunk
from mbcli.config.contact_laws import CONTACT_LAWS
from mbcli.multibody.compilation.loads import Extent, loads_on

SECONDS = 1.0


def cube(x, y, z, half=0.5):
    center = np.array([x, y, z])
    return Extent(center - half, center + half, z)


def masses(extents, own):
    return [load.mass for load in loads_on(extents, own)]


def test_a_stack_carries_what_is_above():
    tower = [cube(0.0, 0.0, 0.5 + k) for k in (2, 0, 1)]
    assert masses(tower, [1.0, 2.0, 4.0]) == [1.0, 7.0, 5.0]


def test_things_beside_each_other_carry_nothing():
    assert masses([cube(0.0, 0.0, 0.5), cube(1.0, 0.0, 0.5), cube(5.0, 0.0, 9.0)], [1.0, 2.0, 4.0]) == [1.0, 2.0, 4.0]


def test_a_beam_presses_its_posts_by_their_overlaps():
    posts = [cube(0.0, 0.0, 0.5), cube(3.0, 0.0, 0.5)]
    beam = Extent(np.array([-0.5, -0.5, 1.0]), np.array([3.0, 0.5, 1.2]), 1.1)
    assert masses([*posts, beam], [1.0, 1.0, 3.0]) == pytest.approx([3.0, 2.0, 3.0])


def test_what_falls_counts_where_it_will_land():
    assert masses([cube(0.0, 0.0, 0.5), cube(0.2, 0.0, 3.0), cube(0.0, 0.0, 1.6)], [1.0, 2.0, 4.0]) == [7.0, 2.0, 6.0]


def test_the_height_is_that_of_all_that_is_carried():
    loads = loads_on([cube(0.0, 0.0, 0.5), cube(0.0, 0.0, 1.5)], [1.0, 3.0])
    assert loads[0].height == pytest.approx((0.5 + 3.0 * 1.5) / 4.0)
    assert loads[1].height == pytest.approx(0.5)


def test_a_wall_carries_its_weight_once():
    wall = [cube(c + 0.5 * (r % 2), 0.0, 0.5 + r) for r in range(6) for c in range(5)]
    assert sum(masses(wall, [1.0] * 30)[:5]) == pytest.approx(30.0)


@pytest.fixture
def path(tmp_path):
    def write(name):
        found = tmp_path / "world.xml"
        found.write_text(WORLDS[name])
        return str(found)

    return write


@pytest.mark.parametrize("approximation", [law for law in CONTACT_LAWS if law != "mujoco"])  # that is soft
@pytest.mark.parametrize(
    ("name", "depth"),
    [("ten cubes", 0.91e-3), ("1000 kg on 1 kg", 0.2e-3), ("arch of nine", 1.25e-3), ("one cube of 0.1 m", 0.1e-3)],
)
def test_loads_sink_a_fraction_of_a_millimetre(path, name, depth, approximation):
    start, end, iterations = ours(path(name), approximation, SECONDS)
    assert sunk(start, end).strip() != "fell"
    assert 0.5 * depth < (start - end)[:, 6].max() < 1.01 * depth
    assert iterations < 2.0


def test_a_tower_stands_by_the_height_of_all_of_it(tmp_path):
    """Twenty cubes of 50 mm: at an allowance of 0.1 mm alone the whole would tip at a quarter less."""
    (tmp_path / "tower.xml").write_text(stack(20, (0.05, 0.05, 0.05), 0.2))
    start, end, _ = ours(str(tmp_path / "tower.xml"), "lagged", SECONDS)
    assert (start - end)[0, 6] == pytest.approx(0.02 * 0.025**2 / 0.5, rel=1e-2)


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("name", WORLDS)
def test_nothing_sinks_deeper_than_in_mujoco(path, name):
    file = path(name)
    start, end, _ = ours(file, "lagged", SECONDS)
    theirs_start, theirs_end = mujocos(file, SECONDS)
    assert sunk(start, end).strip() != "fell"
    assert (start - end)[:, 6].max() < (theirs_start - theirs_end)[:, 6].max()
