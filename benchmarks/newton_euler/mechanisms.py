"""Random mechanisms with all that acts on links, as texts of SDFormat and MJCF."""

import numpy as np

from mbcli.models.loading import ModelText

JOINTS = ("revolute", "revolute", "prismatic", "universal", "continuous", "fixed")
ONE_AXIS = ("revolute", "prismatic")  # joints that others may follow
LINKS = 7
PUSHED = 3  # the number of a link that always moves
SENSOR = """<sensor name="s_{name}" type="force_torque"><force_torque><frame>child</frame>
<measure_direction>parent_to_child</measure_direction></force_torque></sensor>"""
PLUGINS = """<wind><linear_velocity>8 -3 2</linear_velocity></wind>
<plugin filename="gz-sim-wind-effects-system" name="gz::sim::systems::WindEffects"><horizontal><magnitude>
<time_for_rise>1e-9</time_for_rise></magnitude></horizontal><vertical><time_for_rise>1e-9</time_for_rise></vertical>
<force_approximation_scaling_factor>0.7</force_approximation_scaling_factor></plugin>"""
FLOOR = """<model name="floor"><static>true</static><link name="f"><collision name="p"><geometry><plane/></geometry>
</collision></link></model>"""


def mechanism(
    seed,
    *,
    floating=False,
    rubs=False,
    limited=False,
    loop=False,
    plugins=False,
    ground=False,
    struts=False,
    balls=False,
    mimics=False,
    servos=False,
    ties=False,
    sensors=False,
):
    """SDFormat of a random tree of seven links.

    Args:
        floating: its root is free. rubs: joints have dry friction. limited: joints have limits within reach.
        loop: a ball joint connects the last link to World. plugins: wind pushes it, a fixed link too.
        ground: its links have spheres, over a plane. struts: stiff springs, dampers and a bushing connect links.
        balls: some joints are ball joints. mimics: joints follow others. servos: joints have controllers.
        ties: an elastic distance constraint, and one that is rigid, connect links.
        sensors: every joint of the tree has a force-torque sensor, what the parent does to the child by its axes.
    """
    rng, links, joints, leaders = np.random.default_rng(seed), [], [], []
    for n in range(LINKS):
        links.append(_link(rng, n, ground))
        if n == 0 and floating:
            continue
        kind = rng.choice((*JOINTS, "ball", "ball") if balls else JOINTS)
        kind = "revolute" if n == PUSHED and kind == "fixed" else kind
        parent = f"l{rng.integers(max(0, n - 3), n)}" if n else "world"
        axes = _axes(rng, kind, rubs, limited, leaders[-1] if mimics and leaders else None)
        servo = '<drake:controller_gains p="40" d="1"/>' if servos and kind in (*ONE_AXIS, "continuous") else ""
        sensor = SENSOR.format(name=f"j{n}") if sensors else ""
        joints.append(
            f'<joint name="j{n}" type="{kind}"><pose>{_text(rng.uniform(-1, 1, 6))}</pose><parent>{parent}</parent>'
            f"<child>l{n}</child>{axes}{servo}{sensor}</joint>"
        )
        leaders += [f"j{n}"] if kind in ONE_AXIS else []
    if loop:
        joints.append('<joint name="loop" type="ball"><parent>world</parent><child>l6</child></joint>')
    if struts:
        joints += _struts(rng)
    if ties:
        joints += _ties(rng)
    world = (PLUGINS if plugins else "") + (FLOOR if ground else "")
    windy = "<enable_wind>true</enable_wind>" if plugins else ""
    model = f'<model name="m">{windy}{"".join(links)}{"".join(joints)}</model>'
    text = f'<sdf version="1.9" xmlns:drake="http://drake.mit.edu"><world name="w">{world}{model}'
    return ModelText(f"{text}</world></sdf>".encode(), "mechanism.sdf")


def _text(numbers):
    return " ".join(f"{x:.6f}" for x in numbers)


def _link(rng, n, solid):
    place = [*(0.3 * rng.normal(size=2)), 0.3 * n + 0.4, *rng.uniform(-1.0, 1.0, 3)]
    centre = [0.1 * rng.normal(), 0.1, 0.0, *rng.uniform(-1.0, 1.0, 3)]
    a, b, c = rng.uniform(0.02, 0.05, 3)
    sphere = '<collision name="c"><geometry><sphere><radius>0.15</radius></sphere></geometry></collision>'
    return (
        f'<link name="l{n}"><pose>{_text(place)}</pose><inertial><pose>{_text(centre)}</pose>'
        f"<mass>{rng.uniform(0.5, 2.0):.4f}</mass><inertia><ixx>{b + c}</ixx><iyy>{a + c}</iyy><izz>{a + b}</izz>"
        f"</inertia></inertial>{sphere if solid else ''}</link>"
    )


def _axes(rng, kind, rubs, limited, leader):
    """The axes of a joint; leader: the joint that it follows where it can and chance says so."""
    damping = f"<damping>{rng.uniform(0.0, 0.3):.3f}</damping>" if rng.random() < 0.6 else ""
    friction = "<friction>0.2</friction>" if rubs and rng.random() < 0.6 else ""
    stretch = f"<spring_stiffness>{rng.uniform(1, 9):.3f}</spring_stiffness>" if rng.random() < 0.4 else ""
    if kind == "universal":
        return f"<axis><xyz>1 0 0</xyz><dynamics>{damping}</dynamics></axis><axis2><xyz>0 1 0</xyz></axis2>"
    if kind in ("fixed", "ball"):
        return ""
    if kind == "continuous":
        return f"<axis><xyz>{_text(rng.uniform(-1, 1, 3))}</xyz></axis>"
    limits = "<lower>-0.02</lower><upper>0.02</upper>" if limited else ""
    effort = f"<limit>{limits}<effort>{rng.choice([-1, 50])}</effort></limit>"
    follows = ""
    if leader is not None and rng.random() < 0.5:
        follows = f'<mimic joint="{leader}" axis="axis"><multiplier>{rng.uniform(-2, 2):.3f}</multiplier>'
        follows += "<offset>0</offset><reference>0</reference></mimic>"
    dynamics = f"<dynamics>{damping}{friction}{stretch}</dynamics>"
    return f"<axis><xyz>{_text(rng.uniform(-1, 1, 3))}</xyz>{effort}{dynamics}{follows}</axis>"


def _element(tag, prefix, **parts):
    inner = "".join(f"<drake:{prefix}_{name}>{value}</drake:{prefix}_{name}>" for name, value in parts.items())
    return f"<drake:{tag}>{inner}</drake:{tag}>"


def _struts(rng):
    """Elements whose forces change much in a step."""
    for k, (a, b) in enumerate(((1, 4), (2, 6), (0, 5))):
        p, q = (_text(rng.uniform(-0.2, 0.2, 3)) for _ in range(2))
        ends = {"body_A": f"l{a}", "p_AP": p, "body_B": f"l{b}", "p_BQ": q}
        constants = {"free_length": 0.5, "stiffness": 10.0 ** (2 + k), "damping": 10.0**k}
        yield _element("linear_spring_damper", "linear_spring_damper", **ends, **constants)
    kinds = [f"{of}_{what}" for of in ("torque", "force") for what in ("stiffness", "damping")]
    constants = {kind: _text(rng.uniform(1, 5, 3)) for kind in kinds}
    yield _element("linear_bushing_rpy", "bushing", frameA="l3", frameC="l6", **constants)


def _ties(rng):
    """Distance constraints: an elastic one, far from its length."""
    ends = {"body_A": "l1", "p_AP": _text(rng.uniform(-0.2, 0.2, 3)), "body_B": "l4", "p_BQ": "0.1 0 0"}
    yield _element("distance_constraint", "distance_constraint", **ends, distance=0.6, stiffness=300.0, damping=5.0)


def mjcf_mechanism(seed, *, ground=False, servos=True):
    """MJCF of a random tree: ball joints, dry friction, springs, actuators of all transmissions, soft equalities."""
    rng = np.random.default_rng(seed)
    names, bodies, actuators = [], [], []

    def body(n, deep):
        name = f"b{n}"
        names.append(name)
        kind = "free" if n == 0 and rng.random() < 0.5 else rng.choice(["hinge", "slide", "ball", "hinge"])
        joint = f'<joint name="j{n}" type="{kind}" axis="{_text(rng.uniform(-1, 1, 3))}"'
        if kind != "free":
            joint += f' damping="{rng.uniform(0, 0.3):.3f}" armature="{rng.choice([0, 0.05])}"'
        if kind in ("hinge", "slide"):
            joint += f' frictionloss="{rng.choice([0, 0.2])}" stiffness="{rng.choice([0, 5])}"'
            what = rng.choice(["motor", "position", "velocity", "none"] if servos else ["motor", "none"])
            gains = {"motor": 'gear="2"', "position": 'kp="30" kv="1"', "velocity": 'kv="2"', "none": ""}[what]
            if what != "none":
                actuators.append(f'<{what} name="a{n}" joint="j{n}" {gains}/>')
        joint = '<freejoint name="j0"/>' if kind == "free" else f"{joint}/>"
        inner = "".join(body(k, deep + 1) for k in below.get(n, ()))
        size = _text(rng.uniform(0.03, 0.08, 3))
        place = _text(rng.uniform(-0.3, 0.3, 3) + [0, 0, 1.0 if n == 0 else 0.0])
        return (
            f'<body name="{name}" pos="{place}">{joint}<geom type="box" size="{size}" contype="{int(ground)}" '
            f'conaffinity="{2 * int(ground)}"/><site name="s{n}" pos="0.05 0.02 0"/>{inner}</body>'
        )

    below = {}
    for n in range(1, LINKS):
        below.setdefault(int(rng.integers(max(0, n - 3), n)), []).append(n)
    bodies.append(body(0, 0))
    actuators += [
        '<general name="t" tendon="t" biastype="affine" biasprm="2"/>',
        '<general name="g" site="s4" refsite="s1" gear="1 2 3 .1 .1 .1" biastype="affine" biasprm="1 -2 -.1"/>',
    ]
    tendon = '<tendon><spatial name="t"><site site="s1"/><site site="s3"/><site site="s6"/></spatial></tendon>'
    soft = '<equality><connect body1="b2" body2="b5" anchor="0.1 0 0" solref="0.05 1"/></equality>'
    plane = '<geom type="plane" size="5 5 1" pos="0 0 0.9" contype="2" conaffinity="1"/>' if ground else ""
    text = f"<mujoco><worldbody>{plane}{''.join(bodies)}</worldbody>{tendon}{soft}<actuator>{''.join(actuators)}"
    return ModelText(f"{text}</actuator></mujoco>".encode(), "mechanism.xml")
