"""The verbs of the command line that are written in Python: one module for each.

A module has SUMMARY (a line), add_arguments(parser), and run(options), which returns the exit code or None for 0. It
imports what takes long in run(): `python3 -m kith --help` must be quick.
"""
