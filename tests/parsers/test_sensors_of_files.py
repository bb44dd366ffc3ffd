"""Sensors of model files: what of them is read, and that a fault leaves the sensor out, with its place."""

import random
import re
from functools import cache

import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.gazebo_sensors import CAMERAS, OTHERS
from mbcli.parsers.load import load_models
from repository import ROOT

from mbcli.errors import MbcliError
from mbcli.models.loading import load_model
from mbcli.multibody.sensing import sensor_values
from mbcli.sensors import SENSORS
from mbcli.sensors.settings import Noise

SDF = """<sdf version="1.12"><world name="w">
<spherical_coordinates><latitude_deg>10</latitude_deg></spherical_coordinates><model name="m">
<link name="l"><collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision>
%s</link><joint name="j" type="revolute"><parent>world</parent><child>l</child><axis><xyz>0 1 0</xyz></axis>%s</joint>
</model></world></sdf>"""
MJCF = """<mujoco><worldbody><body name="b"><joint name="j" range="-1 1" limited="true"/><geom name="g" size="0.1"/>
<site name="s"/></body></worldbody><tendon><fixed name="t"><joint joint="j" coef="2"/></fixed></tendon>
<actuator><motor name="m" joint="j"/></actuator><sensor>%s</sensor></mujoco>"""
URDF = """<robot name="r"><link name="l"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
</inertial></link><link name="k"/><joint name="j" type="fixed"><parent link="l"/><child link="k"/></joint>%s</robot>"""


def read(text, suffix, tmp_path):
    """(ModelSpec with sensors or None, findings)."""
    path, diagnostics = tmp_path / f"model.{suffix}", Diagnostics()
    path.write_text(text)
    (model,) = load_models(path, diagnostics=diagnostics)
    return (model.models[0] if model.models else model), diagnostics.findings


def in_sdf(sensor, mount="link"):
    return SDF % ((sensor, "") if mount == "link" else ("", sensor))


# ------------------------------------------------------------------------- each element acts or is found


@cache
def specified():
    """(container, path below it, last version) of the elements and attributes of <sensor> of the specification."""
    text = (ROOT / "tests" / "parsers" / "sdf" / "sdformat_elements.txt").read_text()
    found = []
    for path, names in re.findall(r"^/?model/link/sensor/(\S+):((?: \S+|\n +\S+)*)$", text, re.MULTILINE):
        container, _, below = path.partition("/")
        found += [
            (container, f"{below}/{re.split('[=!]', word)[0]}".strip("/"), word.partition("!")[2] or "1.12")
            for word in names.split()
        ]
    return found


def acting(container, path):
    """Whether a kind reads it: a setting, what leads there, or a part of a noise."""
    kinds = [kind for kind in SENSORS.values() if any(container in names for names in kind.SDF.values())]
    paths = [
        f"{p}/noise".strip("/") if isinstance(rule, Noise) else p for k in kinds for p, rule in k.SDF_SETTINGS.items()
    ]
    return any(
        path == p or p.startswith(f"{path}/") or (p.endswith("noise") and path.startswith(f"{p}/")) for p in paths
    )


TYPE_OF = {name: word for kind in SENSORS.values() for word, names in kind.SDF.items() for name in names}


def test_every_element_of_a_sensor_acts_or_is_found(tmp_path):
    silent = []
    for container, path, version in specified():
        if container not in TYPE_OF or acting(container, path) or path in ("collision", "topic"):
            continue
        *outer, last = path.split("/")
        body = "x" if not last.startswith("@") else ""
        for tag in [*outer, *([] if last.startswith("@") else [last])][::-1]:
            attribute = f' {last[1:]}="x"' if last.startswith("@") and tag == outer[-1] and not body else ""
            body = f"<{tag}{attribute}>{body}</{tag}>"
        mount = "joint" if container == "force_torque" else "link"
        sensor = f'<sensor name="s" type="{TYPE_OF[container]}"><{container}>{body}</{container}></sensor>'
        text = in_sdf(sensor, mount).replace('version="1.12"', f'version="{version}"')
        _, findings = read(text, "sdf", tmp_path)
        if not any(last.lstrip("@") in f.message or any(f"<{tag}>" in f.message for tag in outer) for f in findings):
            silent.append(f"{container}/{path}")
    assert not silent


@pytest.mark.parametrize("word", sorted({word for kind in SENSORS.values() for word in kind.SDF}))
def test_every_type_of_sdformat_is_a_sensor_without_settings(word, tmp_path):
    kind = next(kind for kind in SENSORS.values() if word in kind.SDF)
    inside = "<contact><collision>c</collision></contact>" if word == "contact" else ""
    model, findings = read(
        in_sdf(f'<sensor name="s" type="{word}">{inside}</sensor>', kind.SDF_MOUNTS[0]), "sdf", tmp_path
    )
    assert [sensor.type for sensor in model.sensors] == [word]
    assert not findings


@pytest.mark.parametrize(("words", "severity"), [(CAMERAS, "note"), (OTHERS, "warning"), (["imuu"], "warning")])
def test_what_gives_nothing_is_found(words, severity, tmp_path):
    for word in words:
        model, findings = read(in_sdf(f'<sensor name="s" type="{word}"/>'), "sdf", tmp_path)
        assert not model.sensors
        assert [finding.severity for finding in findings] == [severity]


# ------------------------------------------------------------------------------------------------- faults

LIDAR = '<sensor name="s" type="lidar"><lidar><scan><horizontal>{}</horizontal></scan></lidar></sensor>'
NOISY = '<sensor name="s" type="altimeter"><altimeter><vertical_position>'
NOISY += '<noise type="{}">{}</noise></vertical_position></altimeter></sensor>'
FAULTS = {
    "no number": ('<sensor name="s" type="imu"><update_rate>fast</update_rate></sensor>', "must be a finite number"),
    "negative rate": ('<sensor name="s" type="imu"><update_rate>-1</update_rate></sensor>', "must be at least 0"),
    "no type": ('<sensor name="s"/>', 'must have the attribute "type"'),
    "no name": ('<sensor type="imu"/>', 'must have the attribute "name"'),
    "frame": ('<sensor name="s" type="imu"><pose relative_to="x">0 0 0 0 0 0</pose></sensor>', "not in the model"),
    "mount": ('<sensor name="s" type="force_torque"/>', "stands in a <joint>, not in a <link>"),
    "collision": (
        '<sensor name="s" type="contact"><contact><collision>d</collision></contact></sensor>',
        'no collision "d"',
    ),
    "no collision": ('<sensor name="s" type="contact"/>', "must name a <collision>"),
    "noise type": (NOISY.format("uniform", ""), "must have one of the types"),
    "noise": (NOISY.format("gaussian", "<stddev>-1</stddev>"), "must not be negative"),
    "rays": (
        LIDAR.format("<samples>1e9</samples>"),
        "rays, more than",
    ),
    "angles": (
        LIDAR.format("<min_angle>1</min_angle>"),
        "least angle",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_leaves_the_sensor_out_with_its_place(fault, tmp_path):
    text, message = FAULTS[fault]
    model, findings = read(in_sdf(text), "sdf", tmp_path)
    assert not model.sensors
    (finding,) = (f for f in findings if f.severity != "note")
    assert finding.severity == "warning"
    assert message in finding.message
    assert (finding.place.line, finding.place.column > 0) == (4, True)


def test_sensors_of_one_name_in_a_link_are_a_fault(tmp_path):
    model, findings = read(in_sdf('<sensor name="s" type="imu"/>' * 2), "sdf", tmp_path)
    assert len(model.sensors) == 1
    assert [finding.code for finding in findings] == ["DUPLICATE_NAME"]


def test_sensors_of_gazebo_in_urdf(tmp_path):
    """In the link or joint that the reference names; the rest of <gazebo> is for another program."""
    text = URDF % (
        '<gazebo reference="k"><mu1>1</mu1><sensor name="imu" type="imu"><pose>1 2 3 0 0 0</pose>'
        "<update_rate>50</update_rate><visualize>1</visualize><odd>1</odd></sensor></gazebo>"
        '<gazebo reference="j"><sensor name="ft" type="force_torque"/></gazebo>'
        '<gazebo reference="x"><sensor name="lost" type="imu"/></gazebo>'
    )
    model, findings = read(text, "urdf", tmp_path)
    assert [(s.name, s.kind, s.mount[0], s.rate) for s in model.sensors] == [
        ("imu", "imu", "k", 50.0),
        ("ft", "force_torque", "k", 0.0),
    ]
    assert model.sensors[0].mount[1][:3, 3].tolist() == [1, 2, 3]
    assert [f.message for f in findings if f.severity == "warning"] == [
        'there is no link or joint "x" for the sensor: the sensor is left out'
    ]


def test_every_sensor_of_mjcf_is_read_or_found(tmp_path):
    mounts = {"site": 'site="s"', "joint": 'joint="j"', "ball": 'joint="j"', "tendon": 'tendon="t"', "body": 'body="b"'}
    mounts |= {"actuator": 'actuator="m"', "object": 'objtype="site" objname="s"', "": ""}
    for kind in SENSORS.values():
        for tag, mount in kind.MJCF.items():
            model, findings = read(MJCF % f'<{tag} name="x" {mounts[mount]}/>', "xml", tmp_path)
            wrong = [f for f in findings if f.severity != "note"]
            assert (len(model.sensors), len(wrong)) == ((0, 1) if mount == "ball" else (1, 0)), tag
    others = [
        "camprojection",
        "insidesite",
        "distance",
        "normal",
        "fromto",
        "contact",
        "tactile",
        "jointlimitfrc",
        "user",
        "plugin",
    ]
    for tag in others:
        model, findings = read(MJCF % f'<{tag} name="x"/>', "xml", tmp_path)
        assert [f.code for f in findings if f.severity == "warning"] == ["ELEMENT_UNSUPPORTED"], tag
        assert not model.sensors


def test_a_sensor_of_mjcf_on_nothing_is_left_out(tmp_path):
    model, findings = read(MJCF % '<gyro name="x" site="sit"/><gyro name="y" site="s"/>', "xml", tmp_path)
    assert [sensor.name for sensor in model.sensors] == ["y"]
    (finding,) = (f for f in findings if f.severity == "warning")
    assert finding.message == 'there is no site "sit": the sensor is left out'


# ------------------------------------------------------------------------------------------------ mutants

WHOLE = {
    "sdf": SDF
    % (
        '<sensor name="a" type="imu"><pose>0 0 1 0 0 0</pose><update_rate>50</update_rate><imu>'
        "<orientation_reference_frame><localization>ENU</localization></orientation_reference_frame><angular_velocity>"
        '<x><noise type="gaussian"><mean>0</mean><stddev>0.1</stddev><bias_mean>1</bias_mean></noise></x>'
        "</angular_velocity></imu></sensor>"
        '<sensor name="b" type="lidar"><lidar><scan><horizontal><samples>3</samples><min_angle>-1</min_angle>'
        "<max_angle>1</max_angle></horizontal></scan><range><min>0.1</min><max>9</max></range></lidar></sensor>"
        '<sensor name="c" type="navsat"/>'
        '<sensor name="d" type="contact"><contact><collision>c</collision></contact></sensor>',
        '<sensor name="e" type="force_torque"><force_torque><frame>sensor</frame></force_torque></sensor>',
    ),
    "xml": MJCF
    % '<accelerometer name="a" site="s" cutoff="3" nsample="2" delay="0.1"/><touch site="s"/><rangefinder site="s"/>'
    '<framelinvel objtype="geom" objname="g" reftype="site" refname="s"/><jointpos joint="j"/><tendonvel tendon="t"/>'
    '<actuatorfrc actuator="m"/><subtreecom body="b"/><clock noise="1"/>',
}
NONSENSE = ("", "nan", "-1", "1e308", "-1e999", "0", "word", "a b c", "::", "世界", "1 2 3 4 5 6 7", "<x/>")


@pytest.mark.parametrize("suffix", WHOLE)
def test_no_nonsense_is_a_traceback(suffix, tmp_path):
    """500 files with one or two values replaced: read with findings, or refused with an error of one line."""
    rng, text = random.Random(suffix), WHOLE[suffix]
    start = text.index("<sensor")
    places = [m.span(1) for m in re.finditer(r'(?:="|>)([^<>"]+)(?="|<)', text) if m.start() > start and m[1].strip()]
    read_ones = 0
    for _ in range(250):
        mutant = text
        for a, b in sorted(rng.sample(places, rng.choice((1, 2))), reverse=True):
            value = rng.choice(NONSENSE)
            mutant = mutant[:a] + (value.replace("<x/>", "") if mutant[a - 1] == '"' else value) + mutant[b:]
        path = tmp_path / f"mutant.{suffix}"
        path.write_text(mutant)
        try:
            plant = load_model(path, dt=0.0, contact=False).plant
        except MbcliError:
            continue
        sensor_values(plant, plant.CreateDefaultContext())
        read_ones += 1
    assert read_ones > 150
