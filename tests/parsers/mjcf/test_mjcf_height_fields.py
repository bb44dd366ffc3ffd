"""Height fields of MJCF files, against what MuJoCo makes of them."""

import struct

import numpy as np
import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from mbcli.parsers.spec import HeightField
from png_images import png

from mbcli.config.plant_config import MultibodyPlantConfig
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import AddMultibodyPlant
from mbcli.systems.analysis import Simulator
from mbcli.systems.framework import DiagramBuilder

INLINE = 'nrow="3" ncol="4" elevation="0 1 2 3  4 5 6 7  8 9 10 12"'


def text(attributes, bodies="", options=""):
    asset = f'<asset><hfield name="h" size="2 1 .5 .1" {attributes}/></asset>'
    return f'<mujoco>{options}{asset}<worldbody><geom name="g" type="hfield" hfield="h"/>{bodies}</worldbody></mujoco>'


@pytest.fixture
def files(tmp_path, monkeypatch):
    """One model for each way to state heights: {way: path}."""
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its warnings to a file there
    rng = np.random.default_rng(6)
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "h.png").write_bytes(png(rng.integers(0, 256, (5, 7))))
    heights = rng.uniform(-3.0, 5.0, (4, 6)).astype("<f4")
    (tmp_path / "assets" / "h.bin").write_bytes(struct.pack("<ii", 4, 6) + heights.tobytes())
    ways = {
        "inline": text(INLINE),
        "flat": text('nrow="2" ncol="3"'),
        "png": text('file="h.png"', options='<compiler meshdir="assets"/>'),
        "binary": text('file="assets/h.bin"'),
    }
    for way, content in ways.items():
        (tmp_path / f"{way}.xml").write_text(content)
    return {way: str(tmp_path / f"{way}.xml") for way in ways}


def shape_in(path, diagnostics=None):
    model = load_models(path, diagnostics=Diagnostics() if diagnostics is None else diagnostics)[0]
    world = next(link for link in model.links if link.name == "world")
    return world.collisions[0].shape if world.collisions else None


def height_at(shape, x, y):
    """[m] of the triangle at a point."""
    rows, columns = shape.heights.shape
    u, w = (x + shape.x) / (2.0 * shape.x) * (columns - 1), (y + shape.y) / (2.0 * shape.y) * (rows - 1)
    j, i = min(int(u), columns - 2), min(int(w), rows - 2)
    u, w, h = u - j, w - i, shape.heights[i : i + 2, j : j + 2]
    if u >= w:
        return h[0, 0] + u * (h[0, 1] - h[0, 0]) + w * (h[1, 1] - h[0, 1])
    return h[0, 0] + w * (h[1, 0] - h[0, 0]) + u * (h[1, 1] - h[1, 0])


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("way", ["inline", "flat", "png", "binary"])
def test_heights_stand_where_they_do_in_mujoco(way, files):
    """The numbers of its model, and where its rays meet the triangles."""
    import mujoco

    shape = shape_in(files[way])
    model = mujoco.MjModel.from_xml_path(files[way])
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert shape.heights.shape == (model.hfield_nrow[0], model.hfield_ncol[0])
    np.testing.assert_allclose(shape.heights.ravel(), 0.5 * model.hfield_data, atol=1e-7)
    np.testing.assert_allclose([shape.x, shape.y, shape.base], model.hfield_size[0][[0, 1, 3]])
    hit, rng = np.zeros(1, np.int32), np.random.default_rng(8)
    for x, y in rng.uniform(-0.99, 0.99, (50, 2)) * [2.0, 1.0]:
        way_down = mujoco.mj_ray(model, data, np.array([x, y, 3.0]), np.array([0.0, 0.0, -1.0]), None, 1, -1, hit)
        assert 3.0 - way_down == pytest.approx(height_at(shape, x, y), abs=1e-6)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ('nrow="1" ncol="4"', "2 rows and columns or more"),
        ('nrow="100000" ncol="100000"', "heights at most"),
        ('nrow="2" ncol="2" elevation="1 2 3"', "elevation"),
        ('file="h.txt"', "neither a PNG image nor heights"),
        ('nrow="2" ncol="2" size="1 1 0 1"', "must be positive"),
    ],
)
def test_faults_of_height_fields_are_errors(attributes, message, tmp_path):
    (tmp_path / "h.txt").write_text("heights")
    size = "" if "size=" in attributes else 'size="2 1 .5 .1"'
    content = text(attributes).replace('size="2 1 .5 .1"', size, 1)
    (tmp_path / "m.xml").write_text(content)
    diagnostics = Diagnostics()
    load_models(str(tmp_path / "m.xml"), diagnostics=diagnostics)
    assert any(message in error.message for error in diagnostics.errors), list(map(str, diagnostics.findings))


def test_a_height_field_without_its_file_is_a_warning_and_not_there(tmp_path):
    (tmp_path / "m.xml").write_text(text('file="missing.png"'))
    diagnostics = Diagnostics()
    assert shape_in(str(tmp_path / "m.xml"), diagnostics) is None
    assert [f.code for f in diagnostics.warnings] == ["URI_LOOKUP"] and not diagnostics.errors


def test_nothing_is_told_of_a_height_field_that_acts(files):
    diagnostics = Diagnostics()
    assert isinstance(shape_in(files["inline"], diagnostics), HeightField)
    assert diagnostics.findings == []


# ----------------------------------------------------------------------------------------------- drops

SHAPES = (
    'type="sphere" size=".08"',
    'type="capsule" size=".05 .08"',
    'type="box" size=".1 .07 .05"',
    'type="cylinder" size=".07 .06"',
    'type="ellipsoid" size=".1 .07 .05"',
    'type="mesh" mesh="m"',
)
STEP = 2e-3


def drops(seed):
    """A body of each shape over a bowl with waves of its own, in a random orientation."""
    rng = np.random.default_rng(seed)
    x, y = np.meshgrid(np.linspace(-3.0, 3.0, 61), np.linspace(-0.5, 0.5, 11))
    bowls = 0.8 * ((x + 0.5) % 1.0 - 0.5) ** 2 + 0.8 * y**2 + rng.uniform(0.0, 0.02, x.shape)
    bowls[[0, -1]], bowls[:, [0, -1]] = 0.8, 0.8
    vertices = rng.normal(size=(14, 3))
    vertices *= np.array([0.1, 0.08, 0.06]) / np.linalg.norm(vertices, axis=1)[:, None]
    bodies = ""
    for k, shape in enumerate(SHAPES):
        quaternion = " ".join(f"{n:.6f}" for n in rng.normal(size=4))
        geom = f'<freejoint/><geom {shape} condim="6" friction="1 .01 .01"/>'
        bodies += f'<body name="b{k}" pos="{k - 2.5:.3f} 0 .35" quat="{quaternion}">{geom}</body>'
    elevation = " ".join(f"{h:.8f}" for h in bowls[::-1].ravel())
    top = bowls.max() - bowls.min()
    mesh = f'<mesh name="m" vertex="{" ".join(f"{n:.6f}" for n in vertices.ravel())}"/>'
    field = f'<hfield name="h" nrow="11" ncol="61" size="3 .5 {top} .3" elevation="{elevation}"/>'
    ground = '<geom type="hfield" hfield="h" friction="1 .01 .01"/>'
    option = f'<option timestep="{STEP}"/>'
    return f"<mujoco>{option}<asset>{mesh}{field}</asset><worldbody>{ground}{bodies}</worldbody></mujoco>"


@pytest.mark.peers("mujoco")
def test_what_is_dropped_rests_on_the_contacts_that_mujoco_finds_there(compiled_here, tmp_path, monkeypatch):
    """Ten drops of each shape into bowls with bumps of 2 cm. Balls rest as high as in MuJoCo, to 3 mm. Others have
    many ways to rest; where they do, MuJoCo's deepest contact of each has the same depth."""
    import mujoco

    monkeypatch.chdir(tmp_path)
    heights, apart = [], []
    for seed in range(10):
        content = drops(seed)
        builder = DiagramBuilder()
        plant, _ = AddMultibodyPlant(MultibodyPlantConfig(time_step=STEP), builder)
        Parser(plant).AddModelsFromString(content, "mjcf")
        plant.Finalize()
        context = plant.CreateDefaultContext()
        Simulator(plant, context).AdvanceTo(5.0)
        ours = plant.GetPositions(context).reshape(-1, 7)
        model = mujoco.MjModel.from_xml_string(content)
        dropped, resting = mujoco.MjData(model), mujoco.MjData(model)
        for _ in range(round(5.0 / STEP)):
            mujoco.mj_step(model, dropped)
        heights.append(ours[0, 6] - dropped.qpos[2])
        resting.qpos[:] = np.hstack([ours[:, 4:], ours[:, :4]]).ravel()
        mujoco.mj_forward(model, resting)
        body = model.geom_bodyid[resting.contact.geom].max(axis=1)
        depth = [-resting.contact.dist[body == k + 1].min(initial=np.inf) for k in range(len(SHAPES))]
        query = plant.get_geometry_query_input_port().Eval(context)
        pairs = {plant.geometry_bodies[p.id_A].name(): p.depth for p in query.ComputePointPairPenetration()}
        pairs |= {plant.geometry_bodies[p.id_B].name(): p.depth for p in query.ComputePointPairPenetration()}
        apart.append([pairs.get(f"b{k}", 0.0) - depth[k] for k in range(len(SHAPES))])
    assert np.abs(heights).max() < 3e-3
    assert np.abs(apart).max() < 1e-5
