"""The start of the last step of a discrete plant."""

from typing import Any


class LastStep:
    """The start of the last step of a context, which sampled output ports show.

    start: (time, q, v, inputs, parameters), None before the first step. deformables: values of the DeformableState of
    each deformable body then.
    """

    def __init__(self):
        self.start = None
        self.deformables: tuple[Any, ...] = ()
        self._before = None  # a context in that state
        self._spare = None  # the one of an earlier step: a new context costs as much as hundreds of steps

    def remember(self, context, time, q, v, u, deformables=()):
        """A step of the context's plant started from this state and the inputs of the context.

        u (nu,) is the actuation of all ports together; None if it is what they give there. deformables: as above.
        """
        state = context.state
        if context.inputs.followed:  # then they depend on the state
            after = state.time, state.q.copy(), state.v.copy()
            state.go_to(time, q, v)
            try:
                values = self._inputs(context, u)
            finally:
                state.go_to(*after)
        else:
            values = self._inputs(context, u)
        self.replace((time, q.copy(), v.copy(), values, state.parameters.copy()), deformables)

    @staticmethod
    def _inputs(context, u):
        plant, inputs = context.state.plant, context.inputs
        ports = plant.actuation_ports
        values = {name: inputs.value(name, context) for name in inputs.names() if name not in ports}
        values["actuation"] = plant.actuation(context) if u is None else u.copy()
        return values

    def replace(self, start, deformables=()):
        self.start, self.deformables, self._before = start, deformables, None

    def context_before(self, context):
        """A context as this one was before its last step, None before the first one."""
        if self._before is None and self.start is not None:
            before = self._spare or type(context)(context.state.plant, context.state.scalar)
            time, q, v, inputs, parameters = self.start
            state = before.state
            state.go_to(time, q, v)
            if parameters.values or state.parameters.values:
                state.parameters, state.parameters_current = parameters, False
            for own, values in zip(state.deformables, self.deformables, strict=True):
                own.set_values(values)
            before.inputs.take(inputs)
            self._before = self._spare = before
        return self._before
