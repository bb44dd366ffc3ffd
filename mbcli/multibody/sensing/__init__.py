"""What sensors give at the states of a plant."""

from mbcli.late_names import late_names

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    from mbcli.multibody.sensing.evaluation import SensorEvaluator, sensor_values

__all__ = ["SensorEvaluator", "sensor_values"]

__getattr__ = late_names(
    __name__,
    {"evaluation": ("SensorEvaluator", "sensor_values")},
)
