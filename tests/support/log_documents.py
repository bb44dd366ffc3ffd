"""What documents say of the fields: tables of docs/reference/log_format.md and datasets of schemas/log.schema.json.

`python tests/support/log_documents.py` writes them anew; a test compares.
"""

from __future__ import annotations

import json
import re
from textwrap import wrap
from typing import Any

from repository import ROOT

from mbcli.log.datasets import Dataset
from mbcli.log.fields import LOG_FIELDS

WIDTH = 120  # of lines
MEANING = 69  # column where the meaning of a dataset begins
DATASETS = re.compile(r"(?<=\n)    /input/u .*?(?=    /events )", re.DOTALL)  # of the list under "Contents"
FIELDS = re.compile(
    r"(?<=\n\| field \| logged by default \| datasets \| what it is \|\n\|---\|---\|---\|---\|\n).*?(?=\n\n)", re.DOTALL
)


def all_datasets() -> list[Dataset]:
    """Of all fields: what has a row a sample first, then contacts and faces; input/ before derived/ and solver/."""
    found = [dataset for field in LOG_FIELDS.values() for dataset in field.DATASETS]
    order = ("input", "derived", "solver", "sensors", "contact", "faces")
    return sorted(found, key=lambda dataset: order.index(dataset.path.partition("/")[0]))


def table_of_datasets() -> str:
    """The lines of all datasets in docs/reference/log_format.md."""
    return "".join(f"{line}\n" for dataset in all_datasets() for line in _lines(dataset))


def _lines(dataset: Dataset) -> list[str]:
    columns = dataset.columns if isinstance(dataset.columns, str) else str(len(dataset.columns) or "")
    shape = f"({dataset.rows}, {columns})" if columns else f"({dataset.rows},)"
    units = (dataset.units,) if isinstance(dataset.units, str) else tuple(dict.fromkeys(dataset.units))
    columns = (dataset.path, 30), (f"{shape} {dataset.dtype}", 21), (", ".join(units), 13)
    first = "    /" + "".join(f"{text:<{width}}" if len(text) < width else f"{text} " for text, width in columns)
    meaning = wrap(dataset.meaning, WIDTH - MEANING)
    return [f"{first}{meaning[0]}", *(" " * MEANING + line for line in meaning[1:])]


def table_of_fields() -> str:
    """The rows of the table of fields in docs/reference/log_format.md, without the last line break."""
    rows = []
    for name, field in LOG_FIELDS.items():
        groups = {"contact": "under `/contact`", "faces": "under `/faces`"}
        paths = groups.get(name) or ", ".join(f"`/{dataset.path}`" for dataset in field.DATASETS)
        rows.append(f"| `{name}` | {'yes' if field.BY_DEFAULT else 'no'} | {paths} | {field.WORDS} |")
    return "\n".join(rows)


def schema_of(dataset: Dataset) -> dict[str, Any]:
    """The schema of a dataset, as Log.layout() describes it."""
    shape: dict[str, Any] = {"type": "array", "minItems": 1, "maxItems": 1}
    if dataset.columns:
        shape |= {"minItems": 2, "maxItems": 2}
    if isinstance(dataset.columns, tuple) and dataset.columns:
        shape["prefixItems"] = [{}, {"const": len(dataset.columns)}]
    names: dict[str, Any] = {"$ref": "#/$defs/texts"}
    attributes = {
        "type": "object",
        "required": ["names", "units"],
        "properties": {"names": names, "units": _units(dataset)},
    }
    properties: dict[str, Any] = {"dtype": {"const": dataset.dtype}, "shape": shape, "attributes": attributes}
    return {
        "description": dataset.meaning,
        "allOf": [{"$ref": "#/$defs/dataset"}, {"properties": properties}],
    }


def _units(dataset: Dataset) -> dict[str, Any]:
    if isinstance(dataset.columns, tuple):
        return {"const": list(dataset.field().units)}
    if not dataset.units:
        return {"$ref": "#/$defs/texts"}
    own = {"const": dataset.units} if isinstance(dataset.units, str) else {"enum": list(dataset.units)}
    return {"type": "array", "items": own}


def document_with_fields(text: str) -> str:
    """docs/reference/log_format.md with the tables of the fields that there are."""
    for pattern, table in ((DATASETS, table_of_datasets()), (FIELDS, table_of_fields())):
        parts = pattern.split(text)
        if len(parts) != 2:
            raise ValueError(f"docs/reference/log_format.md has {len(parts) - 1} places for a table")
        text = table.join(parts)
    return text


def schema_with_fields(text: str) -> str:
    """schemas/log.schema.json with the datasets of the fields that there are, after those of every log."""
    schema = json.loads(text)
    datasets = schema["properties"]["datasets"]["properties"]
    always = {
        path: own
        for path, own in datasets.items()
        if not path.startswith(("input/", "derived/", "solver/", "sensors/", "contact/", "faces/"))
    }
    named = [own for own in all_datasets() if not own.path.startswith("sensors/")]  # those have names of models
    schema["properties"]["datasets"]["properties"] = always | {own.path: schema_of(own) for own in named}
    return _as_text(schema) + "\n"


def _as_text(value: Any, indent: int = 0, before: int = 0) -> str:
    """JSON in which a list or an object stands in one line if that has room there, after so many characters."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or indent + before + len(line) < WIDTH - 1:
        return line
    inner = indent + 2
    if isinstance(value, list):
        parts = [_as_text(item, inner) for item in value]
    else:
        keys = [f"{json.dumps(key)}: " for key in value]
        parts = [key + _as_text(item, inner, len(key)) for key, item in zip(keys, value.values(), strict=True)]
    opening, closing = "[]" if isinstance(value, list) else "{}"
    return "\n".join([opening, ",\n".join(" " * inner + part for part in parts), " " * indent + closing])


def main() -> None:
    """Writes both files."""
    for path, made in (
        (ROOT / "docs" / "reference" / "log_format.md", document_with_fields),
        (ROOT / "schemas" / "log.schema.json", schema_with_fields),
    ):
        path.write_text(made(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
