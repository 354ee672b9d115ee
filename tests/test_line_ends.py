"""A checkout has the same bytes, which DVC's hashes are of, whatever the user's git makes of line ends."""

import subprocess

from checkout import ROOT


def checked_out(folder, setting):
    """The bytes of every file of the index, by name, as git with this setting writes them."""
    command = ["git", "-c", setting, "checkout-index", "--all", f"--prefix={folder}/"]
    subprocess.run(command, cwd=ROOT, check=True)
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_no_setting_changes_a_file(tmp_path):
    plain = checked_out(tmp_path / "plain", "core.autocrlf=false")
    for setting in ("core.autocrlf=true", "core.eol=crlf"):
        other = checked_out(tmp_path / setting, setting)
        assert [str(path) for path in plain if other[path] != plain[path]] == []
