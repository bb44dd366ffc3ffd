"""What MJCF files say of the softness of contact and limits, for the law "mujoco"."""

import numpy as np
import pytest

from mbcli.geometry.properties import SOFTNESS
from mbcli.models import ModelText, load_model

FILE = """
<mujoco>
  <option cone="{cone}" impratio="4" o_solref="0.05 1"><flag override="{override}"/></option>
  <default>
    <geom solref="0.03 0.9"/>
    <default class="hard"><geom solimp="0.95 0.99 0.0001"/></default>
    <default class="springy"><geom solref="-1000 -3"/></default>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" class="hard" solmix="2"/>
    <body pos="0 0 1">
      <joint name="slider" type="slide" axis="0 0 1" range="-0.2 0.5" margin="0.01" solimplimit="0 0.8"/>
      <geom name="ball" class="{kind}" size="0.1"/>
      <body pos="0.5 0 0">
        <joint name="hinge" axis="0 1 0" range="-30 30"/>
        <geom name="other" size="0.1"/>
      </body>
    </body>
  </worldbody>
  <equality><joint joint1="hinge" polycoef="0.1" solref="0.5 1"/></equality>
</mujoco>
"""


def load(law="mujoco", **words):
    text = FILE.format(**{"cone": "pyramidal", "override": "disable", "kind": "hard"} | words)
    return load_model(ModelText(text.encode(), "soft.xml"), contact=True, contact_approximation=law)


def properties(loaded, name):
    geometries = loaded.plant.scene_graph.registry.geometries.values()
    return next(g.proximity for g in geometries if g.proximity is not None and g.name().endswith(name))


def test_defaults_and_classes_are_filled_in():
    loaded = load()
    assert properties(loaded, "floor").GetProperty("mujoco", SOFTNESS) == (0.03, 0.9, 0.95, 0.99, 1e-4, 0.5, 2.0)
    assert properties(loaded, "floor").GetProperty("mujoco", "solmix") == 2.0
    assert properties(loaded, "ball").GetProperty("mujoco", "impratio") == -4.0
    assert properties(load(cone="elliptic"), "ball").GetProperty("mujoco", "impratio") == 4.0
    overridden = properties(load(override="enable"), "ball").GetProperty("mujoco", SOFTNESS)
    assert overridden == (0.05, 1.0, 0.9, 0.95, 1e-3, 0.5, 2.0)


def test_limits_start_at_their_margin_and_have_bounds_of_impedances():
    plant = load().plant
    slider = plant.GetJointByName("slider")
    assert slider.stop_softness == (0.02, 1.0, 1e-4, 0.8, 0.001, 0.5, 2.0, 0.01)
    np.testing.assert_allclose(np.sort(plant.model.limit_value[plant.model.limit_dof == 0]), [-0.19, 0.49])
    assert plant.GetJointByName("hinge").stop_softness is None
    np.testing.assert_allclose(plant.model.limit_soft[2, :7], (0.02, 1.0, 0.9, 0.95, 0.001, 0.5, 2.0))


def test_limits_are_nearly_rigid_under_other_laws():
    model = load("lagged").plant.model
    assert not model.limit_soft.any()
    np.testing.assert_allclose(np.sort(model.limit_value[model.limit_dof == 0]), [-0.2, 0.5])


def test_a_class_makes_a_geom_bounce():
    """A `solref` of a default class says that under other laws too."""
    properties_of_ball = properties(load("lagged", kind="springy"), "ball")
    assert properties_of_ball.GetProperty("material", "restitution") > 0.5


def test_nothing_bounces_twice():
    """Under the law mujoco `solref` itself makes it bounce."""
    assert {solid.bounce for solid in load(kind="springy").plant.compiled_geometries().solids} == {(0.0, 0.0)}


@pytest.mark.parametrize(("law", "found"), [("mujoco", ["joint"]), ("lagged", ["geom", "joint"])])
def test_findings_name_what_is_not_followed(law, found):
    findings = load(law).diagnostics.findings
    lines = [finding.message for finding in findings if "is not followed" in finding.message]
    assert lines
    assert all(("mujoco follows" in line) == (law == "lagged") for line in lines)
    if law == "mujoco":
        assert "in <joint>" in lines[0]
        assert "statements" not in lines[0]


def test_a_pair_has_its_own_softness_or_none():
    text = FILE.format(cone="pyramidal", override="disable", kind="hard").replace(
        "</mujoco>", '<contact><pair geom1="floor" geom2="ball" {}/></contact></mujoco>'
    )
    for stated, expected in (
        ("", (0.02, 1.0, 0.9, 0.95, 1e-3, 0.5, 2.0)),
        ('solref="0.1 2"', (0.1, 2.0, 0.9, 0.95, 1e-3, 0.5, 2.0)),
    ):
        source = ModelText(text.replace("{}", stated).encode(), "pair.xml")
        plant = load_model(source, contact=True, contact_approximation="mujoco").plant
        np.testing.assert_allclose(plant.compiled_geometries().collision().own_soft, [expected])
