"""A Linux kernel for the guest: downloaded once from Debian's packages and unpacked, but not installed."""

import fcntl
import pathlib
import subprocess
import sys
import tempfile

PACKAGE = "linux-image-cloud-amd64"  # the small flavour for virtual machines; needs no modules to boot


CACHE = pathlib.Path(__file__).resolve().parents[2] / "build/numa-vm"


class Unavailable(Exception):
    """No kernel is available here; the text says why."""


def fetched(cache=CACHE):
    """The path of the kernel image in the folder `cache`, downloaded if it is not there yet."""
    cache.mkdir(parents=True, exist_ok=True)
    image = cache / "vmlinuz"
    with open(cache / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not image.exists():
            fetch(image)
    return image


def fetch(image):
    # The package named above is empty, and depends on the one with the kernel.
    depends = run("apt-cache", "depends", PACKAGE).split()
    kernels = [word for word in depends if word.startswith("linux-image-") and word != PACKAGE]
    if not kernels:
        raise Unavailable(f"apt knows no {PACKAGE}; `apt-get update` may help")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder).chmod(0o777)  # apt downloads as another user
        run("apt-get", "-qq", "-o", "Acquire::Retries=3", "download", kernels[0], cwd=folder)
        (package,) = pathlib.Path(folder).glob("*.deb")
        run("dpkg-deb", "--extract", package, folder)
        (kernel,) = pathlib.Path(folder).glob("boot/vmlinuz-*")
        partial = image.with_suffix(".part")
        partial.write_bytes(kernel.read_bytes())
        partial.rename(image)


def run(*command, cwd=None):
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    except FileNotFoundError:
        raise Unavailable(f"no {command[0]} here to fetch a kernel with; --kernel names one") from None
    if done.returncode != 0:
        raise Unavailable(f"`{' '.join(map(str, command))}` failed: {done.stderr.strip()[-300:]}")
    return done.stdout


if __name__ == "__main__":
    try:
        print(fetched())
    except Unavailable as why:
        sys.exit(f"no kernel for the guests of tests/numa: {why}")
