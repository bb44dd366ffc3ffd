"""Motions that minimize costs within constraints, and diagrams of a robot, under the names of pydrake.planning."""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.planning.direct_collocation import (
        AddDirectCollocationConstraint as AddDirectCollocationConstraint,
        DirectCollocation as DirectCollocation,
        DirectCollocationConstraint as DirectCollocationConstraint,
    )
    from mbcli.planning.direct_transcription import DirectTranscription as DirectTranscription
    from mbcli.planning.dof_mask import DofMask as DofMask
    from mbcli.planning.joint_limits import JointLimits as JointLimits
    from mbcli.planning.kinematic_trajectory_optimization import (
        KinematicTrajectoryOptimization as KinematicTrajectoryOptimization,
    )
    from mbcli.planning.multiple_shooting import MultipleShooting as MultipleShooting
    from mbcli.planning.region_of_attraction import (
        RegionOfAttraction as RegionOfAttraction,
        RegionOfAttractionOptions as RegionOfAttractionOptions,
    )
    from mbcli.planning.robot_diagram import RobotDiagram as RobotDiagram, RobotDiagramBuilder as RobotDiagramBuilder
