"""Constraints in the manner of RBDL's Constraints module: contact, loop and custom constraints on a finalized plant.

    cs = ConstraintSet()
    cs.AddContactConstraint("foot", [0, 0, -0.1], [0, 0, 1], "heel")
    cs.Bind(plant)
    qddot = ForwardDynamicsConstraintsDirect(plant, q, qdot, tau, cs)
    cs.force

Values that RBDL writes into reference arguments are returned. `model` is a finalized MultibodyPlant with its default
parameters; a RigidBody, its BodyIndex or its name may stand for RBDL's ids of bodies. Q are the positions of the
plant (nq,), quaternions w x y z; QDot, QDDot and Tau have one element for each of its velocities (nv,): they are v and
vdot of the plant, which are not the rates of Q if a quaternion or roll-pitch-yaw angles describe a joint. G is
the Jacobian by v; a change d of the positions is Q + N(Q) d. Spatial vectors have the rotational part first, along
World's axes. C holds gravity and the forces f_ext, but no joint damping and no force elements: they belong in Tau.

The multipliers `force` and `impulse` act on the system: H QDDot + C = Tau + G^T force. Wherever RBDL has
update_kinematics it may be given here too: it changes nothing, results always belong to the Q that is passed.
"""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.multibody.constraints.assembly import (
        AssemblyResult as AssemblyResult,
        CalcAssemblyQ as CalcAssemblyQ,
        CalcAssemblyQDot as CalcAssemblyQDot,
        CalcAssemblyQOfStates as CalcAssemblyQOfStates,
    )
    from mbcli.multibody.constraints.constraint_set import ConstraintSet as ConstraintSet
    from mbcli.multibody.constraints.custom import Constraint as Constraint
    from mbcli.multibody.constraints.derivatives import (
        ConstrainedDerivatives as ConstrainedDerivatives,
        ForwardDynamicsConstraintsDerivatives as ForwardDynamicsConstraintsDerivatives,
    )
    from mbcli.multibody.constraints.entries import ConstraintType as ConstraintType
    from mbcli.multibody.constraints.forward_dynamics import (
        ForwardDynamicsConstraintsDirect as ForwardDynamicsConstraintsDirect,
        ForwardDynamicsConstraintsNullSpace as ForwardDynamicsConstraintsNullSpace,
        ForwardDynamicsConstraintsRangeSpaceSparse as ForwardDynamicsConstraintsRangeSpaceSparse,
        ForwardDynamicsContactsKokkevis as ForwardDynamicsContactsKokkevis,
    )
    from mbcli.multibody.constraints.impulses import (
        ComputeConstraintImpulsesDirect as ComputeConstraintImpulsesDirect,
        ComputeConstraintImpulsesNullSpace as ComputeConstraintImpulsesNullSpace,
        ComputeConstraintImpulsesRangeSpaceSparse as ComputeConstraintImpulsesRangeSpaceSparse,
    )
    from mbcli.multibody.constraints.inverse_dynamics import (
        InverseDynamicsConstraints as InverseDynamicsConstraints,
        InverseDynamicsConstraintsRelaxed as InverseDynamicsConstraintsRelaxed,
        isConstrainedSystemFullyActuated as isConstrainedSystemFullyActuated,
    )
    from mbcli.multibody.constraints.kinematics import (
        CalcConstrainedSystemVariables as CalcConstrainedSystemVariables,
        CalcConstraintsJacobian as CalcConstraintsJacobian,
        CalcConstraintsPositionError as CalcConstraintsPositionError,
        CalcConstraintsVelocityError as CalcConstraintsVelocityError,
    )
    from mbcli.multibody.constraints.linear_systems import (
        LinearSolver as LinearSolver,
        SolveConstrainedSystemDirect as SolveConstrainedSystemDirect,
        SolveConstrainedSystemNullSpace as SolveConstrainedSystemNullSpace,
        SolveConstrainedSystemRangeSpaceSparse as SolveConstrainedSystemRangeSpaceSparse,
    )
    from mbcli.multibody.constraints.many_states import (
        CalcConstraintsJacobianOfStates as CalcConstraintsJacobianOfStates,
        ForwardDynamicsConstraintsOfStates as ForwardDynamicsConstraintsOfStates,
    )
