"""The browser in which the pages are tested; run as a program, as `make test` does first, it prints which."""

import os
import shutil
import subprocess

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MACOS = tuple(f"/Applications/{name}.app/Contents/MacOS/{name}" for name in ("Google Chrome", "Chromium"))
NONE = "none; the pages are not tested: install Chromium or Chrome, or set CHROMIUM to its path"


def find():
    """Return the path of a browser that starts: $CHROMIUM or an installed one; else None."""
    paths = map(shutil.which, filter(None, (os.environ.get("CHROMIUM"), *NAMES, *MACOS)))
    return next((path for path in paths if path and _starts(path)), None)


def _starts(path):
    try:
        return subprocess.run([path, "--version"], timeout=60, check=False, capture_output=True).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


if __name__ == "__main__":
    print(f"browser: {find() or NONE}")
