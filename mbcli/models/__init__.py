"""Models that are ready to be simulated and analysed, and their description.

loaded_model        LoadedModel: a plant with the files that it was read from
loading             load_model(): files, directives, scenarios and settings to a finalized plant
element_parameters  what can be changed of elements by name; parameter_assignments: PATH=VALUE
settings            the settings in configuration files and scenarios
added_actuators     actuators for joints that are held or driven and have none; servo_gains: by their masses
self_contact        which bodies of one robot touch each other
mechanisms          bodies that joints connect
placed_solids       solids at positions of a plant: distances and extents
placement           robots put down on the ground; falling: those that nothing holds
description         describe(): a plant as data
measures            extent, reach, standing height
contacts            contacts and distances at a state
mass_motion         centre of mass and momentum
assembly            the nearest state that satisfies the constraints
frame_places        inverse_kinematics(): positions at which frames are where they are wanted
constrained_motion  accelerations, forces and impulses under constraints
units               units of coordinates
postures            named postures as states
states              states of a plant from names, random numbers, JSON documents and logs
"""

from mbcli.lazy_exports import lazy_exports

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    from mbcli.models.assembly import assemble
    from mbcli.models.constrained_motion import constrained_dynamics, constrained_inverse_dynamics
    from mbcli.models.contacts import contact_points, contact_surfaces, geometry_distances
    from mbcli.models.description import describe
    from mbcli.models.frame_places import IkResult, inverse_kinematics
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.models.loading import ModelText, load_model
    from mbcli.models.mass_motion import center_of_mass, momentum
    from mbcli.models.parameter_assignments import changed_parameters, parameters_of, set_parameters

__all__ = [
    "IkResult",
    "LoadedModel",
    "ModelText",
    "assemble",
    "center_of_mass",
    "changed_parameters",
    "constrained_dynamics",
    "constrained_inverse_dynamics",
    "contact_points",
    "contact_surfaces",
    "describe",
    "geometry_distances",
    "inverse_kinematics",
    "load_model",
    "momentum",
    "parameters_of",
    "set_parameters",
]


__getattr__ = lazy_exports(
    __name__,
    {
        "frame_places": ("IkResult", "inverse_kinematics"),
        "loaded_model": ("LoadedModel",),
        "loading": ("ModelText", "load_model"),
        "assembly": ("assemble",),
        "mass_motion": ("center_of_mass", "momentum"),
        "constrained_motion": ("constrained_dynamics", "constrained_inverse_dynamics"),
        "contacts": ("contact_points", "contact_surfaces", "geometry_distances"),
        "description": ("describe",),
        "parameter_assignments": ("changed_parameters", "parameters_of", "set_parameters"),
    },
)
