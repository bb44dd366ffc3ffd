"""The exceptions of mbcli and the exit code that each one gives to the command line.

    MbcliError (RuntimeError)      70  a bug, unless a subclass says otherwise
      ArgumentError (ValueError)    2  an argument of a function of the library, or an option, does not fit
      ModelError                    3  a model, configuration or YAML file is invalid
        ControlError
      ResourceError                 4  a file, package or mesh is missing
      NumericalError                5  a state is not finite, a solver did not converge
        ContactUnsolvedError
        UnsolvableError
      OutputError                   6  a result cannot be written

Other usage errors (exit code 2) are click's own. MbcliError derives from RuntimeError because that is what the
reference interface raises.
"""

__all__ = [
    "ContactUnsolvedError",
    "ControlError",
    "MbcliError",
    "ModelError",
    "NumericalError",
    "OutputError",
    "ResourceError",
    "UnsolvableError",
]


class MbcliError(RuntimeError):
    """Base of every error that mbcli raises on purpose."""

    exit_code = 70


class ArgumentError(MbcliError, ValueError):
    """An argument does not fit the model or another argument."""

    exit_code = 2


class ModelError(MbcliError):
    """A model, configuration or YAML file is invalid."""

    exit_code = 3


class ControlError(ModelError):
    """A controller of a run failed, or gave what the run cannot take."""

    code = "CONTROLLER"  # of the event in a log


class ResourceError(MbcliError):
    """An input file, a package or a mesh is missing or cannot be resolved."""

    exit_code = 4


class NumericalError(MbcliError):
    """A state is not finite, a solver did not converge, or a matrix is singular."""

    exit_code = 5
    code = "NOT_FINITE"  # of the event in a log


class UnsolvableError(NumericalError):
    """A method cannot solve a system; another one may. `fact` is the message without the advice to use it."""

    def __init__(self, fact: str, advice: str) -> None:
        super().__init__(f"{fact}; {advice}")
        self.fact = fact


class ContactUnsolvedError(NumericalError):
    """The contact problem of a step has no solution that was found."""

    code = "CONTACT_UNSOLVED"


class OutputError(MbcliError):
    """A result cannot be written: it exists already, or the disk refuses it."""

    exit_code = 6
