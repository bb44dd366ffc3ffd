"""The part of pydrake.common that a plant's user meets, and the common parts of all rooms.

RandomGenerator is imported when it is asked for: the command line imports from here without numpy.
"""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__, "kDrakeAssertIsArmed"):
    from mbcli.common.memory_file import MemoryFile as MemoryFile, Sha256 as Sha256
    from mbcli.common.parallelism import Parallelism as Parallelism
    from mbcli.common.random_distributions import (
        CalcProbabilityDensity as CalcProbabilityDensity,
        RandomDistribution as RandomDistribution,
    )
    from mbcli.common.random_generator import RandomGenerator as RandomGenerator
    from mbcli.common.resources import (
        FindResourceOrThrow as FindResourceOrThrow,
        GetDrakePath as GetDrakePath,
        configure_logging as configure_logging,
    )
    from mbcli.common.temporary_directories import temp_directory as temp_directory
    from mbcli.common.tolerance_type import ToleranceType as ToleranceType
    from mbcli.common.value import List as List

kDrakeAssertIsArmed = False  # there are no such checks here
