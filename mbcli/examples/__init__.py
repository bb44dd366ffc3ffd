"""Small systems that tutorials use, under the names of pydrake.examples."""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.examples.acrobot_control import (
        AcrobotSpongController as AcrobotSpongController,
        AcrobotWEncoder as AcrobotWEncoder,
        SpongControllerParams as SpongControllerParams,
    )
    from mbcli.examples.plants import (
        AcrobotGeometry as AcrobotGeometry,
        AcrobotInput as AcrobotInput,
        AcrobotParams as AcrobotParams,
        AcrobotPlant as AcrobotPlant,
        AcrobotState as AcrobotState,
        PendulumGeometry as PendulumGeometry,
        PendulumInput as PendulumInput,
        PendulumParams as PendulumParams,
        PendulumPlant as PendulumPlant,
        PendulumState as PendulumState,
        QuadrotorGeometry as QuadrotorGeometry,
        QuadrotorPlant as QuadrotorPlant,
        StabilizingLQRController as StabilizingLQRController,
        VanDerPolOscillator as VanDerPolOscillator,
    )
    from mbcli.examples.walkers import (
        CompassGait as CompassGait,
        CompassGaitContinuousState as CompassGaitContinuousState,
        CompassGaitGeometry as CompassGaitGeometry,
        CompassGaitParams as CompassGaitParams,
        RimlessWheel as RimlessWheel,
        RimlessWheelContinuousState as RimlessWheelContinuousState,
        RimlessWheelGeometry as RimlessWheelGeometry,
        RimlessWheelParams as RimlessWheelParams,
    )
