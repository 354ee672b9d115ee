import pytest

from vanishing_variance.review.markdown import CUT, LIMIT, Block, both, code, comment, count, few, listing, prose, table


@pytest.mark.parametrize(
    ("value", "shown"),
    [("norm", "`norm`"), ("a`b", "`` a`b ``"), ("``", "``` `` ```"), ("two\nlines", "`two lines`"), ("", "` `")],
)
def test_code_ends_where_it_should(value, shown):
    assert code(value) == shown


def test_words_of_others_are_no_markup():
    assert prose("<img src=x> | @someone [a](b) *c*") == r"&lt;img src=x> | @<!-- -->someone \[a\](b) \*c\*"


def test_a_listing_is_ended_by_nothing_in_it():
    assert listing(["```", "a"]) == "````text\n```\na\n````"
    assert listing(["a"]) == "```text\na\n```"


def test_a_table_has_a_rule_and_its_cells_do_not_end_early():
    assert table(("a", "b"), [("x|y", "1")], right=(1,)) == "| a | b |\n| --- | --: |\n| x\\|y | 1 |"


def test_lists_in_words():
    assert (both(["a"]), both(["a", "b"]), both(["a", "b", "c"])) == ("a", "a and b", "a, b and c")
    assert (few(["a", "b"], 2), few(["a", "b", "c"], 2)) == ("a, b", "a, b and 1 more")
    assert (count(1, "stage"), count(0, "stage")) == ("1 stage", "0 stages")


def test_a_comment_is_its_blocks_and_what_has_a_title_is_folded():
    text = comment([Block("seen"), Block("| a |", "more")])
    assert text == "seen\n\n<details><summary>more</summary>\n\n| a |\n\n</details>\n"


def test_what_is_folded_last_is_left_out_first_and_it_says_so():
    blocks = [Block("seen"), Block("x" * 400, "first"), Block("also seen"), Block("y" * 400, "second")]
    text = comment(blocks, limit=700)
    assert len(text) <= 700
    assert "x" * 400 in text
    assert "y" * 400 not in text
    assert "_second: left out" in text
    assert text.index("also seen") < text.index("_second: left out")
    both_out = comment(blocks, limit=300)
    assert "_first: left out" in both_out
    assert "_second: left out" in both_out
    assert CUT not in both_out


def test_what_is_still_too_long_is_cut_at_a_line_and_it_says_so():
    text = comment([Block("\n".join(["a line of it"] * 10_000))])
    assert len(text) <= LIMIT
    assert text.endswith(CUT)
    assert set(text.removesuffix(CUT).splitlines()) == {"a line of it"}
