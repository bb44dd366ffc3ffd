"""The part of pydrake.common that a plant's user meets, and the common parts of all rooms.

RandomGenerator is imported when it is asked for: the command line imports from here without numpy.
"""

from mbcli.lazy_exports import lazy_exports

TYPE_CHECKING = False  # True to type checkers; typing itself takes longer to import than all else here
if TYPE_CHECKING:
    from mbcli.common.random_distributions import RandomDistribution
    from mbcli.common.random_generator import RandomGenerator
    from mbcli.common.temporary_directories import temp_directory

__all__ = ["RandomDistribution", "RandomGenerator", "temp_directory"]

__getattr__ = lazy_exports(
    __name__,
    {
        "random_distributions": ("RandomDistribution",),
        "random_generator": ("RandomGenerator",),
        "temporary_directories": ("temp_directory",),
    },
)
