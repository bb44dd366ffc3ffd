"""Names that point to one other each: their order, and the circles among them."""


def find_cycles(arrow):
    """The cycles, lists of names, of names that point to at most one other each: {name: name or None}."""
    return order_by_arrow(arrow)[1]


def order_by_arrow(arrow):
    """Sort names so that each comes after the one that its arrow points to.

    arrow: {name: the name it points to, or None}. Returns (order, cycles), both lists; names whose arrows
    lead into a cycle or out of the dictionary are not in the order.
    """
    sound: dict[str, bool] = {}  # name: its arrows end at a None
    order, cycles = [], []
    for start in arrow:
        path: dict[str, int] = {}  # name: position
        name = start
        while name in arrow and name not in sound and name not in path:
            path[name] = len(path)
            name = arrow[name]
        if name in path:
            cycles.append(list(path)[path[name] :])
        ends_well = name is None or sound.get(name, False)
        for passed in reversed(path):
            sound[passed] = ends_well
            if ends_well:
                order.append(passed)
    return order, cycles
