"""`mbcli schema`: the JSON Schemas of the files that mbcli reads and writes."""

from __future__ import annotations

from typing import Any

import click

from mbcli.cli.output import emit
from mbcli.common.suggestions import name_or_list


@click.command()
@click.argument("name", required=False)
@click.option("-o", "--output", metavar="FILE", help="Write the schema to a file.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
def schema(name: str | None, **options: Any) -> None:
    """Print the JSON Schema of a file format, or the names of all.

    With the schema an editor checks a file while it is written; declare tags such as !Rpy to the editor.

    \b
    mbcli schema
    mbcli schema directives -o directives.schema.json
    """
    from mbcli.cli.options import Options
    from mbcli.parsers.scenes.file_schemas import schema_names, schema_text

    names = schema_names()
    if name is not None and name not in names:
        raise click.UsageError(f"there is no schema '{name}': {name_or_list(name, names)}")
    emit("\n".join(names) if name is None else schema_text(name).rstrip(), Options(**options))
