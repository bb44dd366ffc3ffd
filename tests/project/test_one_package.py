"""A checkout that is not installed is one package: no module is there a second time under another name."""

import pytest


def test_the_package_is_not_inside_of_itself():
    with pytest.raises(ModuleNotFoundError):
        import mbcli.mbcli.errors  # noqa: F401
