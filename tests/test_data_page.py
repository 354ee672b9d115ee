"""docs/data.md explains the columns that the files have."""

import csv
import re

import pytest
from checkout import ROOT

PAGE = (ROOT / "docs/data.md").read_text()
NAMED = re.findall(r"^\| \[`(\S+\.csv)`\]", PAGE, flags=re.MULTILINE)
# Of studies, whichever the page has a link to, one file of each kind.
OF_STUDIES = ("studies/*/board.csv", "studies/*/results/*.csv")
FILES = [*NAMED, *(str(sorted(ROOT.glob(pattern))[0].relative_to(ROOT)) for pattern in OF_STUDIES)]
SAID = {name.strip("…_") for said in re.findall(r"`([^`\n]+)`", PAGE) for name in re.split(r"[, ]+", said)}
# What may stand before or after a column's name, and is explained once.
PARTS = r"^(trained|treatment|baseline)_|_(before|after|low|high|mean|[0-9]+)$"


@pytest.mark.parametrize("name", FILES)
def test_every_column_of_a_file_is_explained(name):
    columns = next(csv.reader([(ROOT / name).read_text().partition("\n")[0]]))
    stripped = {column: re.sub(PARTS, "", re.sub(PARTS, "", column)) for column in columns}
    assert [column for column, bare in stripped.items() if not {column, bare} & SAID] == []


def test_the_page_explains_files():
    assert len(NAMED) > 10
