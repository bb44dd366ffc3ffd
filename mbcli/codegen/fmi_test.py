"""The program that runs an FMU for its proof, by the functions of FMI alone."""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.codegen.code import Code

STEPS = 50  # of co-simulation

PROGRAM = Template(
    """#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

void *fmi3InstantiateModelExchange(const char *, const char *, const char *, bool, bool, void *, void *);
void *fmi3InstantiateCoSimulation(const char *, const char *, const char *, bool, bool, bool, bool, const uint32_t *,
                                  size_t, void *, void *, void (*)(void));
int fmi3EnterInitializationMode(void *, bool, double, double, bool, double);
int fmi3ExitInitializationMode(void *);
int fmi3SetFloat64(void *, const uint32_t *, size_t, const double *, size_t);
int fmi3GetFloat64(void *, const uint32_t *, size_t, double *, size_t);
int fmi3GetContinuousStateDerivatives(void *, double *, size_t);
int fmi3DoStep(void *, double, double, bool, bool *, bool *, bool *, double *);
int fmi3Terminate(void *);
void fmi3FreeInstance(void *);

enum { NY = $ny, NGIVEN = $given };

static int start(void *instance, const uint32_t *refs, const double *values)
{
    return instance == NULL || fmi3EnterInitializationMode(instance, false, 0.0, 0.0, false, 0.0)
           || fmi3SetFloat64(instance, refs, NGIVEN, values, NGIVEN) || fmi3ExitInitializationMode(instance);
}

static void print(const double *x)
{
    int i;
    for (i = 0; i < NY; i++) {
        printf("%.17g\\n", x[i]);
    }
}

int main(void)
{
    static const double values[NGIVEN] = {$values};
    const char *token = "$token";
    void *exchanged = fmi3InstantiateModelExchange("proof", token, "", false, false, NULL, NULL);
    void *simulated =
        fmi3InstantiateCoSimulation("proof", token, "", false, false, false, false, NULL, 0, NULL, NULL, NULL);
    uint32_t refs[NGIVEN];
    double y[NY], time = 0.0;
    bool event, terminate, early;
    int k;
    for (k = 0; k < NGIVEN; k++) {
        refs[k] = (uint32_t)(k + 1);
    }
    if (start(exchanged, refs, values) || start(simulated, refs, values)) {
        return 2;
    }
    if (fmi3GetContinuousStateDerivatives(exchanged, y, NY)) {
        return 3;
    }
    print(y);
    for (k = 0; k < $steps; k++) {
        if (fmi3DoStep(simulated, time, $step, true, &event, &terminate, &early, &time)) {
            return 4;
        }
    }
    if (fmi3GetFloat64(simulated, refs, NY, y, NY) || fmi3Terminate(simulated)) {
        return 5;
    }
    print(y);
    fmi3FreeInstance(exchanged);
    fmi3FreeInstance(simulated);
    return 0;
}
"""
)


def driver(code: Code, token: str, given: Sequence[float], step: float) -> str:
    """The program; given: q, v and inputs at the start, whose references follow each other; step: [s]."""
    return PROGRAM.substitute(
        ny=len(code.positions) + len(code.velocities),
        given=len(given),
        values=", ".join(repr(float(x)) for x in given),
        token=token,
        steps=STEPS,
        step=repr(step),
    )
