"""The state of one plant and what was computed from it."""

from math import isfinite

import numpy as np

from mbcli.engine.constraints.constrained_motion import (
    CONTACT_STEPS,
    DEPENDENT,
    EVERY_CORRECTION,
    EXPECTED,
    FAULTS,
    FOUND,
    MOTION,
    REACHED,
    STEPS,
    constraint_addresses,
    expect_rank,
)
from mbcli.engine.runtime.bound_kernels import BoundKernels
from mbcli.engine.runtime.kernel import compiled_by_default
from mbcli.engine.runtime.model import ConstraintWork, Data
from mbcli.engine.smooth.state import SINGULAR_STEP
from mbcli.errors import ModelError, NumericalError
from mbcli.multibody.compilation.compile_constraints import Tie, compile_constraints
from mbcli.multibody.compilation.constraint_rows import constraint_rows, require_two_trees
from mbcli.multibody.plant.point_contact import PointContact
from mbcli.multibody.plant.ports import InputValues
from mbcli.multibody.plant.state_transfer import set_time_state_and_parameters
from mbcli.multibody.plant.step_contact import StepContact
from mbcli.multibody.scalars import FLOAT
from mbcli.multibody.tree.parameters import Parameters


class Context(InputValues):
    """Time, positions q, velocities v and inputs of a plant, with the arrays computed from them.

    Made by MultibodyPlant.CreateDefaultContext(). What was computed is kept until its inputs change: setting q forgets
    everything, setting v forgets what depends on v. Results are in four dictionaries, by a name or by (name, numbers of
    frames), after what they follow from: parameters, q, v, and time with inputs. Whoever hands one of their arrays to a
    user copies it.
    """

    def __init__(self, plant, scalar=None, compiled=None):
        self._plant = plant
        self._scalar = scalar = scalar or plant._scalar
        self._time = 0.0
        self._model = scalar.convert_model(plant._model) if scalar is not plant._scalar else plant._model
        self._data = Data(self._model.sizes, scalar.dtype)
        self._addresses = {"constraint_set": self._data.constraint_set, "contact": self._data.contact}
        compiled = scalar.can_compile() and (
            compiled_by_default(not plant._prefers_interpreted) if compiled is None else compiled
        )
        self._compiled = compiled
        self._kernels = scalar.load_kernels(compiled, self._model, constrained=bool(plant._constraints))
        self._model_handle = self._model.handle(compiled)
        self._data_handle = self._data.handle(compiled)
        self._parameters = Parameters()
        self._parameters_current = True
        self._bind()
        super().__init__()
        self._contact = None  # StepContact or PointContact, once accelerations needed it
        self._last_step = None  # (time, q, v, inputs, parameters) before the last step of a discrete plant
        self._before = None  # a context in that state
        self._q = self._data.q
        self._v = self._data.v
        self._x = self._data.x
        # their memory takes vectors of floats sooner than the arrays do, and refuses all else; None takes nothing:
        # what is not compiled looks at numbers before it takes them
        vectors = self._q, self._v, self._x, self._data.vdot
        is_float = compiled and scalar.dtype == np.float64
        self._q_memory, self._v_memory, self._x_memory, self._vdot_memory = (
            map(memoryview, vectors) if is_float else (None,) * 4
        )
        # copies of what the last query answered
        data = self._data
        self._copy_of_three, self._copy_of_six = data.answer[:3].copy, data.answer[:6].copy
        self._copy_of_G = data.answer[3:].reshape(3, 3).copy
        self._copy_of_R, self._copy_of_p = data.answer_pose[0, :3].copy, data.answer_pose[0, 3].copy
        self._copy_of_J3, self._copy_of_J6 = data.jacobian[:3].copy, data.jacobian.copy
        self._dtype, self._shape_q, self._shape_v = scalar.dtype, self._q.shape, self._v.shape
        self._no_forces = np.zeros((self._model.sizes["nlink"], 6), scalar.dtype)
        self._of_parameters, self._of_q, self._of_v, self._of_inputs = {}, {}, {}, {}
        self._forget_positions()

    def get_time(self):
        """[s]"""
        return self._time

    def SetTime(self, time_sec):
        """[s]; RuntimeError where it is not finite."""
        time = float(time_sec)
        if not isfinite(time):
            raise RuntimeError(f"a context's time must be finite, it is {time}")
        self._time = time
        self._of_inputs.clear()

    def SetContinuousState(self, xc):
        """[q; v] of a plant with time step 0; RuntimeError where the plant is discrete."""
        self._require_state(False, "SetContinuousState")
        self._plant.SetPositionsAndVelocities(self, xc)

    def SetDiscreteState(self, xd):
        """[q; v] of a plant with a time step; RuntimeError where the plant is continuous."""
        self._require_state(True, "SetDiscreteState")
        self._plant.SetPositionsAndVelocities(self, xd)

    def get_continuous_state_vector(self):
        """[q; v] of a plant with time step 0; without elements where the plant is discrete."""
        return StateVector(self._x[:0] if self._plant.is_discrete() else self._x)

    def get_discrete_state_vector(self):
        """[q; v] of a plant with a time step; RuntimeError where the plant is continuous."""
        self._require_state(True, "get_discrete_state_vector")
        return StateVector(self._x)

    def _require_state(self, discrete, method):
        if self._plant.is_discrete() is not discrete:
            has, step = ("continuous", "is 0") if discrete else ("discrete", f"is {self._plant.time_step():g} s")
            raise RuntimeError(f"{method}: the state of this plant is {has}, its time step {step}")

    def Clone(self):
        """An independent copy."""
        other = Context(self._plant, self._scalar, self._compiled)
        other._inputs = dict(self._inputs)
        other._connected = dict(self._connected)
        other.SetTimeStateAndParametersFrom(self)
        return other

    def SetTimeStateAndParametersFrom(self, source):
        """Takes them from a context of this plant, or of one that was converted to or from another scalar type.

        Parameters are all that is not state and not input: locks and the activity of constraints among them. Sampled
        outputs are state. Inputs stay as they are.
        """
        set_time_state_and_parameters(self, source)

    # what is current

    def _forget_positions(self):
        self._positions_current = self._velocities_current = False
        if self._of_q:
            self._of_q.clear()
        if self._of_v:
            self._of_v.clear()
        if self._of_inputs:
            self._of_inputs.clear()

    def _forget_velocities(self):
        self._velocities_current = False
        if self._of_v:
            self._of_v.clear()
        if self._of_inputs:
            self._of_inputs.clear()

    def _set_q(self, q):
        self._q[:] = q
        self._forget_positions()

    def _set_v(self, v):
        self._v[:] = v
        self._forget_velocities()

    def _set_q_slice(self, start, values):
        self._q[start : start + len(values)] = values
        self._forget_positions()
        self._look_for_zero_quaternions()

    def _look_for_zero_quaternions(self):
        """After a user has set positions: a quaternion of zeros is refused when it is needed."""
        if self._calls.query_state_fault() > 0:
            self._parameters_current = False  # then every calculation asks _ready_parameters() first

    def _set_v_slice(self, start, values):
        self._v[start : start + len(values)] = values
        self._forget_velocities()

    def _set_input(self, name, value):
        self._inputs[name] = value
        self._of_inputs.clear()

    def _connect(self, name, source):
        super()._connect(name, source)
        self._of_inputs.clear()

    def _remember_step(self, time, q, v, u):
        """What the last step started from: state and inputs.

        u (nu,) is the actuation of all ports together; None where it is what they give there.
        """
        after = self._time, self._q.copy(), self._v.copy()
        self._go_to(time, q, v)
        u = self._plant._actuation(self) if u is None else u
        ports = {"actuation", *(f"{name}_actuation" for name in self._plant._instances)}
        inputs = {name: self._input(name) for name in {*self._inputs, *self._connected} - ports}
        self._last_step = time, q.copy(), v.copy(), inputs | {"actuation": u.copy()}, self._parameters.copy()
        self._before = None
        self._go_to(*after)

    def _go_to(self, time, q, v):
        self._time = time
        self._set_q(q)
        self._set_v(v)

    def _before_last_step(self):
        """A context as it was before the last step, None before the first one."""
        if self._before is None and self._last_step is not None:
            before = Context(self._plant, self._scalar)
            before._time, before._q[:], before._v[:], before._inputs, before._parameters = self._last_step
            before._parameters_current = False
            self._before = before
        return self._before

    def _set_parameter(self, element, name, value):
        self._parameters.values[element, name] = value
        self._parameters_current = False
        self._forget_positions()

    def _ready_parameters(self):
        """Makes sure that the arrays are those of this context's parameters, and that q is a place of the plant."""
        if not self._parameters_current:
            body = self._calls.query_state_fault()
            if body > 0:
                start = self._model.body_q[body]
                joint = next(j for j in self._plant._mobilized() if j.num_positions() and j.position_start() == start)
                raise RuntimeError(f"joint '{joint.name()}': its quaternion is zero, which is not a rotation")
            self._use_model(self._plant._compile(self._parameters, self._scalar))

    def _use_model(self, model):
        """Computes with other arrays of the plant from now on."""
        self._model, self._model_handle = model, model.handle(self._compiled)
        self._bind()
        self._parameters_current = True
        self._of_parameters.clear()
        self._forget_positions()

    def _forget_addresses(self, name):
        """Before the arrays go that a field of Data leads kernels to."""
        addresses = self._addresses[name]  # interpreted, Data has functions and objects in its place
        addresses[:] = 0.0
        setattr(self._data, name, addresses)

    def _forces_on_links(self, F):
        """Spatial forces on links (num_bodies, 6), or 0.0 for none, as kernels take them."""
        if type(F) is float:
            return self._no_forces
        return np.ascontiguousarray(F, self._dtype)

    def _multipliers(self):
        """lambda (nrow,) of the last accelerations, in the order of _row_owners."""
        result = np.empty_like(self._work.force)
        result[self._constraints.row_number] = self._work.force
        return result

    def _constraint_forces(self):
        """Of each constraint (Tie), after accelerations: (6,) on the successor at So in World, None for a coupling."""
        cons, work, forces = self._constraints, self._work, {}
        for first, end in cons.constraint_rows:
            forces[cons.row_number[first]] = work.force[first:end] @ work.row_axis_W[first:end]
        return [forces[c.numbers[0]] if isinstance(c, Tie) and c.rows else None for c in self._rows]

    def _contact_failed(self):
        """Whether the last step has to be done again after _prepare_contact(failed=True)."""
        return self._contact is not None and self._contact.failed()

    def _step_fault(self):
        """As the kernel step_fault(), of the last step."""
        if self._contact is not None:
            return int(self._contact.failed())
        if not self._plant._constraints or self._work.ranks[FAULTS] == 0.0:
            return 0
        self._work.ranks[FAULTS] = 0.0
        return SINGULAR_STEP

    def _prepare_contact(self, failed=False):
        """Makes contact in steps and accelerations computable; where it failed, with more room.

        Raises NumericalError where that cannot help.
        """
        if failed:
            self._contact.make_room()
        self._foresee_contact()
        if self._contact is not None:
            self._contact.attach(self)

    def _foresee_contact(self):
        """Makes the arrays of contact, if solids can touch or steps are contact problems, and chooses the kernels."""
        self._ready_parameters()
        if self._scalar is not FLOAT:
            self._plant._refuse_contact(self)
        elif self._contact is None or not self._contact.is_current(self._model):
            self._make_contact()
        if self._plant.is_discrete():
            if self._contact is not None:
                require_two_trees(self._plant, self._parameters)
            self._ready_constraints(in_steps=True)

    def _make_contact(self):
        plant, earlier = self._plant, self._contact
        self._forget_addresses("contact")
        if earlier is None and not self._solves_problems() and not plant._meets_contact():
            return
        if not plant.is_discrete():
            self._contact = PointContact(plant, self._model, self._compiled, earlier=earlier)
            return
        if earlier is None:
            constrained = bool(plant._constraints)
            self._kernels = self._scalar.load_kernels(self._compiled, self._model, constrained, contact=True)
            self._bind()
        self._contact = StepContact(plant, self._model, self._compiled, earlier=earlier)

    def _solves_problems(self):
        """Whether steps are contact problems without contact too: where a constraint is no equation."""
        plant = self._plant
        return plant.is_discrete() and plant._constraints and self._constraint_fault is None and not self._equations

    def _bind(self):
        self._calls = BoundKernels(self._kernels, self._model_handle, self._data_handle)
        if self._plant._constraints:
            self._bind_constraints()

    def _bind_constraints(self):
        """Hangs the equations of the constraints that are active here on the data; none where they cannot be made."""
        self._constraint_fault, rows, self._row_owners, self._expected_rank = None, [], [], None
        try:
            self._scalar.require_constrained_motion()
            rows, self._row_owners = constraint_rows(self._plant, self._parameters, equations=False)
        except ModelError as error:
            self._constraint_fault = error
        self._rows = rows
        self._equations = all(row.is_equation() for tie in rows for row in tie.rows)
        self._constraints = compile_constraints(self._model, rows)
        self._work = ConstraintWork(self._constraints.sizes, self._scalar.dtype)
        if self._scalar is not FLOAT:
            self._work.ranks[REACHED] = EVERY_CORRECTION
        self._forget_addresses("constraint_set")
        self._constraints_ready = None

    def _require_equations(self):
        """ModelError where constraints are no equations, or numbers are such that they cannot be solved."""
        self._require_rows()
        if self._plant._constraints and not self._equations:
            constraint_rows(self._plant, self._parameters)  # says which one

    def _require_rows(self):
        """ModelError where constraints cannot act, or numbers are such that they cannot be solved."""
        self._ready_parameters()
        if self._plant._constraints and self._constraint_fault is not None:
            raise self._constraint_fault

    def _ready_constraints(self, in_steps=False):
        """Makes motion under the constraints computable, with in_steps that of discrete steps; ModelError if not."""
        in_problems = in_steps and self._contact is not None
        if in_problems:
            self._require_rows()
        else:
            self._require_equations()
        if not self._plant._constraints or self._constraints_ready is in_problems:
            return
        data, compiled = self._data, self._compiled
        handles = self._model_handle, self._data_handle, self._constraints.handle(compiled), self._work.handle(compiled)
        called = CONTACT_STEPS if in_problems else STEPS if self._plant.is_discrete() else MOTION
        addresses = constraint_addresses(self._kernels, compiled, called, *handles)
        if compiled:
            data.constraint_set[:] = addresses
        else:
            data.constraint_set = addresses
        self._constraints_ready = in_problems

    def _constraint_error(self):
        """The norm of the position errors of constraints."""
        if self._plant._constraints:
            self._ready_parameters()
            if self._constraints_ready is None:
                self._ready_constraints(in_steps=self._plant.is_discrete())
        return self._calls.calc_constraint_error()

    def _expect_regular_rank(self):
        """Lets the kernels know which rank the constraints have in regular positions nearby."""
        if self._expected_rank is None:
            from mbcli.multibody.constraints.closed_chains import ClosedChains

            self._expected_rank = ClosedChains(self).regular_rank(self._q)
            expect_rank(self._work, *self._expected_rank)
        self._work.ranks[FAULTS] = 0.0

    def _refuse_singular(self):
        """NumericalError where the constraints did not tell the accelerations that were just computed."""
        if self._work.ranks[FAULTS] != 0.0:
            self._work.ranks[FAULTS] = 0.0
            raise NumericalError(self._singularity())

    def _singularity(self):
        """Why the constraints do not tell the motion at the last positions."""
        rank, found = (int(x) for x in self._work.ranks[[EXPECTED, FOUND]])
        if found > rank:
            return (
                f"{found} equations of the constraints are independent at these positions, {rank} where all are "
                "satisfied: redundant constraints do not tell the motion so far off"
            )
        if found == rank:
            sines = self._work.row_sine.real
            least = sines[sines > DEPENDENT].min(initial=1.0) ** 0.5
            return (
                f"the constraints are all but singular: one of their {rank} independent equations is a combination of "
                f"the others but for a part of {least:.1g}, they do not tell the motion"
            )
        return f"the constraints are singular, with rank {found} in place of {rank}: they do not tell the motion"

    # stages, each run once until its inputs change; they return the kernels that can be called then

    def _at_positions(self):
        if not self._positions_current:
            if not self._parameters_current:
                self._ready_parameters()
            self._calls.position_stage()
            self._positions_current = True
        return self._calls

    def _at_velocities(self):
        if not self._velocities_current:
            if self._positions_current:
                self._calls.velocity_stage()
            else:  # in one call: half of the time of a small robot is the way into compiled code
                if not self._parameters_current:
                    self._ready_parameters()
                self._calls.motion_stage()
                self._positions_current = True
            self._velocities_current = True
        return self._calls

    def _at_links(self):
        """The data, with X_WL and V_WL."""
        if "links" not in self._of_v:
            self._at_velocities().links_stage()
            self._of_v["links"] = True
        return self._data


class StateVector:
    """A state as systems return it: a copy of an array."""

    def __init__(self, value):
        self._value = value.copy()

    def CopyToVector(self):
        return self._value.copy()

    def size(self):
        return self._value.size

    def __len__(self):
        return self._value.size

    def __getitem__(self, i):
        return self._value[i]
