"""Sensors as lists of operations give what their kinds give, to the last bit."""

import numpy as np
import pytest

from mbcli.engine.collision.touch_volumes import meets_volume
from mbcli.engine.queries import operations
from mbcli.engine.runtime.linking import load_kernels
from mbcli.models.loading import load_model
from mbcli.multibody.sensing.evaluation import ASKED_OFTEN, SensorEvaluator
from mbcli.multibody.sensing.plant_sensing import INTERPRETED_ROWS
from mbcli.multibody.sensing.recorded_sensors import RecordedSensors
from mbcli.multibody.sensing.touched import VOLUMES, volume_of
from mbcli.sensors.rays import distance_along

MJCF = """<mujoco><option gravity="1 0.5 -9" magnetic="0.1 -0.5 0.3"/><worldbody><geom type="plane" size="5 5 1"/>
<site name="fixed" pos="1 2 3" euler="10 20 30"/><body name="base" pos="0 0 0.09"><freejoint/><geom name="g"
type="box" size="0.3 0.2 0.1" mass="4"/><site name="s" pos="0.1 0.2 -0.1" euler="30 40 50" type="box" size="1 1 0.1"/>
<body name="arm" pos="0.4 0 0.4" euler="0 20 0"><joint name="hinge" axis="0 1 1" range="-1 1" limited="true"/><geom
type="capsule" fromto="0 0 0 0 0 -0.2" size="0.05" mass="1"/><site name="a" pos="0 0.1 -0.1" euler="5 6 7"/><body
name="tip" pos="0 0 -0.2"><joint name="ball" type="ball"/><geom size="0.05" mass="0.3"/><site name="c" pos="0 0 0.1"
euler="0 90 0"/></body></body></body></worldbody><actuator><motor name="m" joint="hinge" gear="3"/></actuator><sensor>
<accelerometer name="acc" site="s"/><gyro name="gyro" site="a" cutoff="0.4"/><velocimeter name="vel" site="c"/>
<force name="f" site="a"/><torque name="t" site="c"/><magnetometer name="mag" site="c"/><jointpos name="jp"
joint="hinge"/><jointvel name="jv" joint="hinge"/><jointlimitpos name="lp" joint="hinge"/><actuatorfrc name="af"
actuator="m"/><ballquat name="bq" joint="ball"/><ballangvel name="bv" joint="ball"/><framepos name="fp" objtype="site"
objname="c" reftype="site" refname="fixed"/><framequat name="fq" objtype="site" objname="c" reftype="site"
refname="s"/><framexaxis name="x" objtype="site" objname="a"/><framelinvel name="lv" objtype="site" objname="c"
reftype="site" refname="a"/><frameangvel name="av" objtype="body" objname="tip"/><framelinacc name="la" objtype="site"
objname="a"/><frameangacc name="aa" objtype="site" objname="c"/><subtreecom name="com" body="base"/><subtreelinvel
name="cv" body="arm"/><subtreeangmom name="cm" body="arm"/><e_kinetic name="ek"/><clock name="now"/><touch name="touch"
site="s"/><rangefinder name="r" site="c"/></sensor></mujoco>"""
SDF = """<sdf version="1.9"><world name="w"><spherical_coordinates><latitude_deg>48</latitude_deg><longitude_deg>11
</longitude_deg><elevation>500</elevation></spherical_coordinates><model name="m">
<link name="b"><inertial><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.2</iyy>
<izz>0.3</izz></inertia></inertial><sensor name="imu" type="imu"><pose>0.1 0.2 0.3 0.4 0.5 0.6</pose></sensor>
<sensor name="alt" type="altimeter"/><sensor name="sat" type="navsat"/><sensor name="air" type="air_pressure"/></link>
<joint name="j" type="ball"><parent>world</parent><child>b</child><pose>0 0 0.5 0 0 0</pose>
<sensor name="ft" type="force_torque"><force_torque><frame>sensor</frame></force_torque></sensor></joint></model>
</world></sdf>"""
DECIDING = {"mjcf": {"jointlimitpos", "rangefinder"}, "sdf": {"navsat", "air_pressure"}}


@pytest.fixture(params=["mjcf", "sdf", "continuous"])
def sensed(request, tmp_path):
    """(a SensorEvaluator that has left its patience, a context, the types that cannot be recorded)."""
    text, dt = (MJCF, 0.002) if request.param == "mjcf" else (SDF, 0.002 if request.param == "sdf" else 0.0)
    name = "mjcf" if request.param == "mjcf" else "sdf"
    path = tmp_path / f"sensed.{'xml' if name == 'mjcf' else 'sdf'}"
    path.write_text(text)
    plant = load_model(path, dt=dt, contact=name == "mjcf").plant
    cannot = DECIDING[name] | ({"force_torque"} if request.param == "continuous" else set())
    return SensorEvaluator(plant, compiled=True), plant.CreateDefaultContext(), cannot


def move(plant, context, random):
    """Another state near the default one, and actuation."""
    q = plant.GetDefaultPositions()
    plant.SetPositions(context, q + 0.02 * random.normal(size=len(q)))
    plant.SetVelocities(context, random.normal(size=plant.num_velocities()))
    context.SetTime(float(random.uniform()))
    if plant.num_actuators():
        plant.get_actuation_input_port().FixValue(context, random.normal(size=plant.num_actuators()))


def test_recorded_sensors_give_the_bits_of_their_kinds(sensed, ready_kernels):
    evaluator, context, cannot = sensed
    plant, random, touched = context.state.plant, np.random.default_rng(3), 0
    recorded = RecordedSensors(evaluator.sensing, evaluator.sensors, evaluator.given(context))
    assert {s.type_name() for s in evaluator.sensors if s not in recorded.sensors} == cannot
    for _ in range(INTERPRETED_ROWS):  # from then on motions are those of compiled kernels
        evaluator.rows(context)
    for _ in range(20):
        move(plant, context, random)
        rows, given = evaluator.rows(context), evaluator.given(context)
        values = recorded.values(context.get_time(), rows.q, rows.v, given)
        for sensor in recorded.sensors:
            wanted = sensor.values(rows)
            assert (values[sensor.path] == wanted).all(), (sensor.type_name(), values[sensor.path] - wanted)
            touched += sensor.type_name() == "touch" and wanted[0, 0] > 0.0
    assert touched > 5 or not any(s.type_name() == "touch" for s in evaluator.sensors)


def test_an_evaluator_that_is_asked_often_goes_on_with_the_same_values(sensed, ready_kernels):
    evaluator, context, _ = sensed
    again = SensorEvaluator(context.state.plant, compiled=True)
    for k in range(ASKED_OFTEN + 10):
        found, wanted = evaluator.values(context), again.rows(context)
        for sensor in again.sensors:
            values = sensor.values(wanted)[0]
            np.testing.assert_allclose(found[sensor.path.removeprefix("sensors/")], values, atol=1e-12, rtol=1e-12)
        move(context.state.plant, context, np.random.default_rng(k))


def test_operations_are_those_of_numpy():
    """Interpreted and compiled to the last bit; the largest of four, the first of equal ones."""
    random = np.random.default_rng(5)
    numbers = np.concatenate([random.normal(size=8), np.zeros(40)])
    a, b = numbers[:2]
    wanted = [a + b, a - b, a * b, a / b, -a, np.sqrt(abs(a)), a]
    table = [(what, 8 + what, 0, 1) for what in range(operations.COPY + 1) if what != operations.ROOT]
    numbers[2] = abs(a)
    table += [(operations.ROOT, 8 + operations.ROOT, 2, 0)]
    numbers[4:8] = 1.0, 3.0, 3.0, -2.0
    table += [(operations.LARGEST, 20, 4, 0), (operations.CHOSEN, 21, 4, 20), (operations.SIGNED, 22, 7, 5)]
    table += [(operations.SIGNED, 23, 4, 5)]
    for compiled in (False, True):
        found = numbers.copy()
        load_kernels(compiled).run_operations(np.array(table, dtype=np.int64), found)
        assert found[8:15].tolist() == wanted
        assert found[20:24].tolist() == [1.0, 3.0, -3.0, 3.0]


@pytest.mark.parametrize("word", VOLUMES)
def test_a_volume_is_met_where_a_ray_meets_its_shape(word):
    random = np.random.default_rng(7)
    shape = word, (0.3, 0.2, 0.5)[: VOLUMES[word][1]]
    start, along = random.normal(size=(600, 3)), random.normal(size=(600, 3))
    along[:300] = 0.3 * random.normal(size=(300, 3)) - start[:300]
    along[:40] *= random.integers(0, 2, size=(40, 3))  # along axes and planes, some of no length
    wanted = np.isfinite(distance_along(shape, start, along))
    found = [meets_volume(*volume_of(shape), p, d) for p, d in zip(start.tolist(), along.tolist(), strict=True)]
    assert 100 < wanted.sum() < 500
    assert (wanted == found).all()


def test_sums_over_contacts_are_the_same_compiled_and_interpreted():
    random, k, n = np.random.default_rng(9), 100, 3
    solids, row = random.integers(0, 4, size=(k, 2)), np.sort(random.integers(0, n, size=k))
    points, force, normals = (random.normal(size=(k, 3)) for _ in range(3))
    poses = np.column_stack([np.tile(np.eye(3).ravel(), (n, 1)), random.normal(size=(n, 3))])
    own, sizes = np.array([0, 2, 1, 0]), np.array([0.9, 0.9, 0.9])
    found = []
    for compiled in (False, True):
        kernels, counts, sums = load_kernels(compiled), np.zeros((n, 4)), np.zeros((n, 1))
        kernels.contact_sums(solids, row, force, own, counts)
        kernels.pressure_sums(solids, row, points, force, normals, own, poses, 0, sizes, sums)
        found.append((counts, sums))
    counts, sums = found[0]
    counted = [(own[a] == 2 and own[b] == 0) + (own[b] == 2 and own[a] == 0) for a, b in solids.tolist()]
    assert counts[:, 0].sum() == sum(counted) > 10 and np.count_nonzero(sums) == 2
    assert (found[1][0] == counts).all()
    np.testing.assert_allclose(found[1][1], sums, rtol=1e-14)
