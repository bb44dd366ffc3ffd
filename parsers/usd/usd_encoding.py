"""The text of a stage as the other kinds of USD files."""

from __future__ import annotations

import os
import tempfile

from mbcli.parsers.usd.usd_stage import ask

from mbcli.common.left_behind import folder_prefix
from mbcli.errors import ModelError

BINARY = (".usdc", ".usdz")


def encoded_usd(text: bytes, suffix: str) -> bytes:
    """The bytes of a file of a suffix; the text itself for .usda and .usd. ResourceError without usd-core."""
    if suffix.lower() not in BINARY:
        return text
    with tempfile.TemporaryDirectory(prefix=folder_prefix("usd")) as folder:
        source, result = os.path.join(folder, "text.usda"), os.path.join(folder, f"file{suffix.lower()}")
        with open(source, "wb") as file:
            file.write(text)
        answer = ask({"write": source, "as": result}, f"<written>{suffix}")
        if "error" in answer:
            raise ModelError(f"the {suffix} file cannot be made: {answer['error']}")
        with open(result, "rb") as file:
            return file.read()
