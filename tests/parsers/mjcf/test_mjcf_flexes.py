"""<flexcomp> of MJCF: elastic grids are deformable bodies, rigid ones are left out, all others stay errors."""

import numpy as np
import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.mjcf.read_mjcf import read_mjcf

from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant

ELASTIC = '<elasticity young="5e4" poisson="0.2" damping="0.002"/>'
GRID = 'name="jelly" type="grid" count="4 3 2" spacing=".1 .2 .3" dim="3" mass="5" pos="1 2 3"'


def scene(attributes=GRID, inside=ELASTIC, outside="body", joint=""):
    """A flex in a body, or in the world."""
    flex = f"<flexcomp {attributes}>{inside}</flexcomp>"
    if outside == "body":
        flex = f'<body name="b" pos="0 0 10">{joint}<geom size=".1"/>{flex}</body>'
    return f"<mujoco><worldbody>{flex}</worldbody></mujoco>"


def read(text):
    diagnostics = Diagnostics()
    return read_mjcf(text.encode(), diagnostics), diagnostics


def test_an_elastic_grid_is_a_deformable_body_of_its_size_mass_and_material():
    model, diagnostics = read(scene(outside="world"))
    assert not diagnostics.errors and not diagnostics.warnings
    (soft,) = model.deformables
    assert soft.geometry.shape.size == pytest.approx((0.3, 0.4, 0.3))
    assert soft.X_ModelD[:3, 3].tolist() == [1, 2, 3]
    assert soft.config.mass_density() == pytest.approx(5 / (0.3 * 0.4 * 0.3))
    assert (soft.config.youngs_modulus(), soft.config.poissons_ratio()) == (5e4, 0.2)
    assert soft.config.stiffness_damping_coefficient() == 0.002
    assert soft.geometry.properties["material", "coulomb_friction"] == (1, 1)


@pytest.mark.peers("mujoco")
def test_its_mesh_fills_the_box_of_mujocos_vertices():
    import mujoco

    theirs = mujoco.MjModel.from_xml_string(scene(outside="world"))
    data = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    plant = MultibodyPlant(1e-3)
    Parser(plant).AddModels(file_contents=scene(outside="world"), file_type="mjcf")
    plant.Finalize()
    (body,) = plant.elements.deformable_bodies
    vertices = np.reshape(body.reference, (-1, 3))
    for bound in (np.min, np.max):
        np.testing.assert_allclose(bound(vertices, axis=0), bound(data.flexvert_xpos, axis=0), atol=1e-9)
    assert theirs.body_mass.sum() == pytest.approx(5)


def test_a_body_that_never_moves_carries_it():
    model, diagnostics = read(scene())
    assert not diagnostics.errors
    assert model.deformables[0].X_ModelD[:3, 3].tolist() == [1, 2, 13]


def test_a_rigid_flex_is_left_out_with_a_warning():
    model, diagnostics = read(scene(GRID + ' rigid="true"', joint="<freejoint/>"))
    assert (model.deformables, [link.name for link in model.links]) == ((), ["b"])
    (warning,) = diagnostics.warnings
    assert (warning.code, "rigid flex" in warning.message) == ("ELEMENT_UNSUPPORTED", True)


def test_friction_is_that_of_its_contact_and_edges_are_told():
    inside = ELASTIC + '<contact friction="0.3 0.1" selfcollide="none"/><edge damping="1"/>'
    model, diagnostics = read(scene(inside=inside, outside="world"))
    assert model.deformables[0].geometry.properties["material", "coulomb_friction"] == (0.3, 0.3)
    assert "springs, dampers and equalities of edges" in "".join(w.message for w in diagnostics.warnings)


@pytest.mark.parametrize(
    ("attributes", "inside", "joint", "words"),
    [
        (GRID.replace('dim="3"', 'dim="2"'), ELASTIC, "", "its type is grid and its dim 2"),
        (GRID.replace('"grid"', '"box"'), ELASTIC, "", "its type is box and its dim 3"),
        (GRID + ' dof="radial"', ELASTIC, "", "its dof is radial"),
        (GRID + ' scale="2 1 1"', ELASTIC, "", "it is scaled"),
        (GRID, ELASTIC + '<pin id="0"/>', "", "it is pinned"),
        (GRID, "", "", "it has no <elasticity>"),
        (GRID, '<edge equality="true"/>', "", "it has no <elasticity>"),
        (GRID, ELASTIC, '<joint name="j"/>', "it is in a body that moves"),
        (GRID.replace('"4 3 2"', '"4 3 1"'), ELASTIC, "", "at least 2 vertices along each axis"),
        (GRID, ELASTIC.replace("0.2", "0.5"), "", "<elasticity>: "),
        (GRID.replace('name="jelly"', ""), ELASTIC, "", 'must have the attribute "name"'),
    ],
)
def test_what_is_not_read_is_an_error_with_its_cause(attributes, inside, joint, words):
    model, diagnostics = read(scene(attributes, inside, joint=joint))
    assert model is None
    (error,) = diagnostics.errors
    assert words in error.message


def test_names_are_unique():
    text = scene(outside="world").replace("</worldbody>", f"<flexcomp {GRID}>{ELASTIC}</flexcomp></worldbody>")
    assert read(text)[1].errors[0].code == "DUPLICATE_NAME"
