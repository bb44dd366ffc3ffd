"""Code for C++ and for Arduino: compilers of both take it, and it gives what the C functions give."""

import json
import shutil
import subprocess

import pytest
from command_line import succeed
from repository import SAMPLES

from mbcli.codegen import Settings, arduino_code, c_compiler, generate
from mbcli.errors import NumericalError
from mbcli.models.loading import load_model

ARM = SAMPLES / "double_pendulum.urdf"
MAIN = """#include <cstdio>
#include "double_pendulum.hpp"
int main()
{
    const auto energy = double_pendulum::energy({{0.3, -0.4}}, {{1.0, 2.0}});
    const std::array<double, 12> J = double_pendulum::jacobian_lower({{0.3, -0.4}});
    std::printf("%s %zu %.17g %.17g\\n", double_pendulum::position_names[1], double_pendulum::nv,
                energy.kinetic[0] + energy.potential[0], J[11]);
}
"""
with_compiler = pytest.mark.skipif(c_compiler.find_compiler() is None, reason="there is no C compiler")


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler")
def test_the_header_of_cplusplus_calls_the_functions_by_arrays(tmp_path):
    succeed("codegen", ARM, "--functions", "energy,jacobian:lower", "--proof-states", 2, "-o", tmp_path / "c")
    (tmp_path / "c" / "main.cpp").write_text(MAIN)
    flags = ["-std=c++11", "-fno-exceptions", "-fno-rtti", "-pedantic", "-Wall", "-Wextra", "-Werror"]
    for command in (
        ["gcc", "-std=c99", "-c", "double_pendulum.c"],
        ["g++", *flags, "main.cpp", "double_pendulum.o", "-o", "main"],
    ):
        done = subprocess.run(command, cwd=tmp_path / "c", capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    found = subprocess.run([tmp_path / "c" / "main"], capture_output=True, text=True).stdout.split()
    plant = load_model(ARM).plant
    context = plant.CreateDefaultContext()
    plant.SetPositionsAndVelocities(context, [0.3, -0.4, 1.0, 2.0])
    total = plant.CalcKineticEnergy(context) + plant.CalcPotentialEnergy(context)
    assert found[:2] == ["double_pendulum_elbow_q", "2"]
    assert abs(float(found[2]) - total) < 1e-12 * abs(total)


@with_compiler
def test_an_arduino_library_is_of_floats_and_lies_as_the_ide_wants_it(tmp_path):
    folder = tmp_path / "library"
    words = ["codegen", ARM, "--to", "arduino", "--functions", "inverse_dynamics,gravity", "--proof-states", 20]
    succeed(*words, "-o", folder)
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    example = "examples/double_pendulum_times/double_pendulum_times.ino"
    sources = {"src/double_pendulum.h", "src/double_pendulum.c"}
    assert files == {"library.properties", "proof.json", "double_pendulum.json", example, *sources}
    properties = dict(line.split("=", 1) for line in (folder / "library.properties").read_text().splitlines())
    assert properties["name"] == "double_pendulum" and properties["architectures"] == "*"
    proof = json.loads((folder / "proof.json").read_text())
    assert proof["real"] == "float" and all(0.0 < f["deviation"] <= 1e-5 for f in proof["functions"])
    source = (folder / "src" / "double_pendulum.c").read_text()
    assert "double q" not in source and "sinf(" in source and "sin(" not in source


@pytest.mark.skipif(shutil.which("avr-gcc") is None, reason="there is no avr-gcc")
def test_a_board_of_eight_bits_takes_the_library_and_its_example(tmp_path):
    folder = tmp_path / "library"
    folder.mkdir()
    made = generate(
        load_model(ARM).plant.CreateDefaultContext(), ["gravity"], str(folder), Settings("arduino", states=2)
    )
    board = made.proofs[0].more["board"]
    assert board["name"] == "atmega2560" and 100 < board["flash"] < 5000 and 0 < board["stack"] < 500
    example = next(folder.rglob("*.ino"))
    (tmp_path / "main.cpp").write_text(STAND_IN + example.read_text() + "int main() { setup(); loop(); }\n")
    common = ["-mmcu=atmega2560", "-Os", "-Wall", "-Wextra", "-Werror", f"-I{folder / 'src'}"]
    for command in (
        ["avr-gcc", *common, "-std=c99", "-c", str(folder / "src" / "model.c")],
        ["avr-g++", *common, "-std=c++11", "-fno-exceptions", "main.cpp", "model.o", "-lm", "-o", "main.elf"],
    ):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


STAND_IN = """#include <math.h>
struct Printed { void begin(long) {} void print(const char *) {} void println(unsigned long) {} } Serial;
static unsigned long micros() { return 0; }
static void delay(int) {}
"""


@pytest.mark.skipif(shutil.which("avr-gcc") is None, reason="there is no avr-gcc")
def test_a_board_that_refuses_the_code_keeps_it_from_being_left(tmp_path, monkeypatch):
    monkeypatch.setattr(arduino_code, "BOARD", "no_such_board")
    context = load_model(ARM).plant.CreateDefaultContext()
    with pytest.raises(NumericalError, match="avr-gcc refuses the code"):
        generate(context, ["gravity"], str(tmp_path / "library"), Settings("arduino", states=1))
    assert not (tmp_path / "library").exists()
