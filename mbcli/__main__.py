"""Entry point of the `mbcli` command and of `python -m mbcli`."""

import sys


def main():
    from mbcli.cli import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
