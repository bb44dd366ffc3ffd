"""For mkdocstrings: the names of PlantCore, `name = file.function`, are documented as the methods that they are.

A section `Example:` is what it knows as `Examples:`, and shows as code. A docstring that gets the sentences of settings
when it is imported is as it is then.
"""

import copy
import inspect
import pydoc
import re

import griffe


class PlantNames(griffe.Extension):
    def on_instance(self, *, obj, **others):
        if obj.docstring is not None:
            text = obj.docstring.value
            if "{settings}" in text:
                text = inspect.getdoc(pydoc.locate(obj.path))
            obj.docstring.value = text.replace("\nExample:\n", "\nExamples:\n")

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
