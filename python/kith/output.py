"""The output of a verb: checked before a long computation."""

import os
import tempfile

from kith.errors import KithError, printable


def folder_of(output):
    """The folder that contains --output. Raises KithError if it does not exist, or nothing can be created in it."""
    if not output:
        raise KithError("--output has no name")
    folder = os.path.dirname(os.path.abspath(output))
    if not os.path.isdir(folder):
        raise KithError(f"--output '{printable(output)}': there is no folder '{printable(folder)}'; make it, or name another")
    try:
        os.rmdir(tempfile.mkdtemp(dir=folder, prefix=".kith-"))
    except OSError as e:
        raise KithError(f"--output '{printable(output)}': nothing can be written in '{printable(folder)}': {e.strerror}") from e
    return folder


def file_folder(output):
    """As folder_of(), for an output that is one file: it must not be a folder, and not a device or pipe, which the file
    would replace for all users."""
    if os.path.exists(output) and not os.path.isfile(output):
        what = "a folder" if os.path.isdir(output) else "a device or a pipe"
        raise KithError(f"--output '{printable(output)}' is {what}; expected a file")
    return folder_of(output)
