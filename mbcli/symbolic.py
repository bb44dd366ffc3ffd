"""Symbols and expressions, under the names of pydrake.symbolic; they are SymPy's.

Needs SymPy, the extra `symbolic`: importing this module without it is an ImportError that names the extra.
"""

try:
    import sympy
except ImportError:
    raise ImportError("symbolic expressions need SymPy: pip install 'mbcli[symbolic]'", name="sympy") from None
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sympy.printing.latex import LatexPrinter

from mbcli.math.array_arguments import describe
from mbcli.math.symbolic_polynomial import (
    EvenDegreeMonomialBasis,
    Monomial,
    MonomialBasis,
    OddDegreeMonomialBasis,
    Polynomial,
    RationalFunction,
    Variables,
)
from mbcli.numbered_enum import Numbered, NumberedEnum
from mbcli.other_names import also_named

if TYPE_CHECKING:
    from mbcli.math.array_types import Matrix, Vector


class ExpressionType(type):
    """Lets Expression(value) make a SymPy expression, and every SymPy expression be an Expression."""

    def __call__(cls, value: Any = 0) -> Any:
        """The expression of a number, of a variable or of another expression. TypeError for anything else."""
        if isinstance(value, sympy.Expr):
            return value
        if not isinstance(value, (int, float, np.integer, np.floating)):
            raise TypeError(f"Expression: expected a number or an expression, got {describe(value)}")
        return sympy.sympify(int(value) if float(value).is_integer() else value)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, sympy.Expr)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, sympy.Expr)


class Expression(metaclass=ExpressionType):
    """A symbolic expression: SymPy's sympy.Expr."""

    if TYPE_CHECKING:  # made by ExpressionType.__call__

        def __init__(self, value: Any = 0) -> None: ...


Formula = sympy.logic.boolalg.Boolean
sin, cos, tan = sympy.sin, sympy.cos, sympy.tan
asin, acos, atan, atan2 = sympy.asin, sympy.acos, sympy.atan, sympy.atan2
arcsin, arccos, arctan, arctan2 = asin, acos, atan, atan2
sinh, cosh, tanh = sympy.sinh, sympy.cosh, sympy.tanh
exp, log, sqrt, pow = sympy.exp, sympy.log, sympy.sqrt, sympy.Pow
abs, min, max, ceil, floor = sympy.Abs, sympy.Min, sympy.Max, sympy.ceiling, sympy.floor
logical_and, logical_or, logical_not = sympy.And, sympy.Or, sympy.Not

__all__ = [
    *("DecomposeAffineExpressions", "DecomposeLinearExpressions", "ExpressionKind"),
    *("Evaluate", "Expression", "ExtractVariablesFromExpression", "Formula", "GetVariableVector", "IsAffine"),
    *("Jacobian", "MakeMatrixContinuousVariable", "MakeMatrixVariable", "MakeVectorContinuousVariable"),
    "EvenDegreeMonomialBasis",
    "Monomial",
    "MonomialBasis",
    "OddDegreeMonomialBasis",
    "Polynomial",
    "RationalFunction",
    "Variables",
    *("MakeVectorVariable", "Substitute", "TaylorExpand", "ToLatex", "Variable", "abs", "acos", "arccos"),
    *(
        "intersect",
        "arcsin",
        "arctan",
        "arctan2",
        "asin",
        "atan",
        "atan2",
        "ceil",
        "cos",
        "cosh",
        "exp",
        "floor",
        "if_then_else",
    ),
    *("log", "logical_and", "logical_not", "logical_or", "max", "min", "pow", "sin", "sinh", "sqrt", "tan", "tanh"),
]


class VariableKind(NumberedEnum):
    """What values a variable takes."""

    CONTINUOUS = 0
    INTEGER = 1
    BINARY = 2
    BOOLEAN = 3
    RANDOM_UNIFORM = 4
    RANDOM_GAUSSIAN = 5
    RANDOM_EXPONENTIAL = 6


class RandomUniform(sympy.Symbol):
    """A variable with a uniform distribution between 0 and 1."""

    draw = staticmethod(lambda generator: generator.uniform())


class RandomGaussian(sympy.Symbol):
    """A variable with a normal distribution of mean 0 and deviation 1."""

    draw = staticmethod(lambda generator: generator.standard_normal())


class RandomExponential(sympy.Symbol):
    """A variable with an exponential distribution of mean 1."""

    draw = staticmethod(lambda generator: generator.standard_exponential())


class WholeVariable(sympy.Symbol):
    """A variable with whole numbers as values."""


class BinaryVariable(sympy.Symbol):
    """A variable that is 0 or 1."""


class BooleanVariable(sympy.Symbol):
    """A variable that is true or false."""


KINDS_OF_VARIABLES = {
    VariableKind.CONTINUOUS: (sympy.Symbol, {"real": True}),
    VariableKind.INTEGER: (WholeVariable, {"integer": True}),
    VariableKind.BINARY: (BinaryVariable, {"integer": True}),
    VariableKind.BOOLEAN: (BooleanVariable, {}),
    VariableKind.RANDOM_UNIFORM: (RandomUniform, {"real": True}),
    VariableKind.RANDOM_GAUSSIAN: (RandomGaussian, {"real": True}),
    VariableKind.RANDOM_EXPONENTIAL: (RandomExponential, {"positive": True}),
}


def type_of(v: Any) -> VariableKind:
    """What values a variable takes."""
    return next((kind for kind, (cls, _) in KINDS_OF_VARIABLES.items() if type(v) is cls), VariableKind.CONTINUOUS)


class VariableType(type):
    """Lets Variable(name) make a SymPy symbol, and every SymPy symbol be a Variable."""

    def __call__(cls, name: str | None = None, type: Any = VariableKind.CONTINUOUS) -> Any:
        """The variable of a name, or without one a new one."""
        kind, assumptions = KINDS_OF_VARIABLES[type]
        return sympy.Dummy(real=True) if name is None else kind(name, **assumptions)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, sympy.Symbol)

    def __subclasscheck__(cls, kind: Any) -> bool:
        return issubclass(kind, sympy.Symbol)


class Variable(metaclass=VariableType):
    """A real variable, a sympy.Symbol; those of one name are one variable."""

    Type = VariableKind

    if TYPE_CHECKING:  # made by VariableType.__call__

        def __init__(self, name: str, type: Any = None) -> None: ...


def MakeVectorVariable(rows: int, name: str, type: Any = None) -> "Vector":
    """An object array (rows,) of the variables name(0), name(1), ..."""
    return np.array([Variable(f"{name}({k})") for k in range(rows)], dtype=object)


def MakeMatrixVariable(rows: int, cols: int, name: str, type: Any = None) -> "Matrix":
    """An object array (rows, cols) of the variables name(0, 0), ..."""
    return np.array([[Variable(f"{name}({i}, {j})") for j in range(cols)] for i in range(rows)], dtype=object)


MakeVectorContinuousVariable, MakeMatrixContinuousVariable = MakeVectorVariable, MakeMatrixVariable


@also_named(cond="f_cond", expr_then="e_then", expr_else="e_else")
def if_then_else(f_cond: Any, e_then: Any, e_else: Any) -> Any:
    """One of two expressions, by a formula."""
    return sympy.Piecewise((e_then, f_cond), (e_else, True))


def GetVariableVector(expressions: Any) -> "Vector":
    """The variables of expressions, sorted by their names."""
    found: set[Any] = set()
    for e in np.asarray(expressions, dtype=object).ravel():
        found |= sympy.sympify(e).free_symbols
    return np.array(sorted(found, key=str), dtype=object)


@also_named(expressions="e")
def ExtractVariablesFromExpression(e: Any) -> tuple["Vector", dict[Any, int]]:
    """The variables of an expression or of an array of them, and {variable: its place}."""
    variables = GetVariableVector(e)
    return variables, {v: k for k, v in enumerate(variables)}


@also_named(v="expressions")
def DecomposeAffineExpressions(expressions: Any, vars: Any = None) -> Any:
    """(M (m, n), v (m,)) with expressions = M vars + v; (M, v, vars) with their own variables if none are given.

    RuntimeError if an expression is not affine in them, or has others.
    """
    given = [sympy.sympify(e) for e in np.asarray(expressions, dtype=object).ravel()]
    chosen = GetVariableVector(given) if vars is None else np.asarray(vars, dtype=object).ravel()
    at_zero = [e.subs(dict.fromkeys(chosen, 0)) for e in given]
    slopes = [[sympy.diff(e, x) for x in chosen] for e in given]
    try:
        M = np.array(slopes, dtype=float).reshape(len(given), len(chosen))
        v = np.array(at_zero, dtype=float)
    except TypeError:
        raise RuntimeError(f"{given} are not affine in {list(map(str, chosen))}") from None
    return (M, v, chosen) if vars is None else (M, v)


def DecomposeLinearExpressions(expressions: Any, vars: Any) -> "Matrix":
    """M (m, n) with expressions = M vars. RuntimeError if an expression is not linear in them."""
    M, v = DecomposeAffineExpressions(expressions, vars)
    if v.any():
        raise RuntimeError("the expressions are not linear: they have constant terms")
    return M


ExpressionKind = Enum(  # its members are what pydrake knows
    "ExpressionKind",
    "Constant Var Add Mul Div Log Abs Exp Sqrt Pow Sin Cos Tan Asin Acos Atan Atan2 Sinh Cosh Tanh Min Max Ceil Floor "
    "IfThenElse NaN UninterpretedFunction",
    module=__name__,
    start=0,
    type=Numbered,
)
ExpressionKind.__doc__ = "What the outermost part of an expression is."
NAMED_SO = (
    *(sympy.Add, sympy.Mul, sympy.Pow, sympy.Abs, sympy.Min, sympy.Max, exp, log, sin, cos, tan),
    *(asin, acos, atan, atan2, sinh, cosh, tanh, floor),
)
KINDS = {ceil: "Ceil", sympy.Piecewise: "IfThenElse", sympy.Symbol: "Var"}
KINDS |= {kind: kind.__name__.capitalize() for kind in NAMED_SO}


def kind_of(e: Any) -> "ExpressionKind":
    """The ExpressionKind of the outermost part of an expression; SymPy has powers in place of roots and ratios."""
    e = sympy.sympify(e)
    if e.is_number and not e.is_Function:
        return ExpressionKind["NaN" if e is sympy.nan else "Constant"]
    if e.is_Pow and e.exp == sympy.Rational(1, 2):
        return ExpressionKind["Sqrt"]
    if (e.is_Pow or e.is_Mul) and e.as_numer_denom()[1].free_symbols:
        return ExpressionKind["Div"]
    found = next((name for kind, name in KINDS.items() if isinstance(e, kind)), "UninterpretedFunction")
    return ExpressionKind[found]


def intersect(vars1: Any, vars2: Any) -> Variables:
    """The variables that are in both."""
    return Variables(set(vars1) & set(vars2))


def Jacobian(f: Any, vars: Any) -> "Matrix":
    """Derivatives (m, n) of expressions (m,) by variables (n,)."""
    rows = np.asarray(f, dtype=object).ravel()
    return np.array([[sympy.diff(e, v) for v in np.asarray(vars, dtype=object).ravel()] for e in rows], dtype=object)


@also_named(subs="subst", var="subst")
def Substitute(m: Any, subst: Any, e: Any = None) -> Any:
    """Expressions with others in place of variables: Substitute(m, {variable: e}) or Substitute(m, variable, e)."""
    pairs = list(subst.items()) if isinstance(subst, dict) else [(subst, e)]
    return _each(m, lambda x: sympy.sympify(x).subs(pairs, simultaneous=True))


def Evaluate(m: Any, env: Any = None, generator: Any = None) -> Any:
    """The numbers of expressions, a matrix as in pydrake, by {variable: number}. RuntimeError if one is missing.

    generator: a RandomGenerator, or what gives a seed when it is called; random variables without a number are drawn.

    The first time compiles a function of them, which takes milliseconds; after that it takes microseconds.
    """
    given = np.atleast_1d(np.asarray(m, dtype=object))
    variables, function = _compiled(tuple(given.ravel()))
    values = dict(env or {})
    if generator is not None:  # of random variables that have no value
        is_numpys = isinstance(generator, np.random.Generator)
        rng = generator if is_numpys else np.random.default_rng(int(generator()))
        values = {v: v.draw(rng) for v in variables if hasattr(v, "draw")} | values
    missing = [str(v) for v in variables if v not in values]
    if missing:
        raise RuntimeError(f"Evaluate: there is no value for {', '.join(missing)}")
    try:
        found = function(*(float(values[v]) for v in variables))
    except ZeroDivisionError:
        raise RuntimeError("Evaluate: a division by zero") from None
    return np.array(found, dtype=float).reshape(given.shape if given.ndim == 2 else (-1, 1))


@lru_cache(maxsize=256)
def _compiled(expressions: tuple[Any, ...]) -> tuple[list[Any], Any]:
    """The variables of expressions, sorted, and the function of their numbers."""
    variables = list(GetVariableVector(np.array(expressions, dtype=object)))
    return variables, sympy.lambdify(variables, list(expressions), modules=["math", "sympy"], cse=True, dummify=True)


def TaylorExpand(f: Any, a: dict[Any, float], order: int) -> Any:
    """The Taylor polynomial of an expression about a point, up to an order."""
    t = sympy.Dummy("t")
    curve = f.subs({v: x + t * (v - x) for v, x in a.items()}, simultaneous=True)
    terms = (sympy.diff(curve, t, k).subs(t, 0) / sympy.factorial(k) for k in range(order + 1))
    return sympy.expand(sum(terms))


def IsAffine(m: Any, vars: Any = None) -> bool:
    """Whether expressions are affine in variables, or in all of theirs."""
    chosen = list(vars) if vars is not None else list(GetVariableVector(m))
    return all(
        all(sympy.diff(e, v, w).equals(0) for v in chosen for w in chosen) for e in np.asarray(m, dtype=object).ravel()
    )


@also_named(f="e", M="e")
def ToLatex(e: Any, precision: int = 3) -> str:
    """An expression, a formula or a matrix of them in LaTeX, numbers to so many decimals."""
    if isinstance(e, (np.ndarray, list, tuple)):
        given = np.asarray(e, dtype=object)
        rows = given.reshape(-1, 1) if given.ndim == 1 else given
        inner = r" \\ ".join(" & ".join(ToLatex(x, precision) for x in row) for row in rows)
        return rf"\begin{{bmatrix}} {inner} \end{{bmatrix}}"
    given = sympy.sympify(e)
    whole = {x: sympy.Integer(int(x)) for x in given.atoms(sympy.Float) if float(x).is_integer()}
    return str(_Latex(precision).doprint(given.xreplace(whole)))


class _Latex(LatexPrinter):
    """Prints numbers to so many decimals."""

    def __init__(self, decimals: int) -> None:
        super().__init__()
        self._decimals = decimals

    def _print_Float(self, expr: Any) -> str:
        return f"{float(expr):.{self._decimals}f}"


def _each(m: Any, function: Any) -> Any:
    given = np.asarray(m, dtype=object)
    if given.ndim == 0:
        return function(m)
    result = np.empty(given.shape, dtype=object)
    for place in np.ndindex(given.shape):
        result[place] = function(given[place])
    return result
