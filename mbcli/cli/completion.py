"""`mbcli completion`: completion for shells, and a manual page, from the commands themselves."""

import os
import re

import click
from click.shell_completion import CompletionItem, get_completion_class, split_arg_string

VARIABLE = "_MBCLI_COMPLETE"
SHELLS = ("bash", "zsh", "fish")
FILE_WORDS = ("FILE", "LOG", "MODEL", "CONSTRAINTS", "INPUT", "OUTPUT")
XML_SUFFIXES = (".urdf", ".sdf", ".world", ".xml", ".xacro")
LARGEST_MODEL = 1 << 24  # [bytes]: of a larger file no names are read while a user waits for them

# the options that take the name of an element of the models on the line, and the elements of their files
ELEMENTS = {
    "--at": ("joint",),
    "--drive": ("joint",),
    "--u": ("actuator", "motor", "joint"),
    **dict.fromkeys(
        ("--weld", "--frame", "--relative-to", "--measured-in", "--expressed-in"), ("link", "body", "frame")
    ),
}
WITH_VALUE = ("--at", "--drive", "--u")


@click.command("completion")
@click.argument("shell", type=click.Choice([*SHELLS, "man"]))
@click.pass_context
def completion(ctx, shell):
    """Print the completion script of a shell, or a manual page.

    Commands, options, choices, files, and the names of joints, bodies and frames of the models on the line.

    \b
    eval "$(mbcli completion bash)"                                       in ~/.bashrc
    eval "$(mbcli completion zsh)"                                        in ~/.zshrc
    mbcli completion fish > ~/.config/fish/completions/mbcli.fish
    mbcli completion man > ~/.local/share/man/man1/mbcli.1
    """
    mbcli = ctx.find_root().command
    if shell == "man":
        from mbcli.cli.manual_page import manual_page

        click.echo(manual_page(mbcli))
        return
    click.echo(get_completion_class(shell)(mbcli, {}, "mbcli", VARIABLE).source())


def is_wanted():
    """Whether this process is to complete a line: a shell has asked for it."""
    return VARIABLE in os.environ


def teach(command):
    """Gives the parameters of a command their completions."""
    for param in command.params:
        elements = ELEMENTS.get(param.opts[0])
        words = set(re.split(r"[^A-Z]+", param.metavar or ""))
        if elements is not None:
            param.type = NameType(elements, "=" if param.opts[0] in WITH_VALUE else "")
        elif isinstance(param.type, click.types.StringParamType) and words & {*FILE_WORDS, "A", "B"}:
            param.type = click.Path()
        elif isinstance(param.type, click.types.StringParamType) and "DIR" in words:
            param.type = click.Path(file_okay=False)


class NameType(click.ParamType):
    """Names of elements in the models of the line."""

    name = "name"

    def __init__(self, elements, ending):
        self._elements, self._ending = elements, ending

    def shell_complete(self, ctx, param, incomplete):
        """The names that begin so, or whose end does."""
        found = [name for model in _models_of_line() for name in names_in(model, self._elements)]
        return [CompletionItem(name + self._ending) for name in dict.fromkeys(found) if name.startswith(incomplete)]


def _models_of_line():
    """The files on the line that can be models in XML: click has no words of a line that ends in an option."""
    words = split_arg_string(os.environ.get("COMP_WORDS", ""))
    return [word for word in words if word.lower().endswith(XML_SUFFIXES) and os.path.isfile(word)]


def names_in(path, elements):
    """The names of elements of a model file in XML, as far as it can be read."""
    from lxml import etree

    if os.path.getsize(path) > LARGEST_MODEL:
        return []
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True, huge_tree=False)
    try:
        root = etree.parse(path, parser).getroot()
    except (OSError, etree.XMLSyntaxError):
        return []
    nodes = [] if root is None else root.iter(*elements)
    return [node.get("name") for node in nodes if node.get("name") and _moves(node)]


def _moves(node):
    """Whether a joint has a position; other elements count too."""
    return node.tag != "joint" or node.get("type") not in ("fixed",)
