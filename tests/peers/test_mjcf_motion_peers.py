"""Steps of MJCF models against MuJoCo's at the same step: what touches, by which friction, what holds and what loses.

Without constraints both take the same semi-implicit step. MuJoCo's constraints are soft: they are made as stiff as its
steps allow, and what is left of the difference is their softness.
"""

import numpy as np
import pytest

from mbcli.config.plant_config import MultibodyPlantConfig
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import AddMultibodyPlant
from mbcli.systems.analysis import Simulator
from mbcli.systems.framework import DiagramBuilder

pytestmark = pytest.mark.peers("mujoco")

H = 1e-3
STIFF = 'solref="{0} 1" solimp=".9999 .9999 .001 .5 2"'
SAME_STEP = 1e-10  # [m] of 0.4 s


def stiff(step):
    return STIFF.format(2 * step)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its warnings to a file there


class Both:
    """A model in both, from the same state; joints are those of one coordinate, and free ones."""

    def __init__(self, text, step=H, velocities=None):
        import mujoco

        self.mujoco = mujoco
        self.model = self.mujoco.MjModel.from_xml_string(text)
        self.model.opt.timestep = step
        self.data = self.mujoco.MjData(self.model)
        builder = DiagramBuilder()
        self.plant, _ = AddMultibodyPlant(MultibodyPlantConfig(time_step=step, step_scheme="drake"), builder)
        Parser(self.plant).AddModelsFromString(text, "mjcf")
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()
        self.simulator = Simulator(self.plant, self.context)
        for name, v in (velocities or {}).items():
            theirs = self.model.joint(name)
            self.data.qvel[theirs.dofadr[0] : theirs.dofadr[0] + len(v)] = v
            ours = self.joint(name)
            values = self.plant.GetVelocities(self.context)
            turned = v if len(v) == 1 else [*v[3:], *v[:3]]
            values[ours.velocity_start() : ours.velocity_start() + len(v)] = turned
            self.plant.SetVelocities(self.context, values)

    def joint(self, name):
        if self.plant.HasJointNamed(name):
            return self.plant.GetJointByName(name)
        body = self.model.body(self.model.joint(name).bodyid[0]).name
        return self.plant.free_joints[int(self.plant.GetBodyByName(body).index())]

    def advance(self, until):
        self.simulator.AdvanceTo(until)
        for _ in range(round((until - self.data.time) / self.model.opt.timestep)):
            self.mujoco.mj_step(self.model, self.data)

    def positions(self):
        """Of all bodies: ours and theirs (n, 3)."""
        self.mujoco.mj_kinematics(self.model, self.data)
        names = [self.model.body(n).name for n in range(1, self.model.nbody)]
        bodies = [self.plant.GetBodyByName(name) for name in names]
        ours = [body.EvalPoseInWorld(self.context).translation() for body in bodies]
        return np.array(ours), self.data.xpos[1:].copy()

    def apart(self):
        ours, theirs = self.positions()
        return abs(ours - theirs).max()


# ---------------------------------------------------------------------------------------- contact

BOX = """<mujoco><option cone="elliptic" impratio="10"/><worldbody><geom type="plane" size="9 9 1" {floor}/>
  <body name="box" pos="0 0 .1"><freejoint name="f"/><geom type="box" size=".2 .2 .1" {box}/></body>
  </worldbody></mujoco>"""


@pytest.mark.parametrize(
    "box, floor, friction",
    [
        ('condim="1"', 'condim="1"', 0.0),
        ('condim="1" priority="1"', "", 0.0),
        ('friction=".4"', 'friction=".2"', 0.4),
        ('friction=".4"', 'friction=".2" priority="2"', 0.2),
        ('friction=".1"', 'friction=".1"', 0.1),
    ],
)
def test_a_box_slides_as_far_as_in_mujoco(box, floor, friction):
    """4 m/s: frictionless it keeps them, with friction it loses mu g t."""
    both = Both(BOX.format(box=box, floor=floor), velocities={"f": [4.0, 0, 0, 0, 0, 0]})
    both.advance(0.5)
    v = both.plant.GetVelocities(both.context)[3]
    assert v == pytest.approx(4.0 - friction * 9.81 * 0.5, abs=0.02)
    assert both.data.qvel[0] == pytest.approx(v, abs=0.02)
    assert both.apart() < 0.01


def test_a_margin_lifts_a_ball_by_as_much_as_in_mujoco():
    both = Both(BOX.format(box='margin=".02"', floor='margin=".01" gap=".5"'))
    both.advance(1.0)
    ours, theirs = both.positions()
    assert ours[0, 2] == pytest.approx(0.13 - 1e-4, abs=1e-6)  # the penetration allowance
    assert theirs[0, 2] == pytest.approx(0.13, abs=1e-3)


LEGS = """<mujoco><option gravity="0 0 -9.81"/><worldbody>{post}
  <body name="pelvis" pos="0 0 2">{root}<geom size=".2"/>
    <body name="thigh" pos="0 .1 -.15"><joint name="hx" axis="1 0 0"/><joint name="hy" axis="0 1 0"/>
      <joint name="hz" axis="0 0 1"/><geom type="capsule" size=".1 .2" pos="0 0 -.1"/>
      <body name="plate"><geom type="box" size=".12 .12 .02" pos="0 0 .1"/>
        <body name="shin" pos="0 0 -.4"><joint name="knee" axis="0 1 0"/><geom size=".12" pos="0 0 .15"/>
  </body></body></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("root", ['<joint name="j" axis="1 2 3"/>', '<freejoint name="j"/>'])
def test_links_that_overlap_at_hips_of_several_joints_and_behind_welds_do_not_touch(root):
    velocities = {"hx": [1.0], "hy": [-2.0], "hz": [0.5], "knee": [3.0]}
    both = Both(LEGS.format(root=root, post=""), velocities=velocities)
    both.advance(0.2)
    assert both.data.ncon == 0
    assert both.apart() < SAME_STEP


def test_a_body_on_a_joint_of_a_static_body_touches_it():
    text = """<mujoco><worldbody><body name="post"><geom type="box" size=".1 .1 .5"/><body name="arm" pos="0 0 .8">
      <joint name="j" axis="0 1 0" damping="1"/><geom type="capsule" size=".05" fromto=".04 0 0 .5 0 0"/></body></body>
      </worldbody></mujoco>"""
    both = Both(text, step=5e-4)
    both.advance(3.0)
    (angle,) = both.plant.GetPositions(both.context)
    assert 1.0 < angle < 1.2  # it leans on the edge of the post, and would hang down at 1.57
    assert both.data.qpos[0] == pytest.approx(angle, abs=0.01)


@pytest.mark.parametrize("flag", ["contact", "constraint", "limit", "frictionloss", "spring", "damper", "equality"])
def test_what_a_flag_switches_off_moves_as_in_mujoco(flag):
    text = f"""<mujoco><option><flag {flag}="disable"/></option><worldbody><geom type="plane" size="1 1 1"/>
      <body name="a" pos="0 0 3"><joint name="j" axis="0 1 0" stiffness="9" springref="20" damping=".5"/>
        <geom size=".1" pos=".3 0 0"/><body name="b" pos=".6 0 0"><joint name="k" axis="0 1 0"/>
        <geom size=".1" pos=".3 0 0"/></body></body></worldbody></mujoco>"""
    both = Both(text, velocities={"j": [2.0], "k": [-1.0]})
    both.advance(0.2)
    assert both.apart() < SAME_STEP


# --------------------------------------------------------------------------- equalities, tendons

CHAIN = """<mujoco>{head}<worldbody>
  <body name="a" pos="0 0 1"><joint name="ja" axis="0 1 0" {ja}/><geom type="capsule" size=".05" fromto="0 0 0 .5 0 0"/>
    <body name="b" pos=".5 0 0"><joint name="jb" axis="0 1 0" {jb}/><geom type="capsule" size=".05"
      fromto="0 0 0 .5 0 0"/><site name="t" pos=".5 0 0"/></body></body>
  <body name="c" pos="0 1 1"><joint name="jc" axis="0 1 0"/><geom type="capsule" size=".05" fromto="0 0 0 .5 0 0"/>
  </body><site name="s" pos="1 0 2"/></worldbody>{tail}</mujoco>"""


@pytest.mark.parametrize(
    "equality",
    [
        '<weld body1="a" body2="c" {0}/>',
        '<weld body1="a" body2="c" anchor=".3 .2 0" {0}/>',
        '<connect body1="b" body2="c" anchor="0 .4 0" {0}/>',
        '<joint joint1="jb" joint2="ja" polycoef="0 -1.5" {0}/>',
        '<joint joint1="jb" {0}/>',
    ],
)
def test_equalities_hold_as_in_mujoco(equality):
    """Closed chains: the soft constraints of MuJoCo at a small step."""
    step = 1e-4
    tail = f"<equality>{equality.format(stiff(step))}</equality>"
    both = Both(CHAIN.format(head="", ja="", jb="", tail=tail), step=step)
    both.advance(0.3)
    ours, theirs = both.positions()
    assert abs(ours - np.array([[0, 0, 1.0], [0.5, 0, 1.0], [0, 1.0, 1.0]])).max() > 0.05 or 'joint1="jb" s' in equality
    assert both.apart() < 2e-4


@pytest.mark.parametrize(
    "tendon",
    [
        '<fixed stiffness="30" damping=".4" springlength=".3"><joint joint="ja" coef="1"/><joint joint="jb" coef="-2"/>'
        "</fixed>",
        '<fixed stiffness="30"><joint joint="ja" coef="1"/><joint joint="jb" coef="-2"/></fixed>',
        '<spatial stiffness="40" damping="3"><site site="s"/><site site="t"/></spatial>',
        '<spatial stiffness="40" springlength=".5"><site site="s"/><site site="t"/></spatial>',
    ],
)
def test_springs_of_tendons_act_as_in_mujoco(tendon):
    """A fixed tendon is a row of the step here, at its end: the difference is of the order of the step."""
    apart = []
    for step in (1e-3, 2.5e-4):
        both = Both(CHAIN.format(head="", ja='springref="10"', jb="", tail=f"<tendon>{tendon}</tendon>"), step=step)
        both.advance(0.4)
        apart.append(both.apart())
    assert apart[0] < (SAME_STEP if "spatial" in tendon else 3e-3)
    assert apart[1] < (SAME_STEP if "spatial" in tendon else 0.3 * apart[0])


def test_limits_of_tendons_and_joints_stop_where_mujocos_do():
    step = 2e-4
    limits = stiff(step).replace("ref=", "reflimit=").replace("imp=", "implimit=")
    tail = f"""<tendon><fixed range="-1 .55" {limits}><joint joint="ja" coef="1"/></fixed></tendon>"""
    joint = f'damping=".5" {limits}'
    text = CHAIN.format(head="", ja=joint, jb=f'{joint} range="-90 20"', tail=tail)
    both = Both(text, step=step)
    both.advance(3.0)
    ja, jb = both.plant.GetPositions(both.context)[:2]
    assert ja == pytest.approx(0.55, abs=1e-3)
    assert jb == pytest.approx(np.radians(20), abs=1e-3)
    np.testing.assert_allclose(both.data.qpos[:2], [ja, jb], atol=2e-3)


# ------------------------------------------------------------------------------------ dry friction


@pytest.mark.parametrize("loss", [0.3, 3.0, 60.0])
def test_dry_friction_slows_and_holds_joints_as_in_mujoco(loss):
    """60 N m hold the first arm for good, in MuJoCo up to its slow slip."""
    step = 1e-4
    friction = f'frictionloss="{loss}" {stiff(step)}'.replace("ref=", "reffriction=").replace("imp=", "impfriction=")
    both = Both(
        CHAIN.format(head="", ja=friction, jb=friction, tail=""), step=step, velocities={"ja": [1.0], "jb": [-3.0]}
    )
    both.advance(0.4)
    ours, theirs = both.plant.GetPositions(both.context)[:2], both.data.qpos[:2]
    np.testing.assert_allclose(ours, theirs, atol=2e-3)
    if loss == 60.0:
        assert abs(both.plant.GetVelocities(both.context)[:2]).max() < 1e-7
