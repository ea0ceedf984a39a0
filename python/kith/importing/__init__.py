"""Files of other tools as recordings: each format is a function from a path to (meta, tables, notes) for kith.writer."""

from kith.importing.wfformat import read as read_wfformat

FORMATS = {
    "wfformat": read_wfformat,
}
