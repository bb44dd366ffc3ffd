"""mypy finds mbcli.parsers here: the folder stands beside the package and is installed inside of it."""
