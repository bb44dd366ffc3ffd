"""MJCF models against MuJoCo, whose format it is, and names and limits against pydrake.

Positions are set by joint name. A ball joint of MuJoCo has a quaternion and the angular velocity in the child's axes
where ours has roll, pitch, yaw and the one in F; a free joint has the velocity of the origin before the angular one.
"""

from pathlib import Path

import numpy as np
import pytest
from mbcli.parsers.spec import TendonConstraintSpec
from peer_modules import peer

from mbcli.math.rotation_array import matrix_from_quaternion
from mbcli.models.postures import postures_of, set_postures
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import MultibodyForces

pytestmark = pytest.mark.peers("mujoco")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """MuJoCo writes its warnings to a file in the working directory."""
    monkeypatch.chdir(tmp_path)


ARM = """<body name="a" pos=".1 .2 .3" {pose}><joint name="ja" axis="1 2 2" pos=".1 0 .2"/>
  <geom size=".1 .2" {geom}/><body name="b" pos="0 .5 .1"><joint name="jb" type="slide" axis="0 1 1"/>
  <geom type="box" size=".1 .2 .3" pos=".1 .2 .3" euler="10 20 30"/></body></body>"""

MODELS = {
    "quat": ("", ARM.format(pose='quat="1 .2 -.3 .4"', geom="")),
    "axisangle": ("", ARM.format(pose='axisangle="1 2 3 40"', geom="")),
    "euler of fixed axes": ('<compiler eulerseq="ZXY"/>', ARM.format(pose='euler="10 -50 70"', geom="")),
    "euler of both kinds": (
        '<compiler eulerseq="xYz" angle="radian"/>',
        ARM.format(pose='euler=".1 -.5 .7"', geom=""),
    ),
    "xyaxes": ("", ARM.format(pose='xyaxes="1 .1 0 .3 1 .2"', geom="")),
    "zaxis": ("", ARM.format(pose='zaxis="1 .1 -.3"', geom="")),
    "zaxis upside down": ("", ARM.format(pose='zaxis="0 0 -2"', geom="")),
    "capsule": ("", ARM.format(pose="", geom='type="capsule" pos="1 0 .1" zaxis="0 1 1" density="300"')),
    "cylinder of a mass": ("", ARM.format(pose="", geom='type="cylinder" mass="3" euler="0 30 0"')),
    "capsule between points": ("", ARM.format(pose="", geom='type="capsule" fromto=".1 .2 .3 -.4 .5 .7"')),
    "box between points": ("", ARM.format(pose="", geom='type="box" fromto=".1 .2 .3 -.4 .5 .7"')),
    "ellipsoid between points": ("", ARM.format(pose="", geom='type="ellipsoid" fromto=".1 .2 .3 .1 .2 -.7"')),
    "several joints of a body": (
        "",
        """<body name="p" pos="1 0 0"><joint name="j0"/><geom size=".2"/>
        <body name="a" pos="0 2 .3" euler="10 20 60"><joint name="j1" axis="0 1 0" pos="0 0 .5"/><joint name="j2"
          type="slide" axis="1 0 1"/><joint name="j3" axis="1 0 0" pos="0 .3 0"/><geom type="capsule" size=".1 .3"/>
        </body></body>""",
    ),
    "references": (
        "",
        """<body name="p" pos="1 0 0"><joint name="j0" ref="30" axis="1 1 0" pos="0 .1 .2"/><geom size=".2"
        pos=".3 0 0"/><body name="a" pos="0 2 .3"><joint name="j1" type="slide" ref=".4" axis="1 0 1"/>
        <joint name="j2" ref="-20" pos=".1 0 0"/><geom type="box" size=".1 .3 .2"/></body></body>""",
    ),
    "ball joints": (
        "",
        """<body name="p" pos="1 0 0" euler="20 0 0"><joint name="j0" type="ball" pos="0 0 .3" armature=".5"/>
        <geom type="box" size=".2 .1 .3"/><body name="a" pos="0 2 .3"><joint name="j1" axis="0 1 0"/><joint name="j2"
          type="ball"/><geom type="box" size=".1 .3 .2"/></body></body>""",
    ),
    "free joints": (
        "",
        """<body name="p" pos="1 0 0" euler="20 0 0"><freejoint/><geom type="box" size=".2 .1 .3" pos="0 .1 0"/>
        <body name="a" pos="0 2 .3"><joint name="j1" axis="0 1 0"/><geom type="box" size=".1 .3 .2"/></body></body>
        <body name="q" pos="3 0 0"><joint type="free"/><geom type="ellipsoid" size=".2 .1 .3"/></body>
        <body name="r" pos="3 1 0" euler="0 20 0"><joint type="free" damping=".3" armature=".2"/><geom type="ellipsoid"
          size=".2 .1 .3" pos=".1 0 0"/></body>""",
    ),
    "free joint with damping and armature": (
        "<default><joint damping='.7' armature='.3'/></default>",
        """<body name="p" pos="1 0 0" euler="20 0 0"><joint name="jp" type="free"/><geom type="box" size=".2 .1 .3"
        pos="0 .1 0"/><body name="a" pos="0 2 .3"><joint name="j1" axis="0 1 0"/><geom type="box" size=".1 .3 .2"/>
        </body></body>""",
    ),
    "replicas": (
        "<compiler eulerseq='xZy'/>",
        """<body name="p"><joint name="jp" axis="0 1 0"/><geom size=".1" pos="0 0 .3"/>
        <replicate count="3" offset=".4 .1 0" euler="10 20 30"><body name="a" pos="0 .2 0"><joint name="ja"/>
        <geom type="box" size=".1 .2 .05"/></body><geom size=".05" pos=".1 0 0"/></replicate></body>
        <replicate count="10" sep="_" offset="0 0 .5"><frame euler="0 40 0"><body name="q" pos="3 0 0"><freejoint/>
        <geom type="capsule" size=".1 .2"/><replicate count="2" sep="-" offset="0 .3 .1" euler="0 90 0">
        <body name="r" pos=".1 0 0"><joint name="jr" type="slide"/><geom size=".1"/></body></replicate></body></frame>
        </replicate>""",
    ),
    "springs by time constants": (
        "<compiler settotalmass='5'/>",
        """<body name="p" pos="1 0 0" euler="20 0 0"><joint name="j1" springdamper=".3 .7" armature=".02"/>
        <geom type="box" size=".2 .1 .3" pos="0 .1 0"/><body name="a" pos="0 2 .3"><joint name="j2" axis="0 1 0"
        type="slide" springdamper=".2 1.2"/><joint name="j3" type="ball"/><geom type="box" size=".1 .3 .2"/></body>
        </body><body name="q" pos="0 0 4"><freejoint/><geom size=".1"/><body name="r"><joint name="j4"
        springdamper="1 1"/><geom size=".2" pos=".1 0 0"/></body></body>""",
    ),
    "armature with and without actuators": (
        '<default><joint armature="2"/></default><actuator><motor joint="ja" gear="7"/><motor joint="ja"/></actuator>',
        ARM.format(pose="", geom=""),
    ),
    "default classes": (
        """<default><geom density="700" type="capsule" size=".1 .2"/><joint axis="1 0 0" armature=".1"/>
        <default class="thin"><geom size=".03 .3"/><default class="slider"><joint type="slide"/></default></default>
        <default class="heavy"><geom mass="9"/></default></default>""",
        """<body name="a" childclass="thin"><joint name="ja"/><geom/><body name="b" pos="0 1 0"><joint name="jb"
          class="slider" axis="0 0 1"/><geom class="heavy"/><geom class="main" pos="1 0 0"/>
        <frame childclass="heavy" pos=".2 0 0"><body name="c" pos="1 0 0"><joint name="jc"/><geom/></body></frame>
        </body></body>""",
    ),
    "frames": (
        "",
        """<frame pos="1 2 3" euler="0 30 0"><body name="a" pos="0 1 0" euler="10 0 0"><frame quat="1 1 0 0"
        pos=".1 0 0"><joint name="ja" axis="0 1 0" pos=".2 .1 0"/><geom type="box" size=".1 .2 .3" pos="0 0 .4"/>
        <geom type="capsule" size=".1" fromto="0 0 0 1 1 0"/></frame></body></frame>""",
    ),
    "inertials": (
        "",
        """<body name="a"><joint name="ja" axis="0 1 0"/><inertial pos=".1 .2 .3" mass="2" diaginertia="1 2 2.5"
          euler="10 20 30"/><geom size="9"/><body name="b" pos="1 0 0"><joint name="jb"/><inertial pos="0 .2 .1"
          mass="3" fullinertia="4 5 6 .1 -.2 .3"/></body></body>""",
    ),
    "inertia from some geoms": (
        '<compiler inertiafromgeom="true" inertiagrouprange="1 2"/>',
        """<body name="a"><joint name="ja"/><inertial pos=".1 .2 .3" mass="2" diaginertia="1 2 2.5"/>
        <geom size=".3" group="1"/><geom size=".2" pos="1 0 0" group="2" mass="4"/><geom size=".9" group="3"/>
        <geom size=".8"/><geom size=".5" mass="0" group="1"/></body>""",
    ),
    "bounds": (
        '<compiler boundmass="5" boundinertia=".7" balanceinertia="true"/>',
        """<body name="a"><joint name="ja"/><inertial pos=".1 0 0" mass="2" diaginertia=".1 .9 1.2" euler="30 0 0"/>
        <body name="b" pos="1 0 0"><joint name="jb" axis="1 0 0"/><inertial pos="0 0 0" mass="9" diaginertia="1 1 3"/>
        </body></body>""",
    ),
    "bounds of a body without mass": (
        '<compiler boundmass=".5" boundinertia=".1"/>',
        """<frame pos="0 .3 0"><body name="a" pos=".1 .2 .3" euler="0 40 0"><joint name="ja"/><geom size=".2" mass="0"
        pos="3 0 0"/><body name="b" pos="1 0 0"><joint name="jb" axis="0 1 0"/></body></body></frame>""",
    ),
    "total mass": ('<compiler settotalmass="12"/>', ARM.format(pose="", geom="")),
    "gravity, springs and damping": (
        '<option gravity="1 -2 3"/>',
        """<body name="a"><joint name="ja" axis="0 1 0" stiffness="30" springref="20" damping=".3"/><geom size=".3"
          pos=".1 .2 0"/><body name="b" pos="1 0 0"><joint name="jb" type="slide" stiffness="3" springref=".2" ref=".1"
          damping="4"/><geom size=".3" pos=".1 .2 0"/><body name="c"><joint name="jc" type="slide" axis="1 0 0"/>
          <geom size=".1"/></body></body></body>""",
    ),
    "no gravity": ('<option gravity="1 -2 3"><flag gravity="disable"/></option>', ARM.format(pose="", geom="")),
    "welded bodies and those out of gravity": (
        "",
        """<body name="s" pos="3 0 0" euler="0 0 30"><geom size=".1"/><body name="a" pos="0 1 0" gravcomp="1"><joint
        name="ja" axis="1 0 0"/><geom size=".1" pos="0 .2 0"/><body name="b" pos=".3 0 0" euler="0 40 0"><geom
          type="box" size=".1 .2 .3"/></body></body></body>""",
    ),
}


class Both:
    """A model in our plant and in MuJoCo, at the same random state."""

    def __init__(self, mujoco, head, bodies, tail="", seed=0):
        xml = f'<mujoco model="m">{head}<worldbody>{bodies}</worldbody>{tail}</mujoco>'
        self.mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_string(xml)
        self.data = mujoco.MjData(self.model)
        self.plant = MultibodyPlant(0.0)
        parser = Parser(self.plant)
        parser.AddModelsFromString(xml, "mjcf")
        (self.spec,) = parser.specs
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()
        self.random = np.random.default_rng(seed)

    def joints(self):
        """(our joint, MuJoCo's index of it), those that move."""
        for index in self.plant.GetJointIndices():
            joint = self.plant.get_joint(index)
            if joint.num_velocities() == 6:
                body = self.mujoco.mj_name2id(self.model, self.mujoco.mjtObj.mjOBJ_BODY, joint.child_body().name())
                yield joint, int(self.model.body_jntadr[body])
            elif joint.num_velocities():
                yield joint, self.mujoco.mj_name2id(self.model, self.mujoco.mjtObj.mjOBJ_JOINT, joint.name())

    def set_random_state(self):
        """Sets both; returns T, which takes our velocities to theirs."""
        nv = self.plant.num_velocities()
        assert (nv, self.plant.num_actuators() > 0) == (self.model.nv, self.model.nu > 0)
        q, v = self.random.uniform(-1, 1, self.plant.num_positions()), self.random.normal(size=nv)
        T = np.zeros((nv, nv))
        for joint, theirs in self.joints():
            i, d = joint.position_start(), joint.velocity_start()
            iq, iv = self.model.jnt_qposadr[theirs], self.model.jnt_dofadr[theirs]
            if joint.num_velocities() == 6:
                q[i : i + 4] /= np.linalg.norm(q[i : i + 4])
                self.data.qpos[iq : iq + 7] = [*q[i + 4 : i + 7], *q[i : i + 4]]
                R = matrix_from_quaternion(q[i : i + 4])
                T[iv : iv + 3, d + 3 : d + 6], T[iv + 3 : iv + 6, d : d + 3] = np.eye(3), R.T
            elif joint.num_velocities() == 3:
                q[i : i + 4] /= np.linalg.norm(q[i : i + 4])
                self.data.qpos[iq : iq + 4] = q[i : i + 4]
                T[iv : iv + 3, d : d + 3] = matrix_from_quaternion(q[i : i + 4]).T
            else:
                self.data.qpos[iq], T[iv, d] = q[i], 1.0
        self.plant.SetPositions(self.context, q)
        self.plant.SetVelocities(self.context, v)
        self.data.qvel[:] = T @ v
        self.mujoco.mj_forward(self.model, self.data)
        return T

    def violation(self):
        """By how much the only constraint of our model is broken: a distance (3,) in World, or of a coordinate (1,)."""
        for joint in self.spec.joints:
            for mimic in (axis.mimic for axis in joint.axes if axis.mimic):
                q, leader = (
                    self.plant.GetJointByName(name).GetOnePosition(self.context) for name in (joint.name, mimic.leader)
                )
                return np.array([q - mimic.multiplier * leader - mimic.offset])
        (constraint,) = self.spec.constraints
        if isinstance(constraint, TendonConstraintSpec):
            (name,) = constraint.joints
            return np.array([self.plant.GetJointByName(name).GetOnePosition(self.context) - constraint.lower])
        ends = []
        for link, end in ((constraint.link_A, "AP"), (constraint.link_B, "BQ")):
            X_WL = self.plant.GetBodyByName(link).EvalPoseInWorld(self.context)
            is_ball = hasattr(constraint, f"p_{end}")
            p = getattr(constraint, f"p_{end}") if is_ball else getattr(constraint, f"X_{end}")[:3, 3]
            ends.append(X_WL.multiply(np.array(p)))
        return ends[0] - ends[1]

    def sine_of_half_the_turn(self):
        """Of the rotation between the two frames of a weld constraint."""
        (weld,) = self.spec.constraints
        R_WP, R_WQ = (
            self.plant.GetBodyByName(link).EvalPoseInWorld(self.context).rotation().matrix() @ X[:3, :3]
            for link, X in ((weld.link_A, weld.X_AP), (weld.link_B, weld.X_BQ))
        )
        return np.sqrt((3.0 - np.trace(R_WP.T @ R_WQ)) / 4.0)

    def mass_matrix(self):
        columns = []
        for unit in np.eye(self.model.nv):
            columns.append(np.zeros(self.model.nv))
            self.mujoco.mj_mulM(self.model, self.data, columns[-1], unit)
        return np.column_stack(columns)


@pytest.fixture(params=MODELS)
def both(request):
    return Both(peer("mujoco"), *MODELS[request.param])


def assert_close(ours, theirs):
    scale = max(1.0, np.abs(theirs).max())
    assert np.asarray(ours) == pytest.approx(np.asarray(theirs), rel=0, abs=1e-12 * scale)


def test_bodies_have_the_masses_and_poses_of_mujoco(both):
    for _ in range(3):
        both.set_random_state()
        for n in range(1, both.model.nbody):
            body = both.plant.GetBodyByName(both.model.body(n).name)
            X_WB = body.EvalPoseInWorld(both.context)
            assert_close(X_WB.translation(), both.data.xpos[n])
            assert_close(X_WB.rotation().matrix().ravel(), both.data.xmat[n])
            M = body.default_spatial_inertia()
            assert_close(M.get_mass(), both.model.body_mass[n])
            assert_close(X_WB.multiply(M.get_com()), both.data.xipos[n])


def test_mass_matrix_is_that_of_mujoco(both):
    for _ in range(3):
        T = both.set_random_state()
        assert_close(both.plant.CalcMassMatrix(both.context), T.T @ both.mass_matrix() @ T)


def test_gravity_springs_and_damping_are_those_of_mujoco(both):
    for _ in range(3):
        T = both.set_random_state()
        v = both.plant.GetVelocities(both.context)
        forces = MultibodyForces(both.plant)
        both.plant.CalcForceElementsContribution(both.context, forces)  # gravity, springs, damping
        ours = -both.plant.CalcInverseDynamics(both.context, np.zeros(len(v)), forces)
        ours += both.plant.CalcBiasTerm(both.context)
        both.data.qvel[:] = 0.0  # their gravity alone; the springs depend on positions
        both.mujoco.mj_forward(both.model, both.data)
        static = both.data.qfrc_passive - both.data.qfrc_bias
        damping = -both.model.dof_damping * (T @ v)
        assert_close(ours, T.T @ (static + damping))


def test_positions_start_at_the_reference(both):
    both.mujoco.mj_resetData(both.model, both.data)
    both.mujoco.mj_kinematics(both.model, both.data)
    for n in range(1, both.model.nbody):
        X_WB = both.plant.GetBodyByName(both.model.body(n).name).EvalPoseInWorld(both.context)
        assert_close(X_WB.translation(), both.data.xpos[n])
        assert_close(X_WB.rotation().matrix().ravel(), both.data.xmat[n])


MESHES = (  # MuJoCo keeps vertices in single precision: these numbers have few bits
    """<asset><mesh name="hull" vertex="0 0 0 1 0 0 0 1 0 0 0 1 .25 .25 .25" scale="2 3 5" refpos=".5 .25 .75"/>
        <mesh name="turned" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3 1 2 3 0 3 2" scale="2 2 2"
          refpos=".5 .25 .75" refquat="1 1 0 0"/></asset>""",
    """<body name="a"><joint name="ja" axis="0 1 0"/><geom type="mesh" mesh="hull" pos=".1 0 0" euler="10 20 30"/>
        <body name="b" pos="1 0 0"><joint name="jb"/><geom type="mesh" mesh="turned" mass="3"/></body></body>""",
)


def test_meshes_have_the_mass_centre_and_principal_moments_of_mujoco():
    """Not its principal axes: they come from an iteration that stops at 1e-9."""
    both = Both(peer("mujoco"), *MESHES)
    for name in ("a", "b"):
        ours, theirs = both.plant.GetBodyByName(name).default_spatial_inertia(), both.model.body(name)
        assert_close(ours.get_mass(), theirs.mass[0])
        assert_close(ours.get_com(), theirs.ipos)
        inertia = ours.Shift(ours.get_com()).CalcRotationalInertia().CopyToFullMatrix3()
        assert_close(np.linalg.eigvalsh(inertia), np.sort(theirs.inertia))


EQUALITIES = {
    "connect": '<connect body1="a" body2="b" anchor=".1 .2 .3"/>',
    "connect with the world": '<connect body1="b" anchor=".1 .2 .3"/>',
    "connect sites": '<connect site1="s" site2="t"/>',
    "weld": '<weld body1="b" body2="a"/>',
    "weld to a pose": '<weld body1="b" body2="c" relpose=".1 .2 .3 1 .2 .3 .4"/>',
    "weld at an anchor": '<weld body1="b" body2="c" anchor=".3 .4 .5"/>',
    "weld of an anchor to a pose": '<weld body1="b" body2="c" anchor=".3 .4 .5" relpose=".1 .2 .3 1 .2 .3 .4"/>',
    "joint in its place": '<joint joint1="ja" polycoef=".2"/>',
    "weld to the world": '<weld body1="a"/>',
    "joint": '<joint joint1="ja" joint2="jc" polycoef=".2 -3"/>',
}
EQUALITY_BODIES = """<site name="s" pos="1 2 0"/>
<body name="a" pos="1 0 0" euler="10 20 30"><joint name="ja" ref="40"/><geom size=".1"/><body name="c" pos="0 1 0"
  euler="0 50 0"><joint name="jc" type="slide" ref=".3"/><geom size=".1"/><site name="t" pos=".1 .2 0"/></body></body>
<body name="b" pos="0 2 0" quat="1 .2 0 .3"><freejoint/><geom size=".1"/></body>"""


@pytest.mark.parametrize("name", EQUALITIES)
def test_violation_of_equalities_is_that_of_mujoco(name):
    """Of a weld's rotation by an angle, MuJoCo's error is the axis times the sine of half of it."""
    both = Both(peer("mujoco"), "", EQUALITY_BODIES, tail=f"<equality>{EQUALITIES[name]}</equality>")
    for _ in range(3):
        both.set_random_state()
        theirs = both.data.efc_pos[: both.data.ne]
        assert_close(both.violation(), theirs[:3])
        if both.data.ne == 6:
            assert_close(both.sine_of_half_the_turn(), np.linalg.norm(theirs[3:]))


SERVO = "<general gainprm='5' biasprm='0 -5 -2' biastype='affine'/>"
LAWS = [  # (default, actuator)
    ("", "<position joint='ja' kp='3' kv='2' gear='3'/>"),
    ("", "<position joint='ja' kp='3' dampratio='.7' gear='3' armature='.01'/>"),
    ("<position kp='5' kv='2'/>", "<position joint='ja' kp='3'/>"),
    ("<position kp='5' kv='2'/>", "<position joint='ja' kv='3'/>"),
    ("<position kp='5' kv='2'/>", "<general joint='ja' gainprm='7'/>"),
    ("<position kp='5' kv='2'/>", "<velocity joint='ja'/>"),
    ("<position kp='5' dampratio='1'/>", "<position joint='ja' kp='7'/>"),
    ("<position kp='5' dampratio='1'/>", "<position joint='ja' kv='7'/>"),
    ("<position kp='5' dampratio='1'/>", "<general joint='ja'/>"),
    ("<velocity kv='5'/>", "<position joint='ja'/>"),
    ("<velocity kv='5'/>", "<velocity joint='ja' ctrlrange='2 3'/>"),
    ("<intvelocity kp='4' kv='1'/>", "<position joint='ja'/>"),
    ("", "<pid joint='ja' kp='4' kv='3'/>"),
    (SERVO, "<position joint='ja'/>"),
    (SERVO, "<general joint='ja' biasprm='1 -3' gear='-2' ctrlrange='.3 1'/>"),
    (SERVO, "<general joint='ja' biasprm='0 -5 1.5'/>"),
]


@pytest.mark.parametrize("default, actuator", LAWS)
def test_actuators_act_without_a_control_as_in_mujoco(default, actuator):
    both = Both(
        peer("mujoco"),
        f"<default>{default}</default>",
        ARM.format(pose="", geom=""),
        tail=f"<actuator>{actuator}</actuator>",
    )
    (spec,) = both.spec.actuators
    p, d = spec.controller_gains
    position, velocity = spec.rest or (0.0, 0.0)
    for _ in range(3):
        T = both.set_random_state()
        both.data.ctrl[:] = 0.0
        both.mujoco.mj_forward(both.model, both.data)
        joint = both.plant.GetJointByName(spec.joint)
        (q,), (v,) = joint.GetPositions(both.context), joint.GetVelocities(both.context)
        theirs = (T.T @ both.data.qfrc_actuator)[joint.velocity_start()]
        assert_close(p * (position - q) + d * (velocity - v), theirs)


def test_what_refers_to_replicas_is_copied_in_the_order_of_mujoco():
    import mujoco

    bodies = """<replicate count="2" sep="-" offset="1 0 0"><body name="o"><joint name="oj"/><geom size=".1"/>
    <replicate count="2" offset="0 1 0"><body name="b"><joint name="j"/><geom size=".1"/></body></replicate></body>
    </replicate><body name="x" pos="0 0 2"><joint name="xj"/><geom size=".1"/></body>"""
    tail = """<actuator><motor name="m" joint="j"/><motor name="k" joint="oj"/><motor name="x" joint="xj"/></actuator>
    <equality><weld name="w" body1="b" body2="world"/><connect name="c" body1="b1-1" body2="x" anchor="0 0 0"/>
    </equality>"""
    both = Both(mujoco, "", bodies, tail)
    model = both.model
    assert [spec.name for spec in both.spec.actuators] == [model.actuator(k).name for k in range(model.nu)]
    assert [spec.name for spec in both.spec.constraints] == [
        mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_EQUALITY, k) for k in range(model.neq)
    ]


def test_gripper_is_driven_by_its_tendon_as_in_mujoco():
    """The force on the finger that leads, with that on the one that follows it, where both keep their equation."""
    import mujoco

    bodies = """<body name="p"><joint name="a" type="slide" ref=".1"/><geom size=".1"/></body>
    <body name="q" pos="1 0 0"><joint name="b" type="slide" ref=".2"/><geom size=".1"/></body>"""
    tail = """<tendon><fixed name="t"><joint joint="a" coef=".5"/><joint joint="b" coef="3"/></fixed></tendon><equality>
    <joint joint1="b" joint2="a" polycoef=".1 2"/></equality><actuator><position name="s" tendon="t" kp="4" kv="3"
      gear="2" ctrlrange=".7 2"/></actuator>"""
    both = Both(mujoco, "", bodies, tail)
    (servo,) = both.spec.actuators
    p, d = servo.controller_gains
    for a, v in ((0.3, -0.7), (-1.1, 0.4)):
        both.data.qpos[:] = a, 0.2 + 0.1 + 2.0 * (a - 0.1)
        both.data.qvel[:] = v, 2.0 * v
        mujoco.mj_forward(both.model, both.data)
        theirs = both.data.qfrc_actuator[0] + 2.0 * both.data.qfrc_actuator[1]
        assert_close(p * (servo.rest[0] - a) + d * (servo.rest[1] - v), theirs)


KEYS = """<keyframe><key name="one" qpos="{}" qvel="{}"/></keyframe>"""


@pytest.mark.parametrize("name", ["several joints of a body", "references", "ball joints", "free joints",
                                  "free joint with damping and armature"])  # fmt: skip
def test_keyframes_are_the_states_of_mujoco(name):
    import mujoco

    head, bodies = MODELS[name]
    sizes = mujoco.MjModel.from_xml_string(f"<mujoco>{head}<worldbody>{bodies}</worldbody></mujoco>")
    random = np.random.default_rng(0)
    vectors = (" ".join(map(str, random.normal(size=n).round(3))) for n in (sizes.nq, sizes.nv))
    both = Both(mujoco, head, bodies, tail=KEYS.format(*vectors))
    mujoco.mj_resetDataKeyframe(both.model, both.data, 0)
    mujoco.mj_forward(both.model, both.data)
    index = both.plant.GetModelInstanceByName("m")
    set_postures(both.plant, both.context, postures_of([both.spec], [index]))
    velocity = np.zeros(6)
    for n in range(1, both.model.nbody):
        body = both.plant.GetBodyByName(both.model.body(n).name)
        X_WB = body.EvalPoseInWorld(both.context)
        assert_close(X_WB.translation(), both.data.xpos[n])
        assert_close(X_WB.rotation().matrix().ravel(), both.data.xmat[n])
        mujoco.mj_objectVelocity(both.model, both.data, mujoco.mjtObj.mjOBJ_XBODY, n, velocity, 0)
        assert_close(body.EvalSpatialVelocityInWorld(both.context).get_coeffs(), velocity)


def test_model_that_comes_with_mujoco_has_its_bodies():
    """It has nearly every element."""
    import mujoco

    path = Path(mujoco.__file__).parent / "testdata" / "model.xml"
    if not path.exists():
        pytest.skip("this build of MuJoCo has no test data")
    theirs = mujoco.MjModel.from_xml_path(str(path))
    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    parser.AddModels(str(path))
    plant.Finalize()
    assert plant.num_velocities() == theirs.nv
    found = " ".join(finding.message for finding in parser.diagnostics.warnings)
    assert "type hfield" not in found
    context = plant.CreateDefaultContext()
    assert plant.CalcTotalMass(context) == pytest.approx(theirs.body_mass.sum(), rel=1e-12)
