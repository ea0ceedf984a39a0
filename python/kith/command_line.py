"""python3 -m kith VERB: finds the verbs, reads the command line, and reports errors as the kith tool does.

With --json an error is {"error": {"command", "message", "hint"}} on standard output; the same in words is on standard
error. Exit code 2 for a wrong command line or input.
"""

import argparse
import importlib
import json
import os
import pkgutil
import sys

from kith import __version__
from kith.errors import KithError, printable


class WrongCommandLine(Exception):
    pass


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise WrongCommandLine(message)


def verb_names():
    """The verbs: the modules of the folder verbs."""
    from kith import verbs

    return sorted(m.name for m in pkgutil.iter_modules(verbs.__path__) if not m.name.startswith("_"))


def parser_of(name):
    """The verb's module, and the parser of its arguments."""
    module = importlib.import_module("kith.verbs." + name)
    parser = Parser(prog="kith " + name, description=module.SUMMARY, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter, epilog=getattr(module, "FOOTER", None))
    module.add_arguments(parser)
    return module, parser


def usage():
    lines = ["usage: python3 -m kith [--tool KITH] VERB ...", "", "Reads recordings of Kith.", "", "verbs:"]
    for name in verb_names():
        lines.append(f"  {name:<12}{importlib.import_module('kith.verbs.' + name).SUMMARY}")
    lines += ["", "`python3 -m kith VERB --help` says more. --tool names the kith program, which some verbs call",
              "(default: the one in PATH)."]
    return "\n".join(lines)


def fail(command, message, as_json, hint=""):
    if as_json:
        print(json.dumps({"error": {"command": command, "message": message, "hint": hint}}))
    print(f"{command}: {message}" + (f"\n{hint}" if hint else ""), file=sys.stderr)
    return 2


def main(words=None):
    """Runs one verb and returns its exit code."""
    if sys.stdout is None:  # it was closed before the start: print() would do nothing
        return fail("kith", "standard output cannot be written", False)
    words = list(sys.argv[1:] if words is None else words)
    as_json = "--json" in words[: words.index("--")] if "--" in words else "--json" in words
    tool = None
    if words and words[0].startswith("--tool"):
        first = words.pop(0)
        tool = first.partition("=")[2] if "=" in first else (words.pop(0) if words else "")
    if not words or words[0] in ("-h", "--help"):
        print(usage())
        return 0 if words else 2
    if words[0] == "--version":
        print(__version__)
        return 0
    name, command = words[0], "kith " + printable(words[0], 40)
    if name not in verb_names():
        return fail("kith", f"no verb '{printable(name, 40)}'; there are: {', '.join(verb_names())}", as_json)
    options = None
    try:
        module, parser = parser_of(name)
        options = parser.parse_args(words[1:])
        options.tool = tool
        code = module.run(options) or 0
        sys.stdout.flush()  # Python would do so at its exit, without the command's name
        return code
    except WrongCommandLine as e:
        return fail(command, printable(e, 1000), as_json, f"`kith help {name}` says more")
    except KithError as e:
        return fail(command, str(e), as_json)
    except ImportError as e:
        missing = printable(e.name or e, 80)
        return fail(command, f"the Python package '{missing}' is missing", as_json,
                    f"install it: {sys.executable} -m pip install {missing}")
    except BrokenPipeError:
        # The reader of the output has ended, so nothing more is printed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    except MemoryError:
        return fail(command, "out of memory", as_json)
    except OSError as e:
        if e.filename is None and not getattr(options, "output", None):  # it has written nothing else
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is left
            return fail(command, f"standard output: {e.strerror or e}", False)
        where = f"{printable(e.filename)}: " if e.filename else ""
        return fail(command, f"{where}{e.strerror or e}", as_json)
