"""The time loops of the engine with code of Python: users' force elements, applied forces, inputs that follow.

The loops themselves are those of engine/stepping/loop.py, interpreted; each step or derivative asks for the inputs and
forces, and hands them to the compiled stages.
"""

import numpy as np

from mbcli.engine.contact import contact_calls
from mbcli.engine.runtime.linking import link_interpreted
from mbcli.engine.smooth import kinematics, state
from mbcli.engine.stepping import integrators, loop, pushes, step, step_loads
from mbcli.engine.stepping.run_arrays import Actuation

LOOPS = (
    "run_discrete",
    "run_continuous",
    "begin_step",
    "try_step",
    "sample_within_step",
    "accept_step",
    "need_dense_output",
    "take_sample",
    "explicit_step",
    "semi_explicit_step",
    "hold_input",
    "step_result",
    "rate_at_end",
    "build_dense_output",
)


def needs_python(plant, context):
    """Whether a run has forces or inputs that the compiled loops do not know."""
    inputs = context.inputs
    if inputs.followed or plant.user_force_elements:
        return True
    return bool(inputs.fixed) and any(name.startswith("applied_") for name in inputs.fixed)


class PythonForces:
    """Runs the loops of a plant in a context, which is at each step's time and state when forces are asked for.

    Args:
        plant, context: of the run.
        u: the array (nu,) in which the loop holds the actuation.
        from_ports: whether u is that of the actuation ports, and not a series of the run's own.
    """

    def __init__(self, plant, context, u, from_ports):
        self._plant, self._context, self._u = plant, context, u
        self._no_pushes = Actuation(np.zeros(1), np.zeros((1, len(u))))
        self._u_follows = from_ports and any(name.endswith("actuation") for name in context.inputs.followed)
        self._aims_follow = any(name.endswith("desired_state") for name in context.inputs.followed)
        fillers = {
            loop.hold_input: self._hold_input,
            loop.record: self._record,
            kinematics.position_kinematics: self._position_kinematics,
            integrators.derivative: self._derivative,
            pushes.step_under_pushes: self._discrete_step,
            step.step_fault: self._step_fault,
            contact_calls.keeps_contacts: self._keeps_contacts,
            contact_calls.keep_contacts: self._keep_contacts,
            contact_calls.lacks_room: self._lacks_room,
            step_loads.take_exact_forces: self._take_exact_forces,
            step_loads.go_on_with_solved_forces: self._go_on_with_solved_forces,
            integrators.explicit_step: self._explicit_step,
            integrators.rate_at_end: self._rate_at_end,
            state.finish_step: self._finish_step,
            state.note_ranks: self._note_ranks,
            state.restore_ranks: self._restore_ranks,
        }
        self._twins = vars(link_interpreted({"python"}, fillers, only=LOOPS))

    def run_discrete(self, model_handle, data_handle, *arguments):
        return self._twins["run_discrete"](self._context.state.model, self._context.state.data, *arguments)

    def run_continuous(self, model_handle, data_handle, *arguments):
        return self._twins["run_continuous"](self._context.state.model, self._context.state.data, *arguments)

    # functions that the loops call in place of the kernels of these names

    def _hold_input(self, t, actuation):
        self._context.SetTime(t)
        self._twins["hold_input"](t, actuation)
        self._context.state.forget_positions()
        self._take_actuation()

    def _take_actuation(self):
        if self._u_follows:
            self._u[:] = self._plant.actuation(self._context)

    def _record(self, model, data, t, u, recording):
        context, row = self._context, recording.rows_written[0]
        context.state.forget_positions()
        recording.recorded_time[row], recording.recorded_u[row] = t, u
        recording.recorded_q[row], recording.recorded_v[row] = context.state.q, context.state.v
        recording.recorded_energy[row, :2] = self._plant.energies(context)
        recording.recorded_energy[row, 2] = context.state.constraint_error()

    def _position_kinematics(self, model, data):
        self._context.state.forget_positions()
        self._context.state.at_positions()

    def _discrete_step(self, model, data, actuation, t, h, implicit_damping):
        context = self._context
        context.state.calls.start_of_step(h)
        context.state.forget_positions()
        tau, F = self._forces()
        if self._aims_follow:
            self._plant.set_controllers(context)
        context.state.at_positions()
        data.u[:] = self._u
        data.tau[:] = tau
        self._loads = F
        context.state.calls.step_under_link_forces(F, h, implicit_damping)
        context.state.forget_positions()

    def record_loads(self, model, data, recording, actuation, t):
        """As the kernel, with the forces that it does not know."""
        context, row = self._context, recording.rows_written[0]
        state, compiled, nq = context.state, context.state.compiled, len(context.state.q)
        end = np.concatenate([state.q, state.v])
        data.q[:], data.v[:] = recording.load_start[:nq], recording.load_start[nq:]
        recording.recorded_loads[row] = self._loads
        state.calls.calc_loads(recording.handle(compiled), self._no_pushes.handle(compiled), t)
        recording.recorded_vdot[row] = (end[nq:] - data.v_off - recording.load_start[nq:]) / recording.load_step[0]
        data.q[:], data.v[:] = end[:nq], end[nq:]
        state.forget_positions()
        return 0.0

    def _finish_step(self, model, data, y, tolerance):
        self._context.state.forget_positions()
        return self._context.state.calls.finish_state(y, tolerance)

    def _step_fault(self, model, data):
        contact, constraints = self._context.state.contact, self._context.state.constraints
        if contact is not None:
            return int(contact.failed())
        return 0 if constraints is None else constraints.take_step_fault()

    def _keeps_contacts(self, data):
        contact = self._context.state.contact
        return contact is not None and contact.keeps

    def _keep_contacts(self, data, row):
        return 0.0 if not self._keeps_contacts(data) or self._context.state.contact.keep(row) else 1.0

    def _take_exact_forces(self, data, h):
        contact = self._context.state.contact
        if contact is not None and contact.exact:
            contact.take_exact_forces(h)

    def _go_on_with_solved_forces(self, data, h):
        self._take_exact_forces(data, -h)

    def _lacks_room(self, data):
        return False  # the forces come from the plant, which makes room

    def _note_ranks(self, data):
        context = self._context
        self._noted = context.state.constraints.work.ranks.copy() if context.state.constraints is not None else None

    def _restore_ranks(self, data):
        if self._noted is not None:
            self._context.state.constraints.work.ranks[:] = self._noted

    def _explicit_step(self, model, data, run, u, h):
        """As the kernel, with the time of each stage."""
        start = self._context.get_time()
        self._stage_times = iter(start + h * run.method_A.sum(axis=1))
        error = self._twins["explicit_step"](model, data, run, u, h)
        self._context.SetTime(start)
        self._stage_times = iter(())
        return error

    def _rate_at_end(self, model, data, t, run, u):
        self._context.SetTime(t)
        self._twins["rate_at_end"](model, data, t, run, u)

    def _derivative(self, model, data, y, u, dy):
        context, nq = self._context, self._context.state.q.size
        context.SetTime(next(self._stage_times, context.get_time()))
        context.state.set_q(y[:nq])
        context.state.set_v(y[nq:])
        self._take_actuation()
        calls = context.state.calls
        calls.stage_of_step()
        context.state.positions_current = context.state.velocities_current = True
        tau, F = self._forces()
        data.tau[:] = tau
        calls.calc_forward_dynamics(F)
        calls.calc_qdot()
        dy[:nq], dy[nq:] = data.qdot, data.vdot

    _stage_times = iter(())

    def _forces(self):
        """Generalized forces (nv,) and body forces (num_bodies, 6) of inputs and users' elements."""
        plant, context = self._plant, self._context
        tau, F = plant.input_generalized_forces(context, self._u), plant.input_body_forces(context)
        if not plant.is_discrete() and context.state.contact is not None:
            F = F + plant.contact_body_forces(context, plant.contact_record(context))
        if plant.user_force_elements:
            user = plant.user_forces(context)
            tau, F = tau + user.tau, F + user.F_Bo_W
        return tau, context.state.forces_on_links(F)
