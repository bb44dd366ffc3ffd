"""Nested and included models and worlds of SDFormat files: scopes, overrides, and an error for each rule."""

import numpy as np
import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.sdf.read_sdf import read_sdf
from mbcli.parsers.sdf.sdf_includes import MAX_DEPTH
from mbcli.parsers.sdf.sdf_scopes import MAX_NESTED

from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant

TOLERANCE = 1e-12  # poses are a handful of products of numbers of order 1
LINK = "<link name='a'/>"
INNER = (
    "<model name='c'><pose>0 0 1 0 0 0</pose><link name='x'/><link name='y'><pose>1 0 0 0 0 0</pose></link>"
    "<frame name='f'><pose>0 2 0 0 0 0</pose></frame>"
    "<joint name='j' type='revolute'><parent>x</parent><child>y</child><axis/></joint></model>"
)


def sdf(body, version="1.11"):
    return f"<sdf version='{version}' xmlns:drake='http://drake.mit.edu'>{body}</sdf>"


def model(body, attributes=""):
    return sdf(f"<model name='m' {attributes}>{body}</model>")


def read(source, **options):
    diagnostics = Diagnostics()
    source = source.encode() if isinstance(source, str) else str(source)
    return read_sdf(source, diagnostics, **options), diagnostics


def read_one(source, **options):
    (spec,), diagnostics = read(source, **options)
    assert [str(finding) for finding in diagnostics.findings] == []
    return spec


def errors(source, **options):
    specs, diagnostics = read(source, **options)
    assert specs == ()
    return [(finding.code, finding.message) for finding in diagnostics.errors]


def assert_at(X, *translation):
    np.testing.assert_allclose(X[:3, 3], translation, rtol=0, atol=TOLERANCE)


# ---------------------------------------------------------------------------------------------- nested


def test_a_nested_model_is_a_model_of_its_own_known_by_its_name():
    joint = "<joint name='k' type='fixed'><parent>a</parent><child>c::f</child></joint>"
    frame = "<frame name='g' attached_to='c'><pose relative_to='c::y'>0 0 1 0 0 0</pose></frame>"
    spec = read_one(model(f"<pose>5 0 0 0 0 0</pose>{LINK}{INNER}{joint}{frame}"))
    (inner,) = spec.models
    assert [link.name for link in spec.links] == ["a"]
    assert [link.name for link in inner.links] == ["x", "y"]
    assert (inner.joints[0].parent, inner.joints[0].child) == ("x", "y")
    assert_at(inner.X_WModel, 5, 0, 1)
    assert_at(inner.links[1].X_ModelL, 1, 0, 0)
    (k,) = spec.joints
    assert (k.parent, k.child) == ("a", "c::x")
    assert_at(k.X_PF, 0, 2, 1)
    assert_at(k.X_CM, 0, 2, 0)
    (g,) = spec.frames
    assert g.link == "c::x"
    assert_at(g.X_LF, 1, 0, 1)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [("", "a"), ("canonical_link='c::y'", "c::y")],
)
def test_the_canonical_link_is_the_first_of_the_model_itself_unless_named(attributes, expected):
    assert read_one(model(INNER + LINK, attributes)).X_LinkModel[0] == expected


def test_a_model_without_links_hangs_on_the_first_link_of_its_first_model():
    assert read_one(model(INNER)).X_LinkModel[0] == "c::x"


def test_a_placement_frame_may_be_in_a_nested_model():
    spec = read_one(model(f"<pose>0 0 5 0 0 0</pose>{LINK}{INNER}", "placement_frame='c::f'"))
    assert_at(spec.models[0].X_WModel, 0, -2, 5)
    assert_at(spec.X_WModel, 0, -2, 4)


def test_instances_of_nested_models_are_named_by_their_way():
    plant = MultibodyPlant(0.0)
    Parser(plant, "top").AddModelsFromString(model(f"{LINK}<model name='o'>{INNER}{LINK}</model>"), "sdf")
    for name in ("top::m", "top::m::o", "top::m::o::c"):
        assert plant.HasModelInstanceNamed(name)
    instance = plant.GetModelInstanceByName("top::m::o::c")
    assert plant.HasBodyNamed("x", instance)
    assert plant.HasJointNamed("j", instance)


def test_members_of_filter_groups_may_be_in_nested_models():
    group = "<drake:collision_filter_group name='g'><drake:member>{}</drake:member></drake:collision_filter_group>"
    outer = (
        "<drake:collision_filter_group name='h'><drake:member_group>c::g</drake:member_group>"
        "<drake:ignored_collision_filter_group>c::g</drake:ignored_collision_filter_group>"
        "</drake:collision_filter_group>"
    )
    inner = INNER.replace("</model>", group.format("y") + "</model>")
    spec = read_one(model(LINK + inner + outer))
    (h,), (g,) = spec.filter_groups, spec.models[0].filter_groups
    assert (h.members, h.ignores) == (("c::y",), ("c::g",))
    assert g.members == ("y",)


def test_a_leader_may_be_in_a_nested_model():
    follower = (
        "<joint name='k' type='revolute'><parent>c::y</parent><child>a</child>"
        "<axis><mimic joint='c::j'><multiplier>2</multiplier></mimic></axis></joint>"
    )
    (joint,) = read_one(model(LINK + INNER + follower)).joints
    assert joint.axes[0].mimic.leader == "c::j"


NESTED_ERRORS = {
    "unknown_in_nested": (
        LINK + INNER.replace("<parent>x<", "<parent>z<"),
        ("JOINT_PARENT_LINK_INVALID", 'the parent of joint "j" "z" is not in the model'),
    ),
    "no_way_up": (
        LINK + INNER.replace("<parent>x<", "<parent>a<"),
        ("JOINT_PARENT_LINK_INVALID", 'the parent of joint "j" "a" is not in the model'),
    ),
    "cycle_through_models": (
        f"{LINK}<frame name='g'><pose relative_to='c::f'/></frame>"
        + INNER.replace("<pose>0 0 1 0 0 0", "<pose relative_to='g'>0 0 1 0 0 0"),
        ("POSE_RELATIVE_TO_CYCLE", 'frames are relative to each other in a cycle: "g" -> "c::f" -> "c" -> "g"'),
    ),
    "canonical_link": (
        LINK + INNER.replace("name='c'", "name='c' canonical_link='q'"),
        ("MODEL_CANONICAL_LINK_INVALID", 'the canonical link "q" is not a link of the model'),
    ),
    "placement_frame": (
        LINK + INNER.replace("name='c'", "name='c' placement_frame='q'"),
        ("MODEL_PLACEMENT_FRAME_INVALID", 'the placement frame "q" of the model is not in the model'),
    ),
    "no_link": (f"{LINK}<model name='c'/>", ("MODEL_WITHOUT_LINK", 'model "c" must have a link')),
    "name": (
        f"{LINK}<model name='a'>{LINK}</model>",
        ("DUPLICATE_NAME", 'the name "a" of <model> is already that of a <link>'),
    ),
    "static_with_joint": (
        LINK + INNER.replace("<pose>0 0 1", "<static>1</static><pose>0 0 1"),
        ("ELEMENT_INVALID", 'joint "j" of a static model must be fixed, not revolute'),
    ),
}


def test_a_model_may_have_names_of_the_models_in_it():
    """pydrake refuses the frames, which it puts into the instance of the link; they stay with their own model here."""
    body = f"{LINK}{INNER}<frame name='f' attached_to='c::x'/><frame name='x' attached_to='c::y'/>"
    body += "<joint name='j' type='fixed'><parent>a</parent><child>c::x</child></joint>"
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(model(body), "sdf")
    plant.Finalize()
    outer, inner = (plant.GetModelInstanceByName(name) for name in ("m", "m::c"))
    context = plant.CreateDefaultContext()
    for name, instance, position in (("f", outer, (0, 0, 1)), ("x", outer, (1, 0, 1)), ("f", inner, (0, 2, 1))):
        frame = plant.GetFrameByName(name, instance)
        np.testing.assert_allclose(frame.CalcPoseInWorld(context).translation(), position, rtol=0, atol=TOLERANCE)
    assert plant.GetJointByName("j", outer).num_velocities() == 0
    assert plant.GetJointByName("j", inner).num_velocities() == 1


def test_made_up_names_of_frames_avoid_those_of_the_file():
    """The frames of a joint are called JOINT_parent and JOINT_child unless the file has such a name."""
    joint = "<joint name='j' type='revolute'><parent>a</parent><child>b</child><axis/></joint>"
    plant = MultibodyPlant(0.0)
    links = "<link name='a'/><link name='b'/><frame name='j_child'><pose>0 0 7 0 0 0</pose></frame>"
    Parser(plant).AddModelsFromString(model(links + joint), "sdf")
    plant.Finalize()
    pose = plant.GetFrameByName("j_child").CalcPoseInWorld(plant.CreateDefaultContext())
    assert pose.translation()[2] == 7
    assert plant.GetJointByName("j").frame_on_child().name() == "j_child_"


@pytest.mark.parametrize("name", NESTED_ERRORS)
def test_faults_of_nested_models(name):
    body, expected = NESTED_ERRORS[name]
    assert errors(model(body)) == [expected]


def test_models_must_not_be_nested_without_end():
    depth = MAX_NESTED + 50
    body = "".join(f"<model name='n{i}'>" for i in range(depth)) + LINK + "</model>" * depth
    assert errors(model(LINK + body))[0] == ("ELEMENT_INVALID", f"models are nested more than {MAX_NESTED} deep")


# --------------------------------------------------------------------------------------------- worlds


def test_a_world_has_models_frames_and_joints():
    spec = read_one(
        sdf(
            f"<world name='w'><frame name='f'><pose>0 0 3 0 0 0</pose></frame>"
            f"<model name='p'><pose relative_to='f'>1 0 0 0 0 0</pose>{LINK}</model>"
            f"<joint name='j' type='revolute'><parent>world</parent><child>p::a</child><axis/></joint></world>"
        )
    )
    assert spec.is_world
    assert_at(spec.models[0].X_WModel, 1, 0, 3)
    assert (spec.frames[0].name, spec.frames[0].link) == ("f", "world")
    (joint,) = spec.joints
    assert (joint.parent, joint.child) == ("world", "p::a")
    assert_at(joint.X_PF, 1, 0, 3)


def test_models_of_a_world_stand_beside_each_other_in_a_plant():
    plant = MultibodyPlant(0.0)
    text = f"<world name='w'><model name='p'>{LINK}</model><model name='q'>{LINK}{INNER}</model></world>"
    names = [plant.GetModelInstanceName(i) for i in Parser(plant).AddModelsFromString(sdf(text), "sdf")]
    assert names == ["p", "q", "q::c"]


WORLD_ERRORS = {
    "unknown_model": ("<frame name='f' attached_to='q::a'/>", "FRAME_ATTACHED_TO_INVALID"),
    "duplicate": (f"<model name='p'>{LINK}</model><model name='p'>{LINK}</model>", "DUPLICATE_NAME"),
    "merge": ("<include merge='true'><uri>arm.sdf</uri></include>", "MERGE_INCLUDE_UNSUPPORTED"),
    "model_frame": ("<frame name='f' attached_to='__model__'/>", "FRAME_ATTACHED_TO_INVALID"),
}


@pytest.mark.parametrize("name", WORLD_ERRORS)
def test_faults_of_worlds(name, folder):
    body, code = WORLD_ERRORS[name]
    (folder / "world.sdf").write_text(sdf(f"<world name='w'>{body}</world>"))
    assert [found for found, _ in errors(folder / "world.sdf")] == [code]


# -------------------------------------------------------------------------------------------- includes


@pytest.fixture
def folder(tmp_path):
    """A directory with files to include."""
    arm = f"<model name='arm'><pose>0 0 9 0 0 0</pose>{LINK}<frame name='f'><pose>1 0 0 0 0 0</pose></frame></model>"
    (tmp_path / "arm.sdf").write_text(sdf(arm, "1.6"))
    (tmp_path / "arm.urdf").write_text("<robot name='r'><link name='u'/></robot>")
    (tmp_path / "two.sdf").write_text(sdf(f"<model name='p'>{LINK}</model><model name='q'>{LINK}</model>"))
    (tmp_path / "note.txt").write_text("nothing")
    broken = "<link name='a'><inertial><mass>x</mass></inertial></link>"
    (tmp_path / "broken.sdf").write_text(sdf(f"<model name='b'>{broken}</model>"))
    (tmp_path / "empty").mkdir()
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "model.config").write_text(
        "<model><sdf version='1.9'>missing.sdf</sdf><sdf version='1.10'>new.sdf</sdf></model>"
    )
    (tmp_path / "dir" / "new.sdf").write_text(sdf(f"<model name='new'>{LINK}</model>", "1.10"))
    return tmp_path


def including(folder, body, name="top.sdf"):
    path = folder / name
    path.write_text(model(f"<link name='base'/>{body}"))
    return path


def include(uri, extra="", attributes=""):
    return f"<include {attributes}><uri>{uri}</uri>{extra}</include>"


def test_an_included_model_is_nested_where_its_file_says(folder):
    spec = read_one(including(folder, include("arm.sdf")))
    assert [inner.name for inner in spec.models] == ["arm"]
    assert_at(spec.models[0].X_WModel, 0, 0, 9)
    assert spec.models[0].version == "1.6"
    assert [source.path.rpartition("/")[2] for source in spec.sources] == ["top.sdf", "arm.sdf"]


def test_an_include_overrides_name_pose_and_placement(folder):
    over = "<name>n</name><pose>0 0 1 0 0 0</pose><placement_frame>f</placement_frame><static>true</static>"
    (inner,) = read_one(including(folder, include("arm.sdf", over))).models
    assert (inner.name, inner.static) == ("n", True)
    assert_at(inner.X_WModel, -1, 0, 1)


def test_a_directory_stands_for_the_highest_version_in_its_manifest(folder):
    packages = PackageMap()
    packages.add("d", str(folder / "dir"))
    for uri in ("dir", "model://d", "package://d/"):
        (inner,) = read_one(including(folder, include(uri)), packages=packages).models
        assert inner.name == "new"


def test_an_included_file_may_be_urdf(folder):
    (inner,) = read_one(including(folder, include("arm.urdf", "<pose>1 0 0 0 0 0</pose>"))).models
    assert (inner.name, inner.format) == ("r", "urdf")
    assert_at(inner.X_WModel, 1, 0, 0)


def test_the_pose_of_an_include_does_not_move_what_hangs_on_the_world(folder):
    hinge = "<joint name='j' type='fixed'><parent link='world'/><child link='u'/></joint>"
    (folder / "held.urdf").write_text(f"<robot name='r'><link name='world'/><link name='u'/>{hinge}</robot>")
    specs, diagnostics = read(including(folder, include("held.urdf", "<pose>1 0 0 0 0 0</pose>")))
    assert len(specs) == 1
    assert [(f.severity, f.code, f.element) for f in diagnostics.findings] == [("warning", "POSE_UNUSED", "pose")]
    read_one(including(folder, include("held.urdf")))


def test_a_merged_model_becomes_part_of_the_model(folder):
    spec = read_one(including(folder, include("arm.sdf", attributes="merge='true'")))
    assert [link.name for link in spec.links] == ["base", "a"]
    assert spec.models == ()
    assert [frame.name for frame in spec.frames] == ["_merged__arm__model__", "f"]
    assert_at(spec.links[1].X_ModelL, 0, 0, 9)


def test_a_file_that_is_an_include_is_that_model(folder):
    (folder / "top.sdf").write_text(sdf(include("arm.sdf", "<name>n</name>")))
    spec = read_one(folder / "top.sdf")
    assert (spec.name, spec.is_world) == ("n", False)


INCLUDE_ERRORS = {
    "missing": (include("gone.sdf"), "URI_LOOKUP", "does not exist"),
    "network": (include("https://fuel/arm"), "URI_LOOKUP", "nothing is fetched from the network"),
    "outside": (include("../arm.sdf"), "URI_LOOKUP", "is outside of"),
    "no_manifest": (include("empty"), "URI_LOOKUP", "is a directory without a model.config"),
    "no_model_file": (include("note.txt"), "URI_INVALID", "not a model file"),
    "two_models": (include("two.sdf"), "ELEMENT_INVALID", "must have one model"),
    "cycle": (include("top.sdf"), "URI_INVALID", "include each other in a cycle"),
    "no_uri": ("<include/>", "ELEMENT_MISSING", "must have a <uri>"),
    "fault_inside": (include("broken.sdf"), "ELEMENT_INVALID", "must be a finite number"),
    "same_name_twice": (include("arm.sdf") + include("arm.sdf"), "DUPLICATE_NAME", 'the name "arm"'),
    "reserved_name": (include("arm.sdf", "<name>world</name>"), "RESERVED_NAME", "is reserved"),
    "placement_without_pose": (
        include("arm.sdf", "<placement_frame>f</placement_frame>"),
        "MODEL_PLACEMENT_FRAME_INVALID",
        "needs a <pose>",
    ),
    "unknown_placement": (
        include("arm.sdf", "<pose>0 0 1 0 0 0</pose><placement_frame>g</placement_frame>"),
        "MODEL_PLACEMENT_FRAME_INVALID",
        'the placement frame "g" of the model is not in the model',
    ),
    "unknown_pose_frame": (
        include("arm.sdf", "<pose relative_to='q'>0 0 1 0 0 0</pose>"),
        "POSE_RELATIVE_TO_INVALID",
        'relative to "q"',
    ),
    "merged_urdf": (
        include("arm.urdf", attributes="merge='true'"),
        "MERGE_INCLUDE_UNSUPPORTED",
        "only models of SDFormat",
    ),
    "merged_twice": (
        include("arm.sdf", attributes="merge='true'") + include("arm.sdf", attributes="merge='true'"),
        "DUPLICATE_NAME",
        'the name "a"',
    ),
}


@pytest.mark.parametrize("name", INCLUDE_ERRORS)
def test_faults_of_includes(name, folder):
    body, code, text = INCLUDE_ERRORS[name]
    found = errors(including(folder, body))
    assert found[0][0] == code
    assert text in found[0][1]


def test_a_cycle_of_files_is_reported_with_its_chain(folder):
    for name, other in (("p", "q"), ("q", "p")):
        (folder / f"{name}.sdf").write_text(sdf(f"<model name='{name}'>{LINK}{include(f'{other}.sdf')}</model>"))
    ((code, message),) = errors(folder / "p.sdf")
    assert code == "URI_INVALID"
    assert [part.rpartition("/")[2] for part in message.split(" -> ")] == ["p.sdf", "q.sdf", "p.sdf"]


def test_files_must_not_include_each_other_without_end(folder):
    for i in range(MAX_DEPTH + 2):
        (folder / f"f{i}.sdf").write_text(sdf(f"<model name='m{i}'>{LINK}{include(f'f{i + 1}.sdf')}</model>"))
    ((code, message),) = errors(folder / "f0.sdf")
    assert code == "URI_INVALID"
    assert f"more than {MAX_DEPTH} deep" in message


def test_includes_that_multiply_are_stopped(folder, monkeypatch):
    monkeypatch.setattr("mbcli.parsers.sdf.sdf_scopes.MAX_ELEMENTS", 1000)
    for i in range(12):
        twice = "".join(include(f"b{i + 1}.sdf", f"<name>n{k}</name>") for k in range(2)) if i < 11 else ""
        (folder / f"b{i}.sdf").write_text(sdf(f"<model name='m{i}'>{LINK}{twice}</model>"))
    ((code, message),) = errors(folder / "b0.sdf")
    assert (code, message) == ("ELEMENT_INVALID", "the includes multiply to more elements than are allowed")


def test_what_is_included_twice_is_reported_once(folder):
    (folder / "arm.sdf").write_text(sdf(f"<model name='arm'>{LINK}<allow_auto_disable>1</allow_auto_disable></model>"))
    _, diagnostics = read(including(folder, include("arm.sdf") + include("arm.sdf", "<name>n</name>")))
    assert [finding.code for finding in diagnostics.findings] == ["ELEMENT_FOREIGN"]
