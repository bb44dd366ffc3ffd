"""The test of C code: a program that runs it at recorded states, compares, and takes the time of a call."""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbcli.codegen.code import Code, CodeFunction
    from mbcli.codegen.proof import States

PROGRAM = Template(
    """/*
 * Runs $name.c at the states of $states and compares with the engine that recorded them.
 * A line for each function: its name, states, the largest deviation relative to the largest number of the output,
 * and nanoseconds a call. The exit code is 1 if a deviation is beyond the tolerance of the file.
 */
#include "$name.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#define KEPT 64

/* a deviation, or what is not a number, if it is larger than the worst one so far */
static double worse(double worst, double found, double wanted, double scale)
{
    const double deviation = fabs(found - wanted) / scale;
    return (deviation <= worst) ? worst : deviation;
}

static int next(FILE *file, double *value)
{
    return fscanf(file, "%lf", value) == 1;
}
$checks
int main(int argc, char **argv)
{
    int failures = 0;
    FILE *file = fopen((argc > 1) ? argv[1] : "$states", "r");
    if (file == NULL) {
        fprintf(stderr, "the recorded states cannot be read\\n");
        return 2;
    }
$calls
    fclose(file);
    return failures ? 1 : 0;
}
"""
)
CHECK = Template(
    """
static int check_$function(FILE *file)
{
$arrays
    double states = 0.0, tolerance = 0.0, scales[$outputs], value = 0.0;
    double worst = 0.0, calls = 0.0, elapsed = 0.0;
    int i, k, turn, turns, kept = 0;
    clock_t start;
    if (!next(file, &states) || !next(file, &tolerance)) {
        return 1;
    }
    for (i = 0; i < $outputs; i++) {
        if (!next(file, &scales[i])) {
            return 1;
        }
    }
    for (k = 0; k < (int)states; k++) {
        kept = k % KEPT;
$reads
        $call_kept;
$compares
    }
    kept = ((int)states < KEPT) ? (int)states : KEPT;
    start = clock();
    for (turns = 1; elapsed < 0.02; turns *= 2) {
        for (turn = 0; turn < turns; turn++) {
            for (k = 0; k < kept; k++) {
                $call_k;
            }
        }
        calls += (double)turns * (double)kept;
        elapsed = (double)(clock() - start) / (double)CLOCKS_PER_SEC;
    }
    printf("$function %d %.3g %.1f\\n", (int)states, worst, elapsed / calls * 1e9);
    return (worst <= tolerance) ? 0 : 1;
}
"""
)
READ = Template(
    """        for (i = 0; i < $size; i++) {
            if (!next(file, &value)) {
                return 1;
            }
            in_$name[kept][i] = ($real)value;
        }"""
)
COMPARE = Template(
    """        for (i = 0; i < $size; i++) {
            if (!next(file, &value)) {
                return 1;
            }
            worst = worse(worst, (double)out_$name[i], value, scales[$number]);
        }"""
)


def test_program(code: Code, states: str) -> str:
    """The source of the test; states: the name of their file."""
    return PROGRAM.substitute(
        name=code.name,
        states=states,
        checks="".join(_check(code, function) for function in code.functions),
        calls="\n".join(f"    failures += check_{function.name}(file);" for function in code.functions),
    )


def states_text(states: States) -> str:
    """What the test reads: the number of states, the tolerance, the scale of each output; then a state a line."""
    lines = [" ".join(repr(float(x)) for x in (states.count, states.tolerance, *states.scales))]
    for k in range(states.count):
        numbers = [x for array in (*states.inputs, *states.outputs) for x in np.ravel(array[k])]
        lines.append(" ".join(repr(float(x)) for x in numbers))
    return "\n".join([*lines, ""])


def _check(code: Code, function: CodeFunction) -> str:
    record = function.record
    arrays = [f"    static {code.real} in_{each.name}[KEPT][{each.size}];" for each in record.inputs]
    arrays += [f"    static {code.real} out_{each.name}[{each.size}];" for each in record.outputs]
    calls = {}
    for place in ("kept", "k"):
        arguments = [f"in_{each.name}[{place}]" for each in record.inputs]
        arguments += [f"out_{each.name}" for each in record.outputs]
        calls[f"call_{place}"] = f"{code.name}_{function.name}({', '.join(arguments)})"
    reads = [READ.substitute(size=each.size, name=each.name, real=code.real) for each in record.inputs]
    compares = [COMPARE.substitute(size=v.size, name=v.name, number=k) for k, v in enumerate(record.outputs)]
    return CHECK.substitute(
        function=function.name,
        arrays="\n".join(arrays),
        outputs=len(record.outputs),
        reads="\n".join(reads),
        compares="\n".join(compares),
        **calls,
    )
