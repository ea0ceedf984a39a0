"""The kith program that the tests in this folder run."""

import os
import shutil

_NAMED = os.environ.get("KITH_TOOL") or shutil.which("kith")
TOOL = os.path.abspath(_NAMED) if _NAMED else None  # tests run it from other folders and link to it
