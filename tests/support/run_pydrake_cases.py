"""Runs scripts that import pydrake, in one process, and prints what each of them does as JSON.

    python tests/support/run_pydrake_cases.py pydrake|mbcli FILE...

Each has {"output": what it prints, "error": the last line of what it raises, "" if it ends}.
"""

import contextlib
import io
import json
import os
import runpy
import sys
from pathlib import Path


def outcome(file: str, run) -> dict[str, str]:
    """What a script prints, and what ended it."""
    printed, error = io.StringIO(), ""
    folder, sys.path[0] = os.getcwd(), str(Path(file).parent)
    with contextlib.redirect_stdout(printed):
        try:
            run(file)
        except Exception as ended:
            error = f"{type(ended).__name__}: {ended}"
    os.chdir(folder)
    return {"output": printed.getvalue(), "error": error}


def main() -> None:
    library, *files = sys.argv[1], *map(os.path.abspath, sys.argv[2:])
    if library == "mbcli":
        from mbcli.pydrake import run_script as run, use_mbcli_for_pydrake

        use_mbcli_for_pydrake()
    else:

        def run(file: str) -> None:
            runpy.run_path(file, run_name="__main__")

    print(json.dumps({Path(file).stem: outcome(file, run) for file in files}))


if __name__ == "__main__":
    main()
