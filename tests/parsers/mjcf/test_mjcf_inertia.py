"""Masses and inertias of MJCF bodies from meshes and shells, in closed form and against MuJoCo."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models

# an L of five unit squares, 1 m thick; corners counterclockwise, the last one the notch
L_CORNERS = [(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)]
L_VERTICES = [(*corner, z) for z in (0, 1) for corner in L_CORNERS]
L_SIDES = [(k, (k + 1) % 6, (k + 1) % 6 + 6, k + 6) for k in range(6)]
L_TOP = [(6, 7, 8, 9), (6, 9, 10, 11)]
L_TRIANGLES = [
    triangle
    for quadrilateral in (*L_SIDES, *L_TOP, *((d - 6, c - 6, b - 6, a - 6) for a, b, c, d in L_TOP))
    for triangle in (quadrilateral[:3], (quadrilateral[0], *quadrilateral[2:]))
]


def mesh(attributes="", vertices=L_VERTICES, triangles=L_TRIANGLES):
    numbers = {"vertex": vertices, "face": triangles}
    text = " ".join(f'{name}="{" ".join(str(x) for row in rows for x in row)}"' for name, rows in numbers.items())
    return f'<mesh name="m" {text} {attributes}/>'


def body_of(asset, geom='type="mesh" mesh="m" density="1"', head=""):
    body = f'<body name="b"><freejoint/><geom {geom}/></body>'
    return f"<mujoco>{head}<asset>{asset}</asset><worldbody>{body}</worldbody></mujoco>"


def read(text):
    """(the body's InertialSpec or None, Diagnostics) of a document."""
    diagnostics = Diagnostics()
    models = load_models(text.encode(), input_format="mjcf", diagnostics=diagnostics, name="m.xml")
    return (models[0].links[0].inertial if models else None), diagnostics


def inertial_of(text):
    inertial, diagnostics = read(text)
    assert diagnostics.errors == diagnostics.warnings == []
    return inertial


def matrix(inertial):
    """The inertia (3, 3) about the centre of mass in the axes of the body."""
    xx, yy, zz, xy, xz, yz = inertial.inertia
    R = inertial.X_LI[:3, :3]
    return R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T


# -------------------------------------------------------------------------------------- closed forms


def test_legacy_inertia_of_a_prism_counts_what_lies_outside_of_it_twice():
    """With f the centroid of the surface along x and y, c that of the pyramids seen from there: exact fractions."""
    f = Fraction(25, 22)
    pyramids = (3 - f) + Fraction(2, 3) * (f - 1) + Fraction(3, 2) * f + (3 - f) / 6 + Fraction(4, 3) * (f - 1)
    c = Fraction(3, 4) * (pyramids + Fraction(11, 6)) / ((7 + 8 * f) / 3) + f / 4
    inertial = inertial_of(body_of(mesh()))
    assert inertial.mass == pytest.approx(float((7 + 8 * c) / 3), rel=1e-14)
    assert inertial.mass == pytest.approx(5.3225475, abs=1e-7)
    assert inertial.X_LI[:3, 3] == pytest.approx([float(c), float(c), 0.5], rel=1e-14)


def test_exact_inertia_of_a_prism_is_that_of_its_squares():
    inertial = inertial_of(body_of(mesh('inertia="exact"')))
    assert inertial.mass == pytest.approx(5.0, rel=1e-14)
    assert inertial.X_LI[:3, 3] == pytest.approx([1.1, 1.1, 0.5], rel=1e-14)
    squares = np.array([(0.5, 0.5), (1.5, 0.5), (2.5, 0.5), (0.5, 1.5), (0.5, 2.5)]) - 1.1
    xx, yy = (5 / 6 + (squares[:, k] ** 2).sum() for k in (1, 0))
    xy = -(squares[:, 0] * squares[:, 1]).sum()
    zz = xx + yy - 5 / 6
    assert matrix(inertial) == pytest.approx(np.array([[xx, xy, 0], [xy, yy, 0], [0, 0, zz]]), abs=1e-13)


def test_convex_inertia_is_that_of_the_hull_and_shell_that_of_the_surface():
    hull, shell = (inertial_of(body_of(mesh(f'inertia="{kind}"'))) for kind in ("convex", "shell"))
    assert hull.mass == pytest.approx(7.0, rel=1e-14)
    assert shell.mass == pytest.approx(22.0, rel=1e-14)
    assert shell.X_LI[:3, 3] == pytest.approx([25 / 22, 25 / 22, 0.5], rel=1e-14)


def test_legacy_inertia_of_what_is_star_shaped_is_exact():
    corners = [(x, y, z) for x in (0, 1) for y in (0, 2) for z in (0, 3)]
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for side in sides for t in (side[:3], (side[0], *side[2:]))]
    inertial, diagnostics = read(body_of(mesh(vertices=corners, triangles=triangles)))
    assert diagnostics.findings == []
    assert inertial.mass == pytest.approx(6.0)
    assert matrix(inertial) == pytest.approx(np.diag([13.0, 10.0, 5.0]) / 2.0)


# ----------------------------------------------------------------------------------------- findings


def test_mesh_that_weighs_more_than_it_holds_is_a_note():
    _, diagnostics = read(body_of(mesh()))
    (note,) = diagnostics.findings
    assert (note.severity, note.code) == ("note", "MESH_INERTIA")
    assert 'the most "m": 1.065 times as much' in note.message


@pytest.mark.parametrize("triangles", [L_TRIANGLES[1:], [L_TRIANGLES[0][::-1], *L_TRIANGLES[1:]]])
def test_open_or_turned_surface_is_a_note_and_an_error_where_the_inertia_is_exact(triangles):
    _, diagnostics = read(body_of(mesh(triangles=triangles)))
    (note,) = diagnostics.findings
    assert note.severity == "note" and "what no closed surface holds" in note.message
    turned = len(triangles) == len(L_TRIANGLES)
    inertial, diagnostics = read(body_of(mesh('inertia="exact"', triangles=triangles)))
    assert (inertial is None) == turned == bool(diagnostics.errors)
    if turned:
        assert "do not face the same side of the surface" in diagnostics.errors[0].message


def test_mesh_without_volume_is_an_error_unless_it_is_a_shell():
    flat = {"vertices": [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], "triangles": [(0, 1, 2), (0, 2, 3)]}
    _, diagnostics = read(body_of(mesh(**flat)))
    assert 'state inertia="shell"' in diagnostics.errors[0].message
    inertial = inertial_of(body_of(mesh('inertia="shell"', **flat)))
    assert inertial.mass == pytest.approx(1.0)
    assert matrix(inertial) == pytest.approx(np.diag([1.0, 1.0, 2.0]) / 12.0)


# -------------------------------------------------------------------------------------------- files


def l_obj(*, polygons):
    lines = [f"v {x} {y} {z}" for x, y, z in L_VERTICES]
    caps = [tuple(range(6, 12)), tuple(range(5, -1, -1))]
    faces = [*L_SIDES, *caps] if polygons else L_TRIANGLES
    return "\n".join([*lines, *("f " + " ".join(str(k + 1) for k in face) for face in faces), ""])


def msh(vertices, triangles):
    head = np.array([len(vertices), 0, len(vertices), len(triangles)], "<i4").tobytes()
    texture = np.zeros(2 * len(vertices), "<f4").tobytes()
    return head + np.array(vertices, "<f4").tobytes() + texture + np.array(triangles, "<i4").tobytes()


def stl(vertices, triangles):
    record = np.zeros(len(triangles), [("n", "<f4", 3), ("c", "<f4", (3, 3)), ("a", "<u2")])
    record["c"] = np.array(vertices)[np.array(triangles)]
    return bytes(80) + np.array([len(triangles)], "<u4").tobytes() + record.tobytes()


SECOND_OBJECT = "\no second\nv 9 9 9\nv 10 9 9\nv 9 10 9\nv 9 9 10\nf -4 -2 -3\nf -4 -3 -1\nf -4 -1 -2\nf -3 -2 -1\n"
FILES = {
    "triangles.obj": l_obj(polygons=False),
    "polygons.obj": l_obj(polygons=True),
    "first_of_two.obj": l_obj(polygons=False) + SECOND_OBJECT,
    "two_groups_before.obj": "o a\ng b\n" + l_obj(polygons=False),
    "l.msh": msh(L_VERTICES, L_TRIANGLES),
    "l.stl": stl(L_VERTICES, L_TRIANGLES),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", ["legacy", "exact", "shell"])
def test_files_weigh_as_the_vertices_in_them(tmp_path, name, kind):
    content = FILES[name]
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    diagnostics = Diagnostics()
    (tmp_path / "m.xml").write_text(body_of(f'<mesh name="m" file="{name}" inertia="{kind}"/>'))
    (model,) = load_models(str(tmp_path / "m.xml"), diagnostics=diagnostics)
    expected = inertial_of(body_of(mesh(f'inertia="{kind}"')))
    assert model.links[0].inertial.mass == pytest.approx(expected.mass, rel=1e-13)
    assert matrix(model.links[0].inertial) == pytest.approx(matrix(expected), rel=1e-12, abs=1e-12)


def test_a_signed_distance_field_of_a_mesh_weighs_as_the_mesh_with_a_warning():
    """The masses are those of MuJoCo 4.0; a field that a plugin makes is an error."""
    mesh = '<mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>'
    text = f'<mujoco><asset>{mesh}</asset><worldbody><body><geom type="sdf" mesh="m"/></body></worldbody></mujoco>'
    diagnostics = Diagnostics()
    (model,) = load_models(text.encode(), diagnostics=diagnostics)
    assert model.links[0].inertial.mass == pytest.approx(1000 / 6)
    assert "the hull of its mesh" in "".join(finding.message for finding in diagnostics.warnings)
    plugin = text.replace(mesh, '<mesh name="m"><plugin plugin="mujoco.sdf.torus"/></mesh>')
    diagnostics = Diagnostics()
    assert not load_models(plugin.encode(), diagnostics=diagnostics)
    assert [finding.code for finding in diagnostics.errors] == ["MESH_INERTIA"]


@pytest.mark.parametrize(("kind", "mass"), [("legacy", 1), ("exact", 1), ("convex", 1), ("shell", 9)])
def test_a_mesh_of_vertices_alone_weighs_what_its_hull_does(tmp_path, kind, mass):
    """The masses [kg] are those of MuJoCo 4.0 at 1 kg/m^3 or 1 kg/m^2; the last vertex is within the hull."""
    (tmp_path / "p.obj").write_text("v 0 0 0\nv 3 0 0\nv 0 2 0\nv 0 0 1\nv 1 .5 .1\n")
    (tmp_path / "m.xml").write_text(body_of(f'<mesh name="m" file="p.obj" inertia="{kind}"/>'))
    (model,) = load_models(str(tmp_path / "m.xml"), diagnostics=Diagnostics())
    assert model.links[0].inertial.mass == pytest.approx(mass)


BROKEN = {
    "no_face.obj": ("v 0 0 0\nv 1 0 0\nv 0 1 0\n", "its vertices lie in one plane"),
    "nothing.obj": ("# nothing\n", "there are no vertices in it"),
    "bad_face.obj": ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "a vertex that is not there"),
    "two_corners.obj": ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n", "a vertex that is not there"),
    "zero.obj": ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n", "a vertex that is not there"),
    "short_vertex.obj": ("v 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "a vertex that is not there"),
    "words.obj": ("v a b c\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "cannot read the mesh"),
    "infinite.obj": ("v 1e300 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "a vertex is not finite"),
    "short.msh": (msh(L_VERTICES, L_TRIANGLES)[:-4], "bytes, not"),
    "head.msh": (b"\0" * 15, "four numbers"),
    "index.msh": (msh(L_VERTICES, [(0, 1, 99)]), "a vertex that is not there"),
    "empty.stl": (bytes(84), "no triangles"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_file_is_an_error_at_the_geom(tmp_path, name):
    content, message = BROKEN[name]
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    (tmp_path / "m.xml").write_text(body_of(f'<mesh name="m" file="{name}"/>'))
    diagnostics = Diagnostics()
    assert not load_models(str(tmp_path / "m.xml"), diagnostics=diagnostics)
    (error,) = diagnostics.errors
    assert error.code == "MESH_INERTIA" and message in error.message


def test_polygon_that_is_not_convex_is_a_note(tmp_path):
    (tmp_path / "l.obj").write_text(l_obj(polygons=True))
    (tmp_path / "m.xml").write_text(body_of('<mesh name="m" file="l.obj"/>'))
    diagnostics = Diagnostics()
    load_models(str(tmp_path / "m.xml"), diagnostics=diagnostics)
    assert any("polygons that are not convex" in finding.message for finding in diagnostics.findings)


# ---------------------------------------------------------------------------------- against MuJoCo

HFIELD = '<hfield name="h" nrow="2" ncol="3" elevation="1 2 3 4 5 6" size="1 2 .3 .7"/>'
TURNED = 'scale="2 -3 .5" refpos=".5 .25 .75" refquat="1 1 .5 0"'
BODIES = {
    **{f"mesh, {kind}": (mesh(f'inertia="{kind}"'), 'type="mesh" mesh="m"') for kind in ("legacy", "exact", "shell")},
    "mesh, convex": (mesh('inertia="convex"'), 'type="mesh" mesh="m" mass="3"'),
    "mesh of points": ('<mesh name="m" vertex="0 0 0 2 0 0 0 3 0 0 0 1 1 1 .125"/>', 'type="mesh" mesh="m"'),
    "mesh scaled and turned": (mesh(TURNED), 'type="mesh" mesh="m" pos="1 2 3" euler="10 20 30"'),
    "open mesh": (mesh(triangles=L_TRIANGLES[3:]), 'type="mesh" mesh="m"'),
    "mesh with turned triangles": (mesh(triangles=[t[::-1] for t in L_TRIANGLES[:5]] + L_TRIANGLES[5:]),
                                   'type="mesh" mesh="m"'),
    **{f"shell of a {kind}": ("", f'type="{kind}" size=".3 .5 .7" shellinertia="true" pos="1 0 0" euler="0 40 0"')
       for kind in ("sphere", "capsule", "cylinder", "box", "ellipsoid")},
    **{f"{kind} fitted by inertia": (mesh(), f'type="{kind}" mesh="m" fitscale="1.5" euler="10 20 0"')
       for kind in ("sphere", "capsule", "cylinder", "box", "ellipsoid")},
    "height field": (HFIELD, 'type="hfield" hfield="h"'),
}  # fmt: skip
SETTINGS = {
    "class with mass, geom with density": '<default><geom mass="3" size=".1 .2 .3"/></default>',
    "part of a size": '<default><geom type="box" size=".1 .2 .3"/></default>',
    "groups": '<default><geom size=".1" group="6"/></default>',
}


def mujoco_body(text):
    """(mass, p_BBcm, R_BP, moments) of the first body in MuJoCo."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(text)
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, model.body_iquat[1])
    return model, model.body_mass[1], model.body_ipos[1], R.reshape(3, 3), model.body_inertia[1]


def assert_same_body(text):
    """Moments to 1e-8: MuJoCo finds principal axes of meshes by an iteration."""
    _, mass, centre, R, moments = mujoco_body(text)
    inertial, diagnostics = read(text)
    assert diagnostics.errors == []
    assert inertial.mass == pytest.approx(mass, rel=1e-12)
    assert inertial.X_LI[:3, 3] == pytest.approx(centre, abs=1e-12)
    assert matrix(inertial) == pytest.approx(R @ np.diag(moments) @ R.T, abs=1e-7 * moments.max())
    assert np.linalg.eigvalsh(matrix(inertial)) == pytest.approx(np.sort(moments), abs=1e-8 * moments.max())


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("name", BODIES)
def test_bodies_weigh_as_in_mujoco(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it writes its warnings to a file there
    asset, geom = BODIES[name]
    text = body_of(asset, geom)
    assert_same_body(text.replace("<freejoint/>", "") if "hfield" in asset else text)


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("kind", ["sphere", "capsule", "cylinder", "box", "ellipsoid"])
def test_primitive_is_fitted_to_the_vertices_as_in_mujoco(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_same_body(body_of(mesh(), f'type="{kind}" mesh="m"', '<compiler fitaabb="true"/>'))


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("name", SETTINGS)
def test_geoms_with_classes_weigh_as_in_mujoco(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    geoms = '<geom size=".5" density="500"/><geom group="0" size=".25" pos="1 0 0"/>'
    assert_same_body(f"<mujoco>{SETTINGS[name]}<worldbody><body><joint/>{geoms}</body></worldbody></mujoco>")


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("name", FILES)
def test_files_weigh_as_in_mujoco(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    import mujoco

    content = FILES[name]
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    Path("m.xml").write_text(body_of(f'<mesh name="m" file="{name}"/>'))
    theirs = mujoco.MjModel.from_xml_path("m.xml")
    (model,) = load_models("m.xml", diagnostics=Diagnostics())
    assert model.links[0].inertial.mass == pytest.approx(theirs.body_mass[1], rel=1e-12)
    assert model.links[0].inertial.X_LI[:3, 3] == pytest.approx(theirs.body_ipos[1], abs=1e-12)
