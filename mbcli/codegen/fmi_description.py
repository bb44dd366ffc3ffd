"""What an FMU says about itself: its variables, modelDescription.xml and buildDescription.xml (FMI 3.0)."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.errors import ArgumentError, ModelError
from mbcli.models.units import acceleration_units, coordinate_units, force_units
from mbcli.multibody.core.inputs import controlled_actuators, pd_law

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mbcli.codegen.code import Code, CodeFunction
    from mbcli.multibody.tree.pd_law import PdLaw
    from mbcli.tracing.record import Variable

BASES = {"N": "kg m s-2", "J": "kg m2 s-2"}  # what units that are not base units of FMI are made of
LONGEST_STEP = 1e-3  # [s] of the integrator within, unless it is set
UNKNOWN = 1.7976931348623157e308  # an effort limit that is none


@dataclass(frozen=True)
class FmuVariable:
    """A variable of an FMU.

    Args:
        kind: "time", "state", "input", "aim", "step", "parameter", "gain", "derivative" or "output".
        shape: () of a number.
        start: None of what follows from others.
        unit: in UDUNITS spelling, "" if it is not known or none.
        derivative_of: the place of the state in the list of variables.
    """

    name: str
    kind: str
    words: str
    unit: str = ""
    start: float | None = None
    shape: tuple[int, ...] = ()
    derivative_of: int | None = None
    limits: tuple[float, float] | None = None

    @property
    def size(self) -> int:
        """How many numbers it is."""
        return int(np.prod(self.shape))


@dataclass(frozen=True)
class Fmu:
    """The variables of an FMU in the order of their references, and how its inputs act.

    The numbers of all variables lie one after another; what follows from others comes last.

    Args:
        dofs, limits: of each input that is an effort, the velocity that it acts on and the effort at which it ends.
        servos: numbers of those inputs that have a PD controller as well; each has two aims and two gains.
        quaternions: places in q where one starts.
    """

    variables: tuple[FmuVariable, ...]
    dofs: tuple[int, ...]
    limits: tuple[float, ...]
    servos: tuple[int, ...]
    quaternions: tuple[int, ...]

    def first(self, kind: str) -> int:
        """The place of the first number of a kind."""
        place = 0
        for variable in self.variables:
            if variable.kind == kind:
                break
            place += variable.size
        return place


def fmu_of(code: Code) -> Fmu:
    """The FMU of a code whose functions are the dynamics, the rates of positions, and those that give outputs.

    ModelError for a model that an FMU does not hold; ArgumentError for functions that take more than a state.
    """
    plant = code.context.state.plant
    model = code.context.state.model
    if plant.time_step() != 0.0:
        raise ArgumentError("an FMU is of a continuous plant: its time step has to be 0")
    if any(function.is_derivative for function in code.functions):
        raise ArgumentError(f"{argument('derivatives')} is not for FMUs")
    if not code.velocities:
        raise ModelError("an FMU needs something that moves: the model has no velocities")
    for function in code.functions[2:]:
        others = [each.name for each in function.record.inputs if each.name not in ("q", "v", "p")]
        if others:
            raise ArgumentError(f"outputs of an FMU follow from q and v: '{function.asked}' takes {others[0]} too")
    dofs, limits, inputs = _inputs(code)
    outputs = [_output(f, out) for n, f in enumerate(code.functions) for out in f.record.outputs[int(n < 2) :]]
    free = [FmuVariable(p["name"], "parameter", "", _udunits(p["unit"]), p["value"]) for p in code.parameters]
    words = "longest step of the integrator of co-simulation"
    step = FmuVariable("internal_step", "step", words, "s", internal_step(code))
    time = FmuVariable("time", "time", "time", "s")
    servos, aims, gains = _controllers(code)
    variables = [time, *_states(code), *inputs, *aims, step, *free, *gains, *_derivatives(code), *outputs]
    rotations = zip(model.body_rotation.tolist(), model.body_rotation_nq.tolist(), model.body_q.tolist(), strict=True)
    quaternions = tuple(q for turning, size, q in rotations if turning and size == 4)
    return Fmu(tuple(_with_own_names(variables)), dofs, limits, servos, quaternions)


def internal_step(code: Code) -> float:
    """[s] A step in which the stops, springs, dampers and controllers of joints turn a state by a radian at most.

    1, 2 or 5 times a power of ten, at most LONGEST_STEP. All joints are on a stop, at the positions of the start.
    """
    state = code.context.state
    model, stiffness, damping = state.model, state.model.dof_stiffness.copy(), state.model.dof_damping.copy()
    for n, d in enumerate(model.stop_dof):
        stiffness[d] = max(stiffness[d], model.stop_constants[n, 0])
    for k, law in _laws(state.plant).items():
        stiffness[model.actuator_dof[k]] += law.p
        damping[model.actuator_dof[k]] += law.d
    inverse = np.linalg.inv(state.plant.CalcMassMatrix(code.context))
    squares, rates = (np.abs(np.linalg.eigvals(inverse * each)).max() for each in (stiffness, damping))
    step = 1.0 / max(np.sqrt(squares), rates, 1.0 / LONGEST_STEP)
    power = 10.0 ** np.floor(np.log10(step * (1.0 + 1e-9)))
    return float(f"{max(m for m in (1, 2, 5) if m * power <= step * (1.0 + 1e-9)) * power:.1g}")


def _inputs(code: Code) -> tuple[tuple[int, ...], tuple[float, ...], list[FmuVariable]]:
    """Of actuators; of a model without them, generalized forces of all velocities."""
    plant = code.context.state.plant
    names, units = plant.GetActuatorNames(), list(coordinate_units(plant)[2])
    dofs, words = code.context.state.model.actuator_dof.tolist(), "effort of the actuator, behind its gear"
    limits = [a.effort_limit() for a in plant.elements.actuators]
    if not names:
        names, units = [f"force({name})" for name in code.velocities], force_units(plant)
        dofs, words, limits = list(range(len(names))), "generalized force", [np.inf] * len(names)
    ends = [float(limit) if np.isfinite(limit) else UNKNOWN for limit in limits]
    inputs = [
        FmuVariable(n, "input", words, unit, 0.0, limits=None if end == UNKNOWN else (-end, end))
        for n, unit, end in zip(names, units, ends, strict=True)
    ]
    return tuple(dofs), tuple(ends), inputs


def _laws(plant: Any) -> dict[int, PdLaw]:
    """{number of an actuator: its PD controller}"""
    controlled = controlled_actuators(plant)
    laws = {k: pd_law(plant, actuator) for k, actuator in enumerate(plant.elements.actuators) if actuator in controlled}
    return {k: law for k, law in laws.items() if law is not None}


def _controllers(code: Code) -> tuple[tuple[int, ...], list[FmuVariable], list[FmuVariable]]:
    """The actuators that have a PD controller, where these aim, from the start at its positions, and their gains."""
    state, aims, gains = code.context.state, list[FmuVariable](), list[FmuVariable]()
    plant, (q_units, v_units, forces) = state.plant, coordinate_units(state.plant)
    laws = _laws(plant)
    for k, law in laws.items():
        name, dof = plant.GetActuatorNames()[k], int(state.model.actuator_dof[k])
        place = int(state.model.dof_q[dof])
        aims.append(FmuVariable(f"{name}.q_desired", "aim", "position aimed at", q_units[place], float(state.q[place])))
        aims.append(FmuVariable(f"{name}.v_desired", "aim", "velocity aimed at", v_units[dof], 0.0))
        for letter, gain, s in (("p", law.p, ""), ("d", law.d, " s")):
            unit = _udunits(f"{forces[k]}{s}/{q_units[place]}")
            gains.append(FmuVariable(f"{name}.k{letter}", "gain", "gain of the controller", unit, gain))
    return tuple(laws), aims, gains


def controller_lines(code: Code, fmu: Fmu) -> list[str]:
    """C code of what PD controllers add to efforts."""
    lines, places = [], code.context.state.model.dof_q
    for n, k in enumerate(fmu.servos):
        dof = fmu.dofs[k]
        errors = [f"m->values[AIM + {2 * n}] - y[{places[dof]}]", f"m->values[AIM + {2 * n + 1}] - y[NQ + {dof}]"]
        lines += [f"    efforts[{k}] += m->values[GAIN + {2 * n + j}] * ({each});" for j, each in enumerate(errors)]
    return lines


def _states(code: Code) -> list[FmuVariable]:
    state = code.context.state
    q_units, v_units, _ = coordinate_units(state.plant)
    rows = [(code.positions, "position", q_units, state.q), (code.velocities, "velocity", v_units, state.v)]
    return [
        FmuVariable(name, "state", words, unit, float(start))
        for names, words, units, starts in rows
        for name, unit, start in zip(names, units, starts, strict=True)
    ]


def _derivatives(code: Code) -> list[FmuVariable]:
    plant = code.context.state.plant
    q_units = [f"{unit} s-1" if unit != "1" else "s-1" for unit in coordinate_units(plant)[0]]
    units = [*q_units, *(unit.replace("/s^2", " s-2") for unit in acceleration_units(plant))]
    return [
        FmuVariable(f"der({name})", "derivative", "rate", units[k], derivative_of=1 + k)
        for k, name in enumerate((*code.positions, *code.velocities))
    ]


def _output(function: CodeFunction, out: Variable) -> FmuVariable:
    shape = () if out.shape == (1,) else out.shape
    words = f"{function.words} {out.words}"
    return FmuVariable(f"{function.name}.{out.name}", "output", words, _unit_in(out.words), shape=shape)


def _unit_in(words: str) -> str:
    """The unit in the brackets of an output's words, if it is one for all its numbers."""
    unit = words.partition("[")[2].partition("]")[0]
    return "" if "," in unit or words.count("[") > 1 else _udunits(unit)


def _udunits(unit: str) -> str:
    """N m/rad -> N m rad-1, kg m^2 -> kg m2."""
    factors = re.findall(r"(/?) ?([A-Za-z]+)\^?(-?\d+)?", unit)
    powers = [(base, int(power or 1) * (-1 if over else 1)) for over, base, power in factors]
    return " ".join(base + ("" if power == 1 else str(power)) for base, power in powers) or unit


def _with_own_names(variables: Iterable[FmuVariable]) -> list[FmuVariable]:
    """Variables whose names differ, of letters that XML takes."""
    result, seen = [], set[str]()
    for variable in variables:
        plain = "".join(letter if letter.isprintable() else "?" for letter in variable.name)
        name, number = plain, 1
        while name in seen:
            number += 1
            name = f"{plain}_{number}"
        seen.add(name)
        result.append(FmuVariable(**{**vars(variable), "name": name}))
    return result


def _fmi_unit(unit: str) -> str:
    """N m -> N.m, rad s-2 -> rad/s2."""
    above: list[str] = []
    below: list[str] = []
    for base, power in _factors(unit):
        (above if power > 0 else below).append(base + (str(abs(power)) if abs(power) > 1 else ""))
    return "/".join([".".join(above) or "1", *below])


def _factors(unit: str) -> list[tuple[str, int]]:
    found = [re.fullmatch(r"([A-Za-z]+)(-?\d+)?", word) for word in unit.split() if word != "1"]
    return [(each[1], int(each[2] or 1)) for each in found if each]


def _exponents(unit: str) -> dict[str, int]:
    powers: dict[str, int] = {}
    for base, power in _factors(unit):
        for inner, times in _factors(BASES.get(base, base)):
            powers[inner] = powers.get(inner, 0) + power * times
    return {base: power for base, power in powers.items() if power}


def token_of(code: Code, sources: Sequence[str]) -> str:
    """What an importer has to give back: it changes with the code."""
    return hashlib.sha256("\0".join((code.name, *sources)).encode()).hexdigest()


def model_description(code: Code, fmu: Fmu, token: str) -> str:
    """modelDescription.xml"""
    kinds = {"modelIdentifier": code.name}
    head = {
        "fmiVersion": "3.0",
        "modelName": code.name,
        "instantiationToken": token,
        "description": code.title,
        "generationTool": "mbcli",
        "variableNamingConvention": "flat",
    }
    units = dict.fromkeys(each.unit for each in fmu.variables if each.unit)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<fmiModelDescription{_attributes(head)}>"]
    lines += [f"  <ModelExchange{_attributes(kinds)}/>"]
    lines += [f"  <CoSimulation{_attributes(kinds | {'canHandleVariableCommunicationStepSize': 'true'})}/>"]
    lines += ["  <UnitDefinitions>"]
    lines += [
        f"    <Unit{_attributes({'name': _fmi_unit(unit)})}><BaseUnit{_attributes(_exponents(unit))}/></Unit>"
        for unit in units
    ]
    lines += ["  </UnitDefinitions>", '  <LogCategories><Category name="logStatusError"/></LogCategories>']
    lines += [f'  <DefaultExperiment startTime="0" stopTime="1" stepSize="{LONGEST_STEP!r}"/>', "  <ModelVariables>"]
    lines += [f"    {_variable(k, each)}" for k, each in enumerate(fmu.variables)]
    lines += ["  </ModelVariables>", "  <ModelStructure>"]
    of_kind = {
        kind: [k for k, _ in group] for kind, group in groupby(enumerate(fmu.variables), key=lambda item: item[1].kind)
    }
    outputs = of_kind.get("output", [])
    for tag, references in (
        ("Output", [*of_kind["state"], *outputs]),
        ("ContinuousStateDerivative", of_kind["derivative"]),
        ("InitialUnknown", [*of_kind["derivative"], *outputs]),
    ):
        lines += [f'    <{tag} valueReference="{k}"/>' for k in references]
    return "\n".join([*lines, "  </ModelStructure>", "</fmiModelDescription>", ""])


def _variable(reference: int, variable: FmuVariable) -> str:
    causality = {
        "time": ("independent", "continuous", None),
        "state": ("output", "continuous", "exact"),
        "input": ("input", "continuous", None),
        "aim": ("input", "continuous", None),
        "step": ("parameter", "fixed", "exact"),
        "gain": ("parameter", "tunable", "exact"),
        "parameter": ("parameter", "tunable", "exact"),
        "derivative": ("local", "continuous", "calculated"),
        "output": ("output", "continuous", "calculated"),
    }
    words = dict(zip(("causality", "variability", "initial"), causality[variable.kind], strict=True))
    attributes: dict[str, Any] = {"name": variable.name, "valueReference": reference, "description": variable.words}
    attributes |= {name: word for name, word in words.items() if word}
    attributes |= {"unit": _fmi_unit(variable.unit)} if variable.unit else {}
    if variable.limits is not None:
        attributes |= {"min": repr(variable.limits[0]), "max": repr(variable.limits[1])}
    if variable.start is not None:
        attributes["start"] = repr(variable.start)
    if variable.derivative_of is not None:
        attributes["derivative"] = variable.derivative_of
    dimensions = "".join(f'<Dimension start="{n}"/>' for n in variable.shape)
    return f"<Float64{_attributes(attributes)}" + (f">{dimensions}</Float64>" if dimensions else "/>")


def build_description(code: Code, sources: Sequence[str]) -> str:
    """buildDescription.xml"""
    files = "".join(f"\n      <SourceFile{_attributes({'name': name})}/>" for name in sources)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiBuildDescription fmiVersion="3.0">
  <BuildConfiguration{_attributes({"modelIdentifier": code.name})}>
    <SourceFileSet language="C99">{files}
    </SourceFileSet>
    <Library name="m" external="true"/>
  </BuildConfiguration>
</fmiBuildDescription>
"""


def _attributes(values: dict[str, Any]) -> str:
    return "".join(f" {name}={quoteattr(str(value))}" for name, value in values.items())
