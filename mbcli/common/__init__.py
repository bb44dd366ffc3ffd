"""The part of pydrake.common that a plant's user meets, and the common parts of all rooms.

RandomGenerator is imported when it is asked for: the command line imports from here without numpy.
"""

from mbcli.late_names import late_names

TYPE_CHECKING = False  # True to type checkers; typing itself takes longer to import than all else here
if TYPE_CHECKING:
    from mbcli.common.random_distributions import RandomDistribution
    from mbcli.common.random_generator import RandomGenerator

__all__ = ["RandomDistribution", "RandomGenerator"]

__getattr__ = late_names(
    __name__, {"random_distributions": ("RandomDistribution",), "random_generator": ("RandomGenerator",)}
)
