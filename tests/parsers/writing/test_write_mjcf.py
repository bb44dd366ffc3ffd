"""MJCF documents: what each element of a model becomes, and that the reader of MJCF has it back."""

import numpy as np
import pytest
from lxml import etree
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.writing.conversion import converted

PACKAGES = PackageMap(missing_meshes="ignore")
INERTIAL = '<inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1"/></inertial>'


def link(name, content=INERTIAL):
    return f'<link name="{name}">{content}</link>'


def joint(name, kind, parent, child, content='<axis xyz="0 0 1"/>'):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{content}</joint>'


def urdf(*parts):
    return f'<robot name="r" xmlns:drake="http://drake.mit.edu">{"".join(parts)}</robot>', "urdf"


def sdf(content):
    return f'<sdf version="1.11" xmlns:drake="http://drake.mit.edu"><model name="m">{content}</model></sdf>', "sdf"


def mjcf(content):
    return f"<mujoco>{content}</mujoco>", "mjcf"


def read(text, input_format):
    diagnostics = Diagnostics()
    (model,) = load_models(text.encode(), input_format=input_format, packages=PACKAGES, diagnostics=diagnostics)
    assert not diagnostics.errors
    return model


def written(source):
    """(root of the document, losses as (kind, code, message), model as it is read)."""
    conversion = converted(read(*source), "mjcf", packages=PACKAGES, folder=".")
    losses = [(loss.kind, loss.code, loss.message) for loss in conversion.losses]
    return etree.fromstring(conversion.text), losses, read(conversion.text.decode(), "mjcf")


def numbers(node, name):
    return [float(word) for word in node.get(name).split()]


def with_inertia(*moments, mass=1.0, rpy="0 0 0"):
    names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    values = (*moments, *(0.0,) * (6 - len(moments)))
    stated = " ".join(f'{name}="{value!r}"' for name, value in zip(names, values, strict=True))
    origin = f'<origin xyz="0.1 0.2 0.3" rpy="{rpy}"/>'
    return f'<inertial>{origin}<mass value="{mass}"/><inertia {stated}/></inertial>'


# ------------------------------------------------------------------------------------------ inertias


def test_numbers_of_an_inertial_stay_as_the_file_has_them():
    root, losses, _ = written(urdf(link("a", with_inertia(0.3, 0.31, 0.29, 0.01, -0.02, 0.003))))
    inertial = root.find(".//inertial")
    assert inertial.get("fullinertia") == "0.3 0.31 0.29 0.01 -0.02 0.003" and inertial.get("pos") == "0.1 0.2 0.3"
    assert losses == []
    inertial = written(urdf(link("a", with_inertia(0.3, 0.31, 0.29, rpy="0 0 0.5"))))[0].find(".//inertial")
    assert inertial.get("diaginertia") == "0.3 0.31 0.29" and inertial.get("euler") == "0 0 0.5"


def test_products_in_a_turned_frame_are_turned_into_that_of_the_body():
    source = urdf(link("a", with_inertia(0.3, 0.31, 0.29, 0.01, -0.02, 0.003, rpy="0.3 -0.2 0.5")))
    root, _, model = written(source)
    (before,), (after,) = read(*source).links, model.links
    R = before.inertial.X_LI[:3, :3]
    assert root.find(".//inertial").get("euler") is None
    np.testing.assert_allclose(R @ tensor(before.inertial) @ R.T, tensor(after.inertial), rtol=0, atol=1e-16)


def test_an_inertia_too_small_for_a_fullinertia_has_its_principal_axes():
    source = urdf(link("a", with_inertia(3e-13, 4e-13, 5e-13, 5e-14, -4e-14, 3e-14, mass=1e-6, rpy="0.3 0 0")))
    root, losses, model = written(source)
    assert root.find(".//inertial").get("fullinertia") is None and losses == []
    frames = [(link.inertial.X_LI[:3, :3], tensor(link.inertial)) for link in (*read(*source).links, *model.links)]
    before, after = (R @ I @ R.T for R, I in frames)
    np.testing.assert_allclose(before, after, rtol=0, atol=1e-27)


def tensor(inertial):
    xx, yy, zz, xy, xz, yz = inertial.inertia
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def test_an_inertia_that_mujoco_refuses_is_a_loss_of_motion_that_names_the_link():
    root, losses, _ = written(urdf(link("lopsided", with_inertia(1.0, 1.0, 3.0))))
    ((kind, code, message),) = losses
    assert (kind, code) == ("motion", "INERTIA") and "'lopsided'" in message and "1, 1, 3 kg m^2" in message
    np.testing.assert_allclose(numbers(root.find(".//inertial"), "diaginertia"), 5.0 / 3.0)


def test_an_inertia_on_the_edge_is_moved_off_it_by_rounding_alone():
    root, losses, _ = written(urdf(link("plate", with_inertia(1.0, 1.0, 2.0000000001))))
    ((kind, code, message),) = losses
    assert (kind, code) == ("changed", "INERTIA") and "'plate'" in message
    x, y, z = numbers(root.find(".//inertial"), "diaginertia")
    assert x + y >= z and max(x - 1.0, z - 2.0) < 1e-9
    assert written(urdf(link("plate", with_inertia(1.0, 1.0, 2.0))))[1] == []  # it is possible, if only just


def test_what_moves_without_mass_gets_a_little_but_not_what_a_weld_gives_it():
    chain = (link("a"), link("cross", box("visual")), link("b"))
    hinges = joint("j", "continuous", "a", "cross"), joint("k", "continuous", "cross", "b", '<axis xyz="1 0 0"/>')
    root, losses, _ = written(urdf(*chain, *hinges))
    assert [entry[:2] for entry in losses] == [("changed", "INERTIA")] and "'cross'" in losses[0][2]
    assert root.find(".//body[@name='cross']/inertial").get("mass") == "1e-12"
    welded = joint("j", "continuous", "a", "cross"), joint("k", "fixed", "cross", "b", "")
    root, losses, _ = written(urdf(*chain, *welded))
    assert [entry[1] for entry in losses] == ["NAME"] and root.find(".//body[@name='cross']/inertial") is None


# -------------------------------------------------------------------------------------------- joints

BALL = '<drake:joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/>{4}</drake:joint>'


def test_joints_of_several_axes_are_joints_of_one_body():
    axis = '<axis xyz="0 0 1"/>'
    parts = [
        joint("flat", "planar", "a", "b", f'{axis}<dynamics damping="1 2 3"/>'),
        BALL.format("cross", "universal", "b", "c", '<dynamics damping="0.5"/>'),
        BALL.format("thread", "screw", "c", "d", f'{axis}<drake:screw_thread_pitch value="0.2"/>'),
        BALL.format("ball", "ball", "d", "e", '<dynamics damping="0.1"/>'),
    ]
    root, losses, _ = written(urdf(*map(link, "abcde"), *parts))
    found = {
        node.get("name"): (node.get("type"), node.get("damping")) for node in root.iter("joint") if node.get("name")
    }
    assert found == {
        "flat_x": ("slide", "1"),
        "flat_y": ("slide", "2"),
        "flat_qz": (None, "3"),
        "cross_qx": (None, "0.5"),
        "cross_qy": (None, "0.5"),
        "thread": (None, None),
        "thread_travel": ("slide", None),
        "ball": ("ball", "0.1"),
    }
    coupled = root.find("equality/joint")
    assert (coupled.get("joint1"), coupled.get("joint2")) == ("thread_travel", "thread")
    np.testing.assert_allclose(numbers(coupled, "polycoef"), [0.0, 0.2 / (2 * np.pi), 0, 0, 0])
    assert [message for _, code, message in losses if code == "JOINT"] == [
        "planar joint 'flat' is the joints 'flat_x', 'flat_y', 'flat_qz' of one body, read with 'b0' and 'b1' "
        "between them",
        "universal joint 'cross' is the joints 'cross_qx', 'cross_qy' of one body, read with 'c0' between them",
        "screw joint 'thread' is the joints 'thread', 'thread_travel' of one body, read with 'd0' between them",
    ]


def test_joints_with_nothing_between_them_stand_on_one_body():
    chain = (link("a"), link("cross", ""), link("b"))
    turned = '<origin xyz=".1 .2 .3" rpy=".4 .5 .6"/><axis xyz="1 0 0"/>'
    hinges = joint("j", "continuous", "a", "cross"), joint("k", "continuous", "cross", "b", turned)
    root, losses, model = written(urdf(*chain, *hinges))
    assert losses == [
        ("changed", "LINK", "link 'cross' is none, of which two joints stand on one body; it is read as 'b0'")
    ]
    assert [node.get("name") for node in root.find(".//body[@name='b']").iter("joint")] == ["j", "k"]
    assert [link.name for link in model.links] == ["a", "b", "b0"]
    again, losses, _ = written((etree.tostring(root).decode(), "mjcf"))
    assert losses == [] and again.find(".//body[@name='b0']") is None


def test_limits_damping_friction_spring_and_start_of_a_joint():
    content = (
        '<link name="a"/><link name="b"/><joint name="j" type="revolute"><parent>a</parent><child>b</child><axis>'
        "<xyz>0 1 0</xyz><limit><lower>-1</lower><upper>2</upper><effort>7</effort></limit><dynamics>"
        "<damping>.3</damping><friction>.4</friction><spring_reference>.5</spring_reference><spring_stiffness>6</spring_stiffness></dynamics>"
        "</axis></joint>"
    )
    root, _, model = written(sdf(content))
    node = root.find(".//joint[@name='j']")
    names = ("axis", "range", "damping", "frictionloss", "springref", "stiffness")
    assert [node.get(name) for name in names] == ["0 1 0", "-1 2", "0.3", "0.4", "0.5", "6"]
    (axis,) = next(joint for joint in model.joints if joint.name == "j").axes
    assert (axis.lower, axis.upper, axis.spring_reference, axis.spring_stiffness) == (-1.0, 2.0, 0.5, 6.0)


def test_a_follower_is_an_equality_between_joints_wherever_they_start():
    source = mjcf(
        '<worldbody><body name="a"><joint name="lead" ref="0.2"/><geom size="1"/>'
        '<body name="b"><joint name="led" ref="0.5"/><geom size="1"/></body></body></worldbody>'
        '<equality><joint joint1="led" joint2="lead" polycoef="0.1 -2 0 0 0"/></equality>'
    )
    root, _, model = written(source)
    np.testing.assert_allclose(numbers(root.find("equality/joint"), "polycoef"), [0.1, -2, 0, 0, 0], atol=1e-15)
    before, after = (next(j for j in spec.joints if j.name == "led").axes[0].mimic for spec in (read(*source), model))
    assert (before.leader, before.multiplier) == (after.leader, after.multiplier)
    assert after.offset == pytest.approx(before.offset, abs=1e-15)


def loop(kind, content="", of_chain=""):
    a, b, c = map(link, "abc")
    axis = f'<axis xyz="0 0 1"/>{of_chain}'
    chain = (
        joint("p", "continuous", "a", "b", axis),
        joint("q", "continuous", "a", "c", f'<origin xyz="1 0 0"/>{axis}'),
    )
    ends = '<link1 link="b" xyz="0.5 0.5 0"/><link2 link="c" xyz="-0.5 0.5 0"/><axis xyz="0 0 1"/>'
    return urdf(a, b, c, *chain, f'<loop_joint name="close" type="{kind}">{ends}{content}</loop_joint>')


def test_a_hinge_that_closes_a_loop_is_two_points_in_common():
    root, losses, model = written(loop("continuous"))
    points = root.findall("equality/connect")
    assert [node.get("name") for node in points] == ["close_1", "close_2"]
    assert [numbers(node, "anchor") for node in points] == [[0.5, 0.5, -0.05], [0.5, 0.5, 0.05]]
    assert ("changed", "LOOP") in [loss[:2] for loss in losses] and len(model.constraints) == 2


def test_a_hinge_with_friction_that_closes_a_loop_is_a_loss_of_motion():
    damping = '<dynamics damping="0.1"/>'
    _, losses, _ = written(loop("revolute", damping, damping))  # joints without are cut before
    assert [(code, "'close'" in message) for kind, code, message in losses if kind == "motion"] == [("JOINT", True)]


def test_a_weld_that_closes_a_loop_is_a_weld():
    root, _, model = written(loop("fixed"))
    (weld,) = root.findall("equality/weld")
    assert (weld.get("body1"), weld.get("body2")) == ("b", "c") and len(model.constraints) == 1


# ------------------------------------------------------------------------------------ geoms, contact


def box(tag, size="1 2 3", name="", content="", xyz="0 0 0"):
    stated = f' name="{name}"' if name else ""
    return f'<{tag}{stated}><origin xyz="{xyz}"/><geometry><box size="{size}"/></geometry>{content}</{tag}>'


def test_what_is_seen_and_collides_alike_is_one_geom_others_have_groups():
    shapes = box("visual") + box("collision") + box("visual", "2 2 2", "seen") + box("collision", "4 4 4", "felt")
    root, _, model = written(urdf(link("a", INERTIAL + shapes)))
    assert [(node.get("class"), node.get("size")) for node in root.iter("geom") if node.get("type")] == [
        (None, "0.5 1 1.5"),
        ("visual", "1 1 1"),
        ("collision", "2 2 2"),
    ]
    assert [len(model.links[0].visuals), len(model.links[0].collisions)] == [2, 2]


def test_names_of_geoms_differ_in_the_whole_model():
    root, losses, _ = written(urdf(link("a", INERTIAL + box("collision")), link("b", INERTIAL + box("collision"))))
    assert [node.get("name") for node in root.iter("geom") if node.get("type")] == ["Box", "b_Box"]
    assert losses == [("changed", "NAME", "collision 'Box' of link 'b' is called 'b_Box'")]


def friction(mu, static=None):
    stated = f'<drake:mu_dynamic value="{mu}"/><drake:mu_static value="{static or mu}"/>'
    return f"<drake:proximity_properties>{stated}</drake:proximity_properties>"


def test_friction_is_that_of_sliding_and_what_changes_is_told():
    shapes = [box("collision", content=friction(mu, static)) for mu, static in ((0.5, None), (0.7, 0.9))]
    root, losses, model = written(urdf(link("a", INERTIAL + shapes[0]), link("b", INERTIAL + shapes[1])))
    assert [node.get("friction") for node in root.iter("geom") if node.get("type")] == ["0.5", "0.7"]
    assert [code for _, code, _ in losses if code in ("CONTACT", "FRICTION")] == ["CONTACT", "FRICTION"]
    coefficients = [link.collisions[0].properties["material", "coulomb_friction"] for link in model.links]
    assert coefficients == [(0.5, 0.5), (0.7, 0.7)]


def pairs(root):
    return [(node.get("body1"), node.get("body2")) for node in root.iter("exclude")]


def test_links_of_one_joint_need_no_exclude_but_where_mujoco_lets_them_touch():
    solid = [link(name, INERTIAL + box("collision")) for name in "abc"]
    chain = joint("j", "continuous", "a", "b"), joint("k", "continuous", "b", "c")
    root = written(urdf(*solid, *chain))[0]
    assert pairs(root) == [] and root.find("option") is None
    held = joint("w", "fixed", "world", "a", "")  # MuJoCo lets what moves touch what is welded to the world
    assert pairs(written(urdf(*solid, *chain, held))[0]) == [("a", "b")]


def test_what_is_welded_to_the_links_of_a_joint_touches_the_other_link():
    solid = [link(name, INERTIAL + box("collision")) for name in "abc"]
    root = written(urdf(*solid, joint("w", "fixed", "a", "b", ""), joint("j", "continuous", "b", "c")))[0]
    assert root.find("option/flag").get("filterparent") == "disable"
    assert pairs(root) == [("b", "c")]  # and a touches c


def test_filter_groups_are_excludes():
    solid = [link(name, INERTIAL + box("collision")) for name in "abc"]
    group = (
        '<drake:collision_filter_group name="g"><drake:member link="a"/><drake:member link="c"/>'
        '<drake:ignored_collision_filter_group name="g"/></drake:collision_filter_group>'
    )
    chain = joint("j", "continuous", "a", "b"), joint("k", "continuous", "b", "c")
    assert pairs(written(urdf(*solid, *chain, group))[0]) == [("a", "c")]


def test_a_plane_that_moves_and_meshes_that_are_not_there_are_losses():
    mesh = '<{0} name="m"><geometry><mesh filename="gone.stl"/></geometry></{0}>'
    plane = '<collision name="p"><geometry><plane><normal>0 0 1</normal></plane></geometry></collision>'
    _, losses, _ = written(sdf(f'<link name="a">{plane}</link>'))
    assert [(kind, "plane on a body that moves" in message) for kind, _, message in losses] == [("motion", True)]
    _, losses, _ = written(urdf(link("a", INERTIAL + mesh.format("visual"))))
    assert [kind for kind, _, message in losses if "gone.stl, whose file was not found" in message] == ["lost"]


# ---------------------------------------------------------------------------------- the rest of a model


def test_frames_gravity_and_links_out_of_gravity():
    source = mjcf(
        '<option gravity="0 0 -1.6"/><worldbody><body name="a" gravcomp="1" pos="0 0 1"><freejoint/><geom size="1"/>'
        '<site name="tip" pos="0 0 .5" euler="0 90 0"/></body></worldbody>'
    )
    root, losses, model = written(source)
    assert root.find("option").get("gravity") == "0 0 -1.6" and root.find(".//body").get("gravcomp") == "1"
    (frame,) = model.frames
    np.testing.assert_allclose(frame.X_LF, read(*source).frames[0].X_LF, rtol=0, atol=1e-15)
    assert not [loss for loss in losses if loss[0] in ("motion", "lost")]


def test_actuators_keep_their_laws():
    body = '<body name="{0}"><joint name="{0}" range="-1 1"/><geom size="1"/></body>'
    laws = [
        '<motor name="m" joint="a" gear="5" ctrlrange="-2 2"/>',
        '<position name="p" joint="b" kp="30" kv="2" ctrlrange="-.5 .5" forcerange="-9 9"/>',
        '<velocity name="v" joint="c" kv="4"/>',
        '<general name="g" joint="d" biastype="affine" gainprm="7" biasprm="1 -7 -.5"/>',
    ]
    source = mjcf(f"<worldbody>{''.join(map(body.format, 'abcd'))}</worldbody><actuator>{''.join(laws)}</actuator>")
    root, losses, model = written(source)
    assert [node.tag for node in root.find("actuator")] == ["motor", "position", "velocity", "general"]
    for before, after in zip(read(*source).actuators, model.actuators, strict=True):
        assert (before.effort_limit, before.gear_ratio) == (after.effort_limit, after.gear_ratio)
        assert before.controller_gains == after.controller_gains and before.rest == after.rest
        assert before.control == after.control
    assert losses == [] or {kind for kind, _, _ in losses} == {"changed"}


def test_rotors_are_armature_of_their_joints():
    driver = '<drake:rotor_inertia value="0.01"/><drake:gear_ratio value="10"/>'
    kind = "<type>transmission_interface/SimpleTransmission</type>"
    transmission = (
        f'<transmission name="t">{kind}<joint name="j"/><actuator name="m">{driver}</actuator></transmission>'
    )
    hinge = joint("j", "revolute", "a", "b", '<axis xyz="0 0 1"/><limit effort="3" lower="-1" upper="1" velocity="1"/>')
    root, _, _ = written(urdf(link("a"), link("b"), hinge, transmission))
    assert root.find(".//joint[@name='j']").get("armature") == "1" and root.find("actuator/motor").get("gear") is None


def test_keyframes_come_back():
    source = mjcf(
        '<worldbody><body name="a" pos="0 0 1"><freejoint/><geom size="1"/><body name="b"><joint name="h"/>'
        '<geom size="1"/></body><body name="c"><joint name="s" type="ball"/><geom size="1"/></body></body></worldbody>'
        '<keyframe><key name="up" qpos="1 2 3 .6 .8 0 0 .4 .6 0 .8 0" qvel="1 2 3 4 5 6 7 8 9 10"/></keyframe>'
    )
    root, _, _ = written(source)
    key = root.find("keyframe/key")
    np.testing.assert_allclose(numbers(key, "qpos"), [1, 2, 3, 0.6, 0.8, 0, 0, 0.4, 0.6, 0, 0.8, 0], atol=1e-15)
    np.testing.assert_allclose(numbers(key, "qvel"), range(1, 11), atol=1e-14)


def test_what_repeats_is_a_default_class():
    wheels = [
        joint(f"j{k}", "continuous", "a", f"w{k}", '<axis xyz="0 1 0"/><dynamics damping="0.3"/>') for k in range(3)
    ]
    root, _, model = written(urdf(link("a"), *(link(f"w{k}") for k in range(3)), *wheels))
    assert [node.get("class") for node in root.iter("joint") if node.get("name")] == ["joint_1"] * 3
    assert root.find("default/default[@class='joint_1']/joint").get("damping") == "0.3"
    assert [axis.damping for joint in model.joints for axis in joint.axes] == [0.3] * 3


def test_softness_of_contact_and_limits_stays():
    source = mjcf(
        '<option cone="elliptic" impratio="5"/>'
        '<worldbody><geom name="floor" type="plane" size="0 0 1"/><body pos="0 0 1">'
        '<joint name="a" range="-1 1" limited="true" solreflimit="0.05 0.8" solimplimit="0.1 0.9" margin="0.02"/>'
        '<geom name="ball" size="0.1" solref="0.03 0.9" solimp="0.5 0.9 0.01" solmix="3"/></body></worldbody>'
        '<contact><pair geom1="floor" geom2="ball" solref="0.1 1"/></contact>'
    )
    for spec in (read(*source), written(source)[2]):
        (ball,) = (g for link in spec.links for g in link.collisions if g.name == "ball")
        assert ball.properties["mujoco", "softness"] == (0.03, 0.9, 0.5, 0.9, 0.01, 0.5, 2.0)
        assert (ball.properties["mujoco", "solmix"], ball.properties["mujoco", "impratio"]) == (3.0, 5.0)
        assert spec.joints[0].axes[0].softness == (0.05, 0.8, 0.1, 0.9, 0.001, 0.5, 2.0, 0.02)
        assert spec.contact_pairs[0].softness[:2] == (0.1, 1.0)
