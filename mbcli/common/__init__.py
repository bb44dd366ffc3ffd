"""The part of pydrake.common that a plant's user meets."""
