"""What tests of code for pydrake import from pydrake.common.test_utilities."""
