import sys

try:
    from benchmarks.run import main
except ModuleNotFoundError as error:
    if error.name.partition(".")[0] in ("mbcli", "benchmarks"):
        raise
    sys.exit(f"benchmarks: error: the package {error.name} is missing: `pip install -e .` in the checkout installs it")

sys.exit(main())
