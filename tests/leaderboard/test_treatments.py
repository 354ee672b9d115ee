import pytest

from vanishing_variance.core.errors import InputError
from vanishing_variance.leaderboard.treatments import Treatment, read_treatments

LINE = "{attention: ssmax, norm: none, projection: mlp, decay: none}"


def test_lines_keep_their_order_and_none_is_a_name(tmp_path):
    path = tmp_path / "params.yaml"
    path.write_text(f"treatments:\n  softmax: {LINE.replace('ssmax', 'softmax')}\n  best: {LINE}\nseeds: 3\n")
    found = read_treatments(path)
    assert list(found) == ["softmax", "best"]
    assert found["best"] == Treatment(attention="ssmax", norm="none", projection="mlp", decay="none")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seeds: 3", "treatments is None; must be a mapping with at least 1 line"),
        ("treatments: {}", "treatments is {}; must be"),
        ("treatments: {../a: {}}", "treatments has the line '../a'; a name has a-z, 0-9, - and _"),
        ("treatments: {-a: {}}", "treatments has the line '-a'; a name"),
        ("treatments: {a: softmax}", "treatments.a is 'softmax'; must be"),
        (
            "treatments: {a: {attention: softmax}}",
            "treatments.a.norm is missing; treatments.a must have attention, norm",
        ),
        (f"treatments: {{a: {LINE[:-1]}, rope: 1}}}}", "treatments.a.rope is 1, but there is no such key"),
    ],
)
def test_what_is_no_line_is_refused_in_one_line(tmp_path, text, said):
    path = tmp_path / "params.yaml"
    path.write_text(text + "\n")
    with pytest.raises(InputError) as problem:
        read_treatments(path)
    assert str(problem.value).startswith(f"{path}: {said}")
