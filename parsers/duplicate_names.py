"""Names that two elements have."""


def report_duplicate(node, kind, name, first_place):
    node.diagnostics.error(
        "DUPLICATE_NAME",
        f'the {kind} name "{name}" is taken already, at {first_place}',
        node,
        attribute="name",
        value=name,
        related=(first_place,),
    )
