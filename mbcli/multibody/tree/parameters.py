"""Parameters of elements: the default that an element holds, unless a context has its own value."""


class Parameters:
    """The values that one context has in place of the elements' defaults.

    A parameter `name` of an element is its attribute `_name`.
    """

    def __init__(self, values=()):
        self._values = dict(values)

    def get(self, element, name):
        if self._values and (element, name) in self._values:
            return self._values[element, name]
        return getattr(element, "_" + name)

    def set(self, element, name, value):
        self._values[element, name] = value

    def copy(self):
        return Parameters(self._values)


DEFAULTS = Parameters()
