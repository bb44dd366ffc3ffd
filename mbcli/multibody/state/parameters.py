"""Parameters of elements: the default that an element holds, unless a context has its own value."""


class Parameters:
    """The values that one context has in place of the elements' defaults.

    `values` has those by (element, name); the others are what element.default_of(name) says.
    """

    def __init__(self, values=()):
        self.values = dict(values)

    def get(self, element, name):
        if self.values and (element, name) in self.values:
            return self.values[element, name]
        return element.default_of(name)

    def set(self, element, name, value):
        self.values[element, name] = value

    def of_elements(self, counterpart):
        """These parameters, of the elements in a dictionary that stand for their own; None: the same elements."""
        if counterpart is None:
            return self.copy()
        return Parameters({(counterpart[e], name): value for (e, name), value in self.values.items()})

    def copy(self):
        return Parameters(self.values)


DEFAULTS = Parameters()
