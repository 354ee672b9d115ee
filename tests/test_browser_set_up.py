"""Which browser the tests of the page use, on machines of fake commands, which note that they are called."""

import browser
import pytest


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A folder that is all of PATH, and where playwright's download and a Mac's browser go; root is its user."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(browser.os, "geteuid", lambda: 0)
    monkeypatch.setattr(browser, "MACOS", (str(tmp_path / "Google Chrome"),))
    monkeypatch.setattr(browser, "own", lambda: str(tmp_path / "own"))
    monkeypatch.setattr(browser, "DOWNLOAD", ["download", "chromium"])
    program(tmp_path / "starts")
    return tmp_path


def program(path, script="exit 0"):
    path.write_text(f'#!/bin/sh\necho "{path.name} $*" >> {path.parent}/called\n{script}\n')
    path.chmod(0o755)


def makes(machine, name):
    """A script that installs a browser."""
    return f"/bin/cp {machine}/starts {machine}/{name}"


def done(machine, capsys):
    """What was said, and which commands were called to set a browser up."""
    browser.main()
    called = (machine / "called").read_text().splitlines() if (machine / "called").exists() else []
    return capsys.readouterr().out, [line for line in called if not line.endswith("--version")]


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome", "Google Chrome", "own"])
def test_a_browser_that_is_there_is_used(machine, name, capsys):
    program(machine / name)
    assert done(machine, capsys) == (f"browser: {machine / name}, found\n", [])


def test_the_one_that_is_named_comes_first(machine, monkeypatch):
    for name in ("chromium", "mine"):
        program(machine / name)
    monkeypatch.setenv("CHROMIUM", str(machine / "mine"))
    assert browser.find() == str(machine / "mine")


def test_one_that_does_not_start_is_passed_over(machine):
    program(machine / "chromium", "exit 127")
    assert browser.find() is None
    program(machine / "own")
    assert browser.find() == str(machine / "own")


def test_else_playwrights_is_downloaded(machine, capsys):
    program(machine / "download", makes(machine, "own"))
    program(machine / "apt-get", makes(machine, "chromium"))
    said, called = done(machine, capsys)
    assert said == f"browser: {machine / 'own'}, downloaded by playwright\n"
    assert called == ["download chromium"]


@pytest.mark.parametrize("downloads", ["exit 1", "/bin/cp /bin/false own"], ids=["cannot", "does not start"])
@pytest.mark.parametrize("user", [0, 1000])
def test_else_debians_is_installed(machine, user, downloads, capsys, monkeypatch):
    monkeypatch.setattr(browser.os, "geteuid", lambda: user)
    monkeypatch.chdir(machine)
    program(machine / "download", downloads)
    program(machine / "apt-get", f'[ "$1" = update ] || {makes(machine, "chromium")}')
    program(machine / "sudo", 'shift; exec "$@"')
    said, called = done(machine, capsys)
    assert said == f"browser: {machine / 'chromium'}, installed by apt-get\n"
    assert called[0] == "download chromium"
    assert [line.split()[:2] for line in called if "apt-get" in line.split()[0]] == [
        ["apt-get", "update"],
        ["apt-get", "install"],
    ]
    assert len([line for line in called if line.startswith("sudo --non-interactive apt-get")]) == (2 if user else 0)


@pytest.mark.parametrize("commands", [(), ("download", "apt-get")])
def test_where_none_can_be_had_a_line_says_what_to_do(machine, commands, capsys):
    for name in commands:
        program(machine / name, "exit 1")
    said, _ = done(machine, capsys)
    assert said == "browser: none; install Chromium or Chrome, or set CHROMIUM to its path\n"


def test_a_download_that_hangs_is_given_up(machine):
    program(machine / "hangs", "exec /bin/sleep 60")
    assert not browser.succeeds([str(machine / "hangs")], seconds=0.1)
