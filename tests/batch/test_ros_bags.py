"""Bags of ROS 2 as states and as exports of logs: what other packages write is read, and what is written they read."""

import json
import shutil
import sqlite3
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import cli, succeed
from repository import SAMPLES

from mbcli.batch.ros_frames import FrameTracks
from mbcli.batch.row_demands import RowDemands
from mbcli.batch.state_layout import StateLayout
from mbcli.batch.state_reader import open_states
from mbcli.errors import ModelError
from mbcli.log import open_log
from mbcli.models import load_model

PENDULUM = SAMPLES / "double_pendulum.urdf"
NAMES = ["shoulder", "elbow"]
SUPPORT = Path(__file__).parents[1] / "support"
WALKER = """<sdf version="1.11"><model name="m">
<link name="base"><inertial><mass>1</mass></inertial>
 <sensor name="imu" type="imu"><pose>0.1 0 0 0 0 0.3</pose></sensor></link>
<link name="tip"><pose>0 0 0.5 0 0 0</pose><inertial><mass>1</mass></inertial></link>
<joint name="j" type="revolute"><parent>base</parent><child>tip</child><axis><xyz>0 1 0</xyz></axis>
 <sensor name="ft" type="force_torque"><force_torque><frame>parent</frame></force_torque></sensor></joint>
</model></sdf>"""
pytest.importorskip("rosbags")


def states_of(path, plant, **options):
    q, v = plant.GetDefaultPositions(), np.zeros(plant.num_velocities())
    names = plant.GetPositionNames(), plant.GetVelocityNames(), plant.GetActuatorNames()
    chunks = list(open_states(path, StateLayout(*names, q, v), **options))
    return [np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in ("time", "q", "v", "tau")]


@pytest.fixture(scope="module")
def plant():
    return load_model(PENDULUM).plant


@pytest.fixture(scope="module")
def recorded():
    """Times [ns], positions, velocities and efforts of 50 messages."""
    random = np.random.default_rng(5)
    return 10**18 + np.arange(50) * 10_000_000, *random.normal(size=(3, 50, 2))


def written_bag(folder, recorded, storage, **message):
    """A bag as rosbags writes it, with joints in another order than the model's and a topic of something else."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    header, time, joints = (
        store.types[kind]
        for kind in ("std_msgs/msg/Header", "builtin_interfaces/msg/Time", "sensor_msgs/msg/JointState")
    )
    text = store.types["std_msgs/msg/String"]
    with Writer(folder, version=9, storage_plugin=StoragePlugin[storage]) as writer:
        of_joints = writer.add_connection("/joint_states", joints.__msgtype__, typestore=store)
        other = writer.add_connection("/chatter", text.__msgtype__, typestore=store)
        for stamp, q, v, tau in zip(*recorded, strict=True):
            sec, nanosec = divmod(int(stamp), 10**9)
            values = {"name": NAMES[::-1], "position": q[::-1].copy(), "velocity": v[::-1].copy()}
            values |= {"effort": tau[::-1].copy()} | message
            made = joints(header=header(stamp=time(sec=sec, nanosec=nanosec), frame_id=""), **values)
            writer.write(of_joints, int(stamp) + 1234, store.serialize_cdr(made, joints.__msgtype__))
            writer.write(other, int(stamp), store.serialize_cdr(text(data="hello"), text.__msgtype__))
    return folder


@pytest.mark.parametrize("storage", ["SQLITE3", "MCAP"])
def test_joint_states_of_a_bag_are_states(tmp_path, plant, recorded, storage):
    folder = written_bag(tmp_path / "bag", recorded, storage)
    file = next(path for path in folder.iterdir() if path.suffix in (".db3", ".mcap"))
    stamps, q, v, tau = recorded
    for path in (folder, file):
        time, *found = states_of(path, plant)
        np.testing.assert_allclose(time, (stamps - stamps[0]) * 1e-9, rtol=0, atol=1e-12)
        for own, wanted in zip(found, (q, v, tau), strict=True):
            np.testing.assert_array_equal(own, wanted)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MBCLI_JIT", "0")
        lines = succeed("energy", PENDULUM, "--states", folder, "--format", "jsonl").out.splitlines()
    assert len(lines) == len(q)
    assert len(states_of(folder, plant, rows_per_chunk=7)[0]) == 50


def test_a_bag_without_messages_of_joints_says_what_it_has(tmp_path, plant, recorded):
    folder = written_bag(tmp_path / "bag", [x[:1] for x in recorded], "SQLITE3", name=[], position=np.zeros(0))
    with sqlite3.connect(next(folder.glob("*.db3"))) as database:
        database.execute("DELETE FROM messages WHERE topic_id = 1")
    result = cli("energy", PENDULUM, "--states", folder)
    assert (
        result.code == 3
        and "no messages with the positions of joints; there are /chatter (std_msgs/msg/String)" in result.err
    )


def test_damaged_bags_end_with_a_line(tmp_path, plant, recorded):
    bag = written_bag(tmp_path / "bag", recorded, "SQLITE3")
    about = (bag / "metadata.yaml").read_text()
    name = next(bag.glob("*.db3")).name

    def broken(change, words):
        copy = shutil.copytree(bag, tmp_path / "copy", dirs_exist_ok=True)
        change(copy)
        result = cli("energy", PENDULUM, "--states", copy)
        assert result.code in (3, 4) and words in result.err and result.err.count("\n") == 1, result.err

    broken(lambda copy: (copy / "metadata.yaml").unlink(), "Is a directory")
    broken(lambda copy: (copy / "metadata.yaml").write_text("[1, 2"), "not the metadata of a bag")
    broken(lambda copy: (copy / "metadata.yaml").write_text(about.replace(name, "../x.db3")), "files of its folder")
    packed = about.replace("compression_format: ''", "compression_format: zstd")
    assert packed != about
    broken(lambda copy: (copy / "metadata.yaml").write_text(packed), "compressed as zstd")
    broken(lambda copy: (copy / "metadata.yaml").write_text(about.replace(name, "other.db3")), "no such file")
    (tmp_path / "copy" / "metadata.yaml").write_text(about)
    broken(lambda copy: (copy / name).write_bytes(b"SQLite format 3\0" + bytes(100)), "not a bag of ROS 2")
    shutil.copy(bag / name, tmp_path / "copy" / name)

    def cut(copy):
        with sqlite3.connect(copy / name) as database:
            database.execute("UPDATE messages SET data = substr(data, 1, 60) WHERE id = 5")

    broken(cut, "not a bag of ROS 2")


def exported(folder):
    """(model, log, bag) of a run whose base floats, with an IMU and a force-torque sensor."""
    model, log, bag = folder / "m.sdf", folder / "m.h5", folder / "m.mcap"
    model.write_text(WALKER)
    words = ("--at", "j=0.4", "--v", "0 0 1 0 0 0 2", "-t", 0.05, "--log-rate", 100, "--fields", "q,v,u,poses,sensors")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MBCLI_JIT", "0")
        succeed("-q", "simulate", model, "--actuators", "motor", "--u", "j=0.5", *words, "-o", log)
    succeed("log", "export", log, "--to", "ros", "-o", bag)
    return model, log, bag


def test_the_reader_of_foxglove_reads_the_same_messages(tmp_path):
    """Another decoder of CDR and of MCAP, in another language: all messages, field by field, are those of mcap_ros2."""
    script, node = SUPPORT / "read_bag.js", shutil.which("node")
    if node is None or subprocess.run([node, script], capture_output=True, check=False).returncode:
        pytest.skip("needs node, and by NODE_PATH @mcap/core, @foxglove/rosmsg, @foxglove/rosmsg2-serialization, fzstd")
    reader = pytest.importorskip("mcap_ros2.reader")
    *_, bag = exported(tmp_path)
    read = json.loads(subprocess.run([node, script, bag], capture_output=True, check=True).stdout)
    wanted = [
        [each.channel.topic, each.log_time_ns, each.schema.name, as_data(each.ros_msg)]
        for each in reader.read_ros2_messages(str(bag))
    ]
    assert len(wanted) == 25 and sorted(read, key=lambda row: row[:2]) == sorted(wanted, key=lambda row: row[:2])


def as_data(value):
    """A message of mcap_ros2 as JSON has it."""
    if hasattr(value, "__slots__"):
        return {name: as_data(getattr(value, name)) for name in value.__slots__}
    return [as_data(each) for each in value] if isinstance(value, list) else value


def test_an_export_has_the_messages_of_ros_and_is_states_again(tmp_path):
    reader = pytest.importorskip("mcap_ros2.reader")
    model, log, bag = exported(tmp_path)
    found = {}
    for message in reader.read_ros2_messages(str(bag)):
        found.setdefault(message.channel.topic, []).append((message.log_time_ns, message.schema.name, message.ros_msg))
    assert {topic: (len(rows), rows[0][1]) for topic, rows in found.items()} == {
        "/joint_states": (6, "sensor_msgs/msg/JointState"),
        "/tf": (6, "tf2_msgs/msg/TFMessage"),
        "/tf_static": (1, "tf2_msgs/msg/TFMessage"),
        "/imu": (6, "sensor_msgs/msg/Imu"),
        "/ft": (6, "geometry_msgs/msg/WrenchStamped"),
    }
    with open_log(log) as opened:
        q, v, imu, ft, poses = (
            opened[path] for path in ("state/q", "state/v", "sensors/imu", "sensors/ft", "derived/poses")
        )
        names = list(opened.names["sensors/imu"])
    for k in range(6):
        stamp, _, joints = found["/joint_states"][k]
        assert stamp == k * 10_000_000 and (joints.header.stamp.sec, joints.header.stamp.nanosec) == (0, stamp)
        assert joints.name == ["j"] and list(joints.effort) == [0.5]
        assert (*joints.position, *joints.velocity) == (q[k, 7], v[k, 6])
        of_imu, of_ft = found["/imu"][k][2], found["/ft"][k][2]
        given = [getattr(of_imu.orientation, x) for x in "wxyz"]
        given += [getattr(of_imu.angular_velocity, x) for x in "xyz"]
        given += [getattr(of_imu.linear_acceleration, x) for x in "xyz"]
        assert names[0] == "orientation_qw" and given == imu[k].tolist() and of_imu.header.frame_id == "imu"
        given = [getattr(part, x) for part in (of_ft.wrench.force, of_ft.wrench.torque) for x in "xyz"]
        assert given == ft[k].tolist() and of_ft.header.frame_id == "base"
        transforms = {each.child_frame_id: each for each in found["/tf"][k][2].transforms}
        assert set(transforms) == {"base", "tip"} and {each.header.frame_id for each in transforms.values()} == {
            "world"
        }
        moved = transforms["tip"].transform
        given = [getattr(moved.rotation, x) for x in "wxyz"] + [getattr(moved.translation, x) for x in "xyz"]
        assert given == poses.reshape(6, -1, 7)[k, 2].tolist()
    (mounted,) = [each for each in found["/tf_static"][0][2].transforms if each.child_frame_id == "imu"]
    assert mounted.header.frame_id == "base" and mounted.transform.translation.x == 0.1
    assert mounted.transform.rotation.z == pytest.approx(np.sin(0.15), abs=1e-15)
    arm = load_model(model, weld=["base"]).plant
    time, *back = states_of(bag, arm)
    wanted = [0.01 * np.arange(6), q[:, 7], v[:, 6], np.full(6, 0.5)]
    np.testing.assert_array_equal(np.column_stack([time, *back]), np.column_stack(wanted))
    time, back, rates, _ = states_of(bag, load_model(model).plant)  # whose base floats: /tf has its pose
    np.testing.assert_array_equal(back[:, 4:], q[:, 4:])
    np.testing.assert_allclose(back, q, rtol=0.0, atol=1e-15)
    np.testing.assert_array_equal(rates[:, 6], v[:, 6])
    np.testing.assert_allclose(rates[1:-1, :6], v[1:-1, :6], rtol=0.0, atol=2e-3)  # differences over 0.02 s


def test_fields_without_a_message_are_refused(tmp_path):
    log = tmp_path / "p.h5"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MBCLI_JIT", "0")
        succeed("-q", "simulate", PENDULUM, "-t", 0.01, "-o", log)
    result = cli("log", "export", log, "--to", "ros", "--fields", "energy_kinetic", "-o", tmp_path / "x.mcap")
    assert result.code == 2 and "none of these fields has a message of ROS" in result.err
    assert not (tmp_path / "x.mcap").exists()
    assert json.loads(succeed("log", "info", log, "--json").out)


STAMPS = 10**18 + np.arange(0, 400_000_000, 10_000_000)  # [ns] of joints
RATE = 0.7  # [rad/s] of the base about z


def walked_bag(folder, storage="MCAP"):
    """map -> odom -> base, which turns and walks while odom is moved; joints, an IMU and a wrench at other times."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    types = get_typestore(Stores.ROS2_HUMBLE).types
    store = get_typestore(Stores.ROS2_HUMBLE)

    def header(stamp, frame):
        sec, nanosec = divmod(int(stamp), 10**9)
        time = types["builtin_interfaces/msg/Time"](sec=sec, nanosec=nanosec)
        return types["std_msgs/msg/Header"](stamp=time, frame_id=frame)

    def vector(x, y, z):
        return types["geometry_msgs/msg/Vector3"](x=x, y=y, z=z)

    def turned(angle):
        return types["geometry_msgs/msg/Quaternion"](x=0.0, y=0.0, z=np.sin(angle / 2), w=np.cos(angle / 2))

    def transform(stamp, parent, child, angle, at):
        moved = types["geometry_msgs/msg/Transform"](translation=vector(*at), rotation=turned(angle))
        made = types["geometry_msgs/msg/TransformStamped"]
        return made(header=header(stamp, parent), child_frame_id=child, transform=moved)

    def messages():
        yield (
            "/tf_static",
            STAMPS[0],
            "tf2_msgs/msg/TFMessage",
            [transform(0, "map", "odom", np.pi / 2, (5.0, 0.0, 0.0))],
        )
        for stamp in np.arange(STAMPS[0] - 3_000_000, STAMPS[-1] - 40_000_000, 5_000_000):
            t = (stamp - STAMPS[0]) * 1e-9
            yield (
                "/tf",
                stamp,
                "tf2_msgs/msg/TFMessage",
                [transform(stamp, "odom", "base", RATE * t, (2.0 * t, 0.0, 0.5))],
            )
            made, force = types["geometry_msgs/msg/Wrench"], vector(t, 0.0, 10.0)
            yield "/foot", stamp, "geometry_msgs/msg/WrenchStamped", made(force=force, torque=vector(0.0, 0.0, 0.0))
            yield "/imu", stamp, "sensor_msgs/msg/Imu", vector(0.1, 0.0, RATE)
        for stamp in STAMPS:
            yield "/joint_states", stamp, "sensor_msgs/msg/JointState", (stamp - STAMPS[0]) * 1e-9

    unknown = np.zeros(9)
    with Writer(folder, version=9, storage_plugin=StoragePlugin[storage]) as writer:
        topics = {}
        for topic, stamp, kind, value in messages():
            if topic not in topics:
                topics[topic] = writer.add_connection(topic, kind, typestore=store)
            if kind.endswith("TFMessage"):
                fields = {"transforms": value}
            elif kind.endswith("WrenchStamped"):
                fields = {"header": header(stamp, "robot/tip"), "wrench": value}
            elif kind.endswith("Imu"):
                fields = {
                    "orientation": turned(0.0),
                    "angular_velocity": value,
                    "linear_acceleration": vector(0.0, 0.0, 9.8),
                }
                fields |= {f"{name}_covariance": unknown for name in fields}
                fields["header"] = header(stamp, "base")
            else:
                fields = {"header": header(stamp, ""), "name": ["j"], "position": np.array([value])}
                fields |= {"velocity": np.array([1.0]), "effort": np.zeros(0)}
            writer.write(topics[topic], int(stamp), store.serialize_cdr(types[kind](**fields), kind))
    return folder


def walker(tmp_path):
    model = tmp_path / "m.sdf"
    model.write_text(WALKER)
    return load_model(model).plant


def test_transforms_imu_and_wrenches_of_a_bag_are_states_of_a_floating_base(tmp_path):
    plant, bag = walker(tmp_path), walked_bag(tmp_path / "bag")
    names = plant.GetPositionNames(), plant.GetVelocityNames(), ["tip.fx", "tip.fy", "tip.fz"]
    layout = StateLayout(*names, plant.GetDefaultPositions(), np.zeros(plant.num_velocities()))
    (chunk,) = open_states(bag, layout)
    t = (STAMPS[:35] - STAMPS[0]) * 1e-9  # transforms end 43 ms before the joints
    np.testing.assert_allclose(chunk.time, t, rtol=0.0, atol=1e-12)
    angle, zero = RATE * t + np.pi / 2, 0.0 * t
    wanted = [np.cos(angle / 2), zero, zero, np.sin(angle / 2), 5.0 + zero, 2.0 * t, 0.5 + zero, t]
    np.testing.assert_allclose(chunk.q, np.column_stack(wanted), rtol=0.0, atol=1e-12)
    gyro = [0.1 * np.cos(angle), 0.1 * np.sin(angle), RATE + zero]  # of the IMU, along axes of World
    wanted = [*gyro, zero, 2.0 + zero, zero, 1.0 + zero]
    np.testing.assert_allclose(chunk.v, np.column_stack(wanted), rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(chunk.u, np.column_stack([t, zero, 10.0 + zero]), rtol=0.0, atol=1e-12)


def test_transforms_alone_are_states_and_those_in_a_circle_an_error(tmp_path):
    tracks, plant = FrameTracks(), walker(tmp_path)

    def message(stamp, parent, child, x):
        at, turn = SimpleNamespace(x=x, y=0.0, z=0.0), SimpleNamespace(w=1.0, x=0.0, y=0.0, z=0.0)
        header = SimpleNamespace(frame_id=parent, stamp=SimpleNamespace(sec=stamp, nanosec=0))
        moved = SimpleNamespace(translation=at, rotation=turn)
        return SimpleNamespace(transforms=[SimpleNamespace(header=header, child_frame_id=child, transform=moved)])

    for second in range(3):
        tracks.take_transforms(message(second, "world", "/m/base", 2.0 * second))
        tracks.take_transforms(message(second, "world", "camera", 1.0))
    layout = StateLayout(
        plant.GetPositionNames(), plant.GetVelocityNames(), [], plant.GetDefaultPositions(), np.zeros(7)
    )
    cells, values, inside = tracks.columns(np.zeros(0, dtype=np.int64), layout, "bag", True)
    assert inside.all() and len(cells) == 1 + 7 + 6
    np.testing.assert_array_equal(values[:, cells.index("q:m_base_x")], [0.0, 2.0, 4.0])
    np.testing.assert_allclose(values[:, cells.index("v:m_base_vx")], 2.0, rtol=1e-15)
    with pytest.raises(ValueError, match="transform of 'base' is no pose"):
        tracks.take_transforms(message(0, "world", "base", np.inf))
    tracks.take_transforms(message(0, "base", "world", 1.0))
    with pytest.raises(ModelError, match="bag: error: the transforms of 'base' go in a circle"):
        tracks.columns(np.zeros(0, dtype=np.int64), layout, "bag", True)


def imu_message(second, tilt, turn, *, frame="imu_link", lacks=()):
    vector = SimpleNamespace
    known = {name: np.full(9, -1.0 if name in lacks else 0.0) for name in ("orientation", "angular", "linear")}
    return SimpleNamespace(
        header=SimpleNamespace(frame_id=frame, stamp=SimpleNamespace(sec=second, nanosec=0)),
        orientation=SimpleNamespace(**dict(zip("xyzw", tilt.as_quat(), strict=True))),
        angular_velocity=vector(**dict(zip("xyz", turn, strict=True))),
        linear_acceleration=vector(x=0.0, y=0.0, z=9.8),
        orientation_covariance=known["orientation"],
        angular_velocity_covariance=known["angular"],
        linear_acceleration_covariance=known["linear"],
    )


def fixed(parent, child, rotation):
    turn = SimpleNamespace(**dict(zip("xyzw", rotation.as_quat(), strict=True)))
    moved = SimpleNamespace(translation=SimpleNamespace(x=0.1, y=0.0, z=0.0), rotation=turn)
    header = SimpleNamespace(frame_id=parent, stamp=SimpleNamespace(sec=0, nanosec=0))
    return SimpleNamespace(transforms=[SimpleNamespace(header=header, child_frame_id=child, transform=moved)])


def layout_of(plant, told):
    names = plant.GetPositionNames(), plant.GetVelocityNames(), []
    return StateLayout(*names, plant.GetDefaultPositions(), np.zeros(7), RowDemands(tell=told.append))


def test_an_imu_fixed_to_a_base_without_transforms_turns_it_and_its_acceleration_is_named(tmp_path):
    """A legged robot's bag: joints and an IMU that is mounted askew. The base turns about a fixed axis of World."""
    from scipy.spatial.transform import Rotation

    plant, told = walker(tmp_path), []
    R_BI, axis, start = (
        Rotation.from_rotvec([0.3, -0.2, 1.1]),
        np.array([0.2, 0.1, 0.4]),
        Rotation.from_rotvec([0.1, 0, 0]),
    )
    tracks = FrameTracks()
    tracks.take_transforms(fixed("m/base", "mount", Rotation.from_rotvec([0.3, 0, 0])))
    tracks.take_transforms(fixed("mount", "imu_link", Rotation.from_rotvec([0.3, 0, 0]).inv() * R_BI))
    seconds = np.arange(4)
    of_base = [Rotation.from_rotvec(axis * t) * start for t in seconds]
    for t, R_WB in zip(seconds, of_base, strict=True):
        R_WI = R_WB * R_BI
        tracks.take_imu(imu_message(int(t), R_WI, R_WI.inv().apply(axis)))
    layout = layout_of(plant, told)
    times = seconds[1:3] * 10**9
    cells, values, inside = tracks.columns(times, layout, "bag", True)
    assert inside.all()
    assert cells == ["time", *(f"q:m_base_{p}" for p in ("qw", "qx", "qy", "qz")), *(f"v:m_base_w{p}" for p in "xyz")]
    for row, R_WB in zip(values, of_base[1:3], strict=True):
        np.testing.assert_allclose(
            Rotation.from_quat(row[1:5], scalar_first=True).as_matrix(), R_WB.as_matrix(), atol=1e-12
        )
        np.testing.assert_allclose(row[5:8], axis, atol=1e-12)
    assert told == [
        "bag: the linear acceleration of imu_link is not used: it says nothing of the accelerations of joints"
    ]


def test_what_an_imu_does_not_measure_is_not_used(tmp_path):
    from scipy.spatial.transform import Rotation

    plant, told, tracks = walker(tmp_path), [], FrameTracks()
    for second in range(3):
        unknown = ("orientation", "angular", "linear")
        tracks.take_imu(imu_message(second, Rotation.identity(), (1.0, 2.0, 3.0), frame="base", lacks=unknown))
    layout = layout_of(plant, told)
    cells, _, _ = tracks.columns(np.array([0, 10**9]), layout, "bag", True)
    assert cells == ["time"] and told == []
