"""What lies in the working folder, as a robot that somebody downloaded, is data: no code and no setting of a program.

Only `os`, `sys` and builtin modules are imported here: the command line calls this before it imports anything else.
"""

import os
import sys

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    from collections.abc import Mapping


def leave_working_folder() -> None:
    """Takes the working folder out of the path of modules, and relative folders out of the path of programs.

    `python -m` puts the folder there, as an empty entry of PYTHONPATH does. An absolute path in PYTHONPATH stays: it
    names one folder, wherever a command starts.
    """
    try:
        here = os.getcwd()
    except OSError:  # it was removed
        here = ""
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    standard = os.path.dirname(os.__file__)
    for entry in sys.path[:]:
        if entry == standard:  # what follows are installed packages
            break
        if entry in ("", os.curdir) or (entry not in named and os.path.realpath(entry) == os.path.realpath(here)):
            sys.path.remove(entry)
    os.environ.update(safe_variables(os.environ))


def safe_variables(environment: "Mapping[str, str]") -> "dict[str, str]":
    """{name: value} of PYTHONPATH and PATH in which the working folder does not occur, whichever it will be."""
    result = {}
    if "PYTHONPATH" in environment:
        entries = (entry for entry in environment["PYTHONPATH"].split(os.pathsep) if os.path.normpath(entry) != ".")
        result["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, entries))
    if "PATH" in environment:
        result["PATH"] = os.pathsep.join(filter(os.path.isabs, environment["PATH"].split(os.pathsep)))
    return result
