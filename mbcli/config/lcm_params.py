"""The settings of messages that scenarios and scripts for Drake have; nothing sends messages here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.common.fast_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["ApplyLcmBusConfig", "DrakeLcmParams", "LcmBuses"]

NOWHERE = "memq://"


@dataclass
class DrakeLcmParams:
    """Where Drake would send messages, so that files and scripts that name it can be read; nothing uses it.

    Args:
        lcm_url: the address.
        channel_suffix: at the end of the names of channels.
        defer_initialization: whether threads start at the first message.
    """

    lcm_url: str = ""
    channel_suffix: str = ""
    defer_initialization: bool = False


class LcmBuses:
    """The names of buses of messages, of which none leads anywhere."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = sorted(names)

    def size(self) -> int:
        """The number of buses."""
        return len(self._names)

    def GetAllBusNames(self) -> list[str]:
        """The names of the buses, sorted."""
        return list(self._names)


def ApplyLcmBusConfig(lcm_buses: Mapping[str, DrakeLcmParams | None], builder: Any) -> LcmBuses:
    """The buses of these names, for scripts that hand them on to what shows or drives a plant.

    They are those without a network: NotImplementedError for another address than `memq://`, as nothing sends messages.
    """
    for name, params in lcm_buses.items():
        if params is not None and not params.lcm_url.startswith(NOWHERE):
            raise NotImplementedError(
                f"bus '{name}': nothing sends messages here, its lcm_url can only be {NOWHERE}null"
            )
    return LcmBuses(lcm_buses)
