"""The same parameters give the same bytes, in whichever folder and with however many processes."""

import pytest
from checkout import Copy

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def twice(tmp_path_factory):
    """Two copies in folders of different names, after a `dvc repro` on one core and on two, side by side."""
    folders = [tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("another") / "and deeper"]
    copies = [Copy.of_this_checkout(folder, None) for folder in folders]
    copies[1].environment |= {"HOME": str(folders[1].parent), "LC_ALL": "C", "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    started = [copy.start("dvc", "repro", cores=cores) for copy, cores in zip(copies, (1, 2), strict=True)]
    printed = [one.communicate()[0] for one in started]
    assert [one.returncode for one in started] == [0, 0], printed
    return copies


def test_no_output_differs(twice, tally):
    one, other = (copy.outputs() for copy in twice)
    assert one.keys() == other.keys()
    paths = [(stage, path) for stage in one for path in one[stage]]
    different = [(stage, path) for stage, path in paths if one[stage][path] != other[stage].get(path)]
    tally("another folder, another number of processes: hash of an output", len(paths), len(paths) - len(different))
    assert different == []
    assert len(paths) >= 50  # folders, most of them
    assert (twice[0].path / "dvc.lock").read_bytes() == (twice[1].path / "dvc.lock").read_bytes()


def test_what_git_keeps_is_the_same(twice):
    def kept(copy):
        names = copy("git", "ls-files", "--others", "--exclude-standard", "metrics", "plots").split()
        return {name: (copy.path / name).read_bytes() for name in names}

    one, other = map(kept, twice)
    assert one == other
    assert {name.rpartition(".")[2] for name in one} == {"csv", "html", "json", "md", "png", "svg", "tex"}
