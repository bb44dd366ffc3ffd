"""Each kind of joint stands in one table: a format that it leaves out is an error at import, and nobody has another."""

import ast
import subprocess
import sys
from dataclasses import replace

import pytest
from mbcli.parsers import joint_kinds
from mbcli.parsers.formats import TARGETS
from mbcli.parsers.joint_kinds import BALL, FREE, HINGE, JOINT_KINDS, Form, Refusal, Substitute, require_forms
from repository import ROOT

from mbcli.models.units import coordinate_units
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import CurvilinearJoint, SpatialInertia
from mbcli.multibody.tree.joint_kinds import joint_class
from mbcli.trajectories import PiecewiseConstantCurvatureTrajectory

ANGULAR = {HINGE: (True,), BALL: (True,) * 3, FREE: (True,) * 3 + (False,) * 3}  # others slide
TABLE = ROOT / "parsers" / "joint_kinds.py"
# three words of joints beside each other that are no table of what their kinds are
OTHERS = {
    "mbcli/engine/fields/joint_names.py": "the registry of the engine",
    "mbcli/multibody/tree/joints/__init__.py": "late names of modules",
    "mbcli/multibody/tree/bushing_design.py": "what a bushing may stand for",
}

WITHOUT_MJCF = """
from dataclasses import replace
from mbcli.parsers import joint_kinds
kind = joint_kinds._KINDS["ball"]
forms = {name: form for name, form in kind.forms.items() if name != "mjcf"}
joint_kinds._KINDS["cone"] = replace(kind, forms=forms)
import mbcli.parsers.formats
"""


def test_a_kind_that_leaves_out_a_format_is_an_error_when_the_formats_are_imported():
    done = subprocess.run([sys.executable, "-c", WITHOUT_MJCF], capture_output=True, text=True, cwd=ROOT)
    assert done.stderr.endswith("ImportError: the forms of the joint kind 'cone': lacks mjcf\n")


def test_a_format_that_is_written_and_of_which_no_kind_says_anything_is_an_error():
    with pytest.raises(ImportError, match="the forms of the joint kind 'fixed': lacks rod"):
        require_forms((*TARGETS, "rod"))


def test_a_form_of_no_format_is_an_error(monkeypatch):
    kind = JOINT_KINDS["screw"]
    changed = replace(kind, forms={**kind.forms, "mjfc": Form()})
    monkeypatch.setattr(joint_kinds, "JOINT_KINDS", JOINT_KINDS | {"screw": changed})
    with pytest.raises(ImportError, match="the forms of the joint kind 'screw': has mjfc, which is no format"):
        require_forms(TARGETS)


@pytest.mark.parametrize("ball_joints", ["drake", "quaternion"])
@pytest.mark.parametrize("name", JOINT_KINDS)
def test_a_kind_has_the_coordinates_of_its_joint_in_plants(name, ball_joints):
    kind = JOINT_KINDS[name]
    kinematics = joint_class(kind.type_in_plants(ball_joints)).kinematics
    assert kind.num_velocities == kinematics.NUM_VELOCITIES
    if ball_joints == "quaternion":
        assert kind.num_positions == kinematics.NUM_POSITIONS
    moving = [motion for motion in kind.motions if not motion.by_pitch]
    assert sum((ANGULAR.get(motion.kind, (False,)) for motion in moving), ()) == kinematics.IS_ANGULAR


def test_substitutes_are_kinds_that_the_format_states():
    for name, kind in JOINT_KINDS.items():
        for target, form in kind.forms.items():
            assert isinstance(form, (Form, Refusal, Substitute)), (name, target)
            if isinstance(form, Substitute):
                assert isinstance(JOINT_KINDS[form.kind].forms[target], Form), (name, target)


@pytest.mark.parametrize("target", TARGETS)
def test_a_format_reads_no_word_of_an_element_as_two_kinds_with_different_motions(target):
    motions = {}
    for kind in JOINT_KINDS.values():
        form = kind.forms[target]
        for element in form.elements if isinstance(form, Form) else ():
            motions.setdefault(element, []).append(kind.motions)
    several = {element for element, found in motions.items() if any(other != found[0] for other in found)}
    assert several <= {("PhysicsJoint", "")}  # whose axes are free or locked each


def test_no_other_module_has_a_table_of_the_kinds():
    found = {}
    for path in sorted([*ROOT.glob("mbcli/**/*.py"), *ROOT.glob("parsers/**/*.py")]):
        place = str(path.relative_to(ROOT))
        if path == TABLE or place in OTHERS:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            items = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", ())
            words = {item.value for item in items if isinstance(item, ast.Constant)} & JOINT_KINDS.keys()
            if len(words) > 2:
                found[f"{place}:{node.lineno}"] = sorted(words)
    assert found == {}


def words_of(node):
    return {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}


def test_nobody_compares_the_type_of_a_joint_with_a_word():
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted([*ROOT.glob("mbcli/**/*.py"), *ROOT.glob("parsers/**/*.py")])
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Compare) and getattr(node.left, "attr", "") == "type"
        if words_of(node.comparators[0]) & JOINT_KINDS.keys()
    ]
    assert found == []


def test_the_distance_along_a_curve_is_in_metres():
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("b", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    curve = PiecewiseConstantCurvatureTrajectory([0.0, 2.0], [0.5], [1, 0, 0], [0, 0, 1], [0, 0, 0])
    plant.AddJoint(CurvilinearJoint("j", plant.world_frame(), body.body_frame(), curve))
    plant.Finalize()
    assert coordinate_units(plant)[:2] == (("m",), ("m s-1",))
