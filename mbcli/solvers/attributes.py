"""What kinds of costs and constraints a program has, and what kind of program that makes."""

from __future__ import annotations

from typing import Any

from mbcli.numbered_enum import NumberedEnum
from mbcli.solvers.complementarity import LinearComplementarityConstraint
from mbcli.solvers.cones import (
    ConeConstraint,
    ExponentialConeConstraint,
    LorentzConeConstraint,
    RotatedLorentzConeConstraint,
)
from mbcli.solvers.evaluators import (
    LinearConstraint,
    LinearCost,
    LinearEqualityConstraint,
    QuadraticConstraint,
    QuadraticCost,
)
from mbcli.solvers.norms import L2NormCost


class ProgramAttribute(NumberedEnum):
    """A kind of cost, constraint or variable that a program has."""

    kGenericCost = 0
    kGenericConstraint = 1
    kQuadraticCost = 2
    kQuadraticConstraint = 3
    kLinearCost = 4
    kLinearConstraint = 5
    kLinearEqualityConstraint = 6
    kLinearComplementarityConstraint = 7
    kLorentzConeConstraint = 8
    kRotatedLorentzConeConstraint = 9
    kPositiveSemidefiniteConstraint = 10
    kExponentialConeConstraint = 11
    kL2NormCost = 12
    kBinaryVariable = 13
    kCallback = 14


class ProgramType(NumberedEnum):
    """Linear, quadratic, second-order conic, semidefinite and so on; MI: with binary variables."""

    kLP = 0
    kQP = 1
    kSOCP = 2
    kSDP = 3
    kGP = 4
    kCGP = 5
    kMILP = 6
    kMIQP = 7
    kMISOCP = 8
    kMISDP = 9
    kQuadraticCostConicConstraint = 10
    kNLP = 11
    kLCP = 12
    kUnknown = 13


A = ProgramAttribute
KINDS = (  # the first that an evaluator is of
    (LinearCost, A.kLinearCost),
    (QuadraticCost, A.kQuadraticCost),
    (L2NormCost, A.kL2NormCost),
    (LinearEqualityConstraint, A.kLinearEqualityConstraint),
    (LinearConstraint, A.kLinearConstraint),
    (QuadraticConstraint, A.kQuadraticConstraint),
    (LinearComplementarityConstraint, A.kLinearComplementarityConstraint),
    (LorentzConeConstraint, A.kLorentzConeConstraint),
    (RotatedLorentzConeConstraint, A.kRotatedLorentzConeConstraint),
    (ExponentialConeConstraint, A.kExponentialConeConstraint),
    (ConeConstraint, A.kPositiveSemidefiniteConstraint),
)
LINEAR = {A.kLinearCost, A.kLinearConstraint, A.kLinearEqualityConstraint}
SECOND_ORDER = {A.kLorentzConeConstraint, A.kRotatedLorentzConeConstraint}


def attributes_of(prog: Any) -> set[ProgramAttribute]:
    """All that it has."""
    found = {A.kBinaryVariable} if prog.binary_indices() else set()
    found |= {A.kCallback} if prog.visualization_callbacks() else set()
    for bindings, other in ((prog.costs, A.kGenericCost), (prog.constraints, A.kGenericConstraint)):
        for b in bindings:
            found.add(next((a for kind, a in KINDS if isinstance(b.evaluator(), kind)), other))
    return found


def GetProgramType(prog: Any) -> ProgramType:
    """The smallest class of programs that it is in."""
    found = attributes_of(prog) - {A.kBinaryVariable, A.kCallback}
    is_mixed = bool(prog.binary_indices())
    if any(b.evaluator().is_convex() is False for b in prog.quadratic_costs()):
        return ProgramType.kUnknown if is_mixed else ProgramType.kNLP
    is_quadratic = A.kQuadraticCost in found
    rest = found - LINEAR - {A.kQuadraticCost}
    if not rest:
        names = ("kMIQP" if is_quadratic else "kMILP") if is_mixed else "kQP" if is_quadratic else "kLP"
        return ProgramType[names]
    if rest == {A.kLinearComplementarityConstraint} and not prog.costs:
        return ProgramType.kLCP
    cones = {A.kPositiveSemidefiniteConstraint, *SECOND_ORDER}
    if rest <= cones and not is_quadratic:
        name = "SDP" if A.kPositiveSemidefiniteConstraint in rest else "SOCP"
        return ProgramType[f"k{'MI' if is_mixed else ''}{name}"]
    if is_mixed:
        return ProgramType.kUnknown
    return ProgramType.kQuadraticCostConicConstraint if rest <= cones else ProgramType.kNLP
