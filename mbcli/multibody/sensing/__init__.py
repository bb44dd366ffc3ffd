"""What sensors give at the states of a plant."""

from mbcli.lazy_exports import lazy_exports

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    from mbcli.multibody.sensing.evaluation import SensorEvaluator, sensor_values

__all__ = ["SensorEvaluator", "sensor_values"]

__getattr__ = lazy_exports(
    __name__,
    {"evaluation": ("SensorEvaluator", "sensor_values")},
)
