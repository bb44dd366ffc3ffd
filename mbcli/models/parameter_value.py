"""A parameter of an element that was set by name."""

from mbcli.common.fast_dataclass import dataclass


@dataclass(frozen=True)
class ParameterValue:
    """The values (n,) that a parameter of one element has got."""

    kind: str
    name: str
    parameter: str
    values: tuple[float, ...]

    def as_dict(self) -> dict:
        """As logs have it."""
        return {"parameter": f"{self.kind}.{self.name}.{self.parameter}", "values": list(self.values)}
