"""The functions of FMI 3.0 around the C code of a model, for co-simulation and model exchange."""

from __future__ import annotations

from itertools import accumulate
from string import Template
from typing import TYPE_CHECKING

from mbcli.codegen.fmi_description import controller_lines
from mbcli.engine.stepping.integrators import METHODS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbcli.codegen.code import Code
    from mbcli.codegen.fmi_description import Fmu

METHOD = "runge_kutta3"  # of co-simulation, by its name in `mbcli simulate --integrator`

SOURCE = Template(
    r"""/*
 * FMI 3.0, co-simulation and model exchange, of $name.c.
 * The numbers of all variables lie one after another in `values`; OFFSETS has the place of each.
 * Instances are allocated, nothing else is.
 */
#include "$name.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef FMI3_FUNCTION_PREFIX
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define FMI(name) JOIN(FMI3_FUNCTION_PREFIX, name)
#else
#define FMI(name) name
#endif
#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif
#define UNUSED(x) (void)(x)

enum { TIME = 0, Q = 1, V = Q + $nq, U = V + $nv, AIM = U + $nu, STEP = AIM + 2 * $npd };
enum { P = STEP + 1, GAIN = P + $np, RATES = GAIN + 2 * $npd };
enum { NQ = $nq, NV = $nv, NY = $ny, NU = $nu, NUMBERS = $numbers, VARIABLES = $variables, STAGES = $stages };

typedef enum { OK, WARNING, DISCARD, ERROR, FATAL } Status;
typedef enum { INSTANTIATED, INITIALIZATION, EVENT, CONTINUOUS, STEPPING, TERMINATED } Mode;
typedef void (*Log)(void *environment, Status status, const char *category, const char *message);

typedef struct {
    double values[NUMBERS];
    double tau[NV], stage[NY], rates[STAGES][NY];
    void *environment;
    Log log;
    Mode mode;
    bool fresh; /* whether rates and outputs are those of the state */
} Instance;

static const double DRIFT = 1e-9; /* of a quaternion from length 1, which an event mends */
static const uint32_t OFFSETS[VARIABLES + 1] = {$offsets};
static const int DOFS[] = {$dofs};
static const double LIMITS[] = {$limits};
static const double STARTS[RATES] = {$starts};

static Status fail(const Instance *m, Status status, const char *words)
{
    if (m != NULL && m->log != NULL) {
        m->log(m->environment, status, "logStatusError", words);
    }
    return status;
}

static bool all_finite(const double *x, int count)
{
    int i;
    double total = 0.0;
    for (i = 0; i < count; i++) {
        total += x[i] * 0.0;
    }
    return total == 0.0;
}

/* the farthest that the square of the norm of a quaternion is from 1; with `mend` they get length 1 */
static double normalize(double *q, bool mend)
{
    double worst = 0.0;
$normalize
    UNUSED(q);
    UNUSED(mend);
    return worst;
}

/* efforts at the state y */
static void take_inputs(Instance *m, const double *y)
{
    double efforts[NU];
    int k;
    memcpy(efforts, m->values + U, sizeof efforts);
    memset(m->tau, 0, sizeof m->tau);
$controllers
    UNUSED(y);
    for (k = 0; k < NU; k++) {
        const double u = efforts[k], end = LIMITS[k];
        m->tau[DOFS[k]] += (u > end) ? end : ((u < -end) ? -end : u);
    }
}

static void find_rates(Instance *m, const double *y, double *rates)
{
    double *x = m->values;
    take_inputs(m, y);
$rates
    UNUSED(x);
}

/* $method with the inputs held; false, and the state stays, if a number is not finite */
static bool advance(Instance *m, double h)
{
    double *y = m->values + Q;
    int i;
$advance
    if (!all_finite(m->stage, NY)) {
        return false;
    }
    normalize(m->stage, true);
    memcpy(y, m->stage, sizeof m->stage);
    return true;
}

static void follow(Instance *m)
{
    double *x = m->values;
    if (m->fresh) {
        return;
    }
    find_rates(m, x + Q, x + RATES);
$outputs
    m->fresh = true;
}

static void restart(Instance *m)
{
    memset(m->values, 0, sizeof m->values);
    memcpy(m->values, STARTS, sizeof STARTS);
    m->mode = INSTANTIATED;
    m->fresh = false;
}

static Instance *instantiate(const char *token, void *environment, Log log)
{
    Instance *m;
    if (token == NULL || strcmp(token, "$token") != 0) {
        if (log != NULL) {
            log(environment, ERROR, "logStatusError", "the instantiation token is that of another FMU");
        }
        return NULL;
    }
    m = (Instance *)calloc(1, sizeof(Instance));
    if (m != NULL) {
        m->environment = environment;
        m->log = log;
        restart(m);
    }
    return m;
}

EXPORT const char *FMI(fmi3GetVersion)(void)
{
    return "3.0";
}

EXPORT Status FMI(fmi3SetDebugLogging)(void *instance, bool on, size_t count, const char *const categories[])
{
    UNUSED(instance);
    UNUSED(on);
    UNUSED(count);
    UNUSED(categories);
    return OK;
}

EXPORT void *FMI(fmi3InstantiateModelExchange)(const char *name, const char *token, const char *resources, bool visible,
                                               bool logging, void *environment, Log log)
{
    UNUSED(name);
    UNUSED(resources);
    UNUSED(visible);
    UNUSED(logging);
    return instantiate(token, environment, log);
}

EXPORT void *FMI(fmi3InstantiateCoSimulation)(const char *name, const char *token, const char *resources, bool visible,
                                              bool logging, bool events, bool early, const uint32_t intermediate[],
                                              size_t count, void *environment, Log log, void (*update)(void))
{
    UNUSED(name);
    UNUSED(resources);
    UNUSED(visible);
    UNUSED(logging);
    UNUSED(events);
    UNUSED(early);
    UNUSED(intermediate);
    UNUSED(count);
    UNUSED(update);
    return instantiate(token, environment, log);
}

EXPORT void *FMI(fmi3InstantiateScheduledExecution)(const char *name, const char *token, const char *resources,
                                                    bool visible, bool logging, void *environment, Log log,
                                                    void (*clock)(void), void (*lock)(void), void (*unlock)(void))
{
    UNUSED(name);
    UNUSED(token);
    UNUSED(resources);
    UNUSED(visible);
    UNUSED(logging);
    UNUSED(clock);
    UNUSED(lock);
    UNUSED(unlock);
    if (log != NULL) {
        log(environment, ERROR, "logStatusError", "this FMU has no scheduled execution");
    }
    return NULL;
}

EXPORT void FMI(fmi3FreeInstance)(void *instance)
{
    free(instance);
}

EXPORT Status FMI(fmi3EnterInitializationMode)(void *instance, bool tolerance_defined, double tolerance, double start,
                                               bool stop_defined, double stop)
{
    Instance *m = (Instance *)instance;
    UNUSED(tolerance_defined);
    UNUSED(tolerance);
    UNUSED(stop_defined);
    UNUSED(stop);
    m->values[TIME] = start;
    m->mode = INITIALIZATION;
    return OK;
}

EXPORT Status FMI(fmi3ExitInitializationMode)(void *instance)
{
    Instance *m = (Instance *)instance;
    if (!all_finite(m->values, RATES) || !(m->values[STEP] > 0.0)) {
        return fail(m, ERROR, "a start value is not finite, or internal_step is not positive");
    }
    normalize(m->values + Q, true);
    if (!all_finite(m->values, RATES)) {
        return fail(m, ERROR, "a quaternion of the start is zero");
    }
    m->mode = STEPPING;
    m->fresh = false;
    return OK;
}

static Status enter(void *instance, Mode mode)
{
    ((Instance *)instance)->mode = mode;
    return OK;
}

EXPORT Status FMI(fmi3EnterEventMode)(void *instance) { return enter(instance, EVENT); }
EXPORT Status FMI(fmi3EnterContinuousTimeMode)(void *instance) { return enter(instance, CONTINUOUS); }
EXPORT Status FMI(fmi3EnterStepMode)(void *instance) { return enter(instance, STEPPING); }
EXPORT Status FMI(fmi3Terminate)(void *instance) { return enter(instance, TERMINATED); }

EXPORT Status FMI(fmi3Reset)(void *instance)
{
    restart((Instance *)instance);
    return OK;
}

EXPORT Status FMI(fmi3GetFloat64)(void *instance, const uint32_t refs[], size_t count, double values[], size_t size)
{
    Instance *m = (Instance *)instance;
    size_t k, at = 0;
    for (k = 0; k < count; k++) {
        const uint32_t ref = refs[k];
        const uint32_t first = (ref < VARIABLES) ? OFFSETS[ref] : 0, end = (ref < VARIABLES) ? OFFSETS[ref + 1] : 0;
        if (first == end || at + (end - first) > size) {
            return fail(m, ERROR, "there is no such variable, or there are too few places for its values");
        }
        if (first >= RATES) {
            follow(m);
        }
        memcpy(values + at, m->values + first, (end - first) * sizeof(double));
        at += end - first;
    }
    return OK;
}

EXPORT Status FMI(fmi3SetFloat64)(void *instance, const uint32_t refs[], size_t count, const double values[],
                                  size_t size)
{
    Instance *m = (Instance *)instance;
    size_t k;
    if (size != count) {
        return fail(m, ERROR, "the number of values is not that of the variables");
    }
    for (k = 0; k < count; k++) {
        const uint32_t ref = refs[k];
        const bool is_input = ref >= U && ref < RATES && ref != STEP;
        if (ref < Q || ref >= RATES || (!is_input && m->mode > INITIALIZATION)) {
            return fail(m, ERROR, "this cannot be set now: inputs and parameters can, the rest at the start");
        }
        m->values[ref] = values[k];
        m->fresh = false;
    }
    return OK;
}

EXPORT Status FMI(fmi3UpdateDiscreteStates)(void *instance, bool *again, bool *terminate, bool *nominals, bool *values,
                                            bool *next_defined, double *next)
{
    Instance *m = (Instance *)instance;
    *again = *terminate = *nominals = *next_defined = false;
    *next = 0.0;
    *values = normalize(m->values + Q, false) > DRIFT;
    if (*values) {
        normalize(m->values + Q, true);
        m->fresh = false;
    }
    return OK;
}

EXPORT Status FMI(fmi3CompletedIntegratorStep)(void *instance, bool no_return, bool *event, bool *terminate)
{
    UNUSED(no_return);
    *event = normalize(((Instance *)instance)->values + Q, false) > DRIFT;
    *terminate = false;
    return OK;
}

EXPORT Status FMI(fmi3SetTime)(void *instance, double time)
{
    ((Instance *)instance)->values[TIME] = time;
    return OK;
}

EXPORT Status FMI(fmi3SetContinuousStates)(void *instance, const double states[], size_t count)
{
    Instance *m = (Instance *)instance;
    if (count != NY) {
        return fail(m, ERROR, "the number of continuous states is another");
    }
    memcpy(m->values + Q, states, NY * sizeof(double));
    m->fresh = false;
    return OK;
}

EXPORT Status FMI(fmi3GetContinuousStateDerivatives)(void *instance, double derivatives[], size_t count)
{
    Instance *m = (Instance *)instance;
    if (count != NY) {
        return fail(m, ERROR, "the number of continuous states is another");
    }
    follow(m);
    if (!all_finite(m->values + RATES, NY)) {
        return fail(m, DISCARD, "the derivatives are not finite in this state");
    }
    memcpy(derivatives, m->values + RATES, NY * sizeof(double));
    return OK;
}

EXPORT Status FMI(fmi3GetContinuousStates)(void *instance, double states[], size_t count)
{
    Instance *m = (Instance *)instance;
    if (count != NY) {
        return fail(m, ERROR, "the number of continuous states is another");
    }
    memcpy(states, m->values + Q, NY * sizeof(double));
    return OK;
}

EXPORT Status FMI(fmi3GetNominalsOfContinuousStates)(void *instance, double nominals[], size_t count)
{
    size_t k;
    UNUSED(instance);
    for (k = 0; k < count; k++) {
        nominals[k] = 1.0;
    }
    return OK;
}

EXPORT Status FMI(fmi3GetEventIndicators)(void *instance, double indicators[], size_t count)
{
    UNUSED(indicators);
    return count ? fail((Instance *)instance, ERROR, "there are no event indicators") : OK;
}

EXPORT Status FMI(fmi3GetNumberOfEventIndicators)(void *instance, size_t *count)
{
    UNUSED(instance);
    *count = 0;
    return OK;
}

EXPORT Status FMI(fmi3GetNumberOfContinuousStates)(void *instance, size_t *count)
{
    UNUSED(instance);
    *count = NY;
    return OK;
}

EXPORT Status FMI(fmi3DoStep)(void *instance, double now, double length, bool no_return, bool *event, bool *terminate,
                              bool *early, double *reached)
{
    Instance *m = (Instance *)instance;
    const double count = length / m->values[STEP] * (1.0 - 1e-9);
    uint32_t steps, k;
    UNUSED(no_return);
    *event = *terminate = *early = false;
    *reached = now;
    if (!(length >= 0.0) || !(count < 4e9)) {
        return fail(m, ERROR, "a communication step is negative, or of more than 4e9 internal steps");
    }
    steps = (uint32_t)count + 1u;
    for (k = 0; k < steps && length > 0.0; k++) {
        if (!advance(m, length / steps)) {
            m->fresh = false;
            return fail(m, ERROR, "a number is not finite: internal_step is too long for this motion");
        }
    }
    m->values[TIME] = *reached = now + length;
    m->fresh = false;
    return OK;
}

/* what this FMU has no variables of, or does not do */

static Status lacks(const void *instance, size_t count)
{
    return count ? fail((const Instance *)instance, ERROR, "this FMU has 64-bit floats alone") : OK;
}

static Status cannot(const void *instance)
{
    return fail((const Instance *)instance, ERROR, "this FMU does not do that");
}

#define NO_VALUES(NAME, TYPE)                                                                                         \
    EXPORT Status FMI(fmi3Get##NAME)(void *m, const uint32_t refs[], size_t count, TYPE values[], size_t size)        \
    {                                                                                                                 \
        UNUSED(refs);                                                                                                 \
        UNUSED(values);                                                                                               \
        UNUSED(size);                                                                                                 \
        return lacks(m, count);                                                                                       \
    }                                                                                                                 \
    EXPORT Status FMI(fmi3Set##NAME)(void *m, const uint32_t refs[], size_t count, const TYPE values[], size_t size)  \
    {                                                                                                                 \
        UNUSED(refs);                                                                                                 \
        UNUSED(values);                                                                                               \
        UNUSED(size);                                                                                                 \
        return lacks(m, count);                                                                                       \
    }
NO_VALUES(Float32, float)
NO_VALUES(Int8, int8_t)
NO_VALUES(UInt8, uint8_t)
NO_VALUES(Int16, int16_t)
NO_VALUES(UInt16, uint16_t)
NO_VALUES(Int32, int32_t)
NO_VALUES(UInt32, uint32_t)
NO_VALUES(Int64, int64_t)
NO_VALUES(UInt64, uint64_t)
NO_VALUES(Boolean, bool)
NO_VALUES(String, char *)
$cannot
"""
)
POINTER, SIZE = "void *", "size_t"
CANNOT = {  # functions that must be there, by the types of their arguments behind the instance
    "GetBinary": (POINTER, SIZE, POINTER, POINTER, SIZE),
    "SetBinary": (POINTER, SIZE, POINTER, POINTER, SIZE),
    "GetClock": (POINTER, SIZE, POINTER),
    "SetClock": (POINTER, SIZE, POINTER),
    "GetNumberOfVariableDependencies": ("uint32_t", POINTER),
    "GetVariableDependencies": ("uint32_t", POINTER, POINTER, POINTER, POINTER, SIZE),
    "GetFMUState": (POINTER,),
    "SetFMUState": (POINTER,),
    "FreeFMUState": (POINTER,),
    "SerializedFMUStateSize": (POINTER, POINTER),
    "SerializeFMUState": (POINTER, POINTER, SIZE),
    "DeserializeFMUState": (POINTER, SIZE, POINTER),
    "GetDirectionalDerivative": (POINTER, SIZE, POINTER, SIZE, POINTER, SIZE, POINTER, SIZE),
    "GetAdjointDerivative": (POINTER, SIZE, POINTER, SIZE, POINTER, SIZE, POINTER, SIZE),
    "EnterConfigurationMode": (),
    "ExitConfigurationMode": (),
    "GetIntervalDecimal": (POINTER, SIZE, POINTER, POINTER),
    "GetIntervalFraction": (POINTER, SIZE, POINTER, POINTER, POINTER),
    "GetShiftDecimal": (POINTER, SIZE, POINTER),
    "GetShiftFraction": (POINTER, SIZE, POINTER, POINTER),
    "SetIntervalDecimal": (POINTER, SIZE, POINTER),
    "SetIntervalFraction": (POINTER, SIZE, POINTER, POINTER),
    "SetShiftDecimal": (POINTER, SIZE, POINTER),
    "SetShiftFraction": (POINTER, SIZE, POINTER, POINTER),
    "EvaluateDiscreteStates": (),
    "GetOutputDerivatives": (POINTER, SIZE, POINTER, POINTER, SIZE),
    "ActivateModelPartition": ("uint32_t", "double"),
}
NORMALIZE = Template(
    """    {
        double *p = q + $first;
        const double square = p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3], off = fabs(square - 1.0);
        const double scale = 1.0 / sqrt(square);
        worst = (off > worst) ? off : worst;
        if (mend) {
            p[0] *= scale;
            p[1] *= scale;
            p[2] *= scale;
            p[3] *= scale;
        }
    }"""
)


def fmu_source(code: Code, fmu: Fmu, token: str) -> str:
    """The source of the functions of FMI."""
    offsets = list(accumulate((each.size for each in fmu.variables), initial=0))
    nq, nv = len(code.positions), len(code.velocities)
    rates, outputs = _calls(code, fmu)
    return SOURCE.substitute(
        name=code.name,
        token=token,
        nq=nq,
        nv=nv,
        ny=nq + nv,
        nu=len(fmu.dofs),
        np=len(code.parameters),
        npd=len(fmu.servos),
        controllers="\n".join(controller_lines(code, fmu)),
        numbers=offsets[-1],
        variables=len(fmu.variables),
        stages=len(METHODS[METHOD].b),
        offsets=_listed(map(str, offsets)),
        dofs=_listed(map(str, fmu.dofs)),
        limits=_listed(map(repr, fmu.limits)),
        starts=_listed(repr(each.start or 0.0) for each in fmu.variables[: fmu.first("derivative")]),
        normalize="\n".join(NORMALIZE.substitute(first=first) for first in fmu.quaternions),
        method=METHOD,
        advance="\n".join(_advance()),
        rates="\n".join(rates),
        outputs="\n".join(outputs),
        cannot="\n".join(_cannot(name, types) for name, types in CANNOT.items()),
    )


def _listed(items: Iterable[str]) -> str:
    lines, line = [""], ""
    for item in items:
        line += f"{item}, "
        if len(line) > 90:
            lines, line = [*lines, line.rstrip()], ""
    return "\n    ".join([*lines, line.rstrip(", ")] if len(lines) > 1 else [line.rstrip(", ")])


def _advance() -> list[str]:
    """A step of the explicit method: of each stage the state at which it is, and its rates."""
    method, lines = METHODS[METHOD], []
    for s in range(len(method.b) + 1):
        weights = method.A[s] if s < len(method.b) else method.b
        terms = [f"x += h * {float(w)!r} * m->rates[{k}][i];" for k, w in enumerate(weights) if w]
        lines += ["    for (i = 0; i < NY; i++) {", "        double x = y[i];", *(f"        {each}" for each in terms)]
        lines += ["        m->stage[i] = x;", "    }"]
        if s < len(method.b):
            lines += [f"    find_rates(m, m->stage, m->rates[{s}]);"]
    return lines


def _calls(code: Code, fmu: Fmu) -> tuple[list[str], list[str]]:
    """Calls of the functions of rates, and of those that give outputs."""
    place, lines = fmu.first("output"), []
    for n, function in enumerate(code.functions):
        y = ("x + Q", "x + V") if n > 1 else ("y", "y + NQ")
        given = dict(zip("qv", y, strict=True)) | {"tau": "m->tau", "p": "x + P"}
        arguments = [given[each.name] for each in function.record.inputs]
        for k, out in enumerate(function.record.outputs):
            if n < 2 and k == 0:
                arguments.append("rates + NQ" if n else "rates")
            else:
                arguments.append(f"x + {place}")
                place += out.size
        lines.append(f"    {code.name}_{function.name}({', '.join(arguments)});")
    return lines[:2], lines[2:]


def _cannot(name: str, types: tuple[str, ...]) -> str:
    names = [f"a{k}" for k in range(len(types))]
    given = "".join(f", {each}{'' if each == POINTER else ' '}{n}" for each, n in zip(types, names, strict=True))
    unused = "".join(f" UNUSED({n});" for n in names)
    return f"EXPORT Status FMI(fmi3{name})(void *m{given}) {{{unused} return cannot(m); }}"
