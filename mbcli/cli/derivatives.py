"""The option --derivatives: the results of a command, differentiated by their arguments."""

import click

from mbcli.cli.output import table

derivatives_option = click.option(
    "--derivatives", is_flag=True, help="Also the exact derivatives, one column for each position, velocity, ..."
)


class WithDerivatives:
    """Makes evaluate and render of an analysis give derivatives too, if they are wanted.

    Args:
        wanted: the value of the option.
        result: key of the result that is differentiated; d{result}_d{variable} are the keys of its derivatives.
        variables: names that CalcDerivatives() knows.
    """

    def __init__(self, wanted, result, variables):
        self.wanted, self.result, self.variables = wanted, result, variables

    def evaluate(self, plain):
        """(plant, context, inputs) -> results, from that of the analysis without derivatives."""
        if not self.wanted:
            return plain

        def evaluate(plant, context, inputs):
            from mbcli.multibody.plant.derivatives import calc_derivatives

            def function(plant, context, inputs):
                return plain(plant, context, inputs)[self.result]

            by_name = calc_derivatives(plant, context, function, self.variables, inputs)
            results = plain(plant, context, inputs)
            return results | {f"d{self.result}_d{name}": value for name, value in by_name.items()}

        return evaluate

    def rows(self, evaluate_rows):
        """evaluate_rows of the analysis: rows with derivatives go one by one."""
        return None if self.wanted else evaluate_rows

    def render(self, plain):
        """(plant, results) -> text: that of the analysis, then a table for each derivative."""
        if not self.wanted:
            return plain

        def render(plant, results):
            parts = [plain(plant, results)]
            for name in self.variables:
                parts += self._tables(plant, name, results[f"d{self.result}_d{name}"])
            return "\n\n".join(parts)

        return render

    def _tables(self, plant, name, value):
        """A derivative as tables: of a vector one with a row for each element, of a matrix one for each variable."""
        title, rows, columns = f"d{self.result}_d{name}", plant.GetVelocityNames(), _names(plant, name)
        if not rows or not columns:
            return []
        if value.ndim == 2:
            return [_table(title, rows, columns, value)]
        return [_table(f"d{self.result}_d{c}", rows, rows, value[..., k]) for k, c in enumerate(columns)]


def _names(plant, variable):
    names = {"q": plant.GetPositionNames, "u": plant.GetActuatorNames}
    return names.get(variable, plant.GetVelocityNames)()


def _table(title, rows, columns, value):
    cells = [[name, *(float(x) for x in row)] for name, row in zip(rows, value, strict=True)]
    return table(cells, [title, *columns])
