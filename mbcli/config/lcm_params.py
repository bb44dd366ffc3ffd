"""The settings of messages that scenarios of Drake have; nothing sends messages here."""

from mbcli.common.fast_dataclass import dataclass

__all__ = ["DrakeLcmParams"]


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
