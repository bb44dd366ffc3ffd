"""Names of elements within model instances, as "namespace::element"; the namespace may itself contain "::"."""

from __future__ import annotations

from mbcli.errors import ModelError

DELIMITER = "::"


class ScopedName:
    """A namespace, possibly empty, and the name of an element in it.

    Raises ModelError if the namespace begins or ends with "::", or if the element is empty or contains "::".
    Made from nothing, both are empty. A single ':' is an ordinary character.
    """

    __slots__ = ("_namespace", "_element")

    def __init__(self, namespace_name: str | None = None, element_name: str | None = None) -> None:
        if namespace_name is None and element_name is None:
            self._namespace = self._element = ""
            return
        if not isinstance(namespace_name, str) or not isinstance(element_name, str):
            raise TypeError("ScopedName: expected two strings, namespace_name and element_name")
        if not _is_well_formed(namespace_name, element_name):
            raise ModelError(
                f"ScopedName: misplaced '{DELIMITER}' or empty element in ({namespace_name!r}, {element_name!r})"
            )
        self._namespace, self._element = namespace_name, element_name

    @staticmethod
    def Make(namespace_name: str, element_name: str) -> ScopedName | None:
        """Return the scoped name of the two parts, or None if the constructor would raise."""
        if not _is_well_formed(namespace_name, element_name):
            return None
        return ScopedName(namespace_name, element_name)

    @staticmethod
    def Join(name1: str, name2: str) -> ScopedName:
        """Return the two names in one, `name1` as the outer namespace; the last token is the element."""
        return ScopedName.Parse(f"{name1}{DELIMITER}{name2}")

    @staticmethod
    def Parse(scoped_name: str) -> ScopedName:
        """Return the parts of a name: leading and trailing "::" are dropped and repeated ones count as one.

        If colons leave a choice ("a:::b"), delimiters are found from the right, as far as they repeat.
        """
        namespace, element = _split_last(_without_outer_delimiters(scoped_name))
        tokens = [element]
        while namespace:
            namespace, token = _split_last(namespace)
            tokens.append(token)
        name = ScopedName()
        name._namespace, name._element = DELIMITER.join(reversed(tokens[1:])), element
        return name

    def get_namespace(self) -> str:
        """Return the namespace, which may be empty."""
        return self._namespace

    def get_element(self) -> str:
        """Return the name of the element."""
        return self._element

    def get_full(self) -> str:
        """Return "namespace::element", or only the element if the namespace is empty."""
        return f"{self._namespace}{DELIMITER}{self._element}" if self._namespace else self._element

    def to_string(self) -> str:
        """Return the result of get_full()."""
        return self.get_full()

    def set_namespace(self, namespace_name: str) -> None:
        """Replace the namespace; ModelError as from the constructor."""
        self._namespace = ScopedName(namespace_name, self._element)._namespace

    def set_element(self, element_name: str) -> None:
        """Replace the element; ModelError as from the constructor."""
        self._element = ScopedName(self._namespace, element_name)._element

    def __str__(self) -> str:
        return self.get_full()

    def __repr__(self) -> str:
        return f"ScopedName({self._namespace!r}, {self._element!r})"


def _is_well_formed(namespace: str, element: str) -> bool:
    outer = namespace.startswith(DELIMITER) or namespace.endswith(DELIMITER)
    return not outer and bool(element) and DELIMITER not in element


def _without_outer_delimiters(name: str) -> str:
    colons = len(name) - len(name.lstrip(":"))
    return _without_final_delimiters(name[colons - colons % 2 :])


def _without_final_delimiters(name: str) -> str:
    colons = len(name) - len(name.rstrip(":"))
    return name[: len(name) - (colons - colons % 2)]


def _split_last(name: str) -> tuple[str, str]:
    """Return the part before the last delimiter, without delimiters at its end, and the part after it."""
    before, _, after = name.rpartition(DELIMITER)
    return _without_final_delimiters(before), after
