"""Mathematical programs, under the names of pydrake.solvers; solvers are SciPy's. Needs SymPy, the extra `symbolic`."""

from mbcli.late_names import late_names

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    from mbcli.solvers.evaluators import (
        Binding,
        BoundingBoxConstraint,
        Constraint,
        Cost,
        EvaluatorBase,
        ExpressionConstraint,
        ExpressionCost,
        L2NormCost,
        LinearConstraint,
        LinearCost,
        LinearEqualityConstraint,
        LorentzConeConstraint,
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
        MakeSolver,
        MosekSolver,
        NloptSolver,
        OsqpSolver,
        ScsSolver,
        SnoptSolver,
    )
    from mbcli.solvers.mathematical_program import MathematicalProgram
    from mbcli.solvers.options import CommonSolverOption, SolverId, SolverOptions
    from mbcli.solvers.solve import MathematicalProgramResult, SolutionResult, Solve

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
    "ExpressionConstraint",
    "ExpressionCost",
    "GurobiSolver",
    "IpoptSolver",
    "L2NormCost",
    "LinearConstraint",
    "LinearCost",
    "LinearEqualityConstraint",
    "LorentzConeConstraint",
    "MakeSolver",
    "MathematicalProgram",
    "MathematicalProgramResult",
    "MosekSolver",
    "NloptSolver",
    "OsqpSolver",
    "PyFunctionConstraint",
    "PyFunctionCost",
    "QuadraticConstraint",
    "QuadraticCost",
    "ScsSolver",
    "SnoptSolver",
    "SolutionResult",
    "Solve",
    "SolverId",
    "SolverOptions",
]

__getattr__ = late_names(
    __name__,
    {
        "evaluators": (
            *("Binding", "BoundingBoxConstraint", "Constraint", "Cost", "EvaluatorBase", "ExpressionConstraint"),
            *("ExpressionCost", "L2NormCost", "LinearConstraint", "LinearCost", "LinearEqualityConstraint"),
            *(
                "LorentzConeConstraint",
                "PyFunctionConstraint",
                "PyFunctionCost",
                "QuadraticConstraint",
                "QuadraticCost",
            ),
        ),
        "foreign": (
            *(
                "ChooseBestSolver",
                "ClarabelSolver",
                "ClpSolver",
                "CsdpSolver",
                "GurobiSolver",
                "IpoptSolver",
                "MakeSolver",
            ),
            *("MosekSolver", "NloptSolver", "OsqpSolver", "ScsSolver", "SnoptSolver"),
        ),
        "mathematical_program": ("MathematicalProgram",),
        "options": ("CommonSolverOption", "SolverId", "SolverOptions"),
        "solve": ("MathematicalProgramResult", "SolutionResult", "Solve"),
    },
)
