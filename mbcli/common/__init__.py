"""The part of pydrake.common that a plant's user meets, and the common parts of all rooms.

RandomGenerator is imported when it is asked for: the command line imports from here without numpy.
"""

from mbcli.lazy_exports import lazy_exports

TYPE_CHECKING = False  # True to type checkers; typing itself takes longer to import than all else here
if TYPE_CHECKING:
    from mbcli.common.memory_file import MemoryFile, Sha256
    from mbcli.common.parallelism import Parallelism
    from mbcli.common.random_distributions import CalcProbabilityDensity, RandomDistribution
    from mbcli.common.random_generator import RandomGenerator
    from mbcli.common.resources import FindResourceOrThrow, GetDrakePath, configure_logging
    from mbcli.common.temporary_directories import temp_directory
    from mbcli.common.tolerance_type import ToleranceType
    from mbcli.common.value import List

kDrakeAssertIsArmed = False  # there are no such checks here

__all__ = [
    "CalcProbabilityDensity",
    "FindResourceOrThrow",
    "GetDrakePath",
    "List",
    "MemoryFile",
    "Parallelism",
    "RandomDistribution",
    "RandomGenerator",
    "Sha256",
    "ToleranceType",
    "configure_logging",
    "kDrakeAssertIsArmed",
    "temp_directory",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "memory_file": ("MemoryFile", "Sha256"),
        "parallelism": ("Parallelism",),
        "random_distributions": ("CalcProbabilityDensity", "RandomDistribution"),
        "random_generator": ("RandomGenerator",),
        "resources": ("FindResourceOrThrow", "GetDrakePath", "configure_logging"),
        "temporary_directories": ("temp_directory",),
        "tolerance_type": ("ToleranceType",),
        "value": ("List",),
    },
)
