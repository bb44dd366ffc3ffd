"""The elements of MJCF: {element or parent/element: children and @attributes}, and those for a solver or viewer.

KNOWN has all elements of the format, `FOREIGN` those without effect on the mechanism's motion: options of MuJoCo's
solver and contact model, rendering, bookkeeping. `READ` lists the attributes that elements may take from their
default class. Format: https://mujoco.readthedocs.io/en/stable/XMLreference.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def _table(rows: Mapping[str, str]) -> dict[str, frozenset[str]]:
    return {tag: frozenset(names.split()) for tag, names in rows.items()}


_ORIENTATION = "@quat @axisangle @euler @xyaxes @zaxis"
_POSE = f"@pos {_ORIENTATION}"

_JOINT = "@type @pos @axis @range @limited @margin @stiffness @springref @damping @frictionloss @armature @ref"
_JOINT_REST = "@group @actuatorfrcrange @actuatorfrclimited @actuatorgravcomp @class @name"
_JOINT_UNSUPPORTED = "@springdamper @springyield"
_JOINT_SOFT = "@solreflimit @solimplimit"
_JOINT_SOLVER = "@solreffriction @solimpfriction @user"

_GEOM = f"@type @size @fromto {_POSE} @mass @density @group @rgba @material @mesh @hfield @fitscale @shellinertia"
_CONTACT = "@contype @conaffinity @condim @friction @priority @margin @gap"
_GEOM_UNSUPPORTED = "@adhesion @surfacevel @fluidshape @fluidcoef plugin"
_GEOM_SOFT = "@solmix @solref @solimp"
_GEOM_SOLVER = "@user @castshadow"

_PAIR = "@condim @friction @margin @gap"
_PAIR_SOFT = "@solref @solimp"
_PAIR_SOLVER = "@solreffriction"

_TENDON = "@limited @range @margin @frictionloss @springlength @stiffness @damping @armature"
_TENDON_UNSUPPORTED = "@springyield"
_TENDON_VIEWER = "@group @width @material @rgba @user"
_TENDON_SOLVER = "@solreflimit @solimplimit @solreffriction @solimpfriction"
_TENDON_DRIVE = "@actuatorfrcrange @actuatorfrclimited"

_SITE_VIEWER = "@type @size @fromto @group @material @rgba @user @mesh"

_ACTUATOR = "@name @class @joint @jointinparent @gear @ctrlrange @ctrllimited @forcerange @forcelimited "
_ACTUATOR += (
    "@group @armature @damping @inheritrange @tendon @site @refsite @cranksite @slidersite @cranklength @lengthrange"
)
_ACTUATOR_UNSUPPORTED = "@delay"
_ACTUATOR_SOLVER = "@user @interp @nsample"
_GENERAL = "@body @gaintype @gainprm @biastype @biasprm @dyntype @dynprm"  # the last with a dyntype alone
_GENERAL += " @actlimited @actrange @actearly"
_GENERAL_UNSUPPORTED = "@actdim @ffrange @velrange @input"
_MUSCLE = "@timeconst @tausmooth @range @force @scale @lmin @lmax @vmax @fpmax @fvmax"
OTHER_ACTUATORS = "orientation dcmotor plugin"
ACTUATORS = "general motor position velocity intvelocity pid damper cylinder muscle adhesion"
_ADHESION = "@name @class @body @gain @ctrlrange @forcerange @forcelimited @group"
_SERVO = "@kp @kv @dampratio"

_SENSOR = "@name @noise @cutoff @user @nsample @interp @delay @interval"
_ON = {
    "@site": "touch accelerometer velocimeter gyro force torque magnetometer",
    "@site @camera": "camprojection",
    "@site @camera @data": "rangefinder",
    "@joint": "jointpos jointvel jointactuatorfrc ballquat ballangvel jointlimitpos jointlimitvel jointlimitfrc",
    "@tendon": "tendonpos tendonvel tendonactuatorfrc tendonlimitpos tendonlimitvel tendonlimitfrc",
    "@actuator": "actuatorpos actuatorvel actuatorfrc",
    "@objtype @objname @reftype @refname": "framepos framequat framexaxis frameyaxis framezaxis "
    "framelinvel frameangvel",
    "@objtype @objname": "framelinacc frameangacc",
    "@body": "subtreecom subtreelinvel subtreeangmom",
    "@site @objtype @objname @enclosed": "insidesite",
    "@geom1 @geom2 @body1 @body2": "distance normal fromto",
    "@site @geom1 @geom2 @body1 @body2 @subtree1 @subtree2 @data @num @reduce": "contact",
    "@geom @mesh": "tactile",
    "@objtype @objname @datatype @needstage @dim": "user",
    "@plugin @instance @objtype @objname @reftype @refname config": "plugin",
    "": "e_potential e_kinetic clock",
}
SENSORS_OF_MJCF = [tag for tags in _ON.values() for tag in tags.split()]
# why some of them have no kind here
NO_KIND = {"user": "computed by a program of the user", "plugin": "computed by a plugin"}

_ELEMENTS = f"joint geom site mesh equality {ACTUATORS}"
_RENDERED = "camera light material texture"

KNOWN = _table(
    {
        "mujoco": "@model compiler option size visual statistic default custom asset worldbody contact deformable "
        "equality tendon actuator sensor keyframe extension include",
        "compiler": "@angle @eulerseq @autolimits @inertiafromgeom @inertiagrouprange @boundmass @boundinertia "
        "@fitaabb @balanceinertia @settotalmass @coordinate @meshdir @assetdir @strippath @alignfree @texturedir "
        "@discardvisual @usethread @fusestatic @saveinertial @conflict @passthrough @savecanonical "
        "@savecompiled @convexhull @exactmeshinertia lengthrange",
        "lengthrange": "@mode @useexisting @uselimit @accel @maxforce @timeconst @timestep @inttotal "
        "@interval @tolrange",
        "option": "@gravity @wind @density @viscosity @magnetic @timestep @integrator @cone @jacobian @solver "
        "@iterations @tolerance @ls_iterations @ls_tolerance @noslip_iterations @noslip_tolerance @mpr_iterations "
        "@mpr_tolerance @ccd_iterations @ccd_tolerance @sdf_iterations @sdf_initpoints @sleep_tolerance @impratio "
        "@apirate @collision @o_margin @o_solref @o_solimp @o_friction @actuatorgroupdisable flag",
        "flag": "@gravity @constraint @equality @frictionloss @limit @contact @passive @spring @damper @clampctrl "
        "@warmstart @filterparent @actuation @refsafe @sensor @midphase @nativeccd @eulerdamp @autoreset @override "
        "@energy @fwdinv @invdiscrete @multiccd @island @sleep @ipc @speculative @diagexact @sensornoise",
        "default": f"@class default {_ELEMENTS} {_RENDERED} pair tendon {OTHER_ACTUATORS}",
        "asset": "mesh hfield skin texture material model",
        "model": "@name @file @content_type",
        "attach": "@model @body @frame @prefix",
        "mesh": "@name @class @file @scale @refpos @refquat @inertia @vertex @normal @texcoord @face @builtin "
        "@params @material @maxhullvert @smoothnormal @content_type plugin",
        "hfield": "@name @content_type @file @nrow @ncol @size @elevation",
        "material": "@name @class @rgba @texture @texrepeat @texuniform @emission @specular @shininess @reflectance "
        "@metallic @roughness layer",
        "worldbody": "body geom site camera light frame replicate attach composite flexcomp",
        "body": f"@name @childclass @mocap @gravcomp {_POSE} @user @sleep @simple @fuse inertial joint freejoint geom "
        "site camera light body frame replicate attach composite flexcomp plugin",
        "frame": f"@name @childclass {_POSE} joint freejoint geom site camera light body frame replicate attach "
        "composite flexcomp",
        "flexcomp": f"@name @type @dim @dof @count @spacing @scale @mass @rgba @rigid @radius @inertiabox {_POSE} "
        "@group @file @material @flatskin @point @element @origin edge elasticity contact pin plugin",
        "flexcomp/edge": "@equality @solref @solimp @stiffness @damping",
        "flexcomp/elasticity": "@young @poisson @damping @thickness @elastic2d",
        "flexcomp/contact": "@internal @selfcollide @activelayers @vertcollide @contype @conaffinity @condim @priority "
        "@friction @solmix @solref @solimp @margin @gap @passive",
        "inertial": f"{_POSE} @mass @diaginertia @fullinertia",
        "joint": f"{_JOINT} {_JOINT_REST} {_JOINT_UNSUPPORTED} {_JOINT_SOFT} {_JOINT_SOLVER}",
        "freejoint": "@name @group @align",
        "geom": f"@name @class {_GEOM} {_CONTACT} {_GEOM_UNSUPPORTED} {_GEOM_SOFT} {_GEOM_SOLVER}",
        "site": f"@name @class {_POSE} {_SITE_VIEWER}",
        "contact": "pair exclude",
        "pair": f"@name @class @geom1 @geom2 @adhesion {_PAIR} {_PAIR_SOFT} {_PAIR_SOLVER}",
        "exclude": "@name @body1 @body2",
        "tendon": "fixed spatial",
        "default/tendon": f"{_TENDON} {_TENDON_UNSUPPORTED} {_TENDON_VIEWER} {_TENDON_SOLVER} {_TENDON_DRIVE}",
        "fixed": f"@name @class {_TENDON} {_TENDON_UNSUPPORTED} {_TENDON_VIEWER} {_TENDON_SOLVER} {_TENDON_DRIVE} "
        "joint",
        "fixed/joint": "@joint @coef",
        "spatial": f"@name @class {_TENDON} {_TENDON_UNSUPPORTED} {_TENDON_VIEWER} {_TENDON_SOLVER} {_TENDON_DRIVE} "
        "site geom pulley",
        "spatial/site": "@site",
        "spatial/geom": "@geom @sidesite",
        "pulley": "@divisor",
        "equality/tendon": "@name @class @active @tendon1 @tendon2 @polycoef @solref @solimp",
        "equality": "connect weld joint tendon flex flexstrain flexvert distance",
        "default/equality": "@active @solref @solimp",
        "connect": "@name @class @active @body1 @body2 @anchor @site1 @site2 @solref @solimp",
        "weld": "@name @class @active @body1 @body2 @anchor @relpose @site1 @site2 @torquescale @solref @solimp",
        "equality/joint": "@name @class @active @joint1 @joint2 @polycoef @solref @solimp",
        "sensor": " ".join(SENSORS_OF_MJCF),
        **{f"sensor/{tag}": f"{_SENSOR} {names}" for names, tags in _ON.items() for tag in tags.split()},
        "keyframe": "key",
        "key": "@name @time @qpos @qvel @act @ctrl @mpos @mquat",
        "actuator": f"{ACTUATORS} {OTHER_ACTUATORS}",
        "motor": f"{_ACTUATOR} {_ACTUATOR_UNSUPPORTED} {_ACTUATOR_SOLVER}",
        "position": f"{_ACTUATOR} {_SERVO} @timeconst {_ACTUATOR_UNSUPPORTED} {_ACTUATOR_SOLVER}",
        "intvelocity": f"{_ACTUATOR} {_SERVO} @actrange @actlimited {_ACTUATOR_UNSUPPORTED} {_ACTUATOR_SOLVER}",
        "pid": f"{_ACTUATOR} {_SERVO} @ki @imax @slewmax @input @posrange @velrange @ffrange {_ACTUATOR_UNSUPPORTED} "
        f"{_ACTUATOR_SOLVER}",
        "damper": f"{_ACTUATOR} @kv {_ACTUATOR_UNSUPPORTED} {_ACTUATOR_SOLVER}",
        "cylinder": f"{_ACTUATOR} @timeconst @area @diameter @bias {_ACTUATOR_UNSUPPORTED} {_ACTUATOR_SOLVER}",
        "muscle": f"{_ACTUATOR} {_MUSCLE} {_ACTUATOR_UNSUPPORTED} {_ACTUATOR_SOLVER}",
        "velocity": f"{_ACTUATOR} @kv {_ACTUATOR_UNSUPPORTED} {_ACTUATOR_SOLVER}",
        "adhesion": f"{_ADHESION} {_ACTUATOR_UNSUPPORTED} {_ACTUATOR_SOLVER}",
        "general": f"{_ACTUATOR} {_GENERAL} {_GENERAL_UNSUPPORTED} {_ACTUATOR_UNSUPPORTED} {_ACTUATOR_SOLVER}",
    }
)

FOREIGN = _table(
    {
        "mujoco": "size visual statistic custom extension @xsi:noNamespaceSchemaLocation",
        "compiler": "@texturedir @discardvisual @usethread @fusestatic @saveinertial @conflict @passthrough "
        "@savecanonical @savecompiled @convexhull @exactmeshinertia",
        "lengthrange": "@accel @maxforce @timeconst @timestep @inttotal @interval @tolrange",
        "option": "@magnetic @integrator @jacobian @solver @iterations @tolerance @ls_iterations "
        "@ls_tolerance @noslip_iterations @noslip_tolerance @mpr_iterations @mpr_tolerance @ccd_iterations "
        "@ccd_tolerance @sdf_iterations @sdf_initpoints @sleep_tolerance @apirate @collision @o_margin "
        "@o_friction",
        "flag": "@warmstart @refsafe @sensor @midphase @nativeccd @eulerdamp @autoreset @override @energy @fwdinv "
        "@invdiscrete @multiccd @island @sleep @ipc @speculative @diagexact @sensornoise",
        "default": f"{_RENDERED} {OTHER_ACTUATORS}",
        "asset": "texture skin",
        "mesh": "@normal @texcoord @material @maxhullvert @smoothnormal @content_type",
        "material": "@texture @texrepeat @texuniform @emission @specular @shininess @reflectance @metallic @roughness "
        "layer",
        "worldbody": "camera light",
        "body": "@user @sleep @simple @fuse camera light",
        "frame": "@name camera light",
        "flexcomp": "@inertiabox @group @material @flatskin",
        "flexcomp/contact": "@internal @activelayers @vertcollide @passive @solmix @solref @solimp",
        "joint": _JOINT_SOLVER,
        "freejoint": "@group",
        "geom": _GEOM_SOLVER,
        "site": _SITE_VIEWER,
        "default/equality": "@solref @solimp",
        "key": "@time @act @ctrl @mpos @mquat",
        "connect": "@solref @solimp",
        "weld": "@solref @solimp @torquescale",
        "equality/joint": "@solref @solimp",
        "equality/tendon": "@solref @solimp",
        "pair": f"@name {_PAIR_SOLVER}",
        **dict.fromkeys(["default/tendon", "fixed", "spatial"], f"{_TENDON_VIEWER} {_TENDON_SOLVER}"),
        **dict.fromkeys(ACTUATORS.split(), _ACTUATOR_SOLVER),
    }
)

# attributes that an element may take from its class: read with the default, used or not
READ = {
    tag: [name.removeprefix("@") for name in names.split()]
    for tag, names in {
        "joint": f"{_JOINT} {_JOINT_SOFT} @springdamper @group @actuatorfrcrange @actuatorfrclimited @actuatorgravcomp",
        "geom": f"{_GEOM} {_CONTACT} {_GEOM_SOFT}",
        "pair": f"{_PAIR} {_PAIR_SOFT}",
        "tendon": _TENDON,
        "site": f"{_POSE} @type @size",
        "mesh": "@scale @inertia",
        "material": "@rgba",
        "equality": "@active",
        "motor": _ACTUATOR,
        "position": f"{_ACTUATOR} {_SERVO} @timeconst",
        "intvelocity": f"{_ACTUATOR} {_SERVO} @actrange @actlimited",
        "pid": f"{_ACTUATOR} {_SERVO} @ki @slewmax",
        "damper": f"{_ACTUATOR} @kv",
        "muscle": f"{_ACTUATOR} {_MUSCLE}",
        "cylinder": f"{_ACTUATOR} @timeconst @area @diameter @bias",
        "velocity": f"{_ACTUATOR} @kv",
        "adhesion": _ADHESION,
        "general": f"{_ACTUATOR} {_GENERAL}",
    }.items()
}
