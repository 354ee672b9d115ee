"""A plan that several clones make in parts, at smoke scale."""

import pytest
from checkout import Copy

pytestmark = pytest.mark.slow


def test_two_clones_that_make_half_of_a_plan_each_equal_one_that_makes_it_all(tmp_path):
    clones = {}
    for name, blocks in {"one": "[0]", "other": "[1]", "both": "[0, 1]"}.items():
        (tmp_path / name).mkdir()
        clones[name] = Copy.of_this_checkout(tmp_path / name)
        path = clones[name].path / "params.yaml"
        path.write_text(path.read_text().replace("blocks: [0]", f"blocks: {blocks}"))
        clones[name]("python", "-m", "stages.pieces", "smoke")
    found = {name: sorted((clone.path / "runs/pieces").iterdir()) for name, clone in clones.items()}
    assert [len(of) for of in found.values()] == [10, 10, 20]
    here = clones["both"]
    for record, folders in {"parts": [*found["other"], *found["one"]], "whole": found["both"]}.items():
        here("python", "-m", "stages.record", record, *map(str, folders))
    parts, whole = (
        {
            str(path.relative_to(here.path / "metrics" / record)): path.read_bytes()
            for path in (here.path / "metrics" / record).rglob("*")
            if path.is_file() and path.name not in ("pieces.csv", "params.yaml")
        }
        for record in ("parts", "whole")
    )
    assert {"accuracy.csv", "mechanism.csv", "tables/tests.csv", "claims.json", "tables/table5.md"} <= whole.keys()
    assert parts == whole
    assert not list((here.path / "runs/pieces").glob(".*"))
