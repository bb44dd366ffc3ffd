"""An Arduino library: C of single precision, with an example that takes the time of each function on the board."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mbcli.codegen import c_code
from mbcli.codegen.c_compiler import stack_of
from mbcli.codegen.c_parts import stack_of_function
from mbcli.codegen.code import harmless
from mbcli.codegen.target import Target
from mbcli.common import child_processes
from mbcli.common.output_files import write_in_place
from mbcli.errors import NumericalError

if TYPE_CHECKING:
    from mbcli.codegen.code import Code
    from mbcli.codegen.proof import Proof, States

BOARD = "atmega2560"  # for which avr-gcc, where it is, tells sizes


def write(code: Code) -> dict[str, str]:
    """{name of a file: its text}"""
    texts = c_code.write(code)
    properties = {
        "name": code.name,
        "version": "1.0.0",
        "author": "mbcli",
        "maintainer": "mbcli",
        "sentence": f"{harmless(code.title)}: {', '.join(f.name for f in code.functions)}.",
        "paragraph": "Straight code in single precision that allocates nothing; sin, cos and sqrt alone are called.",
        "category": "Device Control",
        "url": "",
        "architectures": "*",
        "includes": f"{code.name}.h",
    }
    return {
        "library.properties": "".join(f"{key}={value}\n" for key, value in properties.items()),
        f"src/{code.name}.h": texts[f"{code.name}.h"],
        f"src/{code.name}.c": texts[f"{code.name}.c"],
        f"examples/{code.name}_times/{code.name}_times.ino": _example(code),
    }


def prove(code: Code, folder: str, states: dict[str, States]) -> list[Proof]:
    """Proofs as those of C, by a compiler of this machine; with sizes on BOARD if avr-gcc is there."""
    for name, text in (c_code.write(code) | c_code.state_files(code, states)).items():
        write_in_place(os.path.join(folder, name), text.encode())
    proofs = c_code.prove(code, folder, states)
    if proofs and child_processes.find_program("avr-gcc"):
        stack, flash = _sizes(folder, code.name)
        for proof in proofs:
            proof.more |= {
                "board": {
                    "name": BOARD,
                    "stack": stack_of_function(stack, f"{code.name}_{proof.function}"),
                    "flash": flash,
                }
            }
    return proofs


def _sizes(folder: str, name: str) -> tuple[dict[str, int], int]:
    """Bytes of the stack of each function, and of the flash of all of them without the C library."""
    flags = ["-std=c99", "-Os", "-Wall", "-Wextra", "-fstack-usage", f"-mmcu={BOARD}"]
    command = ["avr-gcc", *flags, "-c", f"{name}.c", "-o", f"{name}.o"]
    done = child_processes.run(command, folder=folder, capture_output=True, text=True)
    if done.returncode:
        raise NumericalError(f"avr-gcc refuses the code: {(done.stderr.splitlines() or ['without a word'])[0]}")
    done = child_processes.run(["avr-size", f"{name}.o"], folder=folder, capture_output=True, text=True)
    text, data, *_ = done.stdout.splitlines()[1].split()
    return stack_of(folder), int(text) + int(data)


def _example(code: Code) -> str:
    lines = [f"// Prints how long each function takes on this board.\n#include <{code.name}.h>", ""]
    calls = []
    for function in code.functions:
        variables = [*function.record.inputs, *function.record.outputs]
        names = [f"{function.name}_{each.name}" for each in variables]
        lines += [f"static float {name}[{max(each.size, 1)}];" for name, each in zip(names, variables, strict=True)]
        calls += [
            "    start = micros();",
            f"    {code.name}_{function.name}({', '.join(names)});",
            f'    Serial.print("{function.name} [us]: ");',
            "    Serial.println(micros() - start);",
        ]
    lines += [
        "",
        "void setup()",
        "{",
        "    Serial.begin(115200);",
        "}",
        "",
        "void loop()",
        "{",
        "    unsigned long start;",
    ]
    return "\n".join([*lines, *calls, "    delay(1000);", "}", ""])


TARGET = Target(write, prove, real="float")
