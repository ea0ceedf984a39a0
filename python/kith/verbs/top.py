"""kith top: a recorded run in the terminal, also while it is running."""

import json
import os
import select
import sys
import time

SUMMARY = "a recorded run in the terminal, also while it is running"
FOOTER = "It ends with the program, and on q or Ctrl-C. Rates and busy shares are of the last second; a task counts when it has ended. Until the run has ended, waits and tasks on top of a task count as its time."
EVERY_S = 1.0
RECORDING_LIMIT_S = 60.0  # for the recording, after the program's end


def add_arguments(parser):
    parser.add_argument("file", metavar="FILE", help="the recording, or the one that a program is writing")
    parser.add_argument("--once", action="store_true", help="show it once, and leave")
    parser.add_argument("--json", action="store_true", help="write JSON, a line each time")


def run(options):
    try:
        _watch(options)
    except KeyboardInterrupt:  # the usual way to leave it
        return 0


def _watch(options):
    from kith import logs, watch

    live = watch.source(options.file)
    screen = Screen(options.json)
    with screen:
        ended_at = None
        while live is not None:
            try:
                found = live.look()
            except FileNotFoundError:  # the logs have been put together
                live = None
                break
            running = logs.in_use(logs.parts_of(options.file))
            if not running and not options.once:
                if not os.path.isdir(logs.parts_of(options.file)) or os.path.exists(options.file):
                    break
                ended_at = ended_at or time.monotonic()
            found["running"] = running
            screen.show(found)
            if options.once or (not running and time.monotonic() - ended_at > EVERY_S):
                return
            if screen.left(EVERY_S):
                return
        _ended(options, screen)


def _ended(options, screen):
    """Shows the recording, which appears a while after the end of the run."""
    from kith import watch
    from kith.recording import read

    since = time.monotonic()
    while not os.path.exists(options.file) and time.monotonic() - since < RECORDING_LIMIT_S:
        if screen.left(EVERY_S / 5):
            return
    screen.show(watch.of_recording(read(options.file)) | {"running": False})


class Screen:
    """The terminal: each picture replaces the one before. On a pipe they follow each other, and one without news is a line,
    which is written once; JSON has a line each time."""

    def __init__(self, as_json):
        self.as_json = as_json
        self.clears = sys.stdout.isatty() and not as_json
        self.keys = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
        self.before = None
        self.counts, self.has_said = None, False  # of the picture before; that nothing has changed

    def __enter__(self):
        if self.keys:
            import termios
            import tty

            self.before = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin)
        return self

    def __exit__(self, kind, *ignored):
        if self.before is not None:
            import termios

            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self.before)

    def show(self, found):
        if self.as_json:
            print(json.dumps(found))
        else:
            lines, counts = text(found), [found[key] for key in ("created", "done", "steals", "live", "running")]
            if self.clears:
                rows = os.get_terminal_size(sys.stdout.fileno()).lines
                print("\x1b[H\x1b[J" + "\n".join(lines[:max(3, rows - 1)]))
            elif counts != self.counts:
                print("\n".join(lines) + "\n")
                self.has_said = False
            elif not self.has_said:
                print("nothing has changed since: no task was created or stolen, and none has ended\n")
                self.has_said = True
            self.counts = counts
        sys.stdout.flush()

    def left(self, wait_s):
        """Waits; whether q was pressed meanwhile."""
        until = time.monotonic() + wait_s
        while (rest := until - time.monotonic()) > 0:
            if not self.keys:
                time.sleep(rest)
            elif select.select([sys.stdin], [], [], rest)[0] and os.read(sys.stdin.fileno(), 1) in (b"q", b"Q", b"\x04", b""):
                return True
        return False


def text(found, most=40):
    from kith.errors import printable
    from kith.recording import DRY
    from kith.units import count, percent, seconds

    state = "running" if found["running"] else "not running: being put together, or killed (then `kith repair`)" if found["live"] else "has ended"
    lines = [f"{printable(found['file'], 60)}: {state}, {seconds(found['seconds'])}",
             f"{count(found['done'])} tasks done, {count(found['open'])} created and not done; {count(found['rate_per_s'])} a second; "
             f"{count(found['steals'])} steals", "", f"  {'type':<32} {'done':>12} {'mean time':>12} {'of the time':>12}"]
    lines += [f"  {printable(t['name'], 32) or '(no name)':<32} {count(t['done']):>12} {seconds(t['mean_s']):>12} {percent(t['share']):>12}"
              for t in found["types"][:most]]
    lines += ["", f"  {'worker':<8} {'tasks':>12}  busy"]
    lines += [f"  {w['worker']:<8} {count(w['tasks']):>12}  " + ("not known" if w["busy"] is None else
                                                                f"{'#' * round(20 * w['busy']):<20} {percent(w['busy'])}")
              for w in found["workers"][:64]]
    if len(found["workers"]) > 64:
        lines.append(f"  and {len(found['workers']) - 64} more")
    return lines + (["", "note: " + DRY] if found["dry"] else [])
