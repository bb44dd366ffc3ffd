"""What is measured, as data: models, and one Scene per line of the report."""

import os
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchmarks import constrained, contact
from benchmarks.plant_calls import ACTUATOR_VALUES, CALCULATIONS, FREE_BODY_VALUES, VALUES

ROOT = Path(__file__).resolve().parent.parent
SHARED_MODELS = Path(os.environ.get("MBCLI_MODELS") or ROOT.parent / "shared" / "models")


@dataclass(frozen=True)
class ModelFile:
    """A model file; `weld` names the body that is welded to the world, where the file leaves it free."""

    path: Path
    weld: str | None = None


MODELS = {
    "atlas": ModelFile(SHARED_MODELS / "atlas" / "atlas_minimal_contact.urdf"),
    "iiwa": ModelFile(SHARED_MODELS / "iiwa14" / "iiwa14_no_collision.urdf"),
    "quadruped": ModelFile(ROOT / "sample_models" / "quadruped.urdf"),
    "arm7": ModelFile(ROOT / "sample_models" / "arm7.urdf"),
    "pendulum": ModelFile(ROOT / "sample_models" / "double_pendulum.urdf"),
}


@dataclass(frozen=True)
class Scene:
    """One measurement.

    Attributes:
        name: what --scene selects, with or without what follows the first dot.
        kind: engine, plant, steps, growth, batch, command, load, load-chain, load-constraints, constrained, loops,
            assembly, contact, many, asleep, start or compile; run.py has a function for each.
        model: key of MODELS, of WORLDS for contact, of contact.MANY for many and asleep.
        calculation: what is computed; a name that contestants know. For contact: the approximation.
        new_state: whether another q is set before every call.
        goals: how many times as fast as each peer mbcli shall be.
        at_most: [s] what mbcli shall not exceed.
    """

    name: str
    kind: str
    model: str = ""
    calculation: str = ""
    new_state: bool = False
    goals: dict = field(default_factory=dict)
    at_most: float | None = None


ENGINE_GOALS = {"rnea": 2.0, "crba": 1.5, "aba": 1.5}  # against Pinocchio, on Atlas


def _plant_scenes(model, *tables):
    """Two scenes of each calculation, one of each value of these tables."""
    for calculation in CALCULATIONS:
        goal = 3.0 if calculation == "CalcMassMatrix" and model != "pendulum" else 1.0
        for new_state in (True, False):
            name = f"plant-{model}.{calculation}" + (".new-state" if new_state else "")
            yield Scene(name, "plant", model, calculation, new_state, {"Drake": goal})
    for table in (VALUES, *tables):
        for calculation in table:
            yield Scene(f"plant-{model}.{calculation}", "plant", model, calculation, goals={"Drake": 1.0})


WORLDS = {  # what makes the world; those of a robot are left out where its file is absent
    "atlas-standing": partial(contact.atlas, MODELS["atlas"].path, standing=True),
    "atlas-lying": partial(contact.atlas, MODELS["atlas"].path, standing=False),
    "quadruped-standing": partial(contact.quadruped, MODELS["quadruped"].path, standing=True),
    "quadruped-lying": partial(contact.quadruped, MODELS["quadruped"].path, standing=False),
    "spheres-25": partial(contact.solids_in_a_bin, 25, across=3, shapes=contact.BALLS),
    "spheres-100": partial(contact.solids_in_a_bin, 100, across=4, shapes=contact.BALLS),
    "mixed-50": partial(contact.solids_in_a_bin, 50, across=4, shapes=contact.MIXED),
    "boxes-25": partial(contact.wall_of_boxes, 7, rows=5),
}
CONTACT_GOALS = {"Drake": 8.0, "MuJoCo": 1.0, "MuJoCo elliptic": 1.0}

SCENES = (
    *(Scene(f"engine-atlas.{c}", "engine", "atlas", c, goals={"Pinocchio": g}) for c, g in ENGINE_GOALS.items()),
    *(Scene(f"engine-{m}.{c}", "engine", m, c) for m in ("iiwa", "quadruped", "arm7") for c in ENGINE_GOALS),
    *_plant_scenes("atlas", ACTUATOR_VALUES, FREE_BODY_VALUES),
    *_plant_scenes("iiwa", ACTUATOR_VALUES),
    *_plant_scenes("quadruped", ACTUATOR_VALUES, FREE_BODY_VALUES),
    *_plant_scenes("pendulum"),
    Scene("steps-iiwa", "steps", "iiwa", goals={"MuJoCo": 1.0}),
    *(Scene(f"steps-{m}", "steps", m) for m in ("atlas", "arm7", "quadruped")),
    Scene("growth.aba", "growth", calculation="aba"),
    Scene("growth.crba", "growth", calculation="crba"),
    Scene("batch-atlas.rnea", "batch", "atlas", "rnea"),
    Scene("batch-arm7.rnea", "batch", "arm7", "rnea"),
    Scene("batch-arm7.command", "command", "arm7", "inverse-dynamics"),
    Scene("load-atlas.urdf", "load", "atlas", "urdf", at_most=0.05),
    Scene("load-atlas.sdf", "load", "atlas", "sdf", at_most=0.05),
    Scene("load-chain", "load-chain", goals={"Drake": 1 / 3}),
    Scene("load-constraints.mimics", "load-constraints", calculation="mimics", at_most=10.0),
    Scene("load-constraints.loops", "load-constraints", calculation="loops", at_most=10.0),
    Scene("load-tree.urdf", "load", calculation="urdf", at_most=5.0),
    Scene("load-tree.sdf", "load", calculation="sdf", at_most=5.0),
    Scene("constrained-atlas", "constrained", "atlas", goals={"Pinocchio": 1.0}),
    Scene("loops", "loops"),
    *(Scene(f"assembly.{m}", "assembly", calculation=m) for m in (*constrained.ASSEMBLIES, *constrained.SAMPLES)),
    *(Scene(f"contact-{w}.{a}", "contact", w, a, goals=CONTACT_GOALS) for w in WORLDS for a in contact.APPROXIMATIONS),
    *(Scene(m, "many", m, "lagged", goals={"MuJoCo": 1.0, "Drake": 8.0}) for m in contact.MANY),
    Scene("stacks-asleep", "asleep", "stacks", "lagged", goals={"MuJoCo": 1.0, "mbcli awake": 5.0}),
    Scene("start.help", "start", calculation="help", at_most=0.15),
    Scene("start.inspect", "start", "arm7", calculation="inspect", at_most=0.15),
    Scene("start.check", "start", "arm7", calculation="check", at_most=0.15),
    Scene("compile.first", "compile", "arm7", calculation="first", at_most=15.0),
    Scene("compile.cached", "compile", "arm7", calculation="cached", at_most=0.6),
)

TREE_SIZES = (1000, 3000, 10_000)  # links
LOADED_CHAINS = {100: 15, 1000: 5, 10_000: 1}  # rounds by links
LOADED_CONSTRAINTS = {"mimics": 2000, "loops": 1000}
CHAIN_LENGTHS = (10, 30, 100, 300, 1000)
FEET = {"atlas": ("l_foot", "r_foot")}
LOOPS = (1, 3, 10, 30, 100, 300, 1000)
BODIES = {"stacks": (10, 100, 1000, 10_000), "falling": (10, 100, 1000, 5000, 10_000)}
ASLEEP = (1000, 10_000)
DRAKE_BODIES = 100  # its steps take more than in proportion to them: 66 ms for 500
ASSEMBLY_STARTS = 1000
BATCH_STATES = 10_000
TIME_STEP = 1.0e-3  # [s]


def chain_urdf(links):
    """A chain of links with hinges about x, y and z in turn, as URDF text."""
    parts = ['<robot name="chain"><link name="world"/>']
    for k in range(links):
        axis = ("1 0 0", "0 1 0", "0 0 1")[k % 3]
        inboard = f"link_{k - 1}" if k else "world"
        parts.append(
            f'<link name="link_{k}"><inertial><origin xyz="0.01 0.02 -0.05"/><mass value="1"/>'
            '<inertia ixx="0.01" iyy="0.012" izz="0.008" ixy="0.001" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="joint_{k}" type="revolute"><parent link="{inboard}"/><child link="link_{k}"/>'
            f'<origin xyz="0 0 -0.1"/><axis xyz="{axis}"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>'
        )
    parts.append("</robot>")
    return "".join(parts)
