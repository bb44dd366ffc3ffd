"""Mathematical programs, under the names of pydrake.solvers. Needs SymPy, the extra `symbolic`.

Solvers are SciPy's, Clarabel (the extra `solvers`) and IPOPT (the extra `casadi`), see mbcli.solvers.solve.
"""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.solvers.attributes import (
        GetProgramType as GetProgramType,
        ProgramAttribute as ProgramAttribute,
        ProgramType as ProgramType,
    )
    from mbcli.solvers.binding import Binding as Binding
    from mbcli.solvers.complementarity import LinearComplementarityConstraint as LinearComplementarityConstraint
    from mbcli.solvers.cones import (
        ExponentialConeConstraint as ExponentialConeConstraint,
        LinearMatrixInequalityConstraint as LinearMatrixInequalityConstraint,
        LorentzConeConstraint as LorentzConeConstraint,
        PositiveSemidefiniteConstraint as PositiveSemidefiniteConstraint,
        RotatedLorentzConeConstraint as RotatedLorentzConeConstraint,
    )
    from mbcli.solvers.evaluators import (
        BoundingBoxConstraint as BoundingBoxConstraint,
        Constraint as Constraint,
        Cost as Cost,
        EvaluatorBase as EvaluatorBase,
        ExpressionConstraint as ExpressionConstraint,
        ExpressionCost as ExpressionCost,
        LinearConstraint as LinearConstraint,
        LinearCost as LinearCost,
        LinearEqualityConstraint as LinearEqualityConstraint,
        PyFunctionConstraint as PyFunctionConstraint,
        PyFunctionCost as PyFunctionCost,
        QuadraticConstraint as QuadraticConstraint,
        QuadraticCost as QuadraticCost,
    )
    from mbcli.solvers.foreign import (
        ChooseBestSolver as ChooseBestSolver,
        ClarabelSolver as ClarabelSolver,
        ClpSolver as ClpSolver,
        CsdpSolver as CsdpSolver,
        GetAvailableSolvers as GetAvailableSolvers,
        GurobiSolver as GurobiSolver,
        IpoptSolver as IpoptSolver,
        MakeFirstAvailableSolver as MakeFirstAvailableSolver,
        MakeSolver as MakeSolver,
        MobyLcpSolver as MobyLcpSolver,
        MosekSolver as MosekSolver,
        NloptSolver as NloptSolver,
        OsqpSolver as OsqpSolver,
        ScsSolver as ScsSolver,
        SnoptSolver as SnoptSolver,
        SolveInParallel as SolveInParallel,
        SolverInterface as SolverInterface,
        UnrevisedLemkeSolver as UnrevisedLemkeSolver,
    )
    from mbcli.solvers.mathematical_program import MathematicalProgram as MathematicalProgram
    from mbcli.solvers.norms import (
        L1NormCost as L1NormCost,
        L2NormCost as L2NormCost,
        LInfNormCost as LInfNormCost,
        PerspectiveQuadraticCost as PerspectiveQuadraticCost,
    )
    from mbcli.solvers.options import (
        CommonSolverOption as CommonSolverOption,
        SolverId as SolverId,
        SolverOptions as SolverOptions,
        SolverType as SolverType,
    )
    from mbcli.solvers.solve import (
        MathematicalProgramResult as MathematicalProgramResult,
        SolutionResult as SolutionResult,
        Solve as Solve,
    )
