"""Models whose runs are recorded: what touches, slides, rolls, bounces, sticks and sleeps, as {name: (text, words)}."""

from itertools import combinations

from repository import SAMPLES

SOLIDS = {
    "ball": 'type="sphere" size=".1"',
    "capsule": 'type="capsule" size=".06 .08"',
    "box": 'type="box" size=".08 .1 .06"',
    "cylinder": 'type="cylinder" size=".08 .07"',
    "ellipsoid": 'type="ellipsoid" size=".1 .08 .07"',
    "mesh": 'type="mesh" mesh="tet"',
}
ASSETS = """<asset><mesh name="tet" vertex="-.1 -.1 -.05  .15 0 -.05  -.1 .1 -.05  0 0 .1"/>
<hfield name="h" nrow="5" ncol="6" size="1.5 1 .3 .1"
elevation="0 1 0 2 1 0  1 2 1 0 1 2  0 1 2 1 0 1  2 0 1 2 1 0  0 1 0 1 2 1"/>
</asset>"""
FREE = '<body name="{0}" pos="{1}" euler="{2}"><freejoint/><geom {3} {4} friction=".6 .02 .001" condim="6"/></body>'


def mjcf(bodies, option=""):
    settings = f'<option timestep="0.001" {option}/><compiler angle="radian"/>'
    return f"<mujoco>{settings}{ASSETS}<worldbody>{bodies}</worldbody></mujoco>"


def free(name, at, turn, kind, more="mass='1'"):
    return FREE.format(name, at, turn, SOLIDS[kind], more)


def on_field():
    """A solid of every kind on the ridges of a height field."""
    spots = {kind: f"{-1.0 + 0.4 * k} {0.3 - 0.15 * k} .3" for k, kind in enumerate(SOLIDS)}
    bodies = "".join(free(kind, at, ".3 .2 .1", kind) for kind, at in spots.items())
    return mjcf('<geom type="hfield" hfield="h"/>' + bodies)


def pairs():
    """Each kind of solid in each other, aslant; they do not touch those of other pairs."""
    bodies = "".join(
        free(f"{a}_{b}_0", f"{k} 0 0", ".3 .2 .1", a) + free(f"{a}_{b}_1", f"{k} .05 .12", "-.2 .4 .8", b)
        for k, (a, b) in enumerate(combinations(SOLIDS, 2))
    )
    return mjcf(bodies, 'gravity="0 0 0"')


def on_plane():
    bodies = "".join(free(kind, f"{k} 0 .05", ".1 .05 0", kind) for k, kind in enumerate(SOLIDS))
    return mjcf('<geom type="plane" size="9 9 1"/>' + bodies)


SOFT = """<drake:proximity_properties><drake:{0}_hydroelastic/><drake:mu_dynamic>.5</drake:mu_dynamic>
<drake:mu_static>.5</drake:mu_static><drake:hydroelastic_modulus>1e5</drake:hydroelastic_modulus>
<drake:mesh_resolution_hint>.06</drake:mesh_resolution_hint><drake:hunt_crossley_dissipation>1</drake:hunt_crossley_dissipation>
</drake:proximity_properties>"""
PART = """<model name="{0}"><pose>{1}</pose><link name="l"><inertial><mass>1</mass><inertia><ixx>.01</ixx><iyy>.01</iyy>
<izz>.01</izz></inertia></inertial><collision name="c"><geometry>{2}</geometry>{3}</collision></link></model>"""
SURFACES = {
    "sphere": "<sphere><radius>.1</radius></sphere>",
    "box": "<box><size>.2 .2 .2</size></box>",
    "cylinder": "<cylinder><radius>.1</radius><length>.2</length></cylinder>",
    "ellipsoid": "<ellipsoid><radii>.1 .12 .1</radii></ellipsoid>",
    "capsule": "<capsule><radius>.08</radius><length>.1</length></capsule>",
}


def in_surfaces():
    """Soft solids on a rigid floor and soft on soft."""
    parts = "".join(
        PART.format(n, f"{k} 0 .09 0 0 0", s, SOFT.format("compliant")) for k, (n, s) in enumerate(SURFACES.items())
    )
    parts += PART.format("top", "1 0 .27 .1 .2 0", SURFACES["sphere"], SOFT.format("compliant"))
    parts += PART.format("rigid", "2 0 .27 .1 .2 0", SURFACES["box"], SOFT.format("rigid"))
    floor = "<plane><normal>0 0 1</normal></plane>"
    ground = (
        f'<model name="ground"><static>true</static><link name="l"><collision name="c"><geometry>{floor}</geometry>'
    )
    ground += f"{SOFT.format('rigid')}</collision></link></model>"
    return f'<sdf version="1.9" xmlns:drake="http://drake.mit.edu"><world name="w">{ground}{parts}</world></sdf>'


HYDROELASTIC = ("--contact-model", "hydroelastic_with_fallback")
TEXTS = {
    "field": (on_field(), ("-t", "0.002")),
    "pairs": (pairs(), ("-t", "0.002")),
    **{
        f"plane, {law}": (on_plane(), ("--contact-approximation", law, "-t", "0.002"))
        for law in ("lagged", "sap", "similar", "tamsi")
    },
    "plane, points as one": (on_plane(), ("--dt", "0.002", "--log-rate", "500", "-t", "0.002")),
    "surfaces": (in_surfaces(), (*HYDROELASTIC, "-t", "0.002")),
    "surfaces, sap": (in_surfaces(), (*HYDROELASTIC, "--contact-approximation", "sap", "-t", "0.001")),
    "sleep": (
        mjcf(
            '<geom type="plane" size="9 9 1"/>'
            + free("b", "0 0 .1", "0 0 0", "ball")
            + free("c", "0 1 .06", "0 0 0", "box")
        ),
        ("--sleep", "0.5", "-t", "0.12", "--log-rate", "100"),
    ),
    "bounce in continuous time": (
        (SAMPLES / "worlds" / "bounce.sdf").read_text(),
        ("--dt", "0", "-t", "0.004", "--at", "ball_0_ball_z=0.0501", "--at", "ball_0_ball_vz=-1"),
    ),
    "bounce in long steps": (
        (SAMPLES / "worlds" / "bounce.sdf").read_text(),
        ("--dt", "0.002", "-t", "0.02", "--at", "ball_0_ball_z=0.05", "--log-rate", "500"),
    ),
}
