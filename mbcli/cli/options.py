"""The options that commands share, and which commands take them.

model_options    every command that reads models
state_options    every analysis of one state or of a batch
output_options   every command with a result
"""

import functools

import click


def _together(*options):
    def decorate(command):
        return functools.reduce(lambda inner, option: option(inner), reversed(options), command)

    return decorate


model_options = _together(
    click.argument("models", nargs=-1, required=True, metavar="MODEL..."),
    click.option("--input-format", type=click.Choice(["urdf", "sdf"]), help="Format of MODEL, needed for '-' (stdin)."),
    click.option("--package", "packages", multiple=True, metavar="NAME=DIR", help="Where package://NAME is."),
    click.option("--package-path", "package_paths", multiple=True, metavar="DIR", help="Look for packages below DIR."),
    click.option("--weld", "welds", multiple=True, metavar="FRAME", help="Weld a body or frame to the world."),
    click.option("--weld-base", is_flag=True, help="Weld the root of every model that is not held by a joint."),
    click.option("--config", "config_file", metavar="FILE", help="Settings (YAML): plant configuration or scenario."),
    click.option("--scenario-name", metavar="NAME", help="Which scenario of the configuration file."),
    click.option("--set", "overrides", multiple=True, metavar="PATH=VALUE", help="Change one setting."),
    click.option("--strict", is_flag=True, help="Warnings on the model are errors."),
)

state_options = _together(
    click.option("--q", "q_list", metavar="LIST", help="Positions, in the order of `inspect`."),
    click.option("--v", "v_list", metavar="LIST", help="Velocities, in the order of `inspect`."),
    click.option(
        "--at", "assignments", multiple=True, metavar="NAME=VALUE", help="One position (or velocity) by name."
    ),
    click.option("--state", "state_file", metavar="FILE", help="State from a JSON document or a log."),
    click.option("--time", "state_time", type=float, metavar="T", help="Which time [s] of a log; default: the last."),
    click.option("--random", "random_seed", type=int, metavar="SEED", help="A random state."),
)

batch_options = _together(
    click.option("--states", metavar="FILE", help="Evaluate every state of a CSV, JSONL, NPZ or log ('-': stdin)."),
    click.option("--states-format", type=click.Choice(["csv", "jsonl", "npz", "hdf5"]), help="Format of --states."),
)

output_options = _together(
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
    click.option(
        "--format",
        "output_format",
        type=click.Choice(["text", "json", "jsonl", "csv", "npz", "hdf5"]),
        help="Format of the result; default: text, for --states JSON lines or by the suffix of -o.",
    ),
    click.option("-o", "--output", metavar="FILE", help="Write the result to a file."),
    click.option("--force", is_flag=True, help="Replace an existing file."),
)

MODEL_KEYS = (
    "models",
    "input_format",
    "packages",
    "package_paths",
    "welds",
    "weld_base",
    "config_file",
    "scenario_name",
    "overrides",
    "strict",
)
STATE_KEYS = ("q_list", "v_list", "assignments", "state_file", "state_time", "random_seed")
BATCH_KEYS = ("states", "states_format")
OUTPUT_KEYS = ("as_json", "output_format", "output", "force")


class Options:
    """The values of shared options, by name."""

    def __init__(self, **values):
        self.__dict__.update(values)


def take(values, *groups):
    """Removes the values of the named groups from click's keyword arguments and returns them as Options."""
    return Options(**{key: values.pop(key) for group in groups for key in group if key in values})
