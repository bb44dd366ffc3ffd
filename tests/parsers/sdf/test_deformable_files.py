"""Deformable links of SDFormat files: their bodies in a plant, beside pydrake's, and the findings on bad ones."""

import numpy as np
import pytest
from command_line import cli
from repository import ROOT
from test_deformable_model import CUBE, CUBE_TETRAHEDRA, write_vtk

from mbcli.checks.file_check import check_file
from mbcli.errors import ModelError
from mbcli.models.loading import ModelText, load_model, notes_on_contact
from mbcli.multibody.fem import MaterialModel
from mbcli.multibody.fem.body_config import MATERIAL_NAMES

SAMPLES = ROOT / "sample_models" / "deformable"
NUMBERS = {
    "youngs_modulus": 2e5,
    "poissons_ratio": 0.25,
    "mass_damping": 0.1,
    "stiffness_damping": 0.02,
    "mass_density": 900.0,
}
SETTERS = (
    "set_youngs_modulus",
    "set_poissons_ratio",
    "set_mass_damping_coefficient",
    "set_stiffness_damping_coefficient",
    "set_mass_density",
)
WALL = (
    "<drake:wall_boundary_condition><drake:point_on_plane>{}</drake:point_on_plane>"
    "<drake:outward_normal>{}</drake:outward_normal></drake:wall_boundary_condition>"
)
BOX = "<box><size>0.2 0.2 0.2</size></box>"


def elements(**values):
    return "".join(f"<drake:{name}>{value}</drake:{name}>" for name, value in values.items())


def link(properties="", shape=BOX, pose="", proximity="", rest="", collisions=1):
    collision = (
        f"<geometry>{shape}</geometry><drake:proximity_properties>{proximity}</drake:proximity_properties></collision>"
    )
    return (
        f'<link name="soft">{pose}'
        + "".join(f'<collision name="c{k}">{collision}' for k in range(collisions))
        + f"<drake:deformable_properties>{properties}</drake:deformable_properties>{rest}</link>"
    )


def file_of(*parts):
    return (
        '<sdf version="1.9" xmlns:drake="drake.mit.edu"><model name="m">' + "\n".join(parts) + "</model></sdf>"
    ).encode()


def body_of(*parts, **options):
    loaded = load_model(ModelText(file_of(*parts)), file_type="sdf", **options)
    return loaded.plant.deformable_model().GetBodyByName("soft")


def findings(*parts):
    """[(severity, code, line)]"""
    found = check_file(file_of(*parts), name="m.sdf", input_format="sdf").findings
    return [(f.severity, f.code, f.place.line) for f in found]


def test_every_property_reaches_the_body():
    config = body_of(link(elements(**NUMBERS, material_model="neohookean"))).config()
    assert config.youngs_modulus() == 2e5 and config.poissons_ratio() == 0.25 and config.mass_density() == 900.0
    assert config.mass_damping_coefficient() == 0.1 and config.stiffness_damping_coefficient() == 0.02
    assert config.material_model() == MaterialModel.kNeoHookean


@pytest.mark.parametrize("contact", [True, False])
def test_the_pose_is_that_of_the_link_and_its_collision_and_the_name_that_of_the_link(contact):
    collision = (
        '<collision name="c"><pose>0 0 0.5 0 0 0</pose><geometry><sphere><radius>0.1</radius></sphere></geometry>'
    )
    properties = "<drake:deformable_properties/>"
    body = body_of(
        "<pose>0 2 0 0 0 0</pose>",
        f'<link name="soft"><pose>1 0 0 0 0 0.1</pose>{collision}</collision>{properties}</link>',
        contact=contact,
    )
    X_WD = body.get_default_pose()
    np.testing.assert_allclose(X_WD.translation(), [1.0, 2.0, 0.5], atol=1e-15)
    np.testing.assert_allclose(X_WD.rotation().ToRollPitchYaw().vector(), [0.0, 0.0, 0.1], atol=1e-15)
    assert body.place.line == 2


def test_the_hint_and_the_contact_properties_are_those_of_the_collision():
    proximity = elements(mesh_resolution_hint=0.2, mu_dynamic=0.7)
    coarse, fine = (body_of(link(proximity=given), contact=True) for given in (proximity, ""))
    assert len(coarse.tetrahedra) < len(fine.tetrahedra)
    inspector = coarse.GetParentPlant().scene_graph.model_inspector()
    friction = inspector.GetProximityProperties(coarse.geometry_id()).GetProperty("material", "coulomb_friction")
    assert friction.dynamic_friction() == 0.7


def test_a_wall_is_in_world_coordinates():
    body = body_of(link(pose="<pose>0 0 5 0 0 0</pose>", rest=WALL.format("0 0 5", "0 0 1")))
    np.testing.assert_array_equal(body.on_wall, body.reference[:, 2] < 5.0)
    assert body.on_wall.any() and not body.on_wall.all()


def test_a_link_without_gravity_has_no_weight():
    body = body_of(link(rest="<gravity>false</gravity>"))
    assert not body.gravity_vector().any() and body_of(link()).gravity_vector()[2] == -9.81


def test_a_model_may_have_rigid_links_beside_deformable_ones():
    rigid = '<link name="a"><inertial><mass>1</mass></inertial></link><frame name="f" attached_to="a"/>'
    loaded = load_model(ModelText(file_of(rigid, link())), file_type="sdf")
    assert [body.name() for body in loaded.plant.elements.bodies] == ["world", "a"]
    assert loaded.plant.num_positions() == 7 and loaded.plant.deformable_model().num_bodies() == 1


@pytest.mark.parametrize(
    "parts, code, line",
    [
        ([link(elements(youngs_modulus=-1))], "DEFORMABLE_INVALID", 1),
        (["", link("\n" + elements(poissons_ratio=0.5))], "DEFORMABLE_INVALID", 3),
        ([link(elements(mass_density=0))], "DEFORMABLE_INVALID", 1),
        ([link(elements(mass_damping=-1))], "DEFORMABLE_INVALID", 1),
        ([link(elements(stiffness_damping=-1))], "DEFORMABLE_INVALID", 1),
        ([link(elements(material_model="rubber"))], "DEFORMABLE_INVALID", 1),
        ([link(collisions=0)], "DEFORMABLE_INVALID", 1),
        ([link(collisions=2)], "DEFORMABLE_INVALID", 1),
        ([link(rest=WALL.format("0 0 0", "0 0 0"))], "DEFORMABLE_INVALID", 1),
        ([link(), '<frame name="f" attached_to="soft"/>'], "DEFORMABLE_REFERENCE", 2),
        ([link(), '<joint name="j" type="fixed"><parent>world</parent><child>soft</child></joint>'],
         "DEFORMABLE_REFERENCE", 2),
        ([link(rest=WALL.format("0 0 -9", "0 0 1"))], "DEFORMABLE_MESH", 1),
        ([link(shape="<plane><normal>0 0 1</normal></plane>")], "DEFORMABLE_MESH", 1),
    ],
)  # fmt: skip
def test_a_bad_deformable_link_is_an_error_at_its_line(parts, code, line):
    assert ("error", code, line) in findings(*parts)
    with pytest.raises(ModelError, match=f"<text>:{line}:"):
        load_model(ModelText(file_of(*parts)), file_type="sdf")


@pytest.mark.parametrize(
    "values", [{"youngs_modulus": 5}, {"mass_density": 1e5}, {"poissons_ratio": 0.499}, {"stiffness_damping": 3}]
)
def test_a_material_that_makes_no_sense_is_a_warning(values):
    assert findings(link(elements(**values))) == [("warning", "DEFORMABLE_MATERIAL", 1)]


def test_what_a_deformable_link_does_not_use_is_reported():
    rest = f'<inertial><mass>3</mass></inertial><visual name="v"><geometry>{BOX}</geometry></visual>'
    (text,) = {f.severity for f in check_file(file_of(link(rest=rest)), input_format="sdf").findings}
    assert text in ("warning", "note")
    assert findings("<static>1</static>", link())[0][:2] == ("warning", "DEFORMABLE_STATIC")
    assert findings(link(elements(stiffness=1)))[0][1].startswith("ELEMENT_")


def test_tetrahedra_of_a_file_are_judged(tmp_path):
    model = tmp_path / "m.sdf"
    model.write_bytes(file_of(link(shape="<mesh><uri>cube.vtk</uri></mesh>")))
    write_vtk(tmp_path / "cube.vtk", tetrahedra=[(0, 3, 1, 7), *CUBE_TETRAHEDRA[1:]])
    (finding,) = check_file(str(model)).findings
    assert (finding.severity, finding.code) == ("error", "DEFORMABLE_MESH") and "number 0" in finding.message
    write_vtk(tmp_path / "cube.vtk", [(x, y, 0.02 * z) for x, y, z in CUBE])
    (finding,) = check_file(str(model)).findings
    assert (finding.severity, finding.code) == ("warning", "DEFORMABLE_SLIVERS")
    write_vtk(tmp_path / "cube.vtk")
    assert check_file(str(model)).findings == []


def test_a_continuous_plant_refuses_the_file():
    with pytest.raises(ModelError, match="<text>:1:.*'soft'.*discrete plant"):
        body_of(link(), dt=0.0)


def test_nobody_says_that_nothing_can_touch_the_ground():
    loaded = load_model(ModelText(file_of(link())), file_type="sdf", contact=True, ground=0.0)
    assert notes_on_contact(loaded) == []


def test_other_analyses_say_that_they_are_of_the_rigid_bodies():
    result = cli("gravity", SAMPLES / "sponge.sdf")
    assert result.code == 0
    assert result.err == "mbcli: warning: gravity is of the rigid bodies alone, not of the deformable sponge::cube\n"
    assert cli("inspect", SAMPLES / "sponge.sdf").err == ""


def test_convert_names_the_deformable_link_that_it_cannot_write(tmp_path):
    result = cli("convert", SAMPLES / "sponge.sdf", "-o", tmp_path / "sponge.urdf")
    assert result.code == 3 and "deformable link 'cube'" in result.err
    assert not (tmp_path / "sponge.urdf").exists()


def test_convert_keeps_deformable_links_in_sdformat(tmp_path):
    write_vtk(tmp_path / "cube.vtk")
    soft = link(
        elements(**NUMBERS, material_model="consistent_neohookean"),
        "<mesh><uri>cube.vtk</uri><scale>0.1 0.2 0.3</scale></mesh>",
        "<pose>1 0 0 0 0 0.1</pose>",
        elements(mu_dynamic=0.7),
        f'<gravity>false</gravity><visual name="v"><geometry>{BOX}</geometry>'
        "<material><diffuse>0.1 0.2 0.3 1</diffuse></material></visual>" + WALL.format("0 0 0.3", "0 0 1"),
    ).replace('<collision name="c0">', '<collision name="c0"><pose>0 0.5 0 0 0 0</pose>')
    rigid = '<link name="a"><inertial><mass>1</mass></inertial></link>'
    nested = f'<model name="inner"><pose>0 0 0.05 0.2 0 0</pose>{soft}</model>'
    model = tmp_path / "m.sdf"
    model.write_bytes(file_of("<pose>0 2 0 0 0 0</pose>", rigid, nested))
    written, again = tmp_path / "written.sdf", tmp_path / "again.sdf"
    result = cli("convert", model, "-o", written)
    assert result.code == 0, result.err
    assert "<pose>0 0.5 0 0 0 0</pose>" not in written.read_text()  # of the collision: Drake does not read it
    bodies = [load_model(path).plant.elements.deformable_bodies[0] for path in (model, written)]
    np.testing.assert_allclose(*(body.reference for body in bodies), atol=1e-14)
    for body in bodies:
        config = body.config()
        assert [getattr(config, name.removeprefix("set_"))() for name in SETTERS] == list(NUMBERS.values())
        assert config.material_model() == MaterialModel.kConsistentNeoHookean
        assert body.color == (0.1, 0.2, 0.3, 1.0) and not body.gravity_vector().any() and body.on_wall.any()
    np.testing.assert_array_equal(*(body.on_wall for body in bodies))
    assert cli("convert", written, "-o", again).code == 0
    assert again.read_text() == written.read_text()


def test_convert_copies_the_meshes_of_deformable_links(tmp_path):
    write_vtk(tmp_path / "cube.vtk")
    model = tmp_path / "m.sdf"
    model.write_bytes(file_of(link(shape="<mesh><uri>cube.vtk</uri></mesh>")))
    (tmp_path / "bundle").mkdir()
    result = cli("convert", model, "-o", tmp_path / "bundle" / "m.sdf", "--bundle")
    assert result.code == 0, result.err
    (written,) = (tmp_path / "bundle").rglob("*.sdf")
    (tmp_path / "cube.vtk").unlink()
    (body,) = load_model(written).plant.elements.deformable_bodies
    assert len(body.tetrahedra) == len(CUBE_TETRAHEDRA)


def test_a_mesh_that_is_not_there_is_named_once_at_its_line(tmp_path):
    model = tmp_path / "m.sdf"
    model.write_bytes(file_of("", link(shape="<mesh><uri>cube.vtk</uri></mesh>")))
    result = cli("simulate", model, "-t", "0.1")
    assert result.code == 3 and result.err.count("error: ") == 1
    assert "m.sdf:2:1: error: deformable link 'soft': its mesh file was not found" in result.err


def test_compare_tells_deformable_bodies_apart(tmp_path):
    stiffer = (SAMPLES / "sponge.sdf").read_text().replace("<drake:youngs_modulus>1e5<", "<drake:youngs_modulus>2e5<")
    (tmp_path / "stiffer.sdf").write_text(stiffer)
    result = cli("compare", SAMPLES / "sponge.sdf", tmp_path / "stiffer.sdf")
    assert result.code == 1 and "youngs_modulus" in result.out
    assert cli("compare", SAMPLES / "sponge.sdf", SAMPLES / "sponge.sdf").code == 0


def test_inspect_lists_deformable_bodies():
    text = cli("inspect", SAMPLES / "hanging_bar.sdf")
    assert text.code == 0 and "1 deformable body" in text.out and "10 kg deformable" in text.out
    assert "bar: deformable, 99 vertices, 240 tetrahedra, 10 kg, linear_corotated, E = 1e+06 Pa" in text.out
    (body,) = cli("inspect", SAMPLES / "hanging_bar.sdf", "--json").json()["deformable_bodies"]
    assert (
        body["mass"] == pytest.approx(10.0) and body["vertices_on_walls"] == 9 and body["volume"] == pytest.approx(0.01)
    )


@pytest.mark.parametrize("sample", ["hanging_bar.sdf", "sponge.sdf"])
def test_nothing_is_found_in_the_samples(sample):
    assert check_file(str(SAMPLES / sample)).findings == []


# beside pydrake


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("walls", [False, True])
def test_pydrake_reads_the_same_of_a_file(tmp_path, walls):
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import AddMultibodyPlantSceneGraph
    from pydrake.multibody.tree import DeformableBodyIndex
    from pydrake.systems.framework import DiagramBuilder

    path = write_vtk(tmp_path / "cube.vtk")
    model = file_of(
        "<pose>0 2 0 0 0 0</pose>",
        link(
            elements(**NUMBERS, material_model="linear"),
            f"<mesh><uri>{path}</uri><scale>0.1 0.2 0.3</scale></mesh>",
            "<pose>1 0 0 0 0 0.1</pose>",
            rest=WALL.format("0 0 0.1", "0 0 1") if walls else "",
        ).replace("<drake:proximity_properties></drake:proximity_properties>", ""),
    )
    (tmp_path / "m.sdf").write_bytes(model)
    plant, scene_graph = AddMultibodyPlantSceneGraph(DiagramBuilder(), 0.01)
    Parser(plant).AddModels(str(tmp_path / "m.sdf"))
    theirs = plant.deformable_model().GetBody(DeformableBodyIndex(0))
    ours = load_model(tmp_path / "m.sdf").plant.deformable_model().GetBodyByName("soft")
    assert (theirs.name(), str(theirs.scoped_name())) == (ours.name(), str(ours.scoped_name()))
    assert int(theirs.model_instance()) == int(ours.model_instance())
    np.testing.assert_allclose(ours.reference_positions(), theirs.reference_positions(), atol=1e-15)
    for name in (
        "youngs_modulus",
        "poissons_ratio",
        "mass_density",
        "mass_damping_coefficient",
        "stiffness_damping_coefficient",
    ):
        assert getattr(ours.config(), name)() == getattr(theirs.config(), name)()
    assert ours.config().material_model().name == theirs.config().material_model().name


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("name", ["linear", "linear_corotated", "neohookean", "corotated"])
def test_pydrake_has_the_same_names_and_numbers_of_materials(name):
    from pydrake.multibody.fem import MaterialModel as Theirs

    ours = MATERIAL_NAMES[name]
    assert int(getattr(Theirs, ours.name)) == int(ours)
