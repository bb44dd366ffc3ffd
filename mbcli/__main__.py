"""Entry point of the `mbcli` command and of `python -m mbcli`."""

import gc
import os
import sys

# The threads that OpenBLAS starts when numpy is imported turn in a loop for 60 ms of processor time before they sleep,
# unless they are told to wait for as few cycles as they can, two to this power.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
OBJECTS_BETWEEN_COLLECTIONS = 100_000  # imports and models make many objects and drop few: Python's 700 walk them often


def open_missing_streams():
    """Puts something where standard streams are closed (`>&-`), before a file gets their number.

    Nothing can be written to stdout then; what goes to stderr is dropped, and stdin is empty.
    """
    for name, mode, flags in (("stdin", "r", os.O_RDONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY)):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, flags)  # the lowest that is free
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def main():
    try:
        _main()
    except KeyboardInterrupt:  # of imports; run() answers those of commands
        sys.exit(130)


def _main():
    from mbcli.common.working_folder import leave_working_folder

    leave_working_folder()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    open_missing_streams()
    try:
        from mbcli.cli import run
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "mbcli":
            raise
        sys.exit(f"mbcli: error: the package {error.name} is missing: `pip install -e .` in the checkout installs it")
    code = run(sys.argv[1:])
    gc.freeze()  # at its end Python would walk all objects, which takes 50 ms: what is alive goes with the process
    sys.exit(code)


if __name__ == "__main__":
    main()
