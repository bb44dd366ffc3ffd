"""Sizes that no body has end in a result or in a line that names them, never in an internal error."""

import itertools

import pytest
from command_line import cli

from mbcli.errors import ModelError
from mbcli.geometry.hydroelastic_shapes import rigid_surface_of, soft_solid_of
from mbcli.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Sphere
from mbcli.geometry.tetrahedral_shapes import volume_mesh_of

LENGTHS = (1e-300, 1e-30, 1e30, 1e100, 1e300)
SDF = """<sdf version="1.9" xmlns:drake="drake.mit.edu"><model name="m"><pose>0 0 1 0 0 0</pose><link name="a">{}
<collision name="c"><geometry><box><size>{} {} {}</size></box></geometry><drake:proximity_properties>
<drake:mesh_resolution_hint>0.1</drake:mesh_resolution_hint></drake:proximity_properties></collision></link></model>
</sdf>"""
ELASTIC = "<drake:deformable_properties><drake:youngs_modulus>1e5</drake:youngs_modulus></drake:deformable_properties>"


def shapes(s):
    yield from (Box(s, s, s), Box(s, 1.0, 1.0), Sphere(s), Ellipsoid(s, s, s), Ellipsoid(s, 1.0, 1.0))
    yield from (Cylinder(s, s), Cylinder(s, 1.0), Cylinder(1.0, s), Capsule(s, s), Capsule(s, 1.0), Capsule(1.0, s))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("make", [volume_mesh_of, soft_solid_of, rigid_surface_of])
def test_a_hint_of_any_size_makes_elements_or_is_refused(make):
    refused = 0
    for size, hint in itertools.product(LENGTHS, LENGTHS):
        for shape in shapes(size):
            try:
                make(shape, hint)
            except ModelError:
                refused += 1
    assert refused > 50
    with pytest.raises(ModelError, match="the most are 1000000: use a larger one"):
        make(Cylinder(1e30, 1e30), 0.1)


@pytest.mark.parametrize("command", ["check", "inspect", "contact", "mass-matrix", "energy", "linearize", "simulate"])
def test_an_elastic_box_of_1e30_m_is_refused_in_one_line(command, tmp_path, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    file = tmp_path / "box.sdf"
    file.write_text(SDF.format(ELASTIC, *3 * ["1e30"]))
    result = cli(command, file, *(("-t", "0.002", "--no-log") if command == "simulate" else ()))
    assert result.code == (1 if command == "check" else 3)
    assert "the resolution hint 0.1 m makes" in result.out + result.err


@pytest.mark.parametrize("size", ["1e-160", "1e-300"])
@pytest.mark.parametrize("command", [("contact",), ("simulate", "-t", "0.002", "--no-log")])
def test_a_box_smaller_than_any_body_meets_the_ground(command, size, tmp_path, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    file = tmp_path / "box.sdf"
    file.write_text(SDF.format("", *3 * [size]))
    result = cli(command[0], file, "--ground", *command[1:])
    assert result.code == 0, result.err


@pytest.mark.parametrize("spacing", ["1e-160", "1e-300"])
def test_an_elastic_grid_without_a_density_is_an_error_of_its_file(spacing, tmp_path):
    file = tmp_path / "flex.xml"
    file.write_text(
        f"""<mujoco><worldbody><flexcomp type="grid" count="3 3 3" spacing="{spacing} {spacing} {spacing}" dim="3"
        name="f" mass="1"><elasticity young="1e4" poisson="0.3"/></flexcomp></worldbody></mujoco>"""
    )
    result = cli("check", file)
    assert result.code == 1 and "flex.xml:1:" in result.out and "no finite density" in result.out


ARM = """<robot name="m"><link name="world"/><link name="a"><inertial><origin xyz="{com} 0 0"/><mass value="{mass}"/>
<inertia ixx="{moments[0]}" iyy="{moments[1]}" izz="{moments[2]}" ixy="{product}" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="world"/><child link="a"/><axis xyz="0 1 0"/></joint></robot>"""
FREE = """<mujoco><worldbody><body><freejoint/><inertial pos="0 0 0" mass="{mass}"
diaginertia="{moments[0]} {moments[1]} {moments[2]}"/></body></worldbody></mujoco>"""
UNIT = {"com": "0", "mass": "1", "moments": "111", "product": "0"}
INERTIAS = {
    "negative mass": {"mass": "-1"},
    "negative moment": {"moments": ("1", "-1e10", "1")},
    "product beyond moments": {"product": "1e100"},
    "no mass": {"mass": "0", "moments": "000"},
    "no moment": {"moments": ("1", "1", "0")},
    "hardly any mass": {"mass": "1e-320", "moments": "000"},
    "most mass": {"mass": "1e100"},
    "far away": {"com": "1e100"},
}
COMMANDS = [("linearize",), ("linearize", "--discrete"), ("forward-dynamics",), ("mass-matrix", "--inverse")]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("model", [ARM, FREE], ids=["arm", "free"])
@pytest.mark.parametrize("inertia", INERTIAS)
@pytest.mark.parametrize("command", [*COMMANDS, ("simulate", "-t", "0.002", "--no-log", "--hold")], ids=" ".join)
def test_masses_that_make_no_positive_mass_matrix_are_named_or_solved(command, inertia, model, tmp_path, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    file = tmp_path / ("arm.urdf" if model is ARM else "free.xml")
    file.write_text(model.format(**{**UNIT, **INERTIAS[inertia]}))
    result = cli(command[0], file, *command[1:])
    assert result.code in (0, 2, 3, 5), result.err
    if result.code == 0:
        assert "nan" not in result.out.lower()
    else:
        assert "error: " in result.err
