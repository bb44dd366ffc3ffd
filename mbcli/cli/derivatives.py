"""The option --derivatives: the results of a command, differentiated by their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.output import table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import SimpleNamespace

    from mbcli.cli.analysis import Evaluate, EvaluateRows, Render
    from mbcli.engine.queries.state_batch import StateBatch
    from mbcli.math.array_types import Array
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context

derivatives_option = click.option(
    "--derivatives", is_flag=True, help="Also the exact derivatives, one column for each position, velocity, ..."
)


class WithDerivatives:
    """Makes evaluate and render of an analysis give derivatives too, if they are wanted.

    Args:
        wanted: the value of the option.
        result: key of the result that is differentiated; d{result}_d{variable} are the keys of its derivatives.
        variables: names that CalcDerivatives() knows.
        calculation: the name by which it knows what evaluate and evaluate_rows compute, if they compute just that.
    """

    def __init__(self, wanted: bool, result: str, variables: Sequence[str], calculation: str | None = None) -> None:
        self.wanted, self.result, self.variables, self.calculation = wanted, result, variables, calculation

    def evaluate(self, plain: Evaluate) -> Evaluate:
        """(plant, context, inputs) -> results, from that of the analysis without derivatives."""
        if not self.wanted:
            return plain

        def evaluate(plant: MultibodyPlant, context: Context, inputs: dict[str, Any]) -> dict[str, Any]:
            from mbcli.multibody.core.derivatives import calc_derivatives

            def function(plant: MultibodyPlant, context: Context, inputs: dict[str, Any]) -> Any:
                return plain(plant, context, inputs)[self.result]

            by_name = calc_derivatives(plant, context, function, self.variables, inputs, calculation=self.calculation)
            results = plain(plant, context, inputs)
            return results | {f"d{self.result}_d{name}": value for name, value in by_name.items()}

        return evaluate

    def rows(self, evaluate_rows: EvaluateRows, evaluate: Evaluate | None = None) -> EvaluateRows | None:
        """evaluate_rows of the analysis, with derivatives: at once where they have a closed form, else row by row.

        evaluate: that of one state, without derivatives, where they have a closed form.
        """
        if not self.wanted:
            return evaluate_rows
        if self.calculation is None:
            return None
        assert evaluate is not None
        evaluate_one = self.evaluate(evaluate)

        def with_derivatives(context: Context, batch: StateBatch, states: SimpleNamespace) -> dict[str, Any]:
            from mbcli.multibody.core.closed_form_derivatives import has_closed_form

            plant = context.state.plant
            if has_closed_form(plant, self.calculation):
                return evaluate_rows(context, batch, states) | self._at_once(plant, batch, states)
            return _one_by_one(plant, context, evaluate_one, states)

        return with_derivatives

    def _at_once(self, plant: MultibodyPlant, batch: StateBatch, states: SimpleNamespace) -> dict[str, Array]:
        """Columns of derivatives of a chunk of states."""
        import numpy as np

        if self.calculation == "inverse_dynamics":
            vdot = np.zeros_like(states.v) if states.vdot is None else states.vdot
            found = batch.inverse_dynamics_derivatives(states.q, states.v, vdot, by_positions=True)
            values = dict(zip(("q", "v", "vdot"), found, strict=True))
        else:
            tau = batch.generalized_forces(states.tau, states.u, len(states.q))
            found = batch.forward_dynamics_derivatives(states.q, states.v, tau, by_positions=True)
            values = dict(zip(("q", "v", "tau"), found, strict=True))
            values["u"] = values["tau"][:, :, plant.model.actuator_dof]
        return {f"d{self.result}_d{name}": values[name] for name in self.variables}

    def render(self, plain: Render) -> Render:
        """(plant, results) -> text: that of the analysis, then a table for each derivative."""
        if not self.wanted:
            return plain

        def render(plant: MultibodyPlant, results: dict[str, Any]) -> str:
            parts = [plain(plant, results)]
            for name in self.variables:
                parts += self._tables(plant, name, results[f"d{self.result}_d{name}"])
            return "\n\n".join(parts)

        return render

    def _tables(self, plant: MultibodyPlant, name: str, value: Array) -> list[str]:
        """A derivative as tables: of a vector one with a row for each element, of a matrix one for each variable."""
        title, rows, columns = f"d{self.result}_d{name}", plant.GetVelocityNames(), _names(plant, name)
        if not rows or not columns:
            return []
        if value.ndim == 2:
            return [_table(title, rows, columns, value)]
        return [_table(f"d{self.result}_d{c}", rows, rows, value[..., k]) for k, c in enumerate(columns)]


def _one_by_one(
    plant: MultibodyPlant, context: Context, evaluate: Evaluate, states: SimpleNamespace
) -> dict[str, Array]:
    """Columns of a chunk of states from evaluate(plant, context, inputs)."""
    import numpy as np

    rows = []
    for k, (q, v) in enumerate(zip(states.q, states.v, strict=True)):
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        taken = {name: getattr(states, name, None) for name in ("vdot", "tau", "u")}
        rows.append(evaluate(plant, context, {name: value[k] for name, value in taken.items() if value is not None}))
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}


def _names(plant: MultibodyPlant, variable: str) -> list[str]:
    names = {"q": plant.GetPositionNames, "u": plant.GetActuatorNames}
    return names.get(variable, plant.GetVelocityNames)()


def _table(title: str, rows: list[str], columns: list[str], value: Array) -> str:
    cells = [[name, *(float(x) for x in row)] for name, row in zip(rows, value, strict=True)]
    return table(cells, [title, *columns])
