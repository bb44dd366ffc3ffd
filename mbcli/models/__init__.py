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

with lazy_exports(__name__):
    from mbcli.models.assembly import assemble as assemble
    from mbcli.models.constrained_motion import (
        constrained_dynamics as constrained_dynamics,
        constrained_inverse_dynamics as constrained_inverse_dynamics,
    )
    from mbcli.models.contacts import (
        contact_points as contact_points,
        contact_surfaces as contact_surfaces,
        geometry_distances as geometry_distances,
    )
    from mbcli.models.description import describe as describe
    from mbcli.models.frame_places import IkResult as IkResult, inverse_kinematics as inverse_kinematics
    from mbcli.models.loaded_model import LoadedModel as LoadedModel
    from mbcli.models.loading import ModelText as ModelText, load_model as load_model
    from mbcli.models.mass_motion import center_of_mass as center_of_mass, momentum as momentum
    from mbcli.models.parameter_assignments import (
        changed_parameters as changed_parameters,
        parameters_of as parameters_of,
        set_parameters as set_parameters,
    )
