"""PlantCore: the names of a MultibodyPlant, each a function of the file that its subject has in this package."""

from __future__ import annotations

from functools import cached_property

from mbcli.multibody.core import (
    constraints,
    contact,
    contact_forces,
    coordinate_limits,
    coordinate_names,
    coordinates,
    derivatives,
    dynamics,
    elements,
    energy,
    finalize,
    force_elements,
    free_bodies,
    geometry,
    inputs,
    jacobians,
    kinematics,
    lookup,
    mass_properties,
    outputs,
    plant_settings,
    random_state,
    rates,
    reaction_forces,
    removal,
    selectors,
    settings,
    topology_queries,
    transmissions,
)
from mbcli.multibody.core.plant_data import PlantData


class PlantCore(PlantData):
    """All of a MultibodyPlant but what needs runs over time.

    Its data are those of PlantData. A method is a function of the data, in a file of this package: functions call each
    other, not the names below, so that what a subject builds on stands in its imports.
    """

    def __init__(self, time_step: float) -> None:
        super().__init__(time_step)
        elements.add_world(self)

    # lookup.py

    num_bodies = lookup.num_bodies
    num_frames = lookup.num_frames
    num_joints = lookup.num_joints
    num_force_elements = lookup.num_force_elements
    num_model_instances = lookup.num_model_instances
    num_actuators = lookup.num_actuators
    world_body = lookup.world_body
    world_frame = lookup.world_frame
    get_body = lookup.get_body
    get_frame = lookup.get_frame
    get_joint = lookup.get_joint
    get_joint_actuator = lookup.get_joint_actuator
    get_force_element = lookup.get_force_element
    has_joint = lookup.has_joint
    has_joint_actuator = lookup.has_joint_actuator
    HasBodyNamed = lookup.HasBodyNamed
    HasFrameNamed = lookup.HasFrameNamed
    HasJointNamed = lookup.HasJointNamed
    HasJointActuatorNamed = lookup.HasJointActuatorNamed
    GetBodyByName = lookup.GetBodyByName
    GetFrameByName = lookup.GetFrameByName
    GetJointByName = lookup.GetJointByName
    GetJointActuatorByName = lookup.GetJointActuatorByName
    NumBodiesWithName = lookup.NumBodiesWithName
    HasModelInstanceNamed = lookup.HasModelInstanceNamed
    GetModelInstanceByName = lookup.GetModelInstanceByName
    GetModelInstanceName = lookup.GetModelInstanceName
    GetBodyIndices = lookup.GetBodyIndices
    GetFrameIndices = lookup.GetFrameIndices
    GetJointIndices = lookup.GetJointIndices
    GetJointActuatorIndices = lookup.GetJointActuatorIndices
    GetActuatedJointIndices = lookup.GetActuatedJointIndices
    num_actuated_dofs = lookup.num_actuators
    get_mutable_joint = lookup.get_joint
    get_mutable_joint_actuator = lookup.get_joint_actuator
    GetRigidBodyByName = lookup.GetBodyByName
    GetMutableJointByName = lookup.GetJointByName

    # transmissions.py, actuators that pydrake has not

    transmissions_at = transmissions.transmissions_at
    activations = transmissions.activations
    set_activations = transmissions.set_activations
    activation_names = transmissions.activation_names
    add_transmission_actuator = elements.add_transmission_actuator
    add_tendon_spring = elements.add_tendon_spring

    # topology_queries.py

    tree_height = topology_queries.tree_height  # of C++ MultibodyTree
    GetFloatingBaseBodies = topology_queries.GetFloatingBaseBodies
    HasUniqueFloatingBaseBody = topology_queries.HasUniqueFloatingBaseBody
    GetUniqueFloatingBaseBodyOrThrow = topology_queries.GetUniqueFloatingBaseBodyOrThrow
    IsAnchored = topology_queries.IsAnchored
    GetBodiesWeldedTo = topology_queries.GetBodiesWeldedTo
    GetBodiesKinematicallyAffectedBy = topology_queries.GetBodiesKinematicallyAffectedBy
    GetTopologyGraphvizString = topology_queries.GetTopologyGraphvizString
    HasUniqueFreeBaseBody = topology_queries.HasUniqueFloatingBaseBody
    GetUniqueFreeBaseBodyOrThrow = topology_queries.GetUniqueFloatingBaseBodyOrThrow

    # coordinates.py

    num_positions = coordinates.num_positions
    num_velocities = coordinates.num_velocities
    num_multibody_states = coordinates.num_multibody_states
    GetPositions = coordinates.GetPositions
    GetVelocities = coordinates.GetVelocities
    GetPositionsAndVelocities = coordinates.GetPositionsAndVelocities
    SetPositions = coordinates.SetPositions
    SetVelocities = coordinates.SetVelocities
    SetPositionsAndVelocities = coordinates.SetPositionsAndVelocities
    GetPositionsFromArray = coordinates.GetPositionsFromArray
    GetVelocitiesFromArray = coordinates.GetVelocitiesFromArray
    SetPositionsInArray = coordinates.SetPositionsInArray
    SetVelocitiesInArray = coordinates.SetVelocitiesInArray
    GetDefaultPositions = coordinates.GetDefaultPositions
    SetDefaultPositions = coordinates.SetDefaultPositions
    CreateDefaultContext = coordinates.CreateDefaultContext
    SetDefaultState = coordinates.SetDefaultState

    # coordinate_names.py

    GetPositionNames = coordinate_names.GetPositionNames
    GetVelocityNames = coordinate_names.GetVelocityNames
    GetStateNames = coordinate_names.GetStateNames
    GetActuatorNames = coordinate_names.GetActuatorNames

    # coordinate_limits.py

    GetPositionLowerLimits = coordinate_limits.GetPositionLowerLimits
    GetPositionUpperLimits = coordinate_limits.GetPositionUpperLimits
    GetVelocityLowerLimits = coordinate_limits.GetVelocityLowerLimits
    GetVelocityUpperLimits = coordinate_limits.GetVelocityUpperLimits
    GetAccelerationLowerLimits = coordinate_limits.GetAccelerationLowerLimits
    GetAccelerationUpperLimits = coordinate_limits.GetAccelerationUpperLimits
    GetEffortLowerLimits = coordinate_limits.GetEffortLowerLimits
    GetEffortUpperLimits = coordinate_limits.GetEffortUpperLimits

    # free_bodies.py

    SetDefaultFreeBodyPose = free_bodies.SetDefaultFreeBodyPose
    GetDefaultFreeBodyPose = free_bodies.GetDefaultFreeBodyPose
    GetFreeBodyPose = free_bodies.GetFreeBodyPose
    SetFreeBodyPose = free_bodies.SetFreeBodyPose
    SetFloatingBaseBodyPoseInWorldFrame = free_bodies.SetFloatingBaseBodyPoseInWorldFrame
    SetFloatingBaseBodyPoseInAnchoredFrame = free_bodies.SetFloatingBaseBodyPoseInAnchoredFrame
    SetDefaultFloatingBaseBodyPose = free_bodies.SetDefaultFloatingBaseBodyPose
    GetDefaultFloatingBaseBodyPose = free_bodies.GetDefaultFloatingBaseBodyPose
    SetFreeBodySpatialVelocity = free_bodies.SetFreeBodySpatialVelocity

    # selectors.py

    MakeStateSelectorMatrix = selectors.MakeStateSelectorMatrix
    MakeStateSelectorMatrixFromJointNames = selectors.MakeStateSelectorMatrixFromJointNames
    MakeActuatorSelectorMatrix = selectors.MakeActuatorSelectorMatrix
    MakeActuationMatrix = selectors.MakeActuationMatrix
    MakeActuationMatrixPseudoinverse = selectors.MakeActuationMatrixPseudoinverse
    GetActuationFromArray = selectors.GetActuationFromArray
    SetActuationInArray = selectors.SetActuationInArray

    # elements.py

    AddModelInstance = elements.AddModelInstance
    RenameModelInstance = elements.RenameModelInstance
    AddRigidBody = elements.AddRigidBody
    AddFrame = elements.AddFrame
    AddJoint = elements.AddJoint
    WeldFrames = elements.WeldFrames
    AddJointActuator = elements.AddJointActuator
    RemoveAllJointActuatorEffortLimits = elements.RemoveAllJointActuatorEffortLimits
    AddForceElement = elements.AddForceElement
    deformable_model = elements.deformable_model
    mutable_deformable_model = elements.mutable_deformable_model

    # geometry.py

    num_visual_geometries = geometry.num_visual_geometries
    RegisterAsSourceForSceneGraph = geometry.RegisterAsSourceForSceneGraph
    geometry_source_is_registered = geometry.geometry_source_is_registered
    get_source_id = geometry.get_source_id
    RegisterCollisionGeometry = geometry.RegisterCollisionGeometry
    RegisterVisualGeometry = geometry.RegisterVisualGeometry
    GetCollisionGeometriesForBody = geometry.GetCollisionGeometriesForBody
    GetVisualGeometriesForBody = geometry.GetVisualGeometriesForBody
    num_collision_geometries = geometry.num_collision_geometries
    CollectRegisteredGeometries = geometry.CollectRegisteredGeometries
    GetBodyFrameIdIfExists = geometry.GetBodyFrameIdIfExists
    GetBodyFrameIdOrThrow = geometry.GetBodyFrameIdOrThrow
    GetBodyFromFrameId = geometry.GetBodyFromFrameId
    EvalSceneGraphInspector = geometry.EvalSceneGraphInspector
    get_geometry_query_input_port = geometry.get_geometry_query_input_port

    # constraints.py

    num_tendon_constraints = constraints.num_tendon_constraints
    num_weld_constraints = constraints.num_weld_constraints
    num_distance_constraints = constraints.num_distance_constraints
    num_coupler_constraints = constraints.num_coupler_constraints
    AddCouplerConstraint = constraints.AddCouplerConstraint
    AddDistanceConstraint = constraints.AddDistanceConstraint
    AddBallConstraint = constraints.AddBallConstraint
    AddWeldConstraint = constraints.AddWeldConstraint
    AddTendonConstraint = constraints.AddTendonConstraint
    AddContactConstraint = constraints.AddContactConstraint
    AddLoopConstraint = constraints.AddLoopConstraint
    RemoveConstraint = constraints.RemoveConstraint
    GetConstraintIds = constraints.GetConstraintIds
    num_constraints = constraints.num_constraints
    num_ball_constraints = constraints.num_ball_constraints
    GetConstraintActiveStatus = constraints.GetConstraintActiveStatus
    SetConstraintActiveStatus = constraints.SetConstraintActiveStatus
    GetDefaultDistanceConstraintParams = constraints.GetDefaultDistanceConstraintParams
    GetDistanceConstraintParams = constraints.GetDistanceConstraintParams
    SetDistanceConstraintParams = constraints.SetDistanceConstraintParams

    # removal.py

    RemoveJoint = removal.RemoveJoint
    RemoveJointActuator = removal.RemoveJointActuator

    # finalize.py

    Finalize = finalize.Finalize

    # settings.py

    SetBaseBodyJointType = settings.SetBaseBodyJointType
    GetBaseBodyJointType = settings.GetBaseBodyJointType
    set_penetration_allowance = settings.set_penetration_allowance
    get_penetration_allowance = settings.get_penetration_allowance
    set_stiction_tolerance = settings.set_stiction_tolerance
    get_stiction_tolerance = settings.get_stiction_tolerance
    set_sleep_tolerance = settings.set_sleep_tolerance
    get_sleep_tolerance = settings.get_sleep_tolerance
    set_step_scheme = settings.set_step_scheme
    get_step_scheme = settings.get_step_scheme
    get_contact_penalty_method_time_scale = settings.get_contact_penalty_method_time_scale
    set_contact_model = settings.set_contact_model
    get_contact_model = settings.get_contact_model
    set_contact_surface_representation = settings.set_contact_surface_representation
    get_contact_surface_representation = settings.get_contact_surface_representation
    GetDefaultContactSurfaceRepresentation = staticmethod(plant_settings.GetDefaultContactSurfaceRepresentation)
    set_sap_near_rigid_threshold = settings.set_sap_near_rigid_threshold
    get_sap_near_rigid_threshold = settings.get_sap_near_rigid_threshold
    set_adjacent_bodies_collision_filters = settings.set_adjacent_bodies_collision_filters
    get_adjacent_bodies_collision_filters = settings.get_adjacent_bodies_collision_filters
    set_discrete_contact_approximation = settings.set_discrete_contact_approximation
    get_discrete_contact_approximation = settings.get_discrete_contact_approximation
    set_discrete_contact_solver = settings.set_discrete_contact_solver
    get_discrete_contact_solver = settings.get_discrete_contact_solver

    # kinematics.py

    EvalBodyPoseInWorld = kinematics.EvalBodyPoseInWorld
    EvalBodySpatialVelocityInWorld = kinematics.EvalBodySpatialVelocityInWorld
    EvalBodySpatialAccelerationInWorld = kinematics.EvalBodySpatialAccelerationInWorld
    CalcSpatialAccelerationsFromVdot = kinematics.CalcSpatialAccelerationsFromVdot
    CalcRelativeTransform = kinematics.CalcRelativeTransform
    CalcRelativeRotationMatrix = kinematics.CalcRelativeRotationMatrix
    CalcPointsPositions = kinematics.CalcPointsPositions
    CalcPointsVelocities = kinematics.CalcPointsVelocities

    # jacobians.py

    CalcJacobianAngularVelocity = jacobians.CalcJacobianAngularVelocity
    CalcJacobianTranslationalVelocity = jacobians.CalcJacobianTranslationalVelocity
    CalcJacobianSpatialVelocity = jacobians.CalcJacobianSpatialVelocity
    CalcJacobianPositionVector = jacobians.CalcJacobianPositionVector
    CalcJacobianCenterOfMassTranslationalVelocity = jacobians.CalcJacobianCenterOfMassTranslationalVelocity
    CalcBiasSpatialAcceleration = jacobians.CalcBiasSpatialAcceleration
    CalcBiasTranslationalAcceleration = jacobians.CalcBiasTranslationalAcceleration
    CalcBiasCenterOfMassTranslationalAcceleration = jacobians.CalcBiasCenterOfMassTranslationalAcceleration

    # dynamics.py

    CalcMassMatrix = dynamics.CalcMassMatrix
    CalcMassMatrixViaInverseDynamics = dynamics.CalcMassMatrixViaInverseDynamics
    CalcBiasTerm = dynamics.CalcBiasTerm
    CalcGravityGeneralizedForces = dynamics.CalcGravityGeneralizedForces
    CalcInverseDynamics = dynamics.CalcInverseDynamics
    CalcRequiredForces = dynamics.CalcRequiredForces
    CalcAccelerations = dynamics.CalcAccelerations
    CalcGeneralizedForces = dynamics.CalcGeneralizedForces
    CalcForwardDynamics = dynamics.CalcForwardDynamics
    EvalTimeDerivatives = dynamics.EvalTimeDerivatives

    # rates.py

    MapVelocityToQDot = rates.MapVelocityToQDot
    MapQDotToVelocity = rates.MapQDotToVelocity
    MakeVelocityToQDotMap = rates.MakeVelocityToQDotMap
    MakeQDotToVelocityMap = rates.MakeQDotToVelocityMap
    IsVelocityEqualToQDot = rates.IsVelocityEqualToQDot

    # mass_properties.py

    CalcTotalMass = mass_properties.CalcTotalMass
    CalcCenterOfMassPositionInWorld = mass_properties.CalcCenterOfMassPositionInWorld
    CalcCenterOfMassTranslationalVelocityInWorld = mass_properties.CalcCenterOfMassTranslationalVelocityInWorld
    CalcCenterOfMassTranslationalAccelerationInWorld = mass_properties.CalcCenterOfMassTranslationalAccelerationInWorld
    CalcSpatialMomentumInWorldAboutPoint = mass_properties.CalcSpatialMomentumInWorldAboutPoint
    CalcSpatialInertia = mass_properties.CalcSpatialInertia
    CalcArticulatedBodyInertias = mass_properties.CalcArticulatedBodyInertias

    # energy.py

    CalcKineticEnergy = energy.CalcKineticEnergy
    CalcPotentialEnergy = energy.CalcPotentialEnergy
    CalcBodyEnergies = energy.CalcBodyEnergies
    CalcConservativePower = energy.CalcConservativePower
    CalcNonConservativePower = energy.CalcNonConservativePower
    CalcJointDampingPower = energy.CalcJointDampingPower
    EvalKineticEnergy = energy.CalcKineticEnergy
    EvalPotentialEnergy = energy.CalcPotentialEnergy
    EvalConservativePower = energy.CalcConservativePower
    EvalNonConservativePower = energy.CalcNonConservativePower

    # force_elements.py

    gravity_field = force_elements.gravity_field
    mutable_gravity_field = force_elements.mutable_gravity_field
    set_gravity_enabled = force_elements.set_gravity_enabled
    is_gravity_enabled = force_elements.is_gravity_enabled
    CalcForceElementsContribution = force_elements.CalcForceElementsContribution

    # inputs.py

    get_actuation_input_port = inputs.get_actuation_input_port
    get_desired_state_input_port = inputs.get_desired_state_input_port
    get_applied_generalized_force_input_port = inputs.get_applied_generalized_force_input_port
    get_applied_spatial_force_input_port = inputs.get_applied_spatial_force_input_port

    # reaction_forces.py

    CalcReactionForces = reaction_forces.CalcReactionForces

    # outputs.py

    SetUseSampledOutputPorts = outputs.SetUseSampledOutputPorts
    has_sampled_output_ports = outputs.has_sampled_output_ports
    get_state_output_port = outputs.get_state_output_port
    get_body_poses_output_port = outputs.get_body_poses_output_port
    get_body_spatial_velocities_output_port = outputs.get_body_spatial_velocities_output_port
    get_body_spatial_accelerations_output_port = outputs.get_body_spatial_accelerations_output_port
    get_generalized_acceleration_output_port = outputs.get_generalized_acceleration_output_port
    get_net_actuation_output_port = outputs.get_net_actuation_output_port
    get_reaction_forces_output_port = outputs.get_reaction_forces_output_port
    get_contact_results_output_port = outputs.get_contact_results_output_port
    get_generalized_contact_forces_output_port = outputs.get_generalized_contact_forces_output_port
    get_geometry_pose_output_port = outputs.get_geometry_pose_output_port
    get_deformable_body_configuration_output_port = outputs.get_deformable_body_configuration_output_port
    GetOutputPort = outputs.GetOutputPort

    # derivatives.py

    CalcDerivatives = derivatives.CalcDerivatives
    ToAutoDiffXd = derivatives.ToAutoDiffXd
    ToSymbolic = derivatives.ToSymbolic
    ToScalarType = property(derivatives.ToScalarType)
    Clone = derivatives.Clone

    # random_state.py

    SetRandomContext = random_state.SetRandomContext
    SetRandomState = random_state.SetRandomState
    SetFreeBodyRandomTranslationDistribution = random_state.SetFreeBodyRandomTranslationDistribution
    SetFreeBodyRandomRotationDistribution = random_state.SetFreeBodyRandomRotationDistribution
    SetFreeBodyRandomRotationDistributionToUniform = random_state.SetFreeBodyRandomRotationDistributionToUniform
    SetFreeBodyRandomAnglesDistribution = random_state.SetFreeBodyRandomAnglesDistribution

    # what rooms below this one ask of a plant (OwningPlant), and a system of each of its kind

    check_instance = lookup.check_instance
    free_joint_of = lookup.free_joint_of
    moving_joints = coordinates.moving_joints
    vector = staticmethod(coordinates.vector)
    context_of = staticmethod(coordinates.context_of)
    register_deformable_geometry = geometry.register_deformable_geometry
    require_scene_graph = geometry.require_scene_graph
    compiled_geometries = geometry.compiled_geometries
    geometry_revision = geometry.geometry_revision
    constraints_of = staticmethod(constraints.constraints_of)
    constraint = constraints.constraint_of_id
    active_constraints = constraints.active_constraints
    constraints_by_default = finalize.constraints_by_default
    compiled_model = finalize.compiled_model
    forest = finalize.find_forest
    stiction_tolerance_of = settings.stiction_tolerance_of
    strength_of_gravity = settings.strength_of_gravity
    frame_number = kinematics.frame_number
    frame_numbers = kinematics.frame_numbers
    one_point = staticmethod(kinematics.one_point)
    frame_acceleration = kinematics.frame_acceleration
    point_acceleration = kinematics.point_acceleration
    frame_acceleration_beside = kinematics.frame_acceleration_beside
    make_context = dynamics.make_context
    energies = energy.energies
    check_forces = force_elements.check_forces
    check_force_elements = force_elements.check_force_elements
    user_forces = force_elements.user_forces
    input_ports = inputs.input_ports
    actuation = inputs.actuation
    set_controllers = inputs.set_controllers
    input_generalized_forces = inputs.input_generalized_forces
    input_body_forces = inputs.input_body_forces
    meets_contact = contact.meets_contact
    asks_for_surfaces = contact.asks_for_surfaces
    requires_surfaces = contact.requires_surfaces
    name_in_contact = staticmethod(contact.name_in_contact)
    refuse_contact = contact.refuse_contact
    contact_body_forces = contact.contact_body_forces
    contact_record = contact_forces.contact_record
    output_ports = outputs.output_ports

    # what is computed once, when it is first asked for

    number_of_frame = cached_property(kinematics.number_of_frame)
    first_limited_joint = cached_property(dynamics.first_limited_joint)
    actuation_parts = cached_property(inputs.actuation_parts)
    actuation_ports = cached_property(inputs.actuation_ports)
    joints_by_place = cached_property(coordinate_limits.joints_by_place)
    known_names = cached_property(coordinate_names.known_names)
    known_places = cached_property(coordinates.known_places)
    sizes_of_forces = cached_property(force_elements.sizes_of_forces)
    user_force_elements = cached_property(force_elements.user_force_elements)
    watched_force_elements = cached_property(force_elements.watched_force_elements)
    special_force_elements = cached_property(force_elements.special_force_elements)
    joints_with_rpy = cached_property(rates.joints_with_rpy)
    map_places = cached_property(rates.map_places)
    velocities_are_rates = cached_property(rates.velocities_are_rates)
    selections = cached_property(mass_properties.selections)
    output_ports_by_name = cached_property(outputs.output_ports_by_name)
    joint_tree = cached_property(reaction_forces.joint_tree)
