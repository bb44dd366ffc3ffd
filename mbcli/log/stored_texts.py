"""Texts in a log: UTF-8 of fixed length, padded with zeros."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


def text_dtype(size: int) -> np.dtype:
    """The type of texts of at most size bytes."""
    return h5py.string_dtype("utf-8", max(size, 1))


def encoded(text: object) -> bytes:
    """UTF-8; other bytes of a file name are escaped."""
    return str(text).encode("utf-8", "backslashreplace")


def create_texts(attributes: Any, name: str, texts: Sequence[str], scalar: bool = False) -> None:
    """An attribute with texts, of the length of the longest; scalar: with the first alone."""
    data = [encoded(text) for text in texts]
    dtype = text_dtype(max(map(len, data), default=1))
    attributes.create(name, np.bytes_(data[0]) if scalar else np.array(data, dtype=dtype), dtype=dtype)


def text_of(value: object) -> str:
    """A stored text as Python has it."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def texts_of(value: object) -> tuple[str, ...]:
    """Stored texts, one or several."""
    return tuple(text_of(text) for text in np.atleast_1d(np.asarray(value)).ravel().tolist())
