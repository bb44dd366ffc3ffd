"""What each attribute of MJCF does here, by MuJoCo's own schema and compiler: a table of a page.

    python tests/support/mjcf_severity.py      writes docs/reference/severity.md anew (needs mujoco)

An attribute is tried in each place of one model with the values of VALUES until MuJoCo's compiled model changes in what
moves something. What it does here is the best of these tries: it acts if our model differs too, else a finding names
it.
"""

import copy
import re

import numpy as np
from lxml import etree
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from severity_tables import plain, write_to_page

START, END = "<!-- table of MJCF -->\n", "<!-- end of the table of MJCF -->\n"
MODEL = """<mujoco model="m"><compiler angle="radian"/><option timestep="0.002"><flag override="disable"/></option>
<asset>
 <mesh name="tet" vertex="0 0 0  .1 0 0  0 .1 0  0 0 .1  .1 .1 .1  .03 .03 .03"/>
 <mesh name="other" vertex="0 0 0  .2 0 0  0 .2 0  0 0 .2"/>
 <material name="red" rgba="1 0 0 1"/>
</asset>
<worldbody>
 <geom name="floor" type="plane" size="1 1 1"/><site name="here" pos="0 0 1"/>
 <body name="a" pos="0 0 1"><inertial mass="1" diaginertia=".1 .2 .25" pos="0 0 .1"/>
  <joint name="ja" axis="0 1 0" pos="0 0 .1" range="-1 1"/>
  <geom name="ga" size=".05 .04 .03" type="box" pos=".1 0 0"/><site name="sa" pos=".1 .2 .3"/>
  <body name="b" pos="0 0 .5"><joint name="jb" axis="1 0 0" damping=".1" stiffness="2" frictionloss=".1"/>
   <geom name="gb" size=".06" margin=".05"/><site name="sb" pos=".1 0 0"/>
   <body name="c" pos="0 0 .5"><joint name="jc" type="ball"/><geom name="gc" type="mesh" mesh="tet"/></body>
  </body>
 </body>
 <body name="f" pos="2 0 1"><freejoint name="jf"/><geom name="gf" size=".1"/><site name="sf"/></body>
 <body name="d" pos="3 0 1"><joint name="jd" type="slide"/><geom name="gd" size=".1"/><site name="sd"/></body>
</worldbody>
<contact><pair geom1="ga" geom2="gf" margin=".05"/><exclude body1="a" body2="c"/></contact>
<tendon>
 <fixed name="tf" stiffness="2"><joint joint="ja" coef="1"/><joint joint="jb" coef="2"/></fixed>
 <fixed name="tg"><joint joint="jd" coef="1"/></fixed>
 <spatial name="ts" stiffness="2"><site site="here"/><site site="sb"/></spatial>
</tendon>
<equality>
 <connect body1="b" body2="f" anchor="0 0 0"/><weld body1="d" body2="f"/><joint joint1="ja" joint2="jb"/>
 <tendon tendon1="tf" tendon2="tg"/>
</equality>
<actuator>
 <general joint="ja" gainprm="2 1 1" biasprm="1 1 1" ctrlrange="-1 1"/>
 <general joint="ja" gaintype="affine" gainprm="1 2 3" biastype="affine" biasprm="1 2 3" dyntype="filter" dynprm=".1"/>
 <motor name="u" joint="ja"/><motor tendon="tf"/><motor site="sa" refsite="sb"/>
 <motor cranksite="sa" slidersite="sd" cranklength="1"/>
 <position joint="jb" kp="5"/><velocity joint="jb" kv="2"/><intvelocity joint="jd" kp="3" actrange="-1 1"/>
 <pid joint="jd" kp="3" kv="1"/><damper joint="jd" kv="2" ctrlrange="0 1"/>
 <cylinder joint="jd" timeconst=".1" area="2"/><muscle tendon="ts" lengthrange=".5 2"/>
 <adhesion body="b" gain="2" ctrlrange="0 1"/><orientation joint="jc" kp="3"/>
 <dcmotor joint="jb" motorconst=".1" resistance="1"/>
</actuator>
<sensor>
 <magnetometer site="sa"/><touch site="sa"/><accelerometer site="sa"/><force site="sa"/><jointpos joint="ja"/>
 <framepos objtype="site" objname="sa"/><rangefinder site="sa"/><tendonpos tendon="tf"/><actuatorfrc actuator="u"/>
 <subtreecom body="a"/><jointlimitpos joint="ja"/><insidesite site="sa" objtype="body" objname="f"/>
 <distance geom1="ga" geom2="gf"/><contact geom1="ga"/><clock/><framelinvel objtype="body" objname="a"/>
</sensor>
<keyframe><key name="k"/></keyframe></mujoco>"""
NUMBERS = ("0.3", "3", "1", "0.3 0.3", "0.3 0.2 0.1", "1 0 0 0", "disable", "enable", "true", "false")
VALUES = {  # attribute: values; by `|`
    "angle": "degree",
    "eulerseq": "zyx",
    "inertiafromgeom": "true",
    "inertiagrouprange": "2 3",
    "integrator": "RK4|implicit",
    "cone": "elliptic",
    "jacobian": "sparse",
    "solver": "CG",
    "type": "capsule|cylinder|ellipsoid|slide|hinge",
    "axis": "0 0 1|1 1 0",
    "range": "-.4 .3|.1 .9",
    "actuatorfrcrange": "-3 2",
    "ctrlrange": "-.5 .25|.1 .25",
    "forcerange": "-.5 .25",
    "actrange": "-.5 .25",
    "lengthrange": "-.5 .25|.3 3",
    "springlength": ".3|.1 .2",
    "springdamper": ".1 1",
    "damping": ".3|.3 .1 .2",
    "stiffness": "3|3 1 2",
    "actdim": "2",
    "biastype": "affine",
    "gaintype": "affine",
    "dyntype": "filter|integrator",
    "mesh": "other",
    "geom1": "gb",
    "geom2": "gd",
    "joint": "jd|jb",
    "tendon": "ts|tg",
    "tendon1": "tg",
    "tendon2": "tf",
    "joint1": "jd",
    "joint2": "jd",
    "body1": "d|a",
    "body2": "d|a",
    "site1": "sb",
    "site2": "sf",
    "site": "sb",
    "refsite": "sf",
    "cranksite": "sf",
    "slidersite": "sb",
    "jointinparent": "jc",
    "body": "a",
    "objname": "sb",
    "geom": "ga",
    "sidesite": "sb",
    "qpos": "0 0 0 1 0 0 0 0 .3 .4 1 0 0 0 .2|.1 .2 1 0 0 0 0 .3 .4 1 0 0 0 .2",
    "qvel": ".1 .2 0 0 0 0 0 0 0 0 0 .1",
    "fluidshape": "ellipsoid",
    "inertia": "shell|convex",
    "xyaxes": "0 1 0 -1 0 0",
    "zaxis": "1 0 0",
    "axisangle": "0 0 1 .5",
    "euler": ".1 .2 .3",
    "quat": "1 1 0 0",
    "fullinertia": "1 1 1 .1 .1 .1",
    "relpose": "0 0 1 1 0 0 0",
    "reduce": "mindist",
    "data": "force|dist",
    "polycoef": "0 2 0 0 0",
    "o_friction": "1 1 .1 .1 .1",
    "wind": "1 0 0",
    "magnetic": "1 0 0",
    "gravity": "0 0 -3|disable",
    "condim": "1|6|4",
    "friction": ".3|.3 .3 .1 .1 .1",
    "scale": "2 2 2|300",
    "refpos": ".1 0 0",
    "refquat": "1 1 0 0",
    "vertex": "0 0 0  .3 0 0  0 .3 0  0 0 .3",
    "size": ".2 .2 .2|.2",
    "fromto": "0 0 0 0 0 1",
    "pos": ".3 .1 0",
    "anchor": ".1 0 0",
    "gear": "3",
    "saturation": "1",
    "timeconst": ".2|0.02 0.03",
    "bias": "1 1 1",
    "gainprm": "3 1 1",
    "biasprm": "3 1 1",
    "dynprm": ".3",
    "surfacevel": "1 0 0|1 0 0 0 0 0",
    "cogging": "1 2 3",
    **dict.fromkeys(("solref", "solreflimit", "solreffriction", "o_solref"), ".03 1"),
    **dict.fromkeys(("solimp", "solimplimit", "solimpfriction", "o_solimp"), ".8 .9 .01"),
    **dict.fromkeys(("lugre", "thermal"), "1 1 1 1 1 1"),
}
NAMES = {"name", "class", "childclass", "user"}
ORIENTATIONS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
_SHOWN = ("visual", "statistic", "size", "camera", "light", "skin", "texture", "material")
# elements that only show, and those of which files are tried elsewhere
LEFT_OUT = {*_SHOWN, "extension", "custom", "plugin", "flex", "flexcomp", "attach", "model", "hfield", "default"}
# fields of a compiled model that move nothing: those of viewers, of histories, and how it is stored
STILL = re.compile(
    r"vis|stat|rgba|_user|cam_|light_|_matid|skin|name|path|narena|nbuffer|_group$|castshadow|history|mesh_|normal"
    r"|bvh|tendon_width|site_type|sensor_noise|sleep|simple|^M_|map[DM]2|^nC$|^nM$|key_(time|ctrl|act)"
)
# of MuJoCo's solver and its soft constraints
SOLVER = re.compile(r"^opt\.|solref|solimp|solmix")
STORAGE = {"discardvisual", "simple"}  # how a model is stored
# read, and without effect by what it means
WITHOUT_EFFECT = {
    "gap": "how far off contact is detected: forces begin at the margin, as in MuJoCo",
    "torquescale": "how soft a weld is about its axes: welds are nearly rigid; 0 gives a `<connect>`",
    "override": "has `o_margin` and `o_friction` act",
    "o_margin": "acts with `<flag override>`",
    "o_friction": "acts with `<flag override>`",
}
ORDER = ("nothing", "without effect", "note", "warning", "acts")


def schema():
    """(path of an element, its attributes) of all of MJCF."""
    import mujoco

    stack, found = [], []
    for line in mujoco.mj_printSchema(False, False).splitlines():
        start = re.match(r"( *)(?:\(world\))?([a-z_]\w*) \(.\)\s*(.*)$", line)
        if start:
            stack = [*stack[: len(start[1]) // 3], start[2]]
            found.append((tuple(stack[1:]), start[3].split()))
        elif found:
            found[-1][1].extend(line.split())
    return [(path, names) for path, names in found if path and not LEFT_OUT & set(path)]


def compiled(root):
    """The numbers of MuJoCo's model of a tree by name; None where it refuses it."""
    import mujoco

    try:
        model = mujoco.MjModel.from_xml_string(etree.tostring(root).decode())
    except ValueError:
        return None
    values = {name: getattr(model, name) for name in dir(model) if not name.startswith("_")}
    values |= {f"opt.{name}": getattr(model.opt, name) for name in dir(model.opt) if not name.startswith("_")}
    kinds = (int, float, np.ndarray)
    return {name: np.array(value) for name, value in values.items() if isinstance(value, kinds)}


def read(root):
    """(our models as text, the findings)."""
    diagnostics = Diagnostics(thorough=True)
    models = load_models(etree.tostring(root), input_format="mjcf", diagnostics=diagnostics, name="file")
    text = repr([plain(model) for model in models])
    return text, {(f.severity, f.message) for f in diagnostics.findings}


class Walk:
    """Outcomes of all attributes: {"parent/element@attribute": one of ORDER}."""

    def __init__(self):
        self.root = etree.fromstring(MODEL)
        self.numbers = compiled(self.root)
        self.text, self.findings = read(self.root)
        self.outcomes, self.untried = {}, []
        for path, names in schema():
            inside = "worldbody//" if path[0] == "body" else ""
            places = self.root.xpath(f"/mujoco/{inside}{path[-1] if inside else '/'.join(path)}")
            tag = path[-1]
            left_out = {m for s, m in self.findings if s == "warning" and re.search(rf"<{tag}> (in|sensor)\b.*", m)}
            for name in names:
                if name not in NAMES:
                    key = "/".join(path[-2:]) + "@" + name
                    outcome = "warning" if left_out else self.outcome(places, name)
                    if outcome is None:
                        self.untried.append(key)
                    else:
                        self.outcomes[key] = outcome

    def outcome(self, places, name):
        """None where MuJoCo's model stays as it is whatever is tried."""
        best = None
        for place in places:
            for value in VALUES[name].split("|") if name in VALUES else NUMBERS:
                root = copy.deepcopy(self.root)
                element = root.xpath(self.root.getroottree().getpath(place))[0]
                if name in ORIENTATIONS:
                    for other in ORIENTATIONS:
                        element.attrib.pop(other, None)
                element.set(name, value)
                numbers = compiled(root)
                changed = numbers and {key for key in numbers if not np.array_equal(numbers[key], self.numbers[key])}
                moved = {key for key in changed or () if not STILL.search(key)}
                if moved:
                    found = self.seen(root, name, moved)
                    best = found if best is None else max(best, found, key=ORDER.index)
                if best == "acts":
                    return best
        return best

    def seen(self, root, name, moved):
        text, findings = read(root)
        severities = {severity for severity, _ in findings - self.findings}
        if text != self.text:
            return "acts"
        if "warning" in severities:
            return "warning"
        if "note" in severities:
            return "note" if name in STORAGE or all(SOLVER.search(key) for key in moved) else "nothing"
        return "without effect" if name in WITHOUT_EFFECT else "nothing"


def table(outcomes):
    """The text between the marks of the page."""
    rows = {}
    for key, outcome in outcomes.items():
        element, _, name = key.partition("@")
        rows.setdefault(element, {}).setdefault(outcome, []).append(f"`{name}`")
    kinds = ("acts", "warning", "note")
    lines = ["| element | acts | a warning | a note |", "|---|---|---|---|"]
    for element, of in rows.items():
        cells = [" ".join(of.get(kind, ["-"])) for kind in kinds]
        if cells != ["-"] * 3:
            parent, _, tag = element.rpartition("/")
            lines.append(f"| `<{tag}>` of `<{parent or 'mujoco'}>` | {' | '.join(cells)} |")
    lines += ["", "Read, and without effect by what they mean:", "", "| attribute | why |", "|---|---|"]
    lines += [f"| `{name}` | {why} |" for name, why in WITHOUT_EFFECT.items()]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    walk = Walk()
    write_to_page(START, END, table(walk.outcomes))
    for key, outcome in walk.outcomes.items():
        if outcome == "nothing":
            print(key)
    print(len(walk.outcomes), "tried;", len(walk.untried), "move nothing in MuJoCo here:", *walk.untried)
