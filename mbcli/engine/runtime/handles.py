"""Arguments of kernels from Python, and how the stages turn them back into Model and Data.

Interpreted, a handle is the Python object. Compiled, it is the address of a numba struct, an integer: numba takes
0.15 us for a call with two integers and 1.07 us for one with two structs (measured), as long as a mass matrix of a
humanoid takes to compute. The owner of the handle keeps the struct alive. A struct itself is a handle too.
"""


def model_at(handle):
    """The model behind a handle. Interpreted, the handle is the model; structs.py has the compiled meaning."""
    return handle


def data_at(handle):
    """The data behind a handle."""
    return handle


def lanes_at(handle):
    """The data of eight states behind a handle that is a number."""
    return handle


def worlds_at(handle):
    """The worlds that step together behind a handle."""
    return handle


def constraints_at(handle):
    """The constraints behind a handle."""
    return handle


def work_at(handle):
    """The arrays that a set of constraints writes, behind a handle."""
    return handle


def assembly_at(handle):
    """The search for positions that satisfy equations behind a handle."""
    return handle


def points_at(handle):
    """The contact points behind a handle."""
    return handle


def solver_at(handle):
    """The contact problem behind a handle."""
    return handle


def samples_at(handle):
    """The contacts of the samples of a run behind a handle."""
    return handle


def sleep_at(handle):
    """What sleeps in a run behind a handle."""
    return handle


def collision_at(handle):
    """The solids and their contacts behind a handle."""
    return handle


def balance_at(handle):
    """The energy balance of a run behind a handle."""
    return handle


def integration_at(handle):
    """The integration of a continuous plant behind a handle."""
    return handle


def stepping_at(handle):
    """The steps of a discrete plant behind a handle."""
    return handle


def actuation_at(handle):
    """The actuation of a run behind a handle."""
    return handle


def recording_at(handle):
    """The samples of a run behind a handle."""
    return handle
