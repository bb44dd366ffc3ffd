"""Sensors in conversions: MJCF has those that it can have, on sites, and every other one has a line."""

import re

import numpy as np
import pytest
from command_line import cli, succeed

SENSED = """<mujoco><worldbody><body name="arm"><joint name="hinge" axis="0 1 0"/><geom size="0.1" pos="0 0 -0.5"/>
<site name="eye" pos="0 0 -0.5" euler="20 0 30"/>
<body name="fore" pos="0 0 -1"><joint name="ball" type="ball"/><geom name="g" size="0.1" pos="0.1 0 -0.5"/></body>
</body></worldbody><actuator><motor name="m" joint="hinge" gear="2"/></actuator>
<sensor><accelerometer name="acc" site="eye" cutoff="50"/><gyro name="gy" site="eye"/>
<jointpos name="jp" joint="hinge"/>
<actuatorfrc name="af" actuator="m"/><ballquat name="bq" joint="ball"/><subtreecom name="st" body="arm"/>
<framepos name="fp" objtype="geom" objname="g" reftype="site" refname="eye"/><clock name="c"/>
<framelinvel name="flv" objtype="xbody" objname="fore"/><force name="f" site="eye"/></sensor></mujoco>"""


@pytest.fixture
def sensed(tmp_path):
    path = tmp_path / "sensed.xml"
    path.write_text(SENSED)
    return path


@pytest.mark.peers("mujoco")
def test_sensors_of_mjcf_give_the_same_numbers_in_mujoco(sensed):
    """MuJoCo's sensordata of both files at random states, in the order of the file."""
    import mujoco

    out = sensed.with_name("out.xml")
    result = succeed("convert", sensed, "-o", out)
    assert "SENSOR" not in result.err
    models = [mujoco.MjModel.from_xml_path(str(path)) for path in (sensed, out)]
    assert [models[0].sensor(k).name for k in range(10)] == [models[1].sensor(k).name for k in range(10)]
    random = np.random.default_rng(2)
    for _ in range(3):
        q, v, u = random.normal(size=5), random.normal(size=4), random.normal(size=1)
        found = []
        for model in models:
            data = mujoco.MjData(model)
            data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, u
            mujoco.mj_forward(model, data)
            found.append(data.sensordata.copy())
        np.testing.assert_allclose(found[0], found[1], rtol=1e-9, atol=1e-9)
        assert np.abs(found[0]).max() > 1.0


VOLUMES = """<mujoco><option magnetic="0.1 -0.4 0.2"/><worldbody><geom type="plane" size="1 1 1"/>
<body name="foot" pos="0 0 0.099"><joint name="up" type="slide" axis="0 0 1" range="-0.2 0.3"/><geom size="0.1"/>
<site name="sole" pos="0 0 -0.1" type="box" size="0.05 0.04 0.03"/><site name="top" pos="0 0 0.1" size="0.02"/>
</body></worldbody><sensor><magnetometer name="m" site="top"/><touch name="sole" site="sole"/>
<touch name="top" site="top"/><jointlimitpos name="jl" joint="up"/><jointlimitvel name="jv" joint="up"/></sensor>
</mujoco>"""


@pytest.mark.peers("mujoco")
def test_sensors_of_fields_volumes_and_limits_give_the_same_numbers_in_mujoco(tmp_path):
    import mujoco

    path, out = tmp_path / "m.xml", tmp_path / "out.xml"
    path.write_text(VOLUMES)
    assert "SENSOR" not in succeed("convert", path, "-o", out).err
    found = []
    for each in (path, out):
        model = mujoco.MjModel.from_xml_path(str(each))
        data = mujoco.MjData(model)
        rows = []
        for q, v in ((0.0, -0.3), (0.35, 0.4)):
            data.qpos[:], data.qvel[:] = q, v
            mujoco.mj_forward(model, data)
            rows.append(data.sensordata.copy())
        found.append(rows)
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-9)
    touching, beyond = found[0]
    np.testing.assert_allclose(touching[:3], (0.1, -0.4, 0.2))
    assert touching[3] > 0.0 and touching[4] == 0.0 and beyond[5] < 0.0 and beyond[6] != 0.0


def test_two_volumes_in_one_place_are_two_sites(tmp_path):
    path, out = tmp_path / "m.xml", tmp_path / "out.xml"
    other = '<site name="ball" pos="0 0 -0.1" size="0.01"/>'
    text = VOLUMES.replace('<site name="top"', f'{other}<site name="top"')
    path.write_text(text.replace('<touch name="top"', '<touch name="ball" site="ball"/><touch name="top"'))
    assert "SENSOR" not in succeed("convert", path, "-o", out).err
    sizes = [re.search(f'name="{name}"[^>]*size="([^"]*)"', out.read_text())[1] for name in ("sole", "ball")]
    assert sizes == ["0.05 0.04 0.03", "0.01"]


def test_rates_and_delays_of_sensors_stay(tmp_path):
    path, out = tmp_path / "m.xml", tmp_path / "out.xml"
    timed = 'site="eye" nsample="4" interval="0.01 0" delay="0.005"'
    path.write_text(SENSED.replace('name="gy" site="eye"', f'name="gy" {timed}'))
    succeed("convert", path, "-o", out)
    (element,) = re.findall('<gyro name="gy"[^>]*>', out.read_text())
    assert 'interval="0.01 0"' in element and 'delay="0.005"' in element


def test_an_imu_of_sdformat_is_two_sensors_and_what_mjcf_lacks_has_a_line(tmp_path):
    path, out = tmp_path / "m.sdf", tmp_path / "out.xml"
    noise = '<imu><angular_velocity><x><noise type="gaussian"><stddev>0.1</stddev></noise></x></angular_velocity></imu>'
    path.write_text(
        '<sdf version="1.9"><model name="m"><link name="l"><inertial><mass>1</mass></inertial>'
        f'<sensor name="imu" type="imu"><pose>0.1 0 0 0 0 1</pose><update_rate>200</update_rate>{noise}</sensor>'
        '<sensor name="alt" type="altimeter"/></link></model></sdf>'
    )
    result = succeed("convert", path, "-o", out)
    assert "the noise of sensor 'imu' [SENSOR]" in result.err
    assert "the sensor 'alt': MJCF has none that measures height and vertical velocity [SENSOR]" in result.err
    assert "<accelerometer> 'imu_acceleration' and <gyro> 'imu_angular_velocity'" in result.err
    text = out.read_text()
    assert text.count('site="imu_site" nsample="1" interval="0.005 0"') == 2


@pytest.mark.parametrize("suffix", ["urdf", "sdf", "usda"])
def test_formats_without_such_sensors_name_each(sensed, suffix):
    if suffix == "usda":
        pytest.importorskip("pxr", reason="usd-core is not installed")
    result = cli("convert", sensed, "-o", sensed.with_suffix(f".{suffix}"), "--lossy")
    assert result.code == 0
    assert len(re.findall(r"lost: the sensor '\w+'.* \[SENSOR\]", result.err)) == 10


GAZEBO = """<sdf version="1.9"><model name="m"><pose>0 0 1 0 0 0</pose>
<link name="l"><inertial><mass>1</mass></inertial>
<collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision>
<sensor name="imu" type="imu"><pose>0.1 0 0 0 0 1</pose><update_rate>200</update_rate><imu>
<orientation_reference_frame><localization>NED</localization>
<custom_rpy>0 0 0.5</custom_rpy></orientation_reference_frame>
<angular_velocity><x><noise type="gaussian"><mean>0.01</mean><stddev>0.1</stddev></noise></x></angular_velocity>
</imu></sensor><sensor name="bump" type="contact"><contact><collision>c</collision></contact></sensor>
<sensor name="scan" type="gpu_lidar"><lidar><scan><horizontal><samples>5</samples><min_angle>-1</min_angle><max_angle>1
</max_angle></horizontal></scan><range><min>0.1</min><max>9</max></range>
<noise><type>gaussian</type><mean>0</mean><stddev>0.02</stddev></noise></lidar></sensor>
<sensor name="north" type="magnetometer"/></link>
<link name="k"><pose>0 0 0.5 0.1 0 0</pose><inertial><mass>1</mass></inertial></link>
<joint name="j" type="revolute"><pose>0 0 0.1 0 0 0</pose><parent>l</parent><child>k</child>
<axis><xyz>0 1 0</xyz></axis>
<sensor name="wrist" type="force_torque"><pose>0 0 0.1 0 0 0</pose><force_torque><frame>sensor</frame>
<measure_direction>parent_to_child</measure_direction></force_torque></sensor></joint></model></sdf>"""


@pytest.mark.parametrize("through", ["out.sdf", "out.urdf"])
def test_sensors_of_gazebo_stay_with_settings_and_noise(tmp_path, through):
    from mbcli.models import load_model

    path = tmp_path / "m.sdf"
    path.write_text(GAZEBO)
    result = succeed("convert", path, "-o", tmp_path / through)
    assert "SENSOR" not in result.err
    names = ["bump", "imu", "north", "scan", "wrist"]
    specs = [{sensor.name: sensor for sensor in load_model(str(f)).read[0].sensors} for f in (path, tmp_path / through)]
    assert sorted(specs[0]) == sorted(specs[1]) == names
    for name in names:
        assert specs[0][name].settings == specs[1][name].settings
        assert (specs[0][name].noise, specs[0][name].rate) == (specs[1][name].noise, specs[1][name].rate)


def test_the_proof_tells_another_setting_of_a_sensor(tmp_path):
    from dataclasses import replace

    from mbcli.parsers.package_map import PackageMap
    from mbcli.parsers.writing.conversion import converted

    from mbcli.conversion.conversion_proof import prove
    from mbcli.models import ModelText, load_model

    loaded, packages = load_model(ModelText(GAZEBO, "m.sdf")), PackageMap()
    conversion = converted(loaded.read[0], "sdf", packages=packages, folder=".")
    assert not prove(None, conversion, packages).faults()
    for old, new in (
        (b"<samples>5", b"<samples>6"),
        (b"<stddev>0.1", b"<stddev>0.2"),
        (b"parent_to_child", b"child_to_parent"),
    ):
        spoiled = conversion.text.replace(old, new)
        assert spoiled != conversion.text
        assert prove(None, replace(conversion, text=spoiled), packages).faults() == ["sensors are not as written"]


def test_the_proof_tells_a_sensor_that_stands_elsewhere(sensed):
    from dataclasses import replace

    from mbcli.parsers.package_map import PackageMap
    from mbcli.parsers.writing.conversion import converted

    from mbcli.conversion.conversion_proof import prove
    from mbcli.models import load_model

    loaded = load_model(str(sensed))
    packages = PackageMap()
    conversion = converted(loaded.read[0], "mjcf", packages=packages, folder=".")
    assert not prove(None, conversion, packages).faults()
    spoiled = conversion.text.replace(b'<gyro name="gy" site="eye"', b'<gyro name="gy" site="fp_site"')
    assert spoiled != conversion.text
    assert prove(None, replace(conversion, text=spoiled), packages).faults() == ["sensors are not as written"]
