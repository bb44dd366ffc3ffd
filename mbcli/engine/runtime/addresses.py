"""Addresses of compiled kernels, and their compilation by another process."""

import functools
import os
import sys
import threading
from contextlib import suppress

from mbcli.engine.runtime.kernel_cache import cached_program_for_c, can_keep, is_compiled


@functools.cache
def address_of_function(kernel):
    """The address of a compiled kernel of these arguments, all numbers; kept on disk as the kernel itself.

    A function that another process compiles is waited for: a function is compiled by one process at a time.
    """
    if hasattr(kernel, "address"):
        return kernel.address
    from mbcli.engine.runtime.structs import CALLED

    return cached_program_for_c(CALLED, kernel).address


_processes = {}  # that compile a kernel
_found = set()  # kernels on disk
COMPILE = """
import sys
from mbcli.engine import load_kernels
from mbcli.engine.runtime.addresses import address_of_function, end_with_parent
end_with_parent()
kernels = load_kernels(True, sys.argv[1])
for name in sys.argv[2:]:
    address_of_function(getattr(kernels, name))
"""


def compile_elsewhere(kernels, *groups):
    """Lets other processes compile kernels whose addresses will be asked for; False if they need not or cannot.

    They end with this one, however that ends. Each is about a group, or about several if there are few processors. This
    process compiles what none of them has begun when it asks for its address.

    groups: lists of names.
    """
    missing = [[name for name in names if not _is_cared_for(getattr(kernels, name))] for names in groups]
    missing = [names for names in missing if names]
    others = (os.cpu_count() or 1) - 1 if missing else 0  # which takes longer to ask for than to look for kernels
    if not sys.executable or not others or not can_keep():
        return False
    if len(missing) > others:
        missing[others - 1 :] = [sum(missing[others - 1 :], [])]
    started = [_start_process(kernels, names) for names in missing]
    return any(started)


def _start_process(kernels, names):
    """Whether another process compiles kernels from now on."""
    from mbcli.common import child_processes  # late: few processes start another one

    nothing = child_processes.DEVNULL
    command = child_processes.python("-c", COMPILE, kernels.kind, *names)
    with suppress(OSError):
        process = child_processes.start(command, stdin=child_processes.PIPE, stdout=nothing, stderr=nothing)
        _processes.update((getattr(kernels, name), process) for name in names)
        return True
    return False


def end_with_parent():
    """Ends this process when its standard input does, a pipe whose other end the parent holds as long as it lives."""

    def watch():
        while os.read(0, 1):
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _is_cared_for(kernel):
    """Whether a kernel is there, or another process is about it."""
    return kernel in _processes or is_at_hand(kernel)


def is_at_hand(kernel):
    """Whether the address of a kernel is known without compiling it; once found on disk, it is not looked for again."""
    if kernel not in _found and is_compiled(kernel, called=True):
        _found.add(kernel)
    return kernel in _found
