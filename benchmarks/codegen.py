"""Models as code: `python -m benchmarks.codegen robots|operations|speed|jax`.

    robots [FOLDER...]      every robot file of these folders: all functions, all targets, compiled and proved; default:
                            the folder MBCLI_MODELS, and those of the packages airo-models, upkie-description and
                            example-robot-data. --count N robots, --targets LIST, --patience S for each robot
    operations [FILE...]    operations of inverse and forward dynamics and of the mass matrix, beside those of
                            Pinocchio's algorithms, recorded by CasADi (casadi_kin_dyn)
    speed [FILE...]         nanoseconds a call of the C code, beside CasADi's C code of these records, Pinocchio in C++,
                            and the kernels, in turns
    jax [FILE...]           values and gradients of 4096 states beside the kernels, and the time of a state beside the
                            batch and MJX

Peers of `operations` and `speed` are in a Python of their own, since casadi_kin_dyn comes with a Pinocchio of its own:
`--peer PYTHON` names it (`pip install cmeel-casadi-kin-dyn`). Robots are taken with their base welded, without limits,
damping, mimic joints and transmissions, which Pinocchio does not have or counts otherwise.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path

from mbcli.codegen.target import TARGETS

ARM = str(Path(__file__).parents[1] / "sample_models" / "arm7.urdf")


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.codegen", description=__doc__)
    parser.add_argument("what", choices=("robots", "operations", "speed", "jax"))
    parser.add_argument("models", nargs="*", help="folders of robots, or files")
    parser.add_argument("--count", type=int, default=100, help="robots, evenly from small to large ones")
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--patience", type=float, default=900.0, help="[s] for a robot")
    parser.add_argument("--peer", default=sys.executable, help="the Python that has casadi_kin_dyn")
    parser.add_argument("--json", help="a file for the figures")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.what == "robots":
        from benchmarks.codegen_robots import measure_robots

        rows = measure_robots(options)
    elif options.what == "jax":
        from benchmarks.codegen_jax import measure_jax

        rows = [measure_jax(path) for path in options.models or [ARM]]
    else:
        from benchmarks.codegen_peers import measure_operations, measure_speed

        measure = measure_operations if options.what == "operations" else measure_speed
        rows = [measure(path, options.peer) for path in options.models or [ARM]]
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
