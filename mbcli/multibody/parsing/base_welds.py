"""Welds of links that would float to the world."""


def weld_bases(plant):
    """Welds what would float where its file puts it."""
    for mobod in plant.forest()[0]:
        if mobod.joint is None:
            _weld_in_place(plant, mobod.link)


def _weld_in_place(plant, link):
    body = plant.elements.bodies[link]
    plant.WeldFrames(plant.world_frame(), body.body_frame(), plant.GetDefaultFreeBodyPose(body))


def weld_massless_bases(plant):
    """Welds what would float and has neither mass nor joints; returns these bodies.

    What it carries by joints that leave all six velocities free does not feel it.
    """
    if all(body.default_mass() > 0.0 for body in plant.elements.bodies[1:]):
        return []
    mobods = plant.forest()[0]
    moves = {0}  # what has mass, or carries something that has or that a joint can move
    for mobod in reversed(mobods):
        freedoms = 6 if mobod.joint is None else plant.elements.joints[mobod.joint].num_velocities()
        if plant.elements.bodies[mobod.link].default_mass() > 0.0 or 0 < freedoms < 6:
            moves.add(mobod.link)
        if mobod.link in moves and freedoms < 6:
            moves.add(mobod.inboard)
    links = [mobod.link for mobod in mobods if mobod.joint is None and mobod.link not in moves]
    for link in links:
        _weld_in_place(plant, link)
    return [plant.elements.bodies[link] for link in links]
