"""Run by the Python that has casadi_kin_dyn: Pinocchio's algorithms of a URDF, recorded by CasADi.

    python kin_dyn_records.py ROBOT.urdf FOLDER

Prints {name: operations} and Pinocchio's folders of headers and libraries; FOLDER gets casadi_NAME.c.
"""

import json
import sys
from pathlib import Path

import casadi
import casadi_kin_dyn.casadi_kin_dyn as kin_dyn

NOT_COUNTED = (casadi.OP_INPUT, casadi.OP_OUTPUT, casadi.OP_CONST)


def main(path, folder):
    robot = kin_dyn.CasadiKinDyn(Path(path).read_text())
    operations = {}
    for name, inputs in (("rnea", ("q", "v", "a")), ("aba", ("q", "v", "tau")), ("crba", ("q",))):
        recorded = getattr(robot, name)()
        symbols = [casadi.SX.sym(each, robot.nq() if each == "q" else robot.nv()) for each in inputs]
        function = casadi.Function(f"casadi_{name}", symbols, [casadi.densify(recorded(*symbols))])
        kinds = [function.instruction_id(k) for k in range(function.n_instructions())]
        operations[name] = sum(kind not in NOT_COUNTED for kind in kinds)
        generator = casadi.CodeGenerator(f"casadi_{name}.c")
        generator.add(function)
        generator.generate(f"{folder}/")
    prefix = next(str(Path(place) / "cmeel.prefix") for place in sys.path if (Path(place) / "cmeel.prefix").exists())
    print(json.dumps({"operations": operations, "prefix": prefix, "sizes": [robot.nq(), robot.nv()]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
