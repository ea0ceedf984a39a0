#!/usr/bin/env bash
# Instructions per task, counted by callgrind: see instructions.py, which has the options.
exec python3 "$(dirname "$0")/instructions.py" "$@"
