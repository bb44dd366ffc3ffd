"""For mkdocstrings: the names of PlantCore, `name = file.function`, are documented as the methods that they are.

And sections `Example:` are what it knows as `Examples:`, which it shows as code.
"""

import copy
import re

import griffe


class PlantNames(griffe.Extension):
    def on_instance(self, *, obj, **others):
        if obj.docstring is not None:
            obj.docstring.value = obj.docstring.value.replace("\nExample:\n", "\nExamples:\n")

    def on_package(self, *, pkg, **others):
        if pkg.path != "mbcli":
            return
        core = pkg["multibody.core.plant_core.PlantCore"]
        for name, member in list(core.members.items()):
            found = re.fullmatch(r"(\w+\()?(\w+)\.(\w+)\)?", str(member.value)) if member.is_attribute else None
            if found is None:
                continue
            method = copy.copy(pkg["multibody.core"][found[2]][found[3]])
            method.name, method.parent = name, core
            if found[1] != "staticmethod(":
                method.parameters = griffe.Parameters(*list(method.parameters)[1:])  # without the plant
            core.set_member(name, method)
