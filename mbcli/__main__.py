"""Entry point of the `mbcli` command and of `python -m mbcli`."""

import sys


def main():
    try:
        from mbcli.cli import run
    except ModuleNotFoundError as error:
        if error.name.partition(".")[0] == "mbcli":
            raise
        sys.exit(f"mbcli: error: the package {error.name} is missing: `pip install -e .` in the checkout installs it")
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
