"""The desired state of the PD controllers of a model file in a run from the shell."""

from mbcli.errors import MbcliError, ModelError


def hold_default_positions(plant, context):
    """Lets every controller aim at its joint's default position, at rest; returns the names of their actuators.

    Raises ModelError if an instance has actuators with and without controllers.
    """
    if not plant.has_controllers():
        return []
    controlled = plant.controlled_actuators()
    default = plant.GetDefaultPositions()
    for instance in {int(a.model_instance()): a.model_instance() for a in controlled}.values():
        q = [
            default[plant.get_joint_actuator(k).joint().position_start()]
            for k in plant.GetJointActuatorIndices(instance)
        ]
        plant.get_desired_state_input_port(instance).FixValue(context, [*q, *(0.0 for _ in q)])
    try:
        plant.set_controllers(context)
    except MbcliError:
        raise
    except RuntimeError as error:
        raise ModelError(str(error)) from None
    return [actuator.name() for actuator in controlled]
