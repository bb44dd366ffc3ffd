"""<attach> of a body or frame of the same MJCF file, <model> named by its file, and what replicas share with others."""

import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.mjcf.read_mjcf import read_mjcf

PARTS = """<mujoco>{defaults}<worldbody>
<body name="o"><joint name="oj"/><geom name="og" size=".1"/><site name="os"/></body>
<frame name="unit" pos="1 0 0" childclass="{around}"><body name="arm" pos="0 0 2"><joint name="j" axis="0 1 0"/>
<geom name="g" size=".2"/><site name="s"/></body></frame>
<frame pos="0 1 0">{attach}</frame></worldbody>{rest}</mujoco>"""
CLASSES = '<default><geom density="500"/><default class="k"><geom density="100"/></default></default>'
FRAME, BODY = '<attach frame="unit" prefix="c_"/>', '<attach body="arm" prefix="c_"/>'
ROW = """<mujoco><worldbody><body name="o"><joint name="oj"/><geom name="og" size=".1"/><site name="os"/></body>
<replicate count="2" offset="1 0 0"><body name="i" pos="0 3 0"><joint name="ij"/><geom name="ig" size=".1"/>
<site name="is"/></body></replicate></worldbody>{}</mujoco>"""
REFERENCES = {
    "motor": '<actuator><motor name="m" joint="j"/></actuator>',
    "exclude": '<contact><exclude body1="arm" body2="o"/></contact>',
    "pair": '<contact><pair geom1="og" geom2="g"/></contact>',
    "equality": '<equality><joint joint1="j" joint2="oj"/><joint joint1="j"/></equality>',
    "fixed": '<tendon><fixed range="0 1"><joint joint="oj" coef="1"/><joint joint="j" coef="1"/></fixed></tendon>',
    "spatial": '<tendon><spatial name="t" stiffness="1"><site site="os"/><site site="s"/></spatial></tendon>',
}


def own(attach=FRAME, rest="", around="main", defaults=CLASSES):
    return PARTS.format(attach=attach, rest=rest, around=around, defaults=defaults)


def replicated(rest):
    """Of the elements that refer to the arm those that refer to what is replicated."""
    for name in ("joint1", "joint", "body1", "geom2", "site"):
        rest = rest.replace(f'{name}="arm"', f'{name}="i"').replace(f'{name}="j"', f'{name}="ij"')
        rest = rest.replace(f'{name}="g"', f'{name}="ig"').replace(f'{name}="s"', f'{name}="is"')
    return ROW.format(rest)


def read(text):
    diagnostics = Diagnostics()
    model = read_mjcf(text if isinstance(text, str) and text.endswith(".xml") else text.encode(), diagnostics)
    return model, diagnostics


def counts(model):
    followers = sum(axis.mimic is not None for joint in model.joints for axis in joint.axes)
    constraints = len(model.constraints) + len(model.force_elements) + followers
    return len(model.actuators), constraints, len(model.contact_pairs)


@pytest.mark.parametrize(("attach", "place"), [(FRAME, [1, 1, 2]), (BODY, [0, 1, 2])])
def test_a_copy_stands_in_the_place_of_the_attach_with_its_prefix(attach, place):
    model, diagnostics = read(own(attach))
    assert not diagnostics.errors and not diagnostics.warnings
    links = {link.name: link for link in model.links}
    assert list(links) == ["o", "arm", "c_arm"]
    assert links["arm"].X_ModelL[:3, 3].tolist() == [1, 0, 2]
    assert links["c_arm"].X_ModelL[:3, 3].tolist() == place
    assert [joint.name for joint in model.joints] == ["oj", "j", "c_j"]
    assert links["c_arm"].inertial.mass == links["arm"].inertial.mass


def test_a_copy_keeps_the_class_of_the_original_and_not_that_of_its_place():
    text = own(f'<frame childclass="k">{BODY}</frame>')
    masses = {link.name: link.inertial.mass for link in read(text)[0].links}
    assert masses["c_arm"] == pytest.approx(masses["arm"])
    masses = {link.name: link.inertial.mass for link in read(own(BODY, around="k"))[0].links}
    assert masses["c_arm"] == pytest.approx(masses["arm"]) == pytest.approx(masses["o"] * 8 / 5)


def test_copies_can_be_copied():
    model, diagnostics = read(own(f'<frame name="two">{FRAME}</frame><attach frame="two" prefix="d_"/>'))
    assert not diagnostics.errors
    assert [link.name for link in model.links] == ["o", "arm", "c_arm", "d_c_arm"]


@pytest.mark.parametrize("kind", REFERENCES)
@pytest.mark.parametrize("form", [own, replicated])
@pytest.mark.peers("mujoco")
def test_what_refers_to_copies_is_there_as_often_as_in_mujoco(form, kind):
    import mujoco

    text = own(rest=REFERENCES[kind]) if form is own else replicated(REFERENCES[kind])
    theirs = mujoco.MjModel.from_xml_string(text)
    model, diagnostics = read(text)
    assert not diagnostics.errors
    assert counts(model) == (theirs.nu, theirs.neq + theirs.ntendon, theirs.npair)
    excluded = {g for g in model.filter_groups if g.ignores}
    assert (kind == "exclude") == bool(excluded)


def test_an_equality_of_a_replica_with_something_else_is_left_out_with_a_warning():
    model, diagnostics = read(ROW.format('<equality><joint joint1="ij" joint2="oj"/></equality>'))
    assert model.constraints == ()
    (finding,) = diagnostics.warnings
    assert (finding.code, "left out, as in MuJoCo" in finding.message) == ("ELEMENT_UNSUPPORTED", True)
    _, diagnostics = read(ROW.format('<equality><joint joint1="ij" joint2="no"/></equality>'))
    assert diagnostics.errors


@pytest.mark.parametrize(
    ("attach", "words"),
    [
        ('<attach prefix="c_"/>', 'must have the attribute "model", "body" or "frame"'),
        ('<attach frame="unit"/>', 'must have the attribute "prefix"'),
        ('<attach frame="unti" prefix="c_"/>', 'there is no frame before the <attach> "unti"; did you mean "unit"?'),
        ('<attach frame="late" prefix="c_"/><frame name="late"/>', 'there is no frame before the <attach> "late"'),
        ('<frame name="in"><attach frame="in" prefix="c_"/></frame>', '<attach> stands in the frame "in"'),
    ],
)
def test_faults_are_errors(attach, words):
    model, diagnostics = read(own(attach))
    assert model is None
    (error,) = diagnostics.errors
    assert words in str(error)


def test_copies_of_copies_are_bounded():
    attaches = "".join(
        f'<frame name="f{k}"><attach frame="f{k - 1}" prefix="a"/><attach frame="f{k - 1}" prefix="b"/></frame>'
        for k in range(1, 40)
    )
    _, diagnostics = read(own(f'<frame name="f0"><body name="x"/></frame>{attaches}'))
    assert "elements with all that is attached" in diagnostics.errors[0].message


@pytest.mark.parametrize(("stated", "name"), [('model="Inner one"', "Inner one"), ("", "MuJoCo Model")])
def test_a_model_without_a_name_has_that_of_its_file(tmp_path, stated, name):
    part = f"""<mujoco {stated}><worldbody><frame name="f" pos="5 0 0"><body name="b"><geom size=".1"/></body></frame>
    <body name="c"><geom size=".1"/></body></worldbody></mujoco>"""
    (tmp_path / "part.xml").write_text(part)
    main = """<mujoco><asset><model file="part.xml"/></asset><worldbody><attach model="{}" prefix="p_"/>
    <attach model="{}" frame="f" prefix="q_"/></worldbody></mujoco>"""
    (tmp_path / "main.xml").write_text(main.format(name, name))
    model, diagnostics = read(str(tmp_path / "main.xml"))
    assert not diagnostics.errors
    assert [link.name for link in model.links] == ["p_b", "p_c", "q_b"]
    (tmp_path / "main.xml").write_text(main.format("part", "part"))
    assert (
        f'there is no <model> of <asset> "part"; did you mean "{name}"?'
        in str(read(str(tmp_path / "main.xml"))[1].errors[0])
        or name
    )


def test_a_site_may_be_called_world_and_a_tendon_as_one_without_a_name_would_be(tmp_path):
    part = """<mujoco model="part"><worldbody><site name="world"/><body name="b"><joint name="j"/><geom size=".1"/>
    <site name="s" pos="1 0 0"/></body></worldbody><tendon><spatial stiffness="1"><site site="world"/><site site="s"/>
    </spatial><spatial name="tendon0" stiffness="1"><site site="s"/><site site="world"/></spatial></tendon></mujoco>"""
    (tmp_path / "part.xml").write_text(part)
    (tmp_path / "main.xml").write_text(
        """<mujoco><asset><model file="part.xml"/></asset><worldbody><attach model="part" prefix="p_"/></worldbody>
        </mujoco>"""
    )
    model, diagnostics = read(str(tmp_path / "main.xml"))
    assert not diagnostics.errors
    assert len(model.force_elements) == 2
