"""`mbcli serve`: a document in, a document out, equal to that of the command; faults are answers too."""

import json
import signal
import socket
import stat
import subprocess
import time

import jsonschema
import numpy as np
import pytest
from command_line import cli, start, succeed
from mbcli.parsers.scenes.file_schemas import schema_text
from repository import SAMPLES

ARM, TWO_LINKS = SAMPLES / "arm7.urdf", SAMPLES / "double_pendulum.urdf"
LOOP = SAMPLES / "closed_chains" / "andrews.urdf"
VALIDATOR = jsonschema.Draft202012Validator(json.loads(schema_text("results")))
Q, V = [0.1, -0.7, 1 / 3, 1e-17, 2.0, -1.5, 0.25], [1.0, 0.0, -0.3, 0.0, 1e-3, 0.7, 0.1]
QV = ["--q", " ".join(map(repr, Q)), "--v", " ".join(map(repr, V))]


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def answers(*questions, model=ARM, options=()):
    """The answers to documents, or to lines as they are."""
    lines = [question if isinstance(question, str) else json.dumps(question) for question in questions]
    result = succeed("-q", "serve", model, *options, stdin="\n".join(lines) + "\n")
    return [json.loads(line) for line in result.out.splitlines()]


CASES = [
    (ARM, {"command": "mass-matrix", "q": Q}, QV[:2]),
    (ARM, {"command": "mass-matrix", "at": {"joint_2": 0.3}, "inverse": True}, ["--at", "joint_2=0.3", "--inverse"]),
    (ARM, {"command": "inverse-dynamics", "q": Q, "v": V, "vdot": V}, [*QV, "--vdot", QV[3]]),
    (ARM, {"command": "inverse-dynamics", "vdot": {"joint_1": 2}, "no_gravity": True},
     ["--vdot", "joint_1=2", "--no-gravity"]),
    (ARM, {"command": "forward-dynamics", "q": Q, "v": V, "u": V, "derivatives": False}, [*QV, "--u", QV[3]]),
    (ARM, {"command": "kinematics", "q": Q, "frame": ["hand", "upper_arm"], "relative-to": "base"},
     [*QV[:2], "--frame", "hand", "--frame", "upper_arm", "--relative-to", "base"]),
    (ARM, {"command": "jacobian", "q": Q, "frame": "hand", "point": [[0.1, 0, 0]]},
     [*QV[:2], "--frame", "hand", "--point", "0.1,0,0"]),
    (ARM, {"command": "bias", "random": 3}, ["--random", 3]),
    (ARM, {"command": "gravity", "q": Q}, QV[:2]),
    (ARM, {"command": "energy", "q": Q, "v": V, "bodies": True}, [*QV, "--bodies"]),
    (ARM, {"command": "com", "q": Q, "v": V}, QV),
    (ARM, {"command": "momentum", "q": Q, "v": V}, QV),
    (TWO_LINKS, {"command": "linearize", "q": [0.1, 0.2]}, ["--q", "0.1 0.2"]),
    (LOOP, {"command": "assemble", "tolerance": 1e-9}, ["--tolerance", "1e-9"]),
    (LOOP, {"command": "constrained-dynamics", "method": "null-space"}, ["--method", "null-space"]),
]  # fmt: skip


@pytest.mark.parametrize("model, question, words", CASES, ids=lambda value: str(value)[:60])
def test_an_answer_is_the_document_of_the_command(model, question, words):
    (answer,) = answers(question, model=model)
    assert answer == succeed("-q", question["command"], model, *words, "--json").json()
    VALIDATOR.validate(answer)


def test_a_question_changes_no_other_one():
    first = {"command": "kinematics", "ik": "hand=0.3,0.1,0.5"}
    second = {"command": "linearize", "u": V}
    gravity = {"command": "gravity"}
    found = answers(gravity, first, second, {"command": "gravity", "q": Q, "v": V}, gravity, first)
    assert found[0] == found[4] and found[1] == found[5] and found[3] != found[0]


def test_answers_have_the_id_of_their_question_and_come_in_its_order():
    ids = [7, "a", None, {"x": [1]}, 0.5]
    found = answers(*({"command": "gravity", "id": i} for i in ids), "", '{"id": 3}')
    assert [answer["id"] for answer in found] == [*ids, 3]


FAULTS = [
    ("nonsense", 2, "not a JSON document"),
    ("[" * 100_000, 2, "nested too deep"),
    ("[1]", 2, "a question is an object"),
    ('{"q": [1]}', 2, "there is no command"),
    ({"command": "simulate"}, 2, 'no command "simulate" is answered'),
    ({"command": "mas-matrix"}, 2, 'did you mean "mass-matrix"?'),
    ({"command": ["gravity"]}, 2, "is answered"),
    ({"command": "gravity", "qq": [1]}, 2, 'gravity has no option "qq"'),
    ({"command": "gravity", "state": "/etc/passwd"}, 2, 'gravity has no option "state"'),
    ({"command": "gravity", "output": "x.json"}, 2, 'gravity has no option "output"'),
    ({"command": "gravity", "q": [1, 2]}, 2, "--q needs 7 numbers, it has 2"),
    ('{"command": "gravity", "q": [NaN, 0, 0, 0, 0, 0, 0]}', 2, "NaN is not a number of JSON"),
    ({"command": "gravity", "q": [1e400] * 7}, 2, "is not a number of JSON"),
    ({"command": "gravity", "q": [None] * 7}, 2, "null is neither a number nor a text"),
    ({"command": "gravity", "at": {"elbw": 1}}, 2, "elbw"),
    ({"command": "gravity", "random": -1}, 2, "-1 is not in the range"),
    ({"command": "mass-matrix", "inverse": 1}, 2, "inverse is true or false, not 1"),
    ({"command": "kinematics", "frame": "hnd"}, 2, "did you mean 'hand'?"),
    ({"command": "jacobian"}, 2, "--frame"),
    ({"command": "forward-dynamics", "v": [1e200] * 7}, 5, ""),
]


@pytest.mark.parametrize("question, code, says", FAULTS, ids=lambda value: str(value)[:40])
def test_a_fault_is_an_answer_and_the_next_question_is_answered(question, code, says):
    wrong, right = answers(question, {"command": "gravity"})
    assert wrong["schema"] == "mbcli/error" and (wrong["exit_code"], says in wrong["message"]) == (code, True), wrong
    VALIDATOR.validate(wrong)
    assert right == succeed("-q", "gravity", ARM, "--json").json()


def test_a_step_has_the_solids_of_the_model_and_a_ground():
    dog = SAMPLES / "quadruped.urdf"
    knees = {f"{end}_{side}_knee": -1.2 for end in ("front", "rear") for side in ("left", "right")}
    start = {"at": {"trunk_z": 0.31, "trunk_vx": 0.1, **knees}}
    alone = {"command": "linearize", "discrete": True, **start}
    found = answers(alone, {**alone, "ground": 0.0}, {"command": "linearize", **start}, alone, model=dog)
    words = [word for name, value in start["at"].items() for word in ("--at", f"{name}={value}")] + ["--json"]
    assert found[0] == found[3] == succeed("-q", "linearize", dog, "--discrete", *words).json()
    assert found[1] == succeed("-q", "linearize", dog, "--discrete", "--ground", *words).json()
    assert found[1]["f0"] != found[0]["f0"] and found[2] == succeed("-q", "linearize", dog, *words).json()


def test_a_line_that_is_too_long_is_one_fault(monkeypatch):
    import sys

    from mbcli.cli import serve  # noqa: F401  the module

    monkeypatch.setattr(sys.modules["mbcli.cli.serve"], "MOST_BYTES", 1000)
    wrong, right = answers({"command": "gravity", "id": "x" * 5000}, {"command": "gravity"})
    assert "longer than" in wrong["message"] and right["schema"] == "mbcli/gravity"


def test_numbers_that_are_not_finite_are_null_and_named():
    (answer,) = answers({"command": "energy", "v": [1e200] * 7})
    assert answer["kinetic"] is None and "kinetic" in answer["not_finite"]


@pytest.mark.parametrize("sent, code", [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_it_without_a_traceback(sent, code):
    process = start("-q", "serve", ARM, stdin=subprocess.PIPE, env={"MBCLI_JIT": "0"})
    process.stdin.write('{"command": "gravity"}\n')
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["schema"] == "mbcli/gravity"
    process.send_signal(sent)
    assert process.wait(timeout=30) == code
    assert process.stderr.read().strip() == ""


def test_an_answer_comes_before_the_input_ends_and_a_closed_pipe_ends_it():
    process = start("-q", "serve", ARM, stdin=subprocess.PIPE, env={"MBCLI_JIT": "0"})
    for k in range(3):
        process.stdin.write(json.dumps({"command": "gravity", "id": k}) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == k
    process.stdout.close()
    process.stdin.write('{"command": "gravity"}\n')
    process.stdin.close()
    assert process.wait(timeout=30) == 141


def test_a_socket_answers_several_at_once_for_its_user_alone_and_is_gone_afterwards(tmp_path):
    path = tmp_path / "s"
    process = start("serve", ARM, "--socket", path, env={"MBCLI_JIT": "0"})
    assert "listens on" in process.stderr.readline()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    wanted = succeed("-q", "gravity", ARM, "--q", " ".join(map(repr, Q)), "--json").json()
    connections = [socket.socket(socket.AF_UNIX) for _ in range(3)]
    for connection in connections:
        connection.connect(str(path))
    for connection in connections[::-1]:
        with connection, connection.makefile("rw") as lines:
            lines.write(json.dumps({"command": "gravity", "q": Q}) + "\n" + '{"command": "gravity", "q": [1]}\n')
            lines.flush()
            assert json.loads(lines.readline()) == wanted
            assert json.loads(lines.readline())["message"].startswith("--q needs 7 numbers")
    assert cli("serve", ARM, "--socket", path).code == 6
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 143 and not path.exists()
    assert "Traceback" not in process.stderr.read()


def test_compiled_answers_are_the_same_to_rounding(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "1")
    question = {"command": "inverse-dynamics", "q": Q, "v": V, "vdot": V}
    (plain,), (compiled,) = answers(question), answers(question, options=["--compiled"])
    np.testing.assert_allclose(compiled["tau"], plain["tau"], rtol=1e-12, atol=1e-12)


def test_a_question_about_a_small_robot_is_answered_in_a_few_milliseconds():
    """About one, on a processor with nothing else to do."""
    questions = [{"command": "mass-matrix", "q": [0.01 * k] * 7} for k in range(300)]
    started = time.process_time()
    few = answers(*questions[:10])
    middle = time.process_time()
    assert len(few) == 10 and len(answers(*questions)) == 300
    assert (time.process_time() - middle) - (middle - started) < 290 * 0.005
