"""Actuators of MJCF against MuJoCo's: lengths, moments and forces at random states, and runs of a second."""

import numpy as np
import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.mjcf.read_mjcf import read_mjcf

from benchmarks.mjcf_actuators import compare, model_files
from mbcli.errors import ModelError
from mbcli.models.loading import load_model
from mbcli.simulation.running import simulate

MODEL = """<mujoco><option timestep=".002" actuatorgroupdisable="3 5"/>
<default><default class="off"><general group="5"/><intvelocity group="5"/></default></default><worldbody>
<site name="anchor" pos="0 0 2"/>
<body name="base" pos="0 0 1"><freejoint name="root"/><geom type="box" size=".1 .1 .02" mass="1"/>
 <site name="a" pos=".1 .1 0"/><site name="b" pos="-.1 .1 0"/>
 <body name="arm" pos=".1 0 0"><joint name="j1" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/><site name="c" pos=".15 0 .03"/>
  <geom name="pin" type="cylinder" size=".03 .1" pos=".3 0 0" euler="90 0 0" mass="0"/>
  <geom name="ball" type="sphere" size=".04" pos=".2 0 .02" mass="0"/>
  <geom name="ring" type="cylinder" size=".06 .1" pos=".3 0 0" euler="90 0 0" mass="0"/>
  <site name="side" pos=".3 0 .1"/><site name="inside" pos=".3 0 .02"/>
  <body pos=".3 0 0"><joint name="j2" axis="0 1 0"/>
   <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/><site name="e" pos=".15 0 .03"/>
   <body pos=".3 0 0"><joint name="j3" type="ball"/><geom type="sphere" size=".05" pos=".1 0 0"/>
    <site name="f" pos=".1 .02 .03"/></body></body></body></body></worldbody>
<contact><exclude body1="base" body2="arm"/></contact>
<tendon><fixed name="t"><joint joint="j1" coef="1"/><joint joint="j2" coef="-.5"/></fixed>
 <spatial name="s"><site site="c"/><geom geom="pin" sidesite="side"/><site site="e"/><pulley divisor="2"/>
  <site site="e"/><site site="f"/><pulley divisor="3"/><site site="e"/><site site="a"/></spatial>
 <spatial name="s2"><site site="a"/><geom geom="ball"/><site site="e"/></spatial>
 <spatial name="s3"><site site="anchor"/><site site="a"/></spatial>
 <spatial name="s4"><site site="c"/><geom geom="ring" sidesite="inside"/><site site="e"/></spatial>
 <spatial name="s5"><site site="c"/><geom geom="pin"/><site site="f"/></spatial></tendon>
<actuator>ACTUATOR</actuator></mujoco>"""

ACTUATORS = {
    "a force at a site": '<motor name="m" site="b" gear="0.3 0 1 0 .2 -.1" ctrlrange="-.5 .5"/>',
    "a site in another": '<general name="m" site="e" refsite="b" gear="1 2 3 .3 .2 .1" gainprm="2" biastype="affine" '
    'biasprm="0 -3 -.3"/>',
    "a servo on a fixed tendon": '<position name="m" tendon="t" kp="10" kv="1" forcerange="-2 3"/>',
    "a damping ratio on a tendon": '<position name="m" tendon="t" gear="2" kp="10" dampratio="1"/>',
    "a damping ratio at a site": '<position name="m" site="e" refsite="b" gear="1 0 2" kp="10" dampratio="1"/>',
    "around a cylinder at a side, and pulleys": '<motor name="m" tendon="s" gear="2"/>',
    "around a sphere": '<velocity name="m" tendon="s2" kv="3"/>',
    "from the world": '<motor name="m" tendon="s3" gear="-1"/>',
    "through a cylinder": '<motor name="m" tendon="s4"/>',
    "around a cylinder on the shorter side": '<damper name="m" tendon="s5" kv="2" ctrlrange="0 2"/>',
    "the integral of a control": '<intvelocity name="m" joint="j1" kp="5" actrange="-1 1"/>',
    "the integral of a control, damped": '<intvelocity name="m" joint="j1" kp="4" kv="1"/>',
    "a cylinder of a joint": '<cylinder name="m" joint="j1" diameter="2" bias="1 -2 -3"/>',
    "a gain that depends on the motion": '<general name="m" joint="j1" ctrlrange=".5 1" '
    'gaintype="affine" gainprm="2 -3 -4" biastype="affine" biasprm="1"/>',
    "a damper that is never off": '<damper name="m" joint="j1" kv="4" ctrlrange=".5 2"/>',
    "an exact filter": '<position name="m" joint="j2" kp="5" timeconst=".1"/>',
    "a cylinder": '<cylinder name="m" tendon="t" timeconst=".05" area="2" bias="0 -1 -.1"/>',
    "a muscle": '<muscle name="m" tendon="s2" lengthrange=".2 .6" force="100"/>',
    "a muscle by its scale": '<muscle name="m" tendon="s" lengthrange=".1 .6" scale="50" tausmooth=".2"/>',
    "a muscle as general": '<general name="m" tendon="s5" dyntype="muscle" gaintype="muscle" biastype="muscle" '
    'dynprm=".02 .05" gainprm=".8 1.1 70 1 .4 1.7 2 1.3 1.4" biasprm=".8 1.1 70 1 .4 1.7 2 1.5 1.4" '
    'lengthrange=".1 .5"/>',
    "a gain that depends on the motion, early": '<general name="m" joint="j2" dyntype="filter" dynprm=".2" '
    'gaintype="affine" gainprm="1 2 -3" biastype="affine" biasprm="1 2 3" actearly="true"/>',
    "a ball joint": '<motor name="m" joint="j3" gear="1 2 3"/>',
    "a ball joint in its parent": '<position name="m" jointinparent="j3" gear="1 -2 .3" kp="2"/>',
    "a damper": '<damper name="m" joint="j1" kv="2" ctrlrange="0 2"/>',
    "a free joint": '<general name="m" joint="root" gear="1 -2 3 .1 .2 -.3" gainprm="2" '
    'biastype="affine" biasprm="1"/>',
    "a free joint in its parent": '<motor name="m" jointinparent="root" gear="1 -2 3 .1 .2 -.3"/>',
    "of a group that is switched off": '<position name="m" joint="j1" kp="10" group="3"/>',
    "an integral of a group that is switched off": '<intvelocity name="m" joint="j1" kp="10" class="off"/>',
    "a pull at contacts": '<adhesion name="m" body="arm" gain="3" ctrlrange=".2 1" forcerange="0 2"/>',
    "a slider-crank": '<general name="m" cranksite="e" slidersite="b" cranklength=".5" gear="2"/>',
}


@pytest.fixture
def both(tmp_path, monkeypatch):
    """text -> (mujoco, its model, path)"""
    import mujoco

    monkeypatch.chdir(tmp_path)

    def read(actuators):
        path = tmp_path / "model.xml"
        path.write_text(MODEL.replace("ACTUATOR", actuators))
        return mujoco, mujoco.MjModel.from_xml_path(str(path)), str(path)

    return read


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("kind", ACTUATORS)
def test_forces_and_moments_are_those_of_mujoco(both, kind):
    mujoco, model, path = both(ACTUATORS[kind])
    acting, differences = compare(mujoco, model, load_model(path, contact=False).plant, states=40)
    # MuJoCo finds the point inside of a solid by an iteration that ends at 1e-6
    assert acting == [True] and max(differences) < (1e-8 if kind == "through a cylinder" else 1e-9)


SIDES = """<mujoco><worldbody><geom name="g" type="{0}" size=".05 1"/><site name="s" pos="{3}"/>
<site name="a" pos="{1}"/><body><joint/><geom size=".01"/><site name="b" pos="{2}"/></body></worldbody>
<tendon><spatial name="t"><site site="a"/><geom geom="g"{4}/><site site="b"/></spatial></tendon>
<actuator><motor name="m" tendon="t"/></actuator></mujoco>"""


@pytest.mark.peers("mujoco")
def test_tendons_pass_spheres_and_cylinders_as_in_mujoco(tmp_path):
    import mujoco

    rng, path = np.random.default_rng(3), tmp_path / "sides.xml"
    for k in range(60):
        places = [" ".join(map(str, rng.normal(size=3) * size)) for size in (0.1, 0.1, (0.02, 0.1, 0.2)[k % 3])]
        text = SIDES.format(("sphere", "cylinder")[k % 2], *places, ' sidesite="s"' if k % 5 else "")
        path.write_text(text)
        data = mujoco.MjData(model := mujoco.MjModel.from_xml_string(text))
        mujoco.mj_forward(model, data)
        plant = load_model(str(path), contact=False).plant
        at = plant.transmissions_at(plant.CreateDefaultContext(), [0.0])
        assert abs(at.lengths[0] - data.ten_length[0]) < 1e-12, text


RUNS = {
    "a fixed tendon": '<position name="m" tendon="t" kp="2" kv=".2"/>',
    "sites": '<motor name="m" site="f" gear="0 0 .3"/>',
    "a tendon around a cylinder": '<motor name="m" tendon="s5" gear="-1"/>',
    "a muscle": '<muscle name="m" tendon="s2" lengthrange=".2 .6" force="5"/>',
    "a cylinder": '<cylinder name="m" tendon="t" timeconst=".1" area=".5" bias="0 -1 -.1"/>',
}


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("kind", RUNS)
def test_a_second_goes_as_in_mujoco_at_small_steps(both, kind):
    """Both methods are of first order in what actuators do: at steps of 0.1 ms they are within a part of 1e-3."""
    mujoco, model, path = both(RUNS[kind])
    h, steps = 1e-4, 10_000
    log = simulate(load_model(path, contact=False, dt=h), duration=steps * h, inputs={"m": 0.4}, log_rate=10)
    data = mujoco.MjData(model)
    model.opt.timestep, model.opt.disableflags = h, int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    rows = []
    for step in range(steps + 1):
        if step % 1000 == 0:
            rows.append(data.qpos[7:9].copy())
        data.ctrl[:] = 0.4
        mujoco.mj_step(model, data)
    rows = np.array(rows)
    ours = np.asarray(log.q)[:, 7:9]
    assert np.abs(rows).max() > 0.05  # it moves
    assert np.abs(ours - rows).max() < 2e-3 * max(1.0, np.abs(rows).max())


def test_the_benchmark_finds_the_mjcf_files_of_a_folder(tmp_path):
    (tmp_path / "a.xml").write_text("<mujoco/>")
    (tmp_path / "b.xml").write_text("<robot/>")
    assert list(model_files([str(tmp_path)])) == [str(tmp_path / "a.xml")]


@pytest.mark.parametrize("attribute", ["rgba", "pos", "friction", "mass", "contype"])
def test_an_empty_attribute_states_nothing_as_in_mujoco(attribute, tmp_path):
    path = tmp_path / "empty.xml"
    body = '<body><joint/><geom name="g" size=".1 .1 .1" type="box" {}/></body>'
    texts = [body.format(end) for end in (f'{attribute}=""', f'{attribute}=" "', "")]
    masses = []
    for text in texts:
        path.write_text(f"<mujoco><worldbody>{text}</worldbody></mujoco>")
        masses.append(load_model(str(path)).plant.get_body(1).default_mass())
    assert masses[0] == masses[1] == masses[2] == pytest.approx(8.0)


LED = """<mujoco><worldbody><body><joint name="a" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/>
<body pos=".3 0 0"><joint name="b" axis="0 1 0"/><geom size=".05" pos=".2 0 0"/></body></body></worldbody>
<equality><joint joint1="b" joint2="a" polycoef="0 .5 0 0 0"/></equality>
<tendon><fixed name="t"><joint joint="a" coef="2"/><joint joint="b" coef=".5"/></fixed></tendon>
<actuator><position name="m" tendon="t" kp="20" dampratio=".7"/></actuator></mujoco>"""


@pytest.mark.peers("mujoco")
def test_a_damping_ratio_on_a_tendon_whose_joints_follow_one_is_by_its_own_masses(tmp_path):
    import mujoco

    (tmp_path / "led.xml").write_text(LED)
    path = str(tmp_path / "led.xml")
    acting, differences = compare(mujoco, mujoco.MjModel.from_xml_path(path), load_model(path, contact=False).plant)
    assert acting == [True] and max(differences) < 1e-9


def test_numbers_of_groups_that_are_switched_off_are_0_to_30(tmp_path):
    path = tmp_path / "groups.xml"
    for text in ("31", "-1", "a", "1.5"):
        path.write_text(LED.replace("<worldbody>", f'<option actuatorgroupdisable="{text}"/><worldbody>'))
        with pytest.raises(ModelError, match="groups.xml:1:17: error: .*numbers from 0 to 30"):
            load_model(str(path))


SUMS = """<mujoco><option timestep=".002"/><worldbody><body pos="0 0 1">
<joint name="a" axis="0 1 0" damping=".1" actuatorfrcrange="-3 3"/><geom size=".03" pos=".2 0 0" mass="1"/>
<body pos=".4 0 0"><joint name="b" axis="0 1 0" damping=".1"/><geom size=".02" pos=".2 0 0" mass=".5"/>
<body pos=".3 0 0"><joint name="c" axis="0 1 0" damping=".1"/><geom size=".02" pos=".2 0 0" mass=".3"/>
</body></body></body></worldbody>
<tendon><fixed name="t" actuatorfrcrange="-2 1.5"><joint joint="b" coef="1"/><joint joint="c" coef=".5"/></fixed>
</tendon>
<actuator>{}</actuator></mujoco>"""
TOGETHER = {
    "motors of a joint": '<motor joint="a" gear="2"/><motor joint="a" gear="-1"/>',
    "a servo and a motor": '<position joint="a" kp="40" kv="3"/><motor joint="a" gear="2"/>',
    "servos of a joint": '<position joint="a" kp="40" kv="3" forcerange="-4 2"/><velocity joint="a" kv="5" gear="2"/>',
    "on a tendon": '<velocity tendon="t" kv="2" gear="1.5"/><motor tendon="t" gear="1.5"/>',
    "with a filter": '<position tendon="t" kp="9" timeconst=".1"/><damper tendon="t" kv="2" ctrlrange="0 2"/>',
    "both": '<motor tendon="t"/><motor tendon="t"/><motor joint="a"/><position joint="a" kp="9"/>',
    "alone, with a gear": '<motor tendon="t" gear="3"/>',
}


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("kind", TOGETHER)
def test_limits_hold_for_sums_of_forces_as_in_mujoco(kind, tmp_path):
    import mujoco

    path = tmp_path / "sums.xml"
    path.write_text(SUMS.format(TOGETHER[kind]))
    model, loaded = mujoco.MjModel.from_xml_path(str(path)), load_model(str(path))
    plant, data, rng, beyond = loaded.plant, mujoco.MjData(model), np.random.default_rng(3), 0
    assert len(plant.elements.transmission_actuators) == model.nu
    context = plant.CreateDefaultContext()
    for _ in range(50):
        data.qpos[:], data.qvel[:] = 0.3 * rng.normal(size=(2, 3))
        data.ctrl[:] = 2.0 * rng.normal(size=model.nu)
        mujoco.mj_forward(model, data)
        plant.SetPositions(context, data.qpos)
        plant.SetVelocities(context, data.qvel)
        plant.set_activations(context, data.act)
        at = plant.transmissions_at(context, data.ctrl)
        np.testing.assert_allclose(at.moments.T @ at.forces, data.qfrc_actuator, atol=1e-13)
        beyond += np.isclose(np.abs(data.qfrc_actuator).max(), (3.0, 1.5, 2.0, 4.5, 6.0)).any()
    assert beyond > 5


@pytest.mark.peers("mujoco")
def test_a_second_under_limits_of_sums_goes_as_in_mujoco(tmp_path):
    import mujoco

    path = tmp_path / "sums.xml"
    path.write_text(SUMS.format(TOGETHER["both"] + TOGETHER["servos of a joint"]))
    model, apart = mujoco.MjModel.from_xml_path(str(path)), []
    for h in (0.002, 0.001):
        model.opt.timestep, model.opt.integrator = h, int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST)
        data = mujoco.MjData(model)
        data.ctrl[:] = 0.5, 0.3, 4.0, 1.0, -1.0, 0.5
        mujoco.mj_step(model, data, round(1.0 / h))
        loaded = load_model(str(path), dt=h)
        names = loaded.plant.GetActuatorNames(add_model_instance_prefix=False)
        log = simulate(loaded, duration=1.0, inputs=dict(zip(names, data.ctrl.tolist(), strict=True)))
        apart.append(np.abs(np.asarray(log.q)[-1] - data.qpos).max())
    assert apart[0] < 2e-2 and apart[1] < 0.65 * apart[0]


def test_stiff_servos_within_a_limit_of_their_sum_come_to_their_aim_without_chatter(tmp_path):
    path = tmp_path / "sums.xml"
    path.write_text(SUMS.format('<velocity name="v" joint="a" kv="2000"/><velocity name="w" joint="a" kv="500"/>'))
    path.write_text(path.read_text().replace("<option ", '<option gravity="0 0 0" '))
    log = simulate(load_model(str(path)), duration=3.0, inputs={"v": 0.3, "w": 0.3}, fields="effort")
    v, efforts = np.asarray(log.v), log.field("derived/effort")
    assert np.abs(v[len(v) // 2 :, 0] - 0.3).max() < 1e-3
    assert np.abs(efforts.sum(axis=1)).max() == pytest.approx(3.0)
    assert np.abs(efforts[-1, 0] - 4.0 * efforts[-1, 1]) < 1e-6 * np.abs(efforts).max()  # by their gains


OTHERS = {
    "by a tendon across": ('<motor joint="a"/><motor tendon="u"/>', "not what tendons and sites do to it"),
    "by a spatial tendon": ('<motor tendon="s"/>', "not what tendons and sites do to it"),
    "by a site": ('<motor site="e"/>', "not what tendons and sites do to it"),
    "with drives": ('<motor joint="a" armature=".1"/><motor joint="a"/>', None),
    "of other gears": ('<motor tendon="t" gear="2"/><motor tendon="t"/>', "since their gears differ"),
    "within it": ('<motor joint="a"/><motor tendon="t"/><motor tendon="t"/>', None),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_limits_of_sums_that_are_not_followed_are_named(kind):
    actuators, told = OTHERS[kind]
    more = '<fixed name="u"><joint joint="a" coef="1"/><joint joint="b" coef="1"/></fixed>'
    more += '<spatial name="s"><site site="w"/><site site="e"/></spatial></tendon>'
    text = SUMS.format(actuators).replace("</tendon>", more)
    text = text.replace("<worldbody>", '<worldbody><site name="w" pos="0 0 2"/>')
    text = text.replace('mass=".3"/>', 'mass=".3"/><site name="e" pos=".1 0 0"/>')
    diagnostics = Diagnostics()
    assert read_mjcf(text.encode(), diagnostics) is not None
    found = [d.message for d in diagnostics.findings if "it limits" in d.message]
    assert len(found) == (told is not None) and (told or "") in "".join(found)
