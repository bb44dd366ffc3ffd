"""Mathematical programs, under the names of pydrake.solvers. Needs SymPy, the extra `symbolic`.

Solvers are SciPy's, Clarabel (the extra `solvers`) and IPOPT (the extra `casadi`), see mbcli.solvers.solve.
"""

from mbcli.lazy_exports import lazy_exports

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    from mbcli.solvers.attributes import (
        GetProgramType,
        ProgramAttribute,
        ProgramType,
    )
    from mbcli.solvers.binding import (
        Binding,
    )
    from mbcli.solvers.complementarity import (
        LinearComplementarityConstraint,
    )
    from mbcli.solvers.cones import (
        ExponentialConeConstraint,
        LinearMatrixInequalityConstraint,
        LorentzConeConstraint,
        PositiveSemidefiniteConstraint,
        RotatedLorentzConeConstraint,
    )
    from mbcli.solvers.evaluators import (
        BoundingBoxConstraint,
        Constraint,
        Cost,
        EvaluatorBase,
        ExpressionConstraint,
        ExpressionCost,
        LinearConstraint,
        LinearCost,
        LinearEqualityConstraint,
        PyFunctionConstraint,
        PyFunctionCost,
        QuadraticConstraint,
        QuadraticCost,
    )
    from mbcli.solvers.foreign import (
        ChooseBestSolver,
        ClarabelSolver,
        ClpSolver,
        CsdpSolver,
        GurobiSolver,
        IpoptSolver,
        MakeFirstAvailableSolver,
        MakeSolver,
        MobyLcpSolver,
        MosekSolver,
        NloptSolver,
        OsqpSolver,
        ScsSolver,
        SnoptSolver,
        SolveInParallel,
        SolverInterface,
        UnrevisedLemkeSolver,
    )
    from mbcli.solvers.mathematical_program import (
        MathematicalProgram,
    )
    from mbcli.solvers.norms import (
        L1NormCost,
        L2NormCost,
        LInfNormCost,
        PerspectiveQuadraticCost,
    )
    from mbcli.solvers.options import (
        CommonSolverOption,
        SolverId,
        SolverOptions,
        SolverType,
    )
    from mbcli.solvers.solve import (
        MathematicalProgramResult,
        SolutionResult,
        Solve,
    )

__all__ = [
    "Binding",
    "BoundingBoxConstraint",
    "ChooseBestSolver",
    "ClarabelSolver",
    "ClpSolver",
    "CommonSolverOption",
    "Constraint",
    "Cost",
    "CsdpSolver",
    "EvaluatorBase",
    "ExponentialConeConstraint",
    "ExpressionConstraint",
    "ExpressionCost",
    "GetProgramType",
    "GurobiSolver",
    "IpoptSolver",
    "L1NormCost",
    "L2NormCost",
    "LInfNormCost",
    "LinearComplementarityConstraint",
    "LinearConstraint",
    "LinearCost",
    "LinearEqualityConstraint",
    "LinearMatrixInequalityConstraint",
    "LorentzConeConstraint",
    "MakeFirstAvailableSolver",
    "MakeSolver",
    "MathematicalProgram",
    "MathematicalProgramResult",
    "MobyLcpSolver",
    "MosekSolver",
    "NloptSolver",
    "OsqpSolver",
    "PerspectiveQuadraticCost",
    "PositiveSemidefiniteConstraint",
    "ProgramAttribute",
    "ProgramType",
    "PyFunctionConstraint",
    "PyFunctionCost",
    "QuadraticConstraint",
    "QuadraticCost",
    "RotatedLorentzConeConstraint",
    "ScsSolver",
    "SnoptSolver",
    "SolutionResult",
    "Solve",
    "SolveInParallel",
    "SolverId",
    "SolverInterface",
    "SolverOptions",
    "SolverType",
    "UnrevisedLemkeSolver",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "attributes": (
            "GetProgramType",
            "ProgramAttribute",
            "ProgramType",
        ),
        "binding": ("Binding",),
        "complementarity": ("LinearComplementarityConstraint",),
        "cones": (
            "ExponentialConeConstraint",
            "LinearMatrixInequalityConstraint",
            "LorentzConeConstraint",
            "PositiveSemidefiniteConstraint",
            "RotatedLorentzConeConstraint",
        ),
        "evaluators": (
            "BoundingBoxConstraint",
            "Constraint",
            "Cost",
            "EvaluatorBase",
            "ExpressionConstraint",
            "ExpressionCost",
            "LinearConstraint",
            "LinearCost",
            "LinearEqualityConstraint",
            "PyFunctionConstraint",
            "PyFunctionCost",
            "QuadraticConstraint",
            "QuadraticCost",
        ),
        "foreign": (
            "UnrevisedLemkeSolver",
            "MobyLcpSolver",
            "MakeFirstAvailableSolver",
            "SolveInParallel",
            "SolverInterface",
            "ChooseBestSolver",
            "ClarabelSolver",
            "ClpSolver",
            "CsdpSolver",
            "GurobiSolver",
            "IpoptSolver",
            "MakeSolver",
            "MosekSolver",
            "NloptSolver",
            "OsqpSolver",
            "ScsSolver",
            "SnoptSolver",
        ),
        "mathematical_program": ("MathematicalProgram",),
        "norms": (
            "L1NormCost",
            "L2NormCost",
            "LInfNormCost",
            "PerspectiveQuadraticCost",
        ),
        "options": (
            "SolverType",
            "CommonSolverOption",
            "SolverId",
            "SolverOptions",
        ),
        "solve": (
            "MathematicalProgramResult",
            "SolutionResult",
            "Solve",
        ),
    },
)
