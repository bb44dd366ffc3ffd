"""The desired state of the PD controllers of a model file in a run from the shell."""

from mbcli.errors import MbcliError, ModelError


def aim_at_rest(actuator, default):
    """(position, velocity) of the joint of an actuator where nothing is asked of it; default: (nq,) positions."""
    return actuator.rest or (float(default[actuator.joint().position_start()]), 0.0)


def hold_default_positions(plant, context):
    """Lets every controller aim at its joint's default position, at rest, or where its file lets it aim; returns the
    names of their actuators.

    Raises ModelError if an instance has actuators with and without controllers.
    """
    if not plant.has_controllers():
        return []
    controlled = plant.controlled_actuators()
    default = plant.GetDefaultPositions()
    for instance in {int(a.model_instance()): a.model_instance() for a in controlled}.values():
        actuators = [plant.get_joint_actuator(k) for k in plant.GetJointActuatorIndices(instance)]
        q, v = zip(*(aim_at_rest(actuator, default) for actuator in actuators), strict=True)
        plant.get_desired_state_input_port(instance).FixValue(context, [*q, *v])
    try:
        plant.set_controllers(context)
    except MbcliError:
        raise
    except RuntimeError as error:
        raise ModelError(str(error)) from None
    return [actuator.name() for actuator in controlled]
