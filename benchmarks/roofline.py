"""How near kernels come to what a core can do: `python -m benchmarks.roofline [MODEL.urdf...]`.

The operations that a kernel must do are counted: its source runs on numbers that count what is done with them. The most
that the core does is measured by chains of products and sums, each one instruction, that do not wait for each other, of
single numbers and in registers of eight. All that these kernels touch fits into the first caches, so that memory sets
no lower roof. A sine with its cosine counts as the polynomials of trigonometry.py.

The C code of `codegen` stands beside the kernels, with what it does; each sine or cosine of it is half of that.
"""

import statistics
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.own import Case, inverse_dynamics_of_states, repeated_engine_call
from mbcli.codegen import Settings, generate
from mbcli.engine.fields.model_fields import MODEL_FIELDS
from mbcli.engine.runtime.lane_memory import WIDTH, aligned_zeros
from mbcli.engine.runtime.linking import link_interpreted
from mbcli.engine.runtime.model import Data
from mbcli.engine.smooth import trigonometry

MODEL = Path(__file__).parents[1] / "sample_models" / "arm7.urdf"
KERNELS = {
    "inverse dynamics": ("rnea", "full_inverse_dynamics"),
    "mass matrix": ("crba", "full_mass_matrix"),
    "forward dynamics": ("aba", "full_forward_dynamics"),
}
ROUNDS, TURN = 15, 0.05  # [s]
STATES = 256
DONE = Counter()
OF_RECORDS = {"+": ("add", "sub", "neg"), "*": ("mul",), "/": ("div", "sqrt")}
SINE_AND_COSINE = {"+": 22, "*": 30}  # by_polynomials() of one angle


class Counting(float):
    """A number that counts sums, products and quotients. What is made of it counts too."""


def counts(name, kind):
    """The operation of that name on numbers that count."""
    operation = getattr(float, name)

    def counted(self, other):
        result = operation(self, float(other))
        DONE[kind] += 1
        return Counting(result)

    return counted


for names, kind in ((("add", "radd", "sub", "rsub"), "+"), (("mul", "rmul"), "*"), (("truediv", "rtruediv"), "/")):
    for each in names:
        setattr(Counting, f"__{each}__", counts(f"__{each}__", kind))
Counting.__neg__ = lambda self: Counting(-float(self))
Counting.__abs__ = lambda self: Counting(abs(float(self)))


def counting(array):
    """The same numbers, which count."""
    result = np.empty(array.shape, dtype=object)
    for i, x in enumerate(array.flat):
        result.flat[i] = Counting(x)
    return result


def counting_kernels():
    """Interpreted kernels whose sines, cosines and roots count too."""

    def sine_and_cosine(angles, sine, cosine):
        for i, angle in enumerate(angles):
            sine[i], cosine[i] = sine_cosine(angle)

    def sine_cosine(angle):
        DONE.update(SINE_AND_COSINE)
        return Counting(np.sin(angle)), Counting(np.cos(angle))

    def square_root(x):
        DONE["/"] += 1
        return Counting(np.sqrt(x))

    given = {
        trigonometry.sine_and_cosine: sine_and_cosine,
        trigonometry.sine_cosine: sine_cosine,
        trigonometry.square_root: square_root,
    }
    return link_interpreted({"numbers"}, given)


def operations(case, kernel):
    """Counter of what a kernel does with real numbers at the first state of a case."""
    numbers = {f.name: counting(getattr(case.plant.model, f.name)) for f in MODEL_FIELDS if f.kind == "real"}
    model = case.plant.model.replace(dtype=np.dtype(object), **numbers)
    data, kernels = Data(model.sizes, np.dtype(object)), counting_kernels()
    for name, values in (("q", case.q[0]), ("v", case.v[0]), ("vdot", case.vdot), ("diagonal", case.armature)):
        getattr(data, name)[:] = counting(values)
    kernels.full_inverse_dynamics(model, data)
    DONE.clear()
    getattr(kernels, kernel)(model, data)
    return Counter(DONE)


def peaks(steps=20000):
    """{width: function of none that multiplies and adds without waiting} of single numbers and registers of eight."""
    import numba

    from mbcli.engine.runtime import lane_type  # noqa: F401  the compiler learns of registers
    from mbcli.engine.runtime.lane_memory import add_product, element, lanes_of, set_element

    @numba.njit(fastmath={"contract"})
    def join(total, a, b):
        return total + a * b

    def chains(join):
        @numba.njit(fastmath={"contract"})
        def multiply(one, x, steps):
            a = b = c = d = e = f = g = h = k = l = one
            for _ in range(steps):
                a, b, c, d, e = join(one, a, x), join(one, b, x), join(one, c, x), join(one, d, x), join(one, e, x)
                f, g, h, k, l = join(one, f, x), join(one, g, x), join(one, h, x), join(one, k, x), join(one, l, x)
            return a + b + c + d + e + f + g + h + k + l

        return multiply

    alone, eight = chains(join), chains(add_product)

    @numba.njit
    def registers(numbers, steps):
        lanes = lanes_of(numbers)
        set_element(lanes, 0, eight(element(lanes, 0), element(lanes, 1), steps))

    numbers = aligned_zeros(2).ravel()
    return {1: lambda: alone(1.0, 0.5, steps), WIDTH: lambda: registers(numbers, steps)}, 10 * 2 * steps


def rows_of_code(case):
    """[(name, Counter of sums, products, and quotients with roots, seconds a call)] of the C code of a case's model."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        functions = [name.replace(" ", "_") for name in KERNELS]
        made = generate(case.plant.CreateDefaultContext(), functions, folder, Settings("c", states=100))
        for each in made.functions:
            counts = each["counts"]
            angles = 0.5 * (counts.get("sin", 0) + counts.get("cos", 0))
            done = {kind: sum(counts.get(n, 0) for n in names) for kind, names in OF_RECORDS.items()}
            done |= {kind: done[kind] + int(angles * n) for kind, n in SINE_AND_COSINE.items()}
            rows.append((f"{each['name'].replace('_', ' ')}, C code", done, 1e-9 * each["proof"]["nanoseconds"]))
    return rows


def seconds_of(calls):
    """{name: median of processor time of a call}, in turns."""
    rounds, counts_of = {name: [] for name in calls}, {}
    for name, call in calls.items():
        call()
        start = time.process_time()
        call()
        counts_of[name] = max(1, int(TURN / max(time.process_time() - start, 1e-5)))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.process_time()
            for _ in range(counts_of[name]):
                call()
            rounds[name].append((time.process_time() - start) / counts_of[name])
    return {name: statistics.median(values) for name, values in rounds.items()}


def main():
    warnings.simplefilter("ignore")
    fastest, done_by_each = peaks()
    for path in map(Path, sys.argv[1:] or [MODEL]):
        case = Case(path)
        calls = dict(fastest)
        for what, (calculation, _) in KERNELS.items():
            calls[what] = repeated_engine_call(case, calculation, STATES).run
        calls["inverse dynamics, eight states"] = inverse_dynamics_of_states(case, STATES, True).run
        seconds = seconds_of(calls)
        most = {width: width * done_by_each / seconds.pop(width) for width in fastest}
        print(f"{path.stem}, {case.plant.num_velocities()} velocities; a core does", end=" ")
        print(f"{1e-9 * most[1]:.1f} Gflop/s of single numbers, {1e-9 * most[WIDTH]:.1f} in registers")
        print(f"  {'kernel':32} {'+':>6} {'*':>6} {'/':>4}  {'must take':>9} {'takes':>9}  Gflop/s  of the most")
        rows = [(w, operations(case, KERNELS[w.partition(",")[0]][1]), s / STATES) for w, s in seconds.items()]
        for what, done, each in [*rows, *rows_of_code(case)]:
            roof = most[WIDTH if what.endswith("eight states") else 1]
            flops = sum(done.values())
            print(
                f"  {what:32} {done['+']:6} {done['*']:6} {done['/']:4}  {1e9 * flops / roof:6.0f} ns",
                f"{1e9 * each:6.0f} ns  {1e-9 * flops / each:7.2f}  {100.0 * flops / each / roof:4.0f} %",
                flush=True,
            )


if __name__ == "__main__":
    main()
