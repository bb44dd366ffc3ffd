"""The bytes of a file that a parser reads."""

from mbcli.parsers.spec import Place


def read_bytes(path, most, name, diagnostics):
    """The content of a file, at most `most` bytes; None if it cannot be read, which is an error at `name`."""
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except OSError as error:
        diagnostics.error("FILE_READ", f"cannot read the file: {error.strerror or error}", place=Place(name))
    except ValueError:  # a null character in the path
        diagnostics.error("FILE_READ", "cannot read the file: its name is not valid", place=Place(name))
    return None
