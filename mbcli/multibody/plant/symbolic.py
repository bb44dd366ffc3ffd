"""Closed forms of a small model: mass matrix, bias, gravity and poses as SymPy expressions of its coordinates.

The kernels of the engine run on expressions; numbers of the model are exact rationals in between (the decimal of 14
digits of each float), so that terms that cancel are gone. Fit for up to about four coordinates: expressions grow fast.
"""

import numpy as np

from mbcli.multibody.scalars import EXPRESSION, exact_number


class SymbolicModel:
    """A finalized plant in symbols. ImportError that names the extra if SymPy is not installed.

    Args:
        plant: a MultibodyPlant of floats, or one of expressions whose context has symbolic parameters.
        context: parameters are taken from it if it is given; its state is not.
        exact: rationals as 981/100 stay; other numbers than small fractions are written as decimals.
        simplify: whether results are simplified, which takes most of the time.

    Attributes:
        plant, context: of expressions; the state of the context are the symbols.
        q, v: object arrays of real symbols, named like the coordinates of the plant.
    """

    def __init__(self, plant, context=None, *, exact=False, simplify=True):
        from mbcli.symbolic import Variable

        self.exact, self._wants_simplification = exact, simplify
        self.plant = plant if plant.scalar is EXPRESSION else plant.ToSymbolic()
        self.context = self.plant.CreateDefaultContext()
        if context is not None:
            self.context.SetTimeStateAndParametersFrom(context)
        self.q, self.v = (
            np.array([Variable(name) for name in _names(get)], dtype=object)
            for get in (self.plant.GetPositionNames, self.plant.GetVelocityNames)
        )
        self.plant.SetPositions(self.context, self.q)
        self.plant.SetVelocities(self.context, self.v)

    def mass_matrix(self):
        """M(q), a SymPy matrix (nv, nv)."""
        return self._matrix(self.plant.CalcMassMatrix(self.context))

    def bias(self):
        """C(q, v) v, a column of nv rows."""
        return self._matrix(self.plant.CalcBiasTerm(self.context))

    def gravity(self):
        """tau_g(q), on the side of the applied forces, a column of nv rows."""
        return self._matrix(self.plant.CalcGravityGeneralizedForces(self.context))

    def pose(self, frame, measured_in="world"):
        """X_AF as a matrix (4, 4) of a frame of the plant, or of a body or frame by name, in another one.

        RuntimeError for unknown names.
        """
        frames = [self._frame(each) for each in (measured_in, frame)]
        return self._matrix(self.plant.CalcRelativeTransform(self.context, *frames).GetAsMatrix4())

    def velocity(self, frame_name):
        """V_WF_W, rotational rows first, a column of 6."""
        V = self._frame(frame_name).CalcSpatialVelocityInWorld(self.context)
        return self._matrix(V.get_coeffs())

    def kinetic_energy(self):
        """[J], an expression"""
        return self.tidy(self.plant.CalcKineticEnergy(self.context))

    def potential_energy(self):
        """[J], an expression"""
        return self.tidy(self.plant.CalcPotentialEnergy(self.context))

    def _frame(self, name):
        plant = self.plant
        if not isinstance(name, str):
            return plant.get_frame(name.index())
        return plant.GetFrameByName(name) if plant.HasFrameNamed(name) else plant.GetBodyByName(name).body_frame()

    def _matrix(self, array):
        import sympy

        rows = array.reshape(-1, 1) if array.ndim == 1 else array
        return sympy.Matrix(*rows.shape, [self.tidy(x) for x in rows.flat])

    def tidy(self, expression):
        """An expression with exact numbers, simplified, then with decimals unless `exact`."""
        import sympy

        result = sympy.sympify(expression)
        result = result.xreplace({number: exact_number(number) for number in result.atoms(sympy.Float)})
        if self._wants_simplification:
            result = shortest(result)
        if self.exact:
            return result
        rationals = {r for r in result.atoms(sympy.Rational) if r.q not in READABLE_DENOMINATORS}
        return result.xreplace({r: sympy.Float(r, 15) for r in rationals})


READABLE_DENOMINATORS = (1, 2, 3, 4, 6, 8)


def shortest(expression):
    """The shortest of some equal forms; angle sums are contracted, as cos(a) cos(b) - sin(a) sin(b) to cos(a + b)."""
    import sympy

    expanded = sympy.expand(expression)
    forms = [expression, expanded, sympy.trigsimp(expanded)]
    forms += [sympy.expand(sympy.trigsimp(forms[-1]))]
    return min(forms, key=sympy.count_ops)


def _names(get_names):
    """Names of coordinates, without model instances if they are unique all the same."""
    short = get_names(add_model_instance_prefix=False)
    return short if len(set(short)) == len(short) else get_names()
