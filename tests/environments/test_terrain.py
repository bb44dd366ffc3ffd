"""Terrain of tasks: heights as the keys say, the same that solids touch and policies see; robots that begin on it."""

import copy
from dataclasses import fields

import numpy as np
import pytest
from command_line import cli
from repository import ROOT, SAMPLES

from mbcli.environments import make_environments, read_task
from mbcli.environments.task_worlds import TaskWorlds
from mbcli.environments.terrain import TerrainSettings
from mbcli.environments.terrain_tiles import KINDS_OF_TILES, TILES
from mbcli.environments.world_random import WorldRandom
from mbcli.errors import ArgumentError, ModelError
from mbcli.geometry import HeightField
from mbcli.meshes.height_grids import height_surface, heights_at, highest_within
from mbcli.models import load_model
from mbcli.models.contacts import contact_points, geometry_distances
from mbcli.models.loading import ModelText
from mbcli.pictures.resolved_plant import plant_of_resolved_model
from mbcli.simulation import resume, simulate

HARD = [
    {"term": "flat"},
    {"term": "slope", "grade": [0.1, 0.5]},
    {"term": "steps", "rise": [-0.03, -0.15], "run": 0.3},
    {"term": "rough", "height": [0.02, 0.08], "spacing": 0.2, "columns": 2},
    {"term": "blocks", "height": [0.02, 0.08], "side": 0.5},
    {"term": "waves", "height": [0.02, 0.15], "count": 3},
]
TERRAIN = {"levels": 3, "size": 4, "spacing": 0.1, "border": 1, "top": 1, "tiles": HARD}
TASK = {
    "model": str(SAMPLES / "quadruped.urdf"),
    "load": {"dt": 0.002, "contact": True, "hold": True},
    "period": 0.02,
    "time_limit": 6,
    "terrain": TERRAIN,
    "action": {"term": "targets", "of": "all", "scale": 0.5},
    "observation": [{"term": "body_height", "body": "trunk", "over": "ground"}],
    "reward": [{"term": "height_near", "body": "trunk", "target": 0.462, "width": 0.1, "over": "ground", "weight": 1}],
    "terminate": [{"term": "off_terrain", "body": "trunk"}],
    "start": [{"term": "on_terrain", "body": "trunk", "radius": 0.5}],
}
BALL = """<robot name="ball"><link name="ball"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="{}"/></geometry></collision></link></robot>"""


def with_terrain(**changes):
    return TASK | {"terrain": TERRAIN | changes}


def field_of(*tiles, **changes):
    return read_task(with_terrain(tiles=list(tiles), **changes)).terrain.height_field


def worlds_of(task, count=2):
    """TaskWorlds and the task in them."""
    file = read_task(task)
    worlds = TaskWorlds(file.loaded(), count, threads=1)
    worlds.frames = 10
    made = file.task(worlds)
    made.prepare(worlds)
    return worlds, made


@pytest.fixture
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


# ------------------------------------------------------------------------------------------------ heights


def tiles_of(term, levels=3):
    """Heights (levels, n, n) of the tiles of one column; and nothing is outside of them."""
    field = field_of(term, levels=levels)
    assert field.heights.shape == (40 + 21, 40 * levels + 21)
    assert (2 * field.x(), 2 * field.y()) == pytest.approx((4 * levels + 2, 4 + 2))
    inside = field.heights[10:51, 10:-10]
    assert np.count_nonzero(inside) == np.count_nonzero(field.heights)
    return np.stack([inside[:, 40 * k : 40 * k + 41] for k in range(levels)])


def test_slopes_rise_at_their_grade_to_a_flat_top():
    heights = tiles_of({"term": "slope", "grade": [0.1, 0.5]})
    for tile, grade in zip(heights, [0.1, 0.3, 0.5], strict=True):
        np.testing.assert_allclose(np.diff(tile[20, :16]), 0.1 * np.tan(grade), rtol=1e-9)
        np.testing.assert_allclose(tile[15:26, 15:26], 1.5 * np.tan(grade), rtol=1e-9)
        np.testing.assert_array_equal(tile, tile.T)


def test_stairs_have_their_rise_and_run_and_may_lead_down():
    heights = tiles_of({"term": "steps", "rise": [-0.1, -0.2], "run": 0.5}, levels=2)
    for tile, rise in zip(heights, [-0.1, -0.2], strict=True):
        np.testing.assert_allclose(tile[20, :21], rise * (np.arange(21) // 5).clip(max=3), atol=1e-12)


@pytest.mark.parametrize("term", HARD[3:], ids=lambda term: term["term"])
def test_drawn_heights_and_waves_are_within_their_range_which_grows(term):
    heights, (least, most) = tiles_of(term | {"columns": 1}), term["height"]
    spans = [np.abs(tile).max() for tile in heights]
    assert spans[0] <= least and least < spans[1] <= 0.5 * (least + most) + 1e-9 and spans[2] <= most < 1.1 * spans[2]
    assert abs(heights[2].mean()) < 0.3 * most


def test_rough_ground_has_a_spacing_of_its_own_and_is_straight_between():
    tile = tiles_of({"term": "rough", "height": 0.1, "spacing": 0.4}, levels=1)[0]
    inner = tile[4:-4, 4:-4]
    bends = np.abs(np.diff(inner, 2, axis=1)).max(axis=0)
    assert (bends[np.arange(1, len(bends) + 1) % 4 != 0] < 1e-12).all() and bends[3::4].min() > 1e-3


def test_blocks_are_flat_and_differ():
    tile = tiles_of({"term": "blocks", "height": 0.1, "side": 0.5}, levels=1)[0]
    values = tile[2:-1:5, 2:-1:5]
    assert len(np.unique(values)) == 64
    np.testing.assert_array_equal(np.repeat(np.repeat(values, 5, 0), 5, 1)[1:, 1:], tile[1:-1, 1:-1])


def test_heights_follow_from_the_keys_alone():
    one, same, other = (field_of(*HARD, seed=seed).heights for seed in (3, 3, 4))
    np.testing.assert_array_equal(one, same)
    rough = slice(10 + 3 * 40, 10 + 5 * 40)  # two columns
    differs = (one != other).any(axis=1)
    assert differs[rough].mean() > 0.9 and not differs[: rough.start].any()
    assert (one[rough][:40] != one[rough][40:80]).any(), "columns of one kind differ"
    assert (field_of(*HARD[:4], seed=3).heights[: rough.stop - 1] == one[: rough.stop - 1]).all()


def test_heights_at_places_are_those_of_the_triangles():
    rng = np.random.default_rng(0)
    heights = rng.uniform(-1.0, 1.0, (5, 7))
    vertices, triangles = height_surface(heights, 3.0, 2.0, 2.0)
    for corners in vertices[triangles[: 2 * 4 * 6]]:
        weights = rng.dirichlet([1.0, 1.0, 1.0], 5)
        x, y, z = (weights @ corners).T
        np.testing.assert_allclose(heights_at(heights, 3.0, 2.0, x, y), z, atol=1e-12)
    beyond = heights_at(heights, 3.0, 2.0, np.array([3.5, -9.0]), np.array([2.5, -2.0]))
    np.testing.assert_array_equal(beyond, [heights[-1, -1], heights[0, 0]])
    x, y = rng.uniform(-3.0, 3.0, 50), rng.uniform(-2.0, 2.0, 50)
    highest = highest_within(heights, 3.0, 2.0, x, y, 0.4)
    for dx, dy in rng.uniform(-0.4, 0.4, (50, 2)):
        assert (heights_at(heights, 3.0, 2.0, x + dx, y + dy) <= highest + 1e-12).all()


def test_the_seen_height_is_that_of_the_surface_that_solids_touch(ready_kernels):
    """The distance of a ball whose middle is on the surface is less than 0 by its radius."""
    radius, field = 1e-3, field_of(*HARD)
    loaded = load_model(ModelText(BALL.format(radius).encode()), contact=True, terrain=field)
    context = loaded.plant.CreateDefaultContext()
    rng = np.random.default_rng(1)
    for x, y in rng.uniform(-1.0, 1.0, (60, 2)) * [field.x(), field.y()]:
        z = float(heights_at(field.heights, field.x(), field.y(), np.array([x]), np.array([y]))[0])
        loaded.plant.SetPositions(context, [1.0, 0.0, 0.0, 0.0, x, y, z])
        assert geometry_distances(context, 0.01)[0]["distance"] == pytest.approx(-radius, abs=2e-6)


def test_every_tile_and_key_is_on_the_page_with_its_default():
    page = (ROOT / "docs" / "how-to" / "learning.md").read_text()
    for name, term in TILES.items():
        assert {parameter.kind for parameter in term.parameters.values()} <= KINDS_OF_TILES.keys(), name
        optional = {True: "", False: " (may be left out)"}
        keys = ", ".join(f"`{key}`{optional[p.is_required]}" for key, p in term.parameters.items())
        assert f"| `{name}` | {keys} | {term.summary} |\n" in page
    for field in fields(TerrainSettings):
        assert f"| `{field.name}` | {field.default:g} | " in page


# ------------------------------------------------------------------------------------------------- worlds


def test_heights_around_a_body_are_those_below_a_grid_that_turns_with_it(interpreted):
    ahead, left = [-0.2, 0.0, 0.4], [-0.1, 0.3]
    observed = {"term": "heights_around", "body": "trunk", "ahead": ahead, "left": left}
    worlds, task = worlds_of(TASK | {"observation": [observed, TASK["observation"][0]]})
    for k, yaw in enumerate([0.0, 2.0]):
        worlds.q[k, :7] = np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2), 1.3 - k, 2.2 + k, 0.9
    worlds.forget_motions()
    seen, field = task.observe(worlds), worlds.loaded.terrain
    for k, yaw in enumerate([0.0, 2.0]):
        for n, (a, b) in enumerate([(a, b) for a in ahead for b in left]):
            x, y = 1.3 - k + a * np.cos(yaw) - b * np.sin(yaw), 2.2 + k + a * np.sin(yaw) + b * np.cos(yaw)
            below = heights_at(field.heights, field.x(), field.y(), np.array([x]), np.array([y]))[0]
            assert seen[k, n] == pytest.approx(0.9 - below, abs=1e-12)
    assert np.ptp(seen[0]) > 0.01
    z = worlds.ground_at(worlds.q[:, 4], worlds.q[:, 5])
    np.testing.assert_allclose(seen[:, 6], 0.9 - z, atol=1e-12)
    assert task.observation_names(worlds)[6] == "body_height.trunk"


def test_heights_over_ground_are_over_a_plane_too(interpreted):
    observed = [TASK["observation"][0], {"term": "body_height", "body": "trunk"}]
    ends = [
        {"term": "height_below", "body": "trunk", "limit": 0.5, "over": "ground"},
        {"term": "height_above", "body": "trunk", "limit": 0.7, "over": "ground"},
    ]
    plain = {key: TASK[key] for key in ("model", "period", "action", "reward")}
    load = TASK["load"] | {"ground": -0.2}
    worlds, task = worlds_of(plain | {"load": load, "observation": observed, "terminate": ends}, count=3)
    worlds.q[:, 6] = 0.2, 0.4, 0.6
    worlds.forget_motions()
    np.testing.assert_allclose(task.observe(worlds), [[0.4, 0.2], [0.6, 0.4], [0.8, 0.6]], atol=1e-12)
    np.testing.assert_array_equal(task.terminated(worlds), [True, False, True])
    np.testing.assert_allclose(task.reward(worlds, None), np.exp(-np.square([0.62, 1.38, 3.38])), atol=1e-9)


def test_robots_begin_above_the_ground_on_every_tile(ready_kernels):
    worlds, task = worlds_of(TASK, count=1)
    q, v = task.start(WorldRandom(7, np.arange(200), 0), 200)
    x, y = q[:, 4], q[:, 5]
    assert len({(a, b) for a, b in q[:, 4:6].tolist()}) == 3 * 7
    assert set(x) == {-4.0, 0.0, 4.0} and set(y) == {-12.0, -8.0, -4.0, 0.0, 4.0, 8.0, 12.0}
    context = worlds.plant.CreateDefaultContext()
    for row in q[:10]:
        worlds.plant.SetPositions(context, row)
        near = [d for d in geometry_distances(context, 0.1) if "terrain" in (d["geometry_a"], d["geometry_b"])]
        assert -1e-9 < min(d["distance"] for d in near) < 0.1
    on_top = (x == 4.0) & (y == -8.0)  # of the steepest slope: as high over it as over flat ground
    np.testing.assert_allclose(q[on_top, 6], worlds.start_state[0][6] + 1.5 * np.tan(0.5), atol=1e-9)
    again = task.start(WorldRandom(7, [3], 0), 1)[0]
    np.testing.assert_array_equal(again[0], q[3])


def test_levels_open_with_the_episodes_of_a_world(interpreted):
    start = {"term": "on_terrain", "body": "trunk", "radius": 0.5, "grow": 6}
    worlds, task = worlds_of(TASK | {"start": [start]}, count=1)
    opened = [set(task.start(WorldRandom(7, np.arange(100), k), 100)[0][:, 4].tolist()) for k in range(7)]
    assert opened == [{-4.0}] * 2 + [{-4.0, 0.0}] * 2 + [{-4.0, 0.0, 4.0}] * 3
    worlds.learns = False
    assert set(task.start(WorldRandom(7, np.arange(100), 0), 100)[0][:, 4]) == {-4.0, 0.0, 4.0}


def test_beyond_the_border_an_episode_ends(interpreted):
    worlds, task = worlds_of(TASK, count=5)  # 14 m along x, 30 m along y
    worlds.q[:, 4:6] = [6.9, 0.0], [7.1, 0.0], [-7.1, 14.9], [0.0, -15.1], [0.0, 14.9]
    worlds.forget_motions()
    np.testing.assert_array_equal(task.terminated(worlds), [False, True, True, True, False])


def test_the_log_of_a_run_has_its_terrain_and_goes_on_with_that_alone(interpreted, tmp_path):
    path = str(tmp_path / "run.h5")
    loaded = read_task(with_terrain(levels=1)).loaded()
    log = simulate(loaded, 0.004, start={"trunk_z": 0.9}, log=path)
    plant, field = plant_of_resolved_model(log.model, path, lambda path: False), loaded.terrain
    (drawn,) = plant.GetVisualGeometriesForBody(plant.world_body())
    seen = plant.scene_graph.model_inspector().GetShape(drawn)
    np.testing.assert_array_equal(seen.heights, field.heights)
    assert (seen.x(), seen.y(), seen.base()) == (field.x(), field.y(), field.base())
    assert len(plant.GetCollisionGeometriesForBody(plant.world_body())) == 1
    with pytest.raises(ModelError, match="of a model with other contact"):
        resume(path, read_task(with_terrain(levels=1, seed=1)).loaded(), 0.006)
    assert resume(path, loaded, 0.006)["time"][-1] == pytest.approx(0.006)


# -------------------------------------------------------------------------------------------------- faults

FAULTS = [
    (
        {"terrain": TERRAIN | {"tiles": [{"term": "slop", "grade": 1}]}},
        'unknown term "slop" of tiles; did you mean "slope',
    ),
    ({"terrain": TERRAIN | {"tiles": []}}, "tiles is a list of terms; found a list of 0"),
    ({"terrain": {"levels": 2}}, 'key "tiles" is missing'),
    ({"terrain": TERRAIN | {"level": 2}}, 'unknown key "level" in TerrainSettings; did you mean "levels"'),
    ({"terrain": TERRAIN | {"levels": 0}}, "levels must be at least 1"),
    ({"terrain": TERRAIN | {"spacing": 0.3}}, "size is 4 m: it is a whole number of spacings of 0.3 m"),
    ({"terrain": TERRAIN | {"size": 1e300, "spacing": 1e-300}}, "size is 1e[+]300 m: it is a whole number"),
    ({"terrain": TERRAIN | {"border": 0.05}}, "border is 0.05 m: it is a whole number of spacings"),
    ({"terrain": TERRAIN | {"top": 4}}, "top is 4 m: it is less than the size of a tile, 4 m"),
    (
        {"terrain": TERRAIN | {"spacing": 0.001}},
        "3 levels of 7 columns have .* heights, at most 4198401: a larger spac",
    ),
    ({"terrain": TERRAIN | {"levels": 10**9}}, "1000000000 levels of 7 columns have"),
    (
        {"terrain": TERRAIN | {"tiles": [{"term": "steps", "rise": [0.1], "run": 1}]}},
        "rise is a number or a list .easiest",
    ),
    ({"terrain": TERRAIN | {"tiles": [{"term": "steps", "rise": 1e9, "run": 1}]}}, "rise is between -100 and 100 m"),
    ({"terrain": TERRAIN | {"tiles": [{"term": "slope", "grade": 1.5}]}}, "grade is between -1.4 and 1.4 rad"),
    ({"terrain": TERRAIN | {"tiles": [{"term": "flat", "columns": 10**9}]}}, "columns is at most 1000"),
    ({"terrain": TERRAIN | {"tiles": [{"term": "steps", "rise": 0.1}]}}, 'key "run" of the term steps is missing'),
    ({"terrain": 3}, "TerrainSettings must be a mapping; found"),
    ({"load": TASK["load"] | {"ground": 0.0}}, "terrain stands in the place of a ground, and load has one"),
    ({"load": {"dt": 0.002}}, "terrain touches nothing: load has no contact: true"),
]


@pytest.mark.parametrize(("changes", "message"), FAULTS, ids=[fault[1][:40] for fault in FAULTS])
def test_a_fault_is_one_line_with_its_place(changes, message):
    with pytest.raises(ModelError, match=rf"^<task>:\d+:\d+: error: .*{message}") as caught:
        read_task(TASK | changes)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"start": [{"term": "on_terrain", "body": "front_left_shank", "radius": 1}]}, "which does not float in World"),
        ({"observation": [{"term": "heights_around", "body": "trunk", "ahead": [], "left": [0]}]}, "1 to 100 lengths"),
        ({"observation": [{"term": "body_height", "body": "trunk", "over": "sea"}]}, "must be one of world, ground"),
        ({"terrain": None}, 'on_terrain: body: the task has no "terrain"'),
        ({"terrain": None}, 'off_terrain: body: the task has no "terrain"'),
        ({"terrain": None}, "body_height: over: the model has no ground"),
    ],
)
def test_terms_that_need_ground_say_what_lacks(interpreted, changes, message):
    task = {key: value for key, value in (TASK | changes).items() if value is not None}
    with pytest.raises(ModelError, match=message):
        worlds_of(task)


def test_a_model_without_the_terrain_of_the_task_is_refused(interpreted):
    file = read_task(TASK)
    plain = load_model(file.model, **file.load)
    with pytest.raises(ArgumentError, match="the model was loaded without the terrain of the task"):
        file.task(TaskWorlds(plain, 1, threads=1))
    with pytest.raises(ArgumentError, match='"load" is for files of a model'):
        file.loaded(plain)
    with pytest.raises(ArgumentError, match="ground: the terrain stands in the place of a ground"):
        load_model(file.model, contact=True, ground=0.0, terrain=HeightField(np.zeros((2, 2)), 1.0, 1.0, 1.0))


# --------------------------------------------------------------------------------------- compiled kernels


def test_robots_are_on_the_hardest_tiles_for_five_seconds(compiled_here):
    """Some fall over there; none sinks in by 5 mm, nor 1 mm at rest, and none gains energy."""
    many = make_environments(with_terrain(levels=1), 16, seed=0, threads=1)
    plant = many.worlds.plant
    context, held, deepest, energies = plant.CreateDefaultContext(), np.zeros((16, 12)), [], []
    assert len(set(many.worlds.q[:, 5])) == 7
    for period in range(250):
        for q, v in zip(many.worlds.q, many.worlds.v, strict=True) if period % 25 == 24 or not period else ():
            plant.SetPositionsAndVelocities(context, np.concatenate([q, v]))
            deepest.append(max((point["depth"] for point in contact_points(context)), default=0.0))
            energies.append(plant.EvalKineticEnergy(context) + plant.EvalPotentialEnergy(context))
        observations, _, terminated, *_ = many.step(held)
        assert not terminated.any() and (observations > 0.0).all()
    deepest, energies = np.reshape(deepest, (-1, 16)), np.reshape(energies, (-1, 16))
    assert deepest.max() < 5e-3 and 1e-6 < deepest[-1].max() < 1e-3
    assert (energies < energies[0] + 1e-3).all()
    copied = copy.deepcopy(many)
    np.testing.assert_array_equal(copied.reset(seed=4)[0], many.reset(seed=4)[0])


@pytest.mark.peers("mujoco")
def test_robots_stand_on_rough_ground_as_high_as_in_mujoco(compiled_here, tmp_path):
    """Six robots on six tiles, held by the same gains; MuJoCo with stiff contact and friction that does not creep."""
    import mujoco

    kp, kd = 400.0, 20.0
    tiles = [{"term": "rough", "height": 0.06, "spacing": 0.4, "columns": 6}]
    task = with_terrain(levels=1, tiles=tiles) | {"load": TASK["load"] | {"kp": kp, "kd": kd}}
    many = make_environments(task, 6, seed=0, threads=1)
    field, starts = many.worlds.loaded.terrain, np.tile(many.worlds.start_state[0], (6, 1))
    starts[:, 5] = 4.0 * np.arange(-2.5, 3.0)
    starts[:, 6] += highest_within(field.heights, field.x(), field.y(), *starts[:, 4:6].T, 0.5)
    many.reset(options={"q": starts})
    for _ in range(100):
        many.step(np.zeros((6, 12)))
    assert cli("convert", TASK["model"], "-o", str(tmp_path / "quadruped.xml")).code == 0
    spec = mujoco.MjSpec.from_file(str(tmp_path / "quadruped.xml"))
    low, span = field.heights.min(), np.ptp(field.heights)
    rows, columns = field.heights.shape
    size, levels = [field.x(), field.y(), span, 1.0], ((field.heights - low) / span).ravel()
    spec.add_hfield(name="t", nrow=rows, ncol=columns, size=size, userdata=levels)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="t", pos=[0.0, 0.0, low])
    for geom in spec.geoms:
        geom.solref, geom.friction = [0.004, 1.0], [1.0, 0.0, 0.0]
    for motor in spec.actuators:
        motor.gainprm[0], motor.biasprm[:3], motor.biastype = kp, [0.0, -kp, -kd], mujoco.mjtBias.mjBIAS_AFFINE
        motor.ctrllimited, motor.forcelimited, motor.forcerange = 0, 1, motor.ctrlrange
    spec.option.timestep, spec.option.impratio = 0.001, 100.0
    spec.option.integrator, spec.option.cone = mujoco.mjtIntegrator.mjINT_IMPLICITFAST, mujoco.mjtCone.mjCONE_ELLIPTIC
    model = spec.compile()
    for start, ours in zip(starts, many.worlds.q, strict=True):
        data = mujoco.MjData(model)
        data.qpos[:7] = np.roll(start[:7], 3)
        for _ in range(2000):
            mujoco.mj_step(model, data)
        assert np.abs(data.qvel).max() < 1e-3
        assert data.qpos[2] == pytest.approx(ours[6], abs=1e-3)
        np.testing.assert_allclose(data.qpos[:2], ours[4:6], atol=4e-3)
        assert np.abs(ours[6] - start[6]) > 5e-3
