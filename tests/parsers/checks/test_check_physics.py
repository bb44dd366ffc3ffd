"""The physical checks: each condition, its likely cause, and what it leaves alone."""

import numpy as np
import pytest
from mbcli.parsers.checks.inertia import is_possible, matrix, nearest_possible, principal_moments
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models

from mbcli.checks.file_check import check_file


def inertia(xx, yy, zz, xy=0, xz=0, yz=0):
    return f'<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="{xy}" ixz="{xz}" iyz="{yz}"/>'


def link(name, moments=(0.01, 0.01, 0.01), *, mass=1, com="0 0 0", shape='<sphere radius="0.2"/>'):
    geometry = f"<collision><geometry>{shape}</geometry></collision>" if shape else ""
    return (
        f'<link name="{name}"><inertial><origin xyz="{com}"/><mass value="{mass}"/>{inertia(*moments)}</inertial>'
        f"{geometry}</link>"
    )


def joint(child, *, name="j", kind="revolute", parent="base", limit='lower="-1" upper="1"', extra=""):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"<limit {limit}/>{extra}</joint>"
    )


def robot(*parts):
    return f'<robot name="r">{link("base")}{"".join(parts)}</robot>'


def findings(text):
    return check_file(text.encode(), name="r.urdf").findings


def one_finding(text, code):
    found = findings(text)
    assert [f.code for f in found] == [code], [str(f) for f in found]
    return found[0]


# ------------------------------------------------------------------------------------------ impossible inertias


@pytest.mark.parametrize(
    ("moments", "hint"),
    [
        ((1.676, 0.0018, 0.0009), "likely a misplaced decimal point: ixx 0.001676 instead of 1.676"),
        ((0.01, -0.01, 0.01), "likely a wrong sign of iyy"),
        ((0.02, 0.03, 0.014, 0.012, 0, 0), "likely swapped products: ixy 0, ixz 0.012, iyz 0"),
        (
            (0.02, 0.001, 0.001, 0.021, 0.002, 0.022),
            "likely the six numbers are in another order: ixx 0.02, iyy 0.021, izz 0.022, ixy 0.001",
        ),
    ],
)
def test_an_impossible_inertia_gets_its_likely_cause(moments, hint):
    finding = one_finding(robot(link("a", moments), joint("a")), "LINK_INERTIA_INVALID")
    assert finding.severity == "error"
    assert finding.hint.startswith(hint)
    assert "; the nearest possible inertia is ixx " in finding.hint


def test_an_inertia_shifted_twice_is_recognised():
    """About the centre of mass it is (0.01, 0.01, 0.01); what the way to the origin adds was taken off again."""
    text = robot(link("a", (0.01 - 0.09, 0.01 - 0.09, 0.01), com="0 0 0.3"), joint("a"))
    assert "shifted twice" in one_finding(text, "LINK_INERTIA_INVALID").hint


def test_the_message_states_the_condition_and_the_principal_moments():
    finding = one_finding(robot(link("a", (0.001, 0.002, 0.004)), joint("a")), "LINK_INERTIA_INVALID")
    assert finding.message == (
        "the principal moments of inertia 0.001, 0.002, 0.004 kg m^2 break the triangle inequality: "
        "0.001 + 0.002 < 0.004"
    )
    assert finding.xpath == "/robot[@name='r']/link[@name='a']/inertial"


def test_the_nearest_inertia_is_possible_and_a_possible_one_is_its_own_nearest():
    random = np.random.default_rng(3)
    for _ in range(200):
        values = tuple(random.normal(size=6).tolist())
        nearest = nearest_possible(values)
        assert is_possible(nearest)
        if is_possible(values):
            np.testing.assert_allclose(nearest, values, atol=1e-14)
    assert is_possible(nearest_possible((1e300, 0.0, 0.0, 1e300, 0.0, 0.0)))


def test_principal_moments_are_eigenvalues_at_any_scale():
    values = (3.0, 2.0, 1.5, 0.2, -0.1, 0.3)
    expected = np.linalg.eigvalsh(matrix(values))
    for scale in (1.0, 1e-200, 1e250):
        (moments,) = principal_moments([tuple(scale * v for v in values)])
        np.testing.assert_allclose(moments, scale * expected, rtol=1e-12)


@pytest.mark.parametrize("moments", [(0.01, 0.01, 0), (0.01, 0.01, 0.02), (0.0100001, 0.01, 0.02000011)])
def test_rods_discs_and_rounded_numbers_are_possible(moments):
    assert findings(robot(link("a", moments), joint("a"))) == []


# ----------------------------------------------------------------------------------- inertias of a wrong size


@pytest.mark.parametrize(
    ("exponent", "unit"), [(3, "g m^2"), (6, "kg mm^2"), (9, "g mm^2"), (4, "kg cm^2"), (7, "g cm^2")]
)
def test_a_unit_is_recognised_by_the_geometry(exponent, unit):
    moment = 0.4 * 0.2**2 * 0.9 * 10**exponent  # a ball of 1 kg
    finding = one_finding(robot(link("a", (moment,) * 3), joint("a")), "INERTIA_IMPLAUSIBLE")
    assert finding.severity == "warning"
    assert finding.hint.endswith(f"would fit, as if it were given in {unit}")
    assert f"1e-{exponent} times the inertia" in finding.hint


def test_an_inertia_about_the_origin_of_the_link_is_recognised():
    moment = 0.4 * 0.1**2
    far = moment + 0.5**2
    text = robot(
        link("a", (far, far, moment), com="0 0 0.5", shape=None).replace(
            "</link>",
            '<collision><origin xyz="0 0 0.5"/><geometry><sphere radius="0.1"/></geometry></collision></link>',
        ),
        joint("a"),
    )
    assert "not the link's origin" in one_finding(text, "INERTIA_IMPLAUSIBLE").hint


def test_without_geometry_only_an_absurd_size_is_implausible():
    big = link("a", (9.0,) * 3, shape=None)
    assert findings(robot(big, joint("a"))) == []
    big = link("a", (101.0,) * 3, shape=None)
    assert "10 m" in one_finding(robot(big, joint("a")), "INERTIA_IMPLAUSIBLE").message
    mesh = link("a", (9.0,) * 3, shape='<mesh filename="x.stl"/>')
    assert [f.code for f in findings(robot(mesh, joint("a")))] == ["URI_LOOKUP"]


def test_a_small_wrong_inertia_on_a_heavy_body_is_only_noted():
    dummy = link("camera", (1e-3,) * 3, mass=0.01, shape='<sphere radius="0.01"/>')
    heavy = link("a", (0.2,) * 3, mass=20)
    fixed = '<joint name="k" type="fixed"><parent link="a"/><child link="camera"/></joint>'
    finding = one_finding(robot(heavy, joint("a"), dummy, fixed), "INERTIA_PLACEHOLDER")
    assert finding.severity == "note"
    alone = robot(heavy, joint("a"), dummy, joint("camera", name="k", parent="a"))
    assert one_finding(alone, "INERTIA_IMPLAUSIBLE").severity == "warning"


def test_one_number_put_in_for_many_links_is_one_finding():
    """As in hands: 0.001 kg m^2 about every axis of links of some grams."""
    ball = '<sphere radius="0.01"/>'

    def hand(*fingers):
        links = (link(f"f{k}", moments, mass=mass, shape=ball) for k, (moments, mass) in enumerate(fingers))
        joints = (joint(f"f{k}", name=f"j{k}") for k in range(len(fingers)))
        return robot(*links, *joints)

    numbers = [((1e-3,) * 3, 0.009), ((1e-3, 1.001e-3, 1.002e-3), 0.015), ((9.99e-4, 1e-3, 1e-3), 0.01)]
    finding = one_finding(hand(*numbers), "INERTIA_IMPLAUSIBLE")
    assert (finding.severity, len(finding.related)) == ("warning", 2)
    assert 'link "f0": the radius of gyration 0.333 m' in finding.message
    assert finding.message.endswith("; 2 more links have the same about every axis")
    assert finding.hint.startswith("a number put in for all of them")
    # balls of one mass in another unit, and numbers that differ
    finding = one_finding(hand(((1.2e-3,) * 3, 0.03), ((1.2e-3,) * 3, 0.03)), "INERTIA_IMPLAUSIBLE")
    assert "1e-3 times the inertia" in finding.hint
    for other in (((2e-3,) * 3, 0.01), ((1e-3, 1e-3, 1.5e-3), 0.01)):
        codes = [finding.code for finding in findings(hand(numbers[0], other))]
        assert codes == ["INERTIA_IMPLAUSIBLE"] * 2


def test_what_marks_a_place_says_nothing_of_mass():
    """A box of 1 cm that is seen and not touched, of a part of 0.1 kg."""
    marker = '<visual><geometry><box size="0.01 0.01 0.01"/></geometry></visual></link>'
    part = link("a", (8e-5,) * 3, mass=0.15, com="0 0 -0.05", shape=None).replace("</link>", marker)
    assert findings(robot(part, joint("a"))) == []
    light = part.replace('mass value="0.15"', 'mass value="0.09"')
    assert "COM_OUTSIDE_GEOMETRY" in [finding.code for finding in findings(robot(light, joint("a")))]
    touched = part.replace("visual>", "collision>")
    assert "COM_OUTSIDE_GEOMETRY" in [finding.code for finding in findings(robot(touched, joint("a")))]
    larger = part.replace("0.01 0.01 0.01", "0.017 0.017 0.017")
    assert "COM_OUTSIDE_GEOMETRY" in [finding.code for finding in findings(robot(larger, joint("a")))]


@pytest.mark.parametrize(("mass", "is_told"), [(0.001, False), (0.019, False), (0.021, True), (1.0, True)])
def test_the_centre_of_a_mass_that_does_not_count_is_no_finding(mass, is_told):
    logo = link("logo", (1e-4,) * 3, mass=mass, com="0 0 0.95")
    fixed = '<joint name="k" type="fixed"><parent link="a"/><child link="logo"/></joint>'
    codes = [finding.code for finding in findings(robot(link("a", (0.2,) * 3, mass=20), joint("a"), logo, fixed))]
    assert ("COM_OUTSIDE_GEOMETRY" in codes) == is_told


@pytest.mark.parametrize(
    ("limits", "is_told"),
    [
        ((-31.415, 31.415), False),  # ten halves of a turn
        ((-31.4159265, 31.4159265), False),
        ((0, 62.8318), False),
        ((-28.274, 31.416), False),
        ((-31.4, 31.4), True),
        ((-180, 180), True),
        ((-355, 355), True),  # 113 pi and an integer
        ((-31.415, 90), True),
        ((-43.5, 43.5), True),
    ],
)
def test_limits_of_whole_turns_are_in_radians(limits, is_told):
    text = robot(link("a"), joint("a", limit=f'lower="{limits[0]}" upper="{limits[1]}"'))
    assert ("JOINT_LIMIT_UNIT" in [finding.code for finding in findings(text)]) == is_told


def test_what_is_fixed_to_the_world_may_have_any_size():
    text = robot(link("a", (1e3,) * 3), '<joint name="w" type="fixed"><parent link="world"/><child link="a"/></joint>')
    assert [f.code for f in findings(text)] == ["MODEL_SEVERAL_TREES"]


def test_point_masses_are_noted():
    for moments in ((0, 0, 0), (1e-20,) * 3):
        text = robot(link("a", moments, com="0 0.1 0"), joint("a"))
        assert one_finding(text, "INERTIA_ZERO").severity == "note"


def test_a_link_of_an_sdf_file_without_inertial_is_named():
    text = "<sdf version='1.9'><model name='m'><link name='a'/></model></sdf>"
    finding = one_finding(text, "INERTIA_ALL_DEFAULT")
    assert finding.message == 'link "a" has no inertial: 1 kg and 1 kg m^2 about every axis are taken'
    assert findings(text.replace("<link", "<static>true</static><link")) == []


# ------------------------------------------------------------------------------------------- centres of mass


def test_a_centre_of_mass_away_from_the_geometry():
    text = robot(link("a", com="0 0 0.95"), joint("a"))
    finding = one_finding(text, "COM_OUTSIDE_GEOMETRY")
    assert finding.message == 'link "a": the centre of mass is 0.75 m away from the geometry, which is 0.693 m across'
    assert (finding.element, finding.severity) == ("origin", "warning")


def test_a_centre_of_mass_near_the_geometry_or_beside_an_unknown_one_is_no_fault():
    assert findings(robot(link("a", com="0 0 0.5"), joint("a"))) == []
    assert findings(robot(link("a", com="0 0 5", shape=None), joint("a"))) == []


# -------------------------------------------------------------------------------------------------- masses


def test_massless_links_are_legal_where_mass_moves_with_them():
    across = joint("b", name="k", parent="a", extra='<axis xyz="0 1 0"/>')
    assert findings(robot('<link name="a"/>', joint("a"), link("b"), across)) == []
    assert findings(robot('<link name="a"/>', joint("a", kind="fixed", extra="").replace("<limit", "<!-- ")
                          .replace('upper="1"/>', "-->"))) == []  # fmt: skip
    assert one_finding(robot('<link name="a"/>', joint("a")), "MOVING_MASS_MISSING").severity == "warning"


def test_several_joints_without_mass_are_one_finding():
    parts = [part for name in "abc" for part in (f'<link name="{name}"/>', joint(name, name=f"j{name}"))]
    finding = one_finding(robot(*parts), "MOVING_MASS_MISSING")
    assert finding.message.startswith('joint "ja" moves link "a", ')
    assert finding.message.endswith(" (and 2 more joints)")
    assert len(finding.related) == 2


def test_the_inertia_of_a_rotor_stands_in_for_mass():
    drive = (
        "<transmission><type>SimpleTransmission</type><joint name='j'/><actuator name='m'>"
        "<drake:rotor_inertia value='1'/></actuator></transmission>"
    )
    text = robot('<link name="a"/>', joint("a"), drive).replace("<robot", '<robot xmlns:drake="http://drake.mit.edu"')
    assert findings(text) == []
    one_finding(text.replace("value='1'", "value='0'"), "MOVING_MASS_MISSING")


def test_a_model_without_any_mass_gets_one_note():
    assert one_finding('<robot name="r"><link name="a"/></robot>', "MASSLESS_LINK_FIXED").severity == "note"
    text = f'<robot name="r"><link name="base"/><link name="a"/>{joint("a")}</robot>'
    assert one_finding(text, "MODEL_WITHOUT_MASS").severity == "note"


@pytest.mark.parametrize(("mass", "code"), [(0, "INERTIA_WITHOUT_MASS"), (1e6, "INERTIA_ZERO")])
def test_an_inertia_that_is_nothing_is_no_impossible_one(mass, code):
    """Moments of -1e-7, 0 and 2e-7 kg m^2 are noise beside 1000 t."""
    across = joint("b", name="k", parent="a", extra='<axis xyz="0 1 0"/>')
    one_finding(robot(link("a", (-1e-7, 0, 2e-7), mass=mass, shape=None), joint("a"), link("b"), across), code)


# -------------------------------------------------------------------------------------------------- limits


@pytest.mark.parametrize(
    ("kind", "limit", "code", "severity"),
    [
        ("revolute", 'lower="-170" upper="170"', "JOINT_LIMIT_UNIT", "warning"),
        ("prismatic", 'lower="0" upper="300"', "JOINT_LIMIT_LONG", "warning"),
        ("revolute", 'lower="0.5" upper="0.5"', "JOINT_RANGE_ZERO", "warning"),
        ("revolute", 'lower="0.5" upper="1"', "JOINT_DEFAULT_OUTSIDE_LIMITS", "note"),
        ("revolute", 'lower="0" upper="1" effort="0"', "JOINT_LIMIT_ZERO", "note"),
        ("revolute", 'lower="0" upper="1" velocity="0"', "JOINT_LIMIT_ZERO", "note"),
        ("revolute", 'lower="0" upper="1" effort="1e9"', "JOINT_LIMIT_IMPLAUSIBLE", "note"),
        ("revolute", 'lower="0" upper="1" velocity="1e9"', "JOINT_LIMIT_IMPLAUSIBLE", "note"),
        ("revolute", 'lower="0" upper="1" velocity="-1"', "JOINT_LIMIT_NEGATIVE", "note"),
        ("revolute", 'lower="1" upper="0"', "JOINT_LIMIT_INVALID", "error"),
    ],
)
def test_limits_that_a_joint_does_not_have(kind, limit, code, severity):
    finding = one_finding(robot(link("a"), joint("a", kind=kind, limit=limit)), code)
    assert (finding.severity, finding.element) == (severity, "limit")


@pytest.mark.parametrize("limit", ['lower="-25" upper="25"', 'lower="-1e6" upper="1e6"', 'lower="0" upper="6.28"'])
def test_limits_that_a_joint_may_have(limit):
    assert findings(robot(link("a"), joint("a", limit=limit))) == []


def test_limits_in_degrees_are_shown_in_radians():
    finding = one_finding(robot(link("a"), joint("a", limit='lower="-180" upper="90"')), "JOINT_LIMIT_UNIT")
    assert finding.hint == "are they in degrees? In radians they would be [-3.142, 1.571]"


# ------------------------------------------------------------------------------------------- loops, followers


def test_a_loop_is_described_with_its_links_and_where_it_is_cut():
    text = """<sdf version='1.9'><model name='m'>
      <link name='a'><inertial/></link><link name='b'><inertial/></link><link name='c'><inertial/></link>
      <joint name='ab' type='revolute'><parent>a</parent><child>b</child><axis/></joint>
      <joint name='bc' type='revolute'><parent>b</parent><child>c</child><axis/></joint>
      <joint name='ca' type='revolute'><parent>c</parent><child>a</child><axis/></joint>
    </model></sdf>"""
    loops = [f for f in findings(text) if f.code == "LOOP_CUT"]
    assert len(loops) == 1
    assert loops[0].severity == "note"
    assert "closes a loop of 3 links" in loops[0].message
    assert {"a", "b", "c"} <= set(loops[0].message.replace(",", "").replace(":", "").split())


def test_followers_are_noted_once_and_their_limits_compared():
    leader = joint("a", limit='lower="-1" upper="2"')

    def follower(limit):
        return joint("b", name="k", limit=limit, extra='<mimic joint="j" multiplier="-2" offset="1"/>')

    parts = link("a"), link("b"), leader
    assert one_finding(robot(*parts, follower('lower="-3" upper="3"')), "JOINT_COUPLED").severity == "note"
    codes = [f.code for f in findings(robot(*parts, follower('lower="-2" upper="3"')))]
    assert sorted(codes) == ["JOINT_COUPLED", "MIMIC_EXCEEDS_LIMITS"]


# ---------------------------------------------------------------------------------------------------- names


def test_names_that_make_trouble():
    assert one_finding(robot(link("a::b"), joint("a::b")), "RESERVED_NAME").severity == "note"
    assert one_finding(robot(link("__a__"), joint("__a__")), "RESERVED_NAME").severity == "note"
    for name in ("a ", "a\u200bb", "\u202ea"):
        assert one_finding(robot(link(name), joint(name)), "NAME_UNPRINTABLE").severity == "warning"
    assert findings(robot(link("関節 1"), joint("関節 1"))) == []


# -------------------------------------------------------------------------------------------- when and how


def test_physical_findings_come_together_with_errors_of_the_parse():
    bad = link("a", (1.676, 0.0018, 0.0009)) + joint("a", limit='lower="x" upper="1"')
    found = {f.code: f for f in findings(robot(bad, link("b", mass="nan"), joint("b", name="k")))}
    assert set(found) == {"LINK_INERTIA_INVALID", "ATTRIBUTE_INVALID"}


def test_a_value_that_could_not_be_read_has_no_other_finding():
    assert one_finding(robot(link("a", mass="1,5"), joint("a")), "ATTRIBUTE_INVALID").value == "1,5"
    assert one_finding(robot(link("a", ("x", 1, 1)), joint("a")), "ATTRIBUTE_INVALID").value == "x"


def test_a_model_that_is_only_loaded_is_warned_of_and_used():
    text = robot(link("a", (0.001, 0.002, 0.004)), joint("a", limit='lower="-170" upper="0.5"'))
    diagnostics = Diagnostics()
    assert len(load_models(text.encode(), diagnostics=diagnostics)) == 1
    assert [(f.code, f.severity) for f in diagnostics.findings] == [
        ("LINK_INERTIA_INVALID", "warning"),
        ("JOINT_LIMIT_UNIT", "warning"),
    ]


# ----------------------------------------------------------------------------------------- versions, meshes


@pytest.mark.parametrize(
    ("text", "attribute", "version"),
    [
        ('<robot name="r"><link name="a"><visual><origin quat_xyzw="0 0 0 1"/><geometry><sphere radius="1"/>'
         "</geometry></visual></link></robot>", "quat_xyzw", "1.1"),
        ("<sdf version='1.6'><model name='m'><link name='a'><pose degrees='1'>0 0 0 0 0 0</pose></link></model></sdf>",
         "degrees", "1.9"),
    ],
)  # fmt: skip
def test_features_newer_than_the_stated_version(text, attribute, version):
    found = [f for f in findings(text) if f.code == "VERSION_FEATURE"]
    assert [f.attribute for f in found] == [attribute]
    assert f"came with version {version}" in found[0].message
    newer = text.replace("'1.6'", f"'{version}'").replace('name="r"', f'name="r" version="{version}"')
    assert [f for f in findings(newer) if f.code == "VERSION_FEATURE"] == []


def mesh_findings(tmp_path, name, content, scale="1 1 1"):
    (tmp_path / name).write_bytes(content)
    path = tmp_path / "r.urdf"
    path.write_text(robot(link("a", shape=f'<mesh filename="{name}" scale="{scale}"/>'), joint("a")))
    return check_file(str(path), mesh_files=True).findings


OBJ = b"v 0 0 0\nv 200 0 0\nv 0 300 0\nv 0 0 400\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def test_meshes_are_opened_only_when_asked(tmp_path):
    (tmp_path / "m.obj").write_bytes(b"nonsense")
    path = tmp_path / "r.urdf"
    path.write_text(robot(link("a", shape='<mesh filename="m.obj"/>'), joint("a")))
    assert check_file(str(path)).findings == []


def test_a_mesh_in_millimetres_is_noticed(tmp_path):
    codes = [f.code for f in mesh_findings(tmp_path, "m.obj", OBJ)]
    assert "MESH_SIZE" in codes
    assert "MESH_SIZE" not in [f.code for f in mesh_findings(tmp_path, "m.obj", OBJ, scale="0.001 0.001 0.001")]


def test_a_mesh_tells_how_far_its_link_reaches(tmp_path):
    (finding,) = mesh_findings(tmp_path, "m.obj", OBJ, scale="0.00005 0.00005 0.00005")
    assert finding.code == "INERTIA_IMPLAUSIBLE"


def test_a_mesh_that_cannot_be_read_is_a_warning(tmp_path):
    (finding,) = mesh_findings(tmp_path, "m.stl", b"nonsense")
    assert (finding.code, finding.severity) == ("MESH_UNREADABLE", "warning")
    (finding,) = mesh_findings(tmp_path, "m.exe", b"nonsense")
    assert "not '.exe'" in finding.message


COLLADA = b"""<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="inch" meter="0.0254"/><up_axis>Y_UP</up_axis></asset><library_geometries><geometry><mesh>
<source id="p"><float_array>0 0 0 1 0 0 0 1 0</float_array></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
</mesh></geometry></library_geometries></COLLADA>"""


def test_unit_and_up_axis_of_collada_files_are_noted(tmp_path):
    codes = [f.code for f in mesh_findings(tmp_path, "m.dae", COLLADA)]
    assert {"MESH_UNIT", "MESH_UP_AXIS"} <= set(codes)
