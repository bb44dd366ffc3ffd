"""Model directives give the same plant as pydrake's parser."""

import numpy as np
import pytest
from homecart import sdf, write_homecart
from repository import SAMPLES

import mbcli.multibody.parsing as our_parsing
import mbcli.multibody.plant as our_plant

pytestmark = pytest.mark.peers("pydrake")

BOX = "package://t/box.sdf"
INNER = f"""directives:
- add_model: {{name: box, file: "{BOX}"}}
- add_frame: {{name: "box::mine", X_PF: {{base_frame: "box::b", translation: [0, 0, 1]}}}}
- add_frame: {{name: of_world, X_PF: {{base_frame: world, translation: [0, 0, 1]}}}}
- add_weld: {{parent: world, child: "box::mine"}}
"""
SCENES = {
    "model": f'- add_model: {{name: a, file: "{BOX}"}}',
    "scoped name": f'- add_model: {{name: "x::a", file: "{BOX}"}}',
    "joint positions": "- add_model: {name: a, file: 'package://s/double_pendulum.urdf', "
    "default_joint_positions: {elbow: [0.5]}}",
    "free body": "- add_model: {name: a, file: 'package://s/quadruped.urdf', default_free_body_pose: {trunk: "
    "{translation: [1, 2, 3], rotation: !Rpy {deg: [10, 20, 30]}}}}",
    "only body": f'- add_model: {{name: a, file: "{BOX}", default_free_body_pose: {{"": {{translation: [1, 2, 3]}}}}}}',
    "posed frame": f"""
- add_model: {{name: a, file: "{BOX}", default_free_body_pose: {{top: {{translation: [1, 2, 3]}}}}}}""",
    "pose in frame": f"""
- add_frame: {{name: f, X_PF: {{base_frame: world, translation: [0, 0, 7], rotation: !Rpy {{deg: [0, 90, 0]}}}}}}
- add_model: {{name: a, file: "{BOX}", default_free_body_pose: {{b: {{base_frame: f, translation: [1, 2, 3],
    rotation: !AngleAxis {{angle_deg: !Deterministic {{value: 30}}, axis: [1, 2, 3]}}}}}}}}""",
    "pose of a held body": "- add_model: {name: a, file: 'package://s/double_pendulum.urdf', "
    "default_free_body_pose: {upper: {translation: [1, 2, 3]}}}",
    "weld": f"""
- add_model: {{name: a, file: "{BOX}"}}
- add_model: {{name: c, file: "{BOX}"}}
- add_weld: {{parent: "a::b", child: "c::top", X_PC: {{translation: [0, 0, 1]}}}}""",
    "frames in other instances": f"""
- add_model: {{name: a, file: "{BOX}"}}
- add_model_instance: {{name: b}}
- add_frame: {{name: f, X_PF: {{base_frame: "a::b", translation: [1, 2, 3]}}}}
- add_frame: {{name: "b::g", X_PF: {{base_frame: f, rotation: !Identity {{}}}}}}
- add_frame: {{name: h, X_PF: {{base_frame: world}}}}
- add_frame: {{name: "DefaultModelInstance::h", X_PF: {{base_frame: h}}}}""",
    "include": '- add_directives: {file: "package://t/inner.dmd.yaml"}',
    "namespace": """
- add_model_instance: {name: n}
- add_directives: {file: "package://t/inner.dmd.yaml", model_namespace: n}""",
    "namespace in namespace": """
- add_model_instance: {name: n}
- add_model_instance: {name: "n::q"}
- add_directives: {file: "package://t/inner.dmd.yaml", model_namespace: "n::q"}""",
    "herd": None,
    "homecart": None,
}


def plants(text, packages):
    """Our plant and pydrake's with the directives in them, and what they say of the models."""
    from pydrake.multibody import parsing as their_parsing, plant as their_plant

    results = []
    for parsing, plants in ((our_parsing, our_plant), (their_parsing, their_plant)):
        plant = plants.MultibodyPlant(0.0)
        parser = parsing.Parser(plant)
        for name, directory in packages.items():
            if parser.package_map().Contains(name):  # pydrake would download drake_models
                parser.package_map().Remove(name)
            parser.package_map().Add(name, str(directory))
        directives = parsing.LoadModelDirectivesFromString(text)
        infos = parsing.ProcessModelDirectives(directives, parser)
        results.append((plant, infos))
    return results


@pytest.mark.parametrize("scene", SCENES)
def test_the_plant_is_the_one_of_pydrake(scene, tmp_path, models_dir):
    from pydrake.multibody import tree

    (tmp_path / "box.sdf").write_text(
        sdf("box", "b", '<frame name="top" attached_to="b"><pose>0 0 0.5 0 0 0</pose></frame>')
    )
    (tmp_path / "inner.dmd.yaml").write_text(INNER)
    packages = {"s": SAMPLES, "t": tmp_path}
    text = f"directives:\n{SCENES[scene]}\n"
    if scene == "herd":
        packages["sample_models"] = SAMPLES
        text = (SAMPLES / "herd.dmd.yaml").read_text()
    if scene == "homecart":
        packages["drake_models"] = write_homecart(tmp_path, models_dir)
        text = (models_dir / "directives" / "homecart.dmd.yaml").read_text()
    (ours, our_infos), (theirs, their_infos) = plants(text, packages)
    assert [_info(i) for i in our_infos] == [_info(i) for i in their_infos]
    for kind, index in (("body", "BodyIndex"), ("frame", "FrameIndex")):
        number = {"body": "num_bodies", "frame": "num_frames"}[kind]
        assert getattr(ours, number)() == getattr(theirs, number)()
        get = f"get_{kind}"
        found = [getattr(ours, get)(k) for k in range(getattr(ours, number)())]
        wanted = [getattr(theirs, get)(getattr(tree, index)(k)) for k in range(getattr(ours, number)())]
        assert [_named(ours, e) for e in found] == [_named(theirs, e) for e in wanted]
        if kind == "frame":
            for our, their in zip(found, wanted, strict=True):
                X = our.GetFixedPoseInBodyFrame().GetAsMatrix4()
                np.testing.assert_allclose(X, their.GetFixedPoseInBodyFrame().GetAsMatrix4(), atol=1e-15)
    ours.Finalize()  # where pydrake adds frames of its own
    theirs.Finalize()
    our_joints = [_joint(ours, ours.get_joint(k)) for k in ours.GetJointIndices()]
    assert our_joints == [_joint(theirs, theirs.get_joint(k)) for k in theirs.GetJointIndices()]
    assert ours.GetPositionNames() == theirs.GetPositionNames()
    contexts = ours.CreateDefaultContext(), theirs.CreateDefaultContext()
    q, their_q = (plant.GetPositions(context) for plant, context in zip((ours, theirs), contexts, strict=True))
    np.testing.assert_allclose(q, their_q, rtol=0, atol=1e-15)
    for k in range(ours.num_bodies()):
        X = ours.EvalBodyPoseInWorld(contexts[0], ours.get_body(k)).GetAsMatrix4()
        their_X = theirs.EvalBodyPoseInWorld(contexts[1], theirs.get_body(tree.BodyIndex(k))).GetAsMatrix4()
        np.testing.assert_allclose(X, their_X, rtol=0, atol=1e-14)
    M = ours.CalcMassMatrix(contexts[0])
    np.testing.assert_allclose(M, theirs.CalcMassMatrix(contexts[1]), rtol=1e-12, atol=1e-12)


def _info(info):
    X_PC = tuple(map(tuple, info.X_PC.GetAsMatrix4()))
    return (
        info.model_name,
        info.model_path,
        info.parent_frame_name,
        info.child_frame_name,
        int(info.model_instance),
        X_PC,
    )


def _named(plant, element):
    return element.name(), plant.GetModelInstanceName(element.model_instance())


def _joint(plant, joint):
    frames = joint.frame_on_parent().name(), joint.frame_on_child().name()
    return *_named(plant, joint), joint.type_name(), frames


@pytest.mark.parametrize(
    "items",
    [
        '- add_weld: {parent: world, child: "a::c"}',
        '- add_weld: {parent: world, child: "c::b"}',
        '- add_weld: {parent: "a::b", child: "a::top"}',
        f'- add_model: {{name: a, file: "{BOX}"}}',
        "- add_model_instance: {name: a}",
        '- add_frame: {name: top, X_PF: {base_frame: "a::b"}}',
        '- add_frame: {name: "c::f", X_PF: {base_frame: "a::b"}}',
        '- add_frame: {name: "world::f", X_PF: {base_frame: world}}',
        '- add_directives: {file: "package://t/inner.dmd.yaml", model_namespace: n}',
        '- add_directives: {file: "package://t/gone.dmd.yaml"}',
        f'- add_model: {{name: c, file: "{BOX}", default_free_body_pose: {{c: {{}}}}}}',
        f'- add_model: {{name: c, file: "{BOX}", default_joint_positions: {{c: [1]}}}}',
        '- add_model: {name: c, file: "package://t/inner.dmd.yaml"}',
        "- add_frame: {name: f, X_PF: {base_frame: world, rotation: {deg: [1, 2, 3]}}}",
        "- add_frame: {name: f, X_PF: {base_frame: world, rotation: !Euler {deg: [1, 2, 3]}}}",
        "- add_frame: {name: f, nme: g, X_PF: {base_frame: world}}",
    ],
)
def test_what_pydrake_refuses_is_refused(items, tmp_path):
    (tmp_path / "box.sdf").write_text(
        sdf("box", "b", '<frame name="top" attached_to="b"><pose>0 0 0.5 0 0 0</pose></frame>')
    )
    (tmp_path / "inner.dmd.yaml").write_text(INNER)
    text = f'directives:\n- add_model: {{name: a, file: "{BOX}"}}\n{items}\n'
    from pydrake.multibody import parsing as their_parsing, plant as their_plant

    for parsing, plants in ((our_parsing, our_plant), (their_parsing, their_plant)):
        plant = plants.MultibodyPlant(0.0)  # which pydrake's parser does not keep alive
        parser = parsing.Parser(plant)
        parser.package_map().Add("t", str(tmp_path))
        with pytest.raises(RuntimeError):
            parser.AddModels(file_contents=text, file_type=".dmd.yaml")
