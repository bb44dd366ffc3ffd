"""Model directives: what a file may say, what it does to a plant, and what is said of a wrong one."""

import math

import numpy as np
import pytest
from homecart import write_homecart
from mbcli.parsers.diagnostics import DiagnosticError, Diagnostics, MissingResourceError
from mbcli.parsers.scenes.directives import MAX_INCLUDE_DEPTH, read_directives

from mbcli.common.schema import Gaussian, Rotation, Transform, Uniform, UniformVector
from mbcli.math import RigidTransform, RollPitchYaw
from mbcli.multibody.parsing import (
    AddFrame,
    AddModel,
    AddWeld,
    FlattenModelDirectives,
    GetScopedFrameByName,
    GetScopedFrameByNameMaybe,
    LoadModelDirectives,
    LoadModelDirectivesFromString,
    ModelDirective,
    ModelDirectives,
    PackageMap,
    Parser,
    ProcessModelDirectives,
)
from mbcli.multibody.plant import MultibodyPlant

BOX = """<sdf version="1.9"><model name="box">
<link name="b"><inertial><mass>2</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial></link>
<frame name="top" attached_to="b"><pose>0 0 0.5 0 0 0</pose></frame></model></sdf>"""
ARM = """<robot name="arm"><link name="world"/>
<link name="l"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="world"/><child link="l"/></joint></robot>"""
ADD_BOX = "- add_model: {name: a, file: box.sdf}\n"


@pytest.fixture
def scene(tmp_path, monkeypatch):
    """The working directory, with a box, an arm and what `files` say."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "box.sdf").write_text(BOX)
    (tmp_path / "arm.urdf").write_text(ARM)
    return tmp_path


def apply(items, *, plant=None, **files):
    """A plant with the directives in it; files: further ones, by name without suffix."""
    for name, text in files.items():
        with open(f"{name}.dmd.yaml", "w") as file:
            file.write("directives:\n" + text)
    plant = MultibodyPlant(0.0) if plant is None else plant
    parser = Parser(plant)
    instances = parser.AddModels(file_contents="directives:\n" + items, file_type=".dmd.yaml", name="s.yaml")
    return plant, parser, instances


def errors(items, kind=DiagnosticError, **files):
    """The findings of directives that cannot be applied; nothing of them is in the plant then."""
    plant = MultibodyPlant(0.0)
    with pytest.raises(kind) as caught:
        apply(items, plant=plant, **files)
    assert (plant.num_model_instances(), plant.num_frames(), plant.num_joints()) == (2, 1, 0)
    return caught.value.diagnostics.errors


def only_error(items, kind=DiagnosticError, **files):
    (finding,) = errors(items, kind, **files)
    return finding


# ------------------------------------------------------------------------------------------------- what they do


def test_a_scene_of_models_frames_and_welds(scene):
    plant, parser, instances = apply(
        ADD_BOX
        + """
- add_frame: {name: hook, X_PF: {base_frame: "a::b", translation: [1, 2, 3], rotation: !Rpy {deg: [0, 0, 90]}}}
- add_model: {name: c, file: box.sdf}
- add_weld: {parent: hook, child: "c::top", X_PC: {translation: [0, 0, 1]}}
- add_model: {name: arm, file: arm.urdf, default_joint_positions: {j: [0.25]}}
"""
    )
    assert [plant.GetModelInstanceName(instance) for instance in instances] == ["a", "c", "arm"]
    assert [spec.name for spec in parser.specs] == ["box", "box", "arm"]
    hook = plant.GetFrameByName("hook")
    assert plant.GetModelInstanceName(hook.model_instance()) == "a"
    plant.Finalize()
    context = plant.CreateDefaultContext()
    top = GetScopedFrameByName(plant, "c::top")
    X = plant.CalcRelativeTransform(context, GetScopedFrameByName(plant, "a::b"), top)
    expected = RigidTransform(RollPitchYaw([0, 0, math.pi / 2]), [1, 2, 3]) @ RigidTransform([0, 0, 1])
    assert X.IsNearlyEqualTo(expected, 1e-14)
    assert plant.GetPositions(context, instances[2]) == [0.25]
    assert plant.GetJointByName("hook_welds_to_top").place.line == 6


def test_a_free_body_starts_where_the_directive_puts_it(scene):
    pose = "{translation: [1, 2, 3], rotation: !AngleAxis {angle_deg: 90, axis: [0, 0, 2]}}"
    expected = RigidTransform(RollPitchYaw([0, 0, math.pi / 2]), [1, 2, 3])
    for name in ("b", '""'):
        plant, _, _ = apply(f"- add_model: {{name: a, file: box.sdf, default_free_body_pose: {{{name}: {pose}}}}}\n")
        plant.Finalize()
        body = plant.GetBodyByName("b")
        assert plant.GetFreeBodyPose(plant.CreateDefaultContext(), body).IsNearlyEqualTo(expected, 1e-14)
        assert body.is_floating_base_body()


def test_a_pose_of_a_frame_or_in_another_frame_makes_a_floating_joint(scene):
    plant, _, _ = apply(
        """
- add_frame: {name: table, X_PF: {base_frame: world, translation: [0, 0, 7]}}
- add_model: {name: a, file: box.sdf, default_free_body_pose: {top: {base_frame: table, translation: [1, 0, 0]}}}
"""
    )
    joint = plant.GetJointByName("b")
    assert (joint.frame_on_parent().name(), joint.frame_on_child().name()) == ("table", "top")
    plant.Finalize()
    assert plant.GetPositionNames()[0] == "a_b_qw"
    X_WB = plant.EvalBodyPoseInWorld(plant.CreateDefaultContext(), plant.GetBodyByName("b"))
    np.testing.assert_array_equal(X_WB.translation(), [1, 0, 6.5])


def test_a_random_pose_has_its_mean_by_default_and_is_drawn_on_request(scene):
    plant, parser, _ = apply(
        "- add_model: {name: a, file: box.sdf, default_free_body_pose: {b: {translation: !UniformVector "
        "{min: [0, 0, 2], max: [1, 0, 4]}, rotation: !Rpy {deg: !GaussianVector {mean: [0, 0, 90], stddev: [0]}}}}}\n"
    )
    assert [f.code for f in parser.diagnostics.findings] == ["POSE_RANDOM"]
    plant.Finalize()
    context = plant.CreateDefaultContext()
    body = plant.GetBodyByName("b")
    np.testing.assert_allclose(plant.EvalBodyPoseInWorld(context, body).translation(), [0.5, 0, 3])
    drawn = []
    for seed in (1, 1, 2):
        plant.SetRandomContext(context, np.random.default_rng(seed))
        X_WB = plant.EvalBodyPoseInWorld(context, body)
        assert X_WB.rotation().IsNearlyEqualTo(RollPitchYaw([0, 0, math.pi / 2]).ToRotationMatrix(), 1e-14)
        drawn.append(X_WB.translation())
    assert np.array_equal(drawn[0], drawn[1]) and not np.array_equal(drawn[0], drawn[2])
    assert all(0 <= x <= 1 and y == 0 and 2 <= z <= 4 for x, y, z in drawn)


def test_includes_put_a_namespace_before_their_names(scene):
    inner = (
        ADD_BOX + '- add_frame: {name: "a::f", X_PF: {base_frame: "a::b"}}\n- add_weld: {parent: world, child: "a::f"}'
    )
    outer = "- add_model_instance: {name: q}\n- add_directives: {file: inner.dmd.yaml, model_namespace: q}"
    plant, parser, (instance,) = apply(
        "- add_model_instance: {name: n}\n- add_directives: {file: outer.dmd.yaml, model_namespace: n}\n",
        inner=inner,
        outer=outer,
    )
    assert plant.GetModelInstanceName(instance) == "n::q::a"
    assert GetScopedFrameByName(plant, "n::q::a::f").name() == "f"
    assert plant.HasJointNamed("world_welds_to_f", instance)
    assert [source.path.rpartition("/")[2] for source in parser.sources] == [
        "s.yaml",
        "outer.dmd.yaml",
        "inner.dmd.yaml",
    ]


def test_a_prefix_of_the_parser_is_a_namespace(scene):
    plant = MultibodyPlant(0.0)
    text = "directives:\n" + ADD_BOX + '- add_weld: {parent: world, child: "a::b"}\n'
    (instance,) = Parser(plant, "left").AddModels(file_contents=text, file_type=".dmd.yaml")
    assert plant.GetModelInstanceName(instance) == "left::a"


def test_collision_filter_groups_have_scoped_names_and_contain_each_other(scene):
    _, parser, _ = apply(
        ADD_BOX
        + """
- add_collision_filter_group: {name: g, model_namespace: a, members: [b], ignored_collision_filter_groups: [g]}
- add_collision_filter_group: {name: h, member_groups: [k]}
- add_collision_filter_group:
    {name: k, members: ["a::b"], member_groups: [h, "a::g"], ignored_collision_filter_groups: [h]}
"""
    )
    groups = parser.GetCollisionFilterGroups()
    assert groups.groups() == {"a::g": {"a::b"}, "h": {"a::b"}, "k": {"a::b"}}
    assert groups.exclusion_pairs() == {("a::g", "a::g"), ("h", "k")}


def test_directives_made_in_python_and_from_files_do_the_same(scene):
    made = ModelDirectives(
        directives=(
            ModelDirective(add_model=AddModel(name="a", file="box.sdf")),
            ModelDirective(add_frame=AddFrame(name="f", X_PF=Transform(base_frame="a::b", translation=(1, 0, 0)))),
            ModelDirective(add_weld=AddWeld(parent="world", child="f")),
        )
    )
    text = (
        "directives:\n" + ADD_BOX + '- add_frame: {name: f, X_PF: {base_frame: "a::b", translation: [1, 0, 0]}}\n'
        "- add_weld: {parent: world, child: f}\n"
    )
    (scene / "file.dmd.yaml").write_text(text)
    for directives in (made, LoadModelDirectivesFromString(text), LoadModelDirectives(scene / "file.dmd.yaml")):
        plant = MultibodyPlant(0.0)
        (info,) = ProcessModelDirectives(directives, plant)
        assert (info.model_name, info.parent_frame_name, info.child_frame_name) == ("a", "world", "f")
        assert info.model_path == str(scene / "box.sdf")
        assert plant.HasJointNamed("world_welds_to_f", info.model_instance)


def test_flat_directives_do_the_same_as_those_with_includes(scene):
    (scene / "inner.dmd.yaml").write_text("directives:\n" + ADD_BOX + '- add_weld: {parent: world, child: "a::b"}\n')
    text = (
        "directives:\n- add_model_instance: {name: n}\n- add_directives: {file: inner.dmd.yaml, model_namespace: n}\n"
    )
    nested = LoadModelDirectivesFromString(text)
    flat = FlattenModelDirectives(nested, PackageMap())
    assert [directive.kind for directive in flat.directives] == ["add_model_instance", "add_model", "add_weld"]
    assert FlattenModelDirectives(flat, PackageMap()) == flat
    plants = [MultibodyPlant(0.0), MultibodyPlant(0.0)]
    names = [ProcessModelDirectives(d, p)[0].model_name for d, p in zip((nested, flat), plants, strict=True)]
    assert names == ["n::a", "n::a"]


def test_scoped_frames_are_found_or_not():
    plant = MultibodyPlant(0.0)
    assert GetScopedFrameByName(plant, "world") is plant.world_frame()
    assert GetScopedFrameByName(plant, "WorldModelInstance::world") is plant.world_frame()
    for name in ("", "a", "a::b", "world::x"):
        assert GetScopedFrameByNameMaybe(plant, name) is None
        with pytest.raises(RuntimeError, match="GetScopedFrameByName: there is no"):
            GetScopedFrameByName(plant, name)


# ------------------------------------------------------------------------------------------ what is wrong in a file


@pytest.mark.parametrize(
    ("item", "column", "code", "message"),
    [
        ("add_modl: {name: a}", 3, "KEY_UNKNOWN", 'unknown key "add_modl" in ModelDirective'),
        ("add_model: {name: a}", 14, "KEY_MISSING", 'key "file" of AddModel is missing'),
        ("add_model: {name: a, file: a, fil: b}", 33, "KEY_UNKNOWN", 'unknown key "fil" in AddModel'),
        ("add_model: {name: a, name: b, file: c}", 24, "DUPLICATE_KEY", 'duplicate key "name"'),
        ('add_model: {name: "", file: a}', 14, "VALUE_INVALID", "name must not be empty"),
        ("add_model: {name: 3, file: a}", 21, "VALUE_TYPE", "name must be a string; found 3"),
        ("add_model_instance: {name: }", 30, "VALUE_TYPE", "name must be a string; found nothing"),
        ("add_frame: {name: f, X_PF: {}}", 14, "VALUE_INVALID", "X_PF of add_frame needs a base_frame"),
        ("add_weld: {parent: a, child: b, X_PC: {base_frame: c}}", 13, "VALUE_INVALID", "takes no base_frame"),
        ("add_weld: {parent: a, child: b, X_PC: {rotation: !Uniform {}}}", 13, "VALUE_INVALID", "rotation is random"),
        ("add_collision_filter_group: {name: g}", 31, "VALUE_INVALID", "needs members or member_groups"),
        ("{}", 3, "VALUE_INVALID", "a directive is exactly one of add_model, "),
        ("{add_model_instance: {name: a}, add_directives: {file: b}}", 3, "VALUE_INVALID", "it has add_model_instance"),
        ("add_weld: {parent: a, child: b, X_PC: {rotation: {deg: [1, 2, 3]}}}", 52, "YAML_TAG", "needs the tag !Rpy"),
        ("add_weld: {parent: a, child: b, X_PC: {rotation: !Rpyy {}}}", 52, "YAML_TAG", 'no tag "!Rpyy"'),
        ("add_weld: {parent: a, child: b, X_PC: {translation: [1, 2]}}", 55, "VALUE_TYPE", "a list of 3 items"),
        ("add_weld: {parent: a, child: b, X_PC: {translation: [1, 2, .nan]}}", 62, "VALUE_RANGE", "finite number"),
        ("add_weld: {parent: a, child: b, X_PC: {rotation: !AngleAxis {axis: [0,0,0]}}}", 52, "VALUE_INVALID", "lengt"),
        ("add_weld: {parent: a, child: b, X_PC: {translation: !UniformVector {}}}", 41, "VALUE_INVALID", "it has 0"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_located(item, column, code, message):
    diagnostics = Diagnostics()
    read_directives(f"directives:\n- {item}\n".encode(), diagnostics, name="s.yaml")
    (finding,) = diagnostics.findings
    assert (str(finding.place), finding.code) == (f"s.yaml:2:{column}", code)
    assert message in finding.message


def test_all_findings_of_a_file_come_at_once():
    text = "directives:\n- add_modl: {}\n- add_model: {name: a}\n- add_weld: {parent: a}\nextra: 1\n"
    diagnostics = Diagnostics()
    assert read_directives(text.encode(), diagnostics) is None
    assert [f.place.line for f in diagnostics.findings if f.code == "KEY_MISSING"] == [3, 4]
    assert {f.place.line for f in diagnostics.findings} == {2, 3, 4, 5}


@pytest.mark.parametrize(
    ("items", "line", "code", "message"),
    [
        (ADD_BOX, 3, "DUPLICATE_NAME", 'there is a model instance "a" already'),
        ("- add_model_instance: {name: a}\n", 3, "DUPLICATE_NAME", 'there is a model instance "a" already'),
        ('- add_weld: {parent: world, child: "a::c"}\n', 3, "NAME_UNKNOWN", 'no frame "c" in model instance "a"'),
        ('- add_weld: {parent: world, child: "x::c"}\n', 3, "NAME_UNKNOWN", 'no model instance "x"'),
        ("- add_weld: {parent: wrld, child: b}\n", 3, "NAME_UNKNOWN", 'no frame "wrld"; did you mean "world"?'),
        ("- add_weld: {parent: top, child: b}\n", 3, "WELD_TO_SELF", "are on one body"),
        ("- add_frame: {name: top, X_PF: {base_frame: b}}\n", 3, "DUPLICATE_NAME", 'there is a frame "top" in "a"'),
        ('- add_frame: {name: "c::f", X_PF: {base_frame: b}}\n', 3, "NAME_UNKNOWN", 'no model instance "c"'),
        ("- add_model: {name: c, file: arm.urdf, default_joint_positions: {k: []}}\n", 3, "NAME_UNKNOWN", 'joint "k"'),
        ("- add_model: {name: c, file: arm.urdf, default_joint_positions: {j: [0, 1]}}\n", 3, "VALUE_SIZE", "gives 2"),
        ("- add_model: {name: c, file: box.sdf, default_free_body_pose: {x: {}}}\n", 3, "NAME_UNKNOWN", 'no frame "x"'),
        (
            "- add_model: {name: c, file: arm.urdf, default_free_body_pose: {l: {base_frame: b}}}\n",
            3, "POSE_OF_HELD_BODY", 'joint "j" holds it',
        ),
        (
            '- add_model: {name: c, file: box.sdf, default_free_body_pose: {top: {base_frame: "c::b"}}}\n',
            3, "POSE_RELATIVE_TO_CYCLE", "relative to its own body",
        ),
        ("- add_collision_filter_group: {name: g, members: [b]}\n", 3, "NAME_UNKNOWN", "lacks the model instance"),
        ('- add_collision_filter_group: {name: g, members: ["a::top"]}\n', 3, "NAME_UNKNOWN", "not a body"),
        (
            '- add_collision_filter_group: {name: g, members: ["a::b"], ignored_collision_filter_groups: [h]}\n',
            3, "NAME_UNKNOWN", 'no collision filter group "h"',
        ),
        ('- add_collision_filter_group: {name: "a::g", members: ["a::b"]}\n', 3, "NAME_INVALID", "has a scope"),
        ("- add_directives: {file: inner.dmd.yaml, model_namespace: n}\n", 3, "NAME_UNKNOWN", '"n" is not a model'),
        ("- add_model: {name: c, file: inner.dmd.yaml}\n", 3, "FILE_FORMAT", "it is not a model"),
    ],
)  # fmt: skip
def test_a_wrong_name_is_located_and_nothing_is_added(scene, items, line, code, message):
    finding = only_error(ADD_BOX + items, inner="- add_model_instance: {name: z}\n")
    assert (finding.place.file, finding.place.line, finding.code) == ("s.yaml", line, code)
    assert message in str(finding)


def test_all_wrong_names_come_at_once_and_once_each(scene):
    found = errors(
        ADD_BOX
        + '- add_frame: {name: f, X_PF: {base_frame: "a::c"}}\n- add_weld: {parent: world, child: f}\n'
        + '- add_weld: {parent: world, child: "a::d"}\n'
    )
    assert [(f.place.line, f.code) for f in found] == [(3, "NAME_UNKNOWN"), (5, "NAME_UNKNOWN")]


def test_several_frames_of_a_name_need_a_scope(scene):
    finding = only_error(ADD_BOX + "- add_model: {name: c, file: box.sdf}\n- add_weld: {parent: world, child: b}\n")
    assert 'several frames are named "b"; use a::b or c::b' in finding.message


def test_the_pose_of_a_body_that_is_held_is_a_warning(scene):
    item = "- add_model: {name: a, file: box.sdf, default_free_body_pose: {b: {}}}\n"
    _, parser, _ = apply(item + '- add_weld: {parent: world, child: "a::b"}\n')
    (finding,) = parser.diagnostics.findings
    assert (finding.severity, finding.code, finding.place.line) == ("warning", "POSE_UNUSED", 2)


def test_a_missing_model_is_a_missing_resource_and_what_follows_from_it_is_no_finding(scene):
    finding = only_error(
        '- add_model: {name: a, file: "package://gone/box.sdf"}\n'
        '- add_frame: {name: f, X_PF: {base_frame: "a::b"}}\n- add_weld: {parent: f, child: "a::top"}\n',
        MissingResourceError,
    )
    assert (finding.code, finding.place.line) == ("URI_LOOKUP", 2)
    assert finding.message.startswith('"package://gone/box.sdf": no package "gone": not given by name; not around ')


def test_the_errors_of_a_model_have_the_places_of_its_file(scene):
    (scene / "bad.urdf").write_text('<robot name="r">\n<lnk name="a"/>\n<link nam="b"/></robot>')
    found = errors("- add_model: {name: a, file: bad.urdf}\n- add_model: {name: b, file: bad.urdf}\n")
    assert {f.place.line for f in found} == {3}
    assert len(found) == 1, "a file is read once, however often it is added"


def test_a_world_file_is_no_single_model(scene):
    (scene / "w.sdf").write_text('<sdf version="1.9"><world name="w"/></sdf>')
    assert "add_model adds one" in errors("- add_model: {name: a, file: w.sdf}\n")[-1].message


# ---------------------------------------------------------------------------------------------------- includes


def test_a_cycle_of_includes_names_its_files(scene):
    finding = only_error(
        "- add_directives: {file: one.dmd.yaml}\n",
        one="- add_directives: {file: two.dmd.yaml}\n",
        two="- add_directives: {file: one.dmd.yaml}\n",
    )
    assert finding.code == "INCLUDE_CYCLE"
    assert str(finding.place).endswith("two.dmd.yaml:2:19")
    one, two = scene / "one.dmd.yaml", scene / "two.dmd.yaml"
    assert finding.message == f"the file includes itself: {one} -> {two} -> {one}"


def test_a_file_that_includes_itself_through_a_link_is_a_cycle(scene):
    (scene / "self.dmd.yaml").write_text("directives:\n- add_directives: {file: link.dmd.yaml}\n")
    (scene / "link.dmd.yaml").symlink_to(scene / "self.dmd.yaml")
    with pytest.raises(DiagnosticError, match="the file includes itself"):
        Parser(MultibodyPlant(0.0)).AddModels("self.dmd.yaml")


def test_includes_may_be_nested_to_a_depth(scene):
    files = {f"f{k}": f"- add_directives: {{file: f{k + 1}.dmd.yaml}}\n" for k in range(MAX_INCLUDE_DEPTH)}
    files[f"f{MAX_INCLUDE_DEPTH}"] = ADD_BOX
    start = "- add_directives: {file: f1.dmd.yaml}\n"
    assert len(apply(start, **files)[2]) == 1
    finding = only_error("- add_directives: {file: f0.dmd.yaml}\n")
    assert (finding.code, finding.place.file) == ("INCLUDE_DEPTH", str(scene / f"f{MAX_INCLUDE_DEPTH - 1}.dmd.yaml"))


def test_a_missing_include_hides_no_other_finding(scene):
    found = errors("- add_directives: {file: gone.dmd.yaml}\n" + ADD_BOX + '- add_weld: {parent: x, child: "a::c"}\n')
    assert [(f.code, f.place.line) for f in found] == [("URI_LOOKUP", 2), ("NAME_UNKNOWN", 4)]


def test_the_findings_of_an_include_have_its_places(scene):
    finding = only_error("- add_directives: {file: one.dmd.yaml}\n", one="- add_frame: {name: f}\n")
    assert (finding.code, str(finding.place)) == ("KEY_MISSING", f"{scene / 'one.dmd.yaml'}:2:14")


def test_a_package_in_two_places_is_warned_of_once(scene):
    for folder in ("one", "two"):
        (scene / folder).mkdir()
        (scene / folder / "package.xml").write_text("<package><name>p</name></package>")
        (scene / folder / "box.sdf").write_text(BOX)
    parser = Parser(MultibodyPlant(0.0), packages=PackageMap(environment={"MBCLI_PACKAGE_PATH": str(scene)}))
    text = "directives:\n" + "".join(f'- add_model: {{name: {n}, file: "package://p/box.sdf"}}\n' for n in "ab")
    parser.AddModels(file_contents=text, file_type=".dmd.yaml")
    (finding,) = parser.diagnostics.findings
    assert (finding.severity, finding.place.line) == ("warning", 2)
    assert f"the first is used: {scene / 'one'}, {scene / 'two'}" in finding.message


# ---------------------------------------------------------------------------------------------- the public files


def test_the_public_directives_load_whole(tmp_path, models_dir):
    package = write_homecart(tmp_path, models_dir)
    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    parser.package_map().Add("drake_models", str(package))
    instances = parser.AddModels(str(models_dir / "directives" / "homecart.dmd.yaml"))
    names = [plant.GetModelInstanceName(instance) for instance in instances]
    assert names == [
        "homecart_bimanual",
        "homecart_collision_walls",
        "ur3_left",
        "ur3_right",
        "homecart_cutting_board",
        "gripper_left",
        "gripper_right",
    ]
    assert len(parser.sources) == 3
    assert parser.diagnostics.findings == []
    plant.Finalize()
    assert (plant.num_positions(), plant.num_velocities()) == (4, 4)
    grasp = GetScopedFrameByName(plant, "gripper_left::grasp_frame")
    np.testing.assert_allclose(grasp.GetFixedPoseInBodyFrame().translation(), [0, 0.11, 0.1])


@pytest.mark.parametrize("name", ["homecart", "homecart_no_grippers"])
def test_the_public_directives_without_their_models_name_every_missing_file(models_dir, name):
    parser = Parser(MultibodyPlant(0.0), packages=PackageMap(environment={}))
    with pytest.raises(MissingResourceError) as caught:
        parser.AddModels(str(models_dir / "directives" / f"{name}.dmd.yaml"))
    missing = {"homecart": 2, "homecart_no_grippers": 5}[name]
    found = caught.value.diagnostics.errors
    assert [f.code for f in found] == ["URI_LOOKUP"] * missing
    assert all('no package "drake_models": not given by name; not around' in f.message for f in found)


# -------------------------------------------------------------------------------------------------- their schema


def test_transforms_and_distributions_are_fixed_or_random():
    fixed = Transform(translation=[1, 2, 3], rotation=Rotation.Rpy(deg=[0, 0, 90]))
    assert fixed.IsDeterministic()
    assert fixed.GetDeterministicValue().IsExactlyEqualTo(fixed.Mean())
    about_z = Rotation.AngleAxis(angle_deg=Uniform(0.0, 20.0), axis=[0, 0, 1])
    for rotation in (about_z, Rotation(value=about_z)):
        random = Transform(rotation=rotation, translation=UniformVector(min=[0, 0, 0], max=[2, 4, 6]))
        assert not random.IsDeterministic()
        with pytest.raises(RuntimeError, match="is random"):
            random.GetDeterministicValue()
        mean = random.Mean()
        np.testing.assert_array_equal(mean.translation(), [1, 2, 3])
        assert RollPitchYaw(mean.rotation()).yaw_angle() == pytest.approx(math.radians(10), rel=1e-14)
        sample = random.Sample(np.random.default_rng(3))
        assert sample.IsExactlyEqualTo(random.Sample(np.random.default_rng(3)))
        assert 0 < RollPitchYaw(sample.rotation()).yaw_angle() < math.radians(20)
    uniform = Rotation(Rotation.Uniform())
    assert not uniform.IsDeterministic()
    drawn = [uniform.Sample(np.random.default_rng(seed)).matrix() for seed in range(200)]
    assert np.abs(np.mean(drawn, axis=0)).max() < 0.15  # the mean of all rotations is zero
    assert not Rotation(Rotation.AngleAxis(angle_deg=Gaussian(1, 2))).IsDeterministic()
