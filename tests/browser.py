"""The browser for the tests of the page: found, or set up by `python tests/browser.py`, as `make test` does first."""

import os
import shutil
import subprocess
import sys

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MACOS = tuple(f"/Applications/{name}.app/Contents/MacOS/{name}" for name in ("Google Chrome", "Chromium"))
NONE = "none; install Chromium or Chrome, or set CHROMIUM to its path"
DOWNLOAD = [sys.executable, "-m", "playwright", "install", "chromium"]
PACKAGES = ["install", "--yes", "--no-install-recommends", "chromium", "fonts-dejavu-core"]


def find():
    """Return the path of a browser that starts: $CHROMIUM, an installed one or playwright's own; else None."""
    paths = map(shutil.which, filter(None, (os.environ.get("CHROMIUM"), *NAMES, *MACOS, own())))
    return next((path for path in paths if path and succeeds([path, "--version"], seconds=60)), None)


def own():
    """Return the path of the browser that playwright downloads, whether it is there or not."""
    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def succeeds(command, seconds):
    """Run a command without its output; return whether it exits with 0 within so many seconds."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        return subprocess.run(command, timeout=seconds, check=False, **quiet).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def main():
    """Find a browser; else download playwright's; else install Debian's package. Say in one line which it was."""
    apt = ["apt-get"] if os.geteuid() == 0 else ["sudo", "--non-interactive", "apt-get"]
    ways = {
        "found": [],
        "downloaded by playwright": [DOWNLOAD],
        "installed by apt-get": [[*apt, "update"], [*apt, *PACKAGES]],
    }
    for way, commands in ways.items():
        if all(succeeds(command, seconds=600) for command in commands) and (path := find()):
            print(f"browser: {path}, {way}")
            return
    print(f"browser: {NONE}")


if __name__ == "__main__":
    main()
