"""What sensors give at the states of a plant."""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.multibody.sensing.evaluation import SensorEvaluator as SensorEvaluator, sensor_values as sensor_values
