"""The files that the guest has in its memory when it starts: a shell, the programs, the libraries that they need, and /init."""

import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile

UP = "guest: up"
ENDED = "guest: ended with"

INIT = f"""#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev 2>/dev/null
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
mount -t tmpfs tmp /tmp
stty -opost </dev/console 2>/dev/null
echo '{UP}'
cd /tmp
sh /command </dev/null
echo "{ENDED} $?"
poweroff -f
"""


def libraries(program):
    """The files that the loader uses for a program or library; none if it is linked statically."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    for line in listed.splitlines():
        if "not found" in line:
            raise SystemExit(f"vm: {program} needs a library that is not here: {line.strip()}")
        yield from (word for word in line.split() if word.startswith("/"))


def archive(path, command, extra, environment):
    """Writes the archive for `command`, whose first word is a program here, with the files `extra` beside it in /test."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name in ("bin", "proc", "sys", "dev", "tmp", "test", "etc"):
            (root / name).mkdir()
        shutil.copy(shutil.which("busybox"), root / "bin/busybox")
        for source in [command[0], *extra]:
            shutil.copy(source, root / "test")
            for library in libraries(source):
                target = root / library.lstrip("/")
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(library, target)
        (root / "etc/passwd").write_text("root:x:0:0:root:/tmp:/bin/sh\n")
        started = ["/test/" + os.path.basename(command[0]), *command[1:]]
        exports = [f"export {shlex.quote(e)}\n" for e in environment]
        (root / "command").write_text("".join(exports) + "exec " + shlex.join(started) + "\n")
        (root / "init").write_text(INIT)
        (root / "init").chmod(0o755)
        files = "\n".join(str(p.relative_to(root)) for p in sorted(root.rglob("*")))  # a folder before its files
        with open(path, "wb") as out:
            subprocess.run(["cpio", "--create", "--format=newc", "--owner=+0:+0", "--quiet"], cwd=root, stdout=out,
                           input=files.encode(), check=True)
