"""mbcli: multibody dynamics from robot model files."""

__version__ = "0.1.0"
