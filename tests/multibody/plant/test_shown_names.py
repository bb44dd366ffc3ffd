"""What completion and help show of a plant: names for users, and all that a class of a user adds."""

import pydoc
import re

import pytest
from repository import ROOT, SAMPLES

from mbcli.models import load_model
from mbcli.multibody.core.plant_core import PlantCore
from mbcli.multibody.plant import MultibodyPlant

PAGE = ROOT / "docs" / "reference" / "differences_from_drake.md"


def public(names):
    return {name for name in names if not name.startswith("_")}


def listed():
    """The names that the page says pydrake has not."""
    part = PAGE.read_text(encoding="utf-8").partition("**Names of a plant.**")[2].partition("\n\n")[0]
    return set(re.findall(r"`(\w+)`", part))


def used_plant():
    plant = load_model(SAMPLES / "quadruped.urdf", contact=True, ground=0.0).plant
    plant.CalcGravityGeneralizedForces(plant.CreateDefaultContext())
    return plant


def test_names_of_the_core_are_not_shown():
    plant = used_plant()
    core = public([*type.__dir__(MultibodyPlant), *type.__dir__(PlantCore), *vars(plant)])
    shown = public(dir(plant))
    assert shown == public(dir(MultibodyPlant)) and shown < core
    hidden = core - shown
    assert {"forest", "elements", "require_finalized", "meets_contact", "free_joints"} <= hidden
    assert not [name for name in hidden if name[0].isupper() or name.startswith(("get_", "num_", "is_", "has_"))]
    page = pydoc.plain(pydoc.render_doc(MultibodyPlant))
    documented = re.findall(r"^ \|  (\w+)\(", page, re.M)
    assert "CalcMassMatrix" in documented and hidden.isdisjoint(documented)


def test_what_a_class_of_a_user_adds_is_shown():
    class Mine(MultibodyPlant):
        kept = 1

        def mine(self):
            """Nothing."""

    plant = Mine(0.0)
    plant.note = 2
    assert public(dir(plant)) - public(dir(MultibodyPlant)) == {"kept", "mine", "note"}
    assert {"kept", "mine"} <= public(dir(Mine))


@pytest.mark.peers("pydrake")
def test_shown_names_are_pydrakes_and_those_of_the_page():
    from pydrake.multibody.plant import MultibodyPlant as Other

    theirs, plant = public(dir(Other)), used_plant()
    assert public(dir(plant)) - theirs == listed()
    assert {name for name in theirs if hasattr(plant, name)} <= public(dir(plant))
