"""The chart of the page in a real browser: it says what the tables say, and the still figures stand where it cannot."""

import pointing
import pytest
from made_up_results import comparisons, made_up
from pointing import settle

from vanishing_variance.figures import variants
from vanishing_variance.report.page import page
from vanishing_variance.report.tables import TEMPERATURES

LENGTHS = [2**power for power in range(4, 15)]
TABLES = {("argmax", "short"): 1, ("dictionary", "short"): 2, ("argmax", "long"): 4, ("dictionary", "long"): 5}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The page, and one whose chart cannot be read."""
    html = page(made_up(tests=comparisons(lengths=LENGTHS))).html
    folders = {name: tmp_path_factory.mktemp(name) for name in ("whole", "broken")}
    (folders["whole"] / "index.html").write_text(html)
    (folders["broken"] / "index.html").write_text(
        html.replace('id="chart-specification">{', 'id="chart-specification">')
    )
    return folders


@pytest.fixture
def open_chart(visit):
    """Opens the page, and returns it with its chart drawn."""

    def open_chart(width=1280, **options):
        shown, problems = visit("whole", width, **options)
        shown.locator("#chart-panel svg").wait_for()
        return shown, problems

    return open_chart


def choose(shown, **chosen):
    pointing.choose(shown, "chart", **chosen)


def points(shown, norm):
    return pointing.points(shown, "chart", variants.colour(norm))


def point_at(shown, norm, length):
    return pointing.point_at(shown, "chart", variants.colour(norm), LENGTHS.index(length))


def read_out(shown):
    return pointing.read_out(shown, "chart")


def cell(shown, table, temperature, name, length):
    """The number in a table of the page."""
    group = shown.locator(f"#table{table} > .scroll tbody.group").filter(has_text=TEMPERATURES[temperature])
    row = group.locator("tr", has=shown.locator(f"th[scope=row]:text-is('{name}')"))
    return row.locator("td").nth(LENGTHS.index(length)).inner_text()


@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize(("task", "range_"), list(TABLES))
def test_pointing_at_a_curve_reads_out_the_number_of_the_table(open_chart, width, task, range_):
    shown, problems = open_chart(width)
    for temperature in TEMPERATURES:
        choose(shown, task=task, range=range_, temperature=temperature)
        for norm, length, power in (("none", 2**14, "2¹⁴"), ("ln", 2**9, "2⁹")):
            number = cell(shown, TABLES[task, range_], temperature, variants.label(norm), length)
            assert point_at(shown, norm, length) == (
                f"{variants.label(norm)} at N = {power}: {number}%, 95% interval [45.0, 55.0] n = 2 seeds"
                + (
                    "; the paper: 49.8%"
                    if (task, range_, temperature, norm) == ("argmax", "short", "plain", "none")
                    else ""
                )
            )
    assert problems == []


def test_a_tap_reads_out_too(open_chart):
    shown, _ = open_chart(390, has_touch=True)
    shown.locator("#chart-panel").scroll_into_view_if_needed()
    across, down, _ = points(shown, "ln")[7]
    shown.touchscreen.tap(across, down)
    settle(shown)
    assert read_out(shown).startswith(f"+ ln at N = 2¹¹: {cell(shown, 1, 'plain', '+ ln', 2**11)}%")


def test_what_was_pointed_at_is_marked_and_followed_through_the_choices(open_chart):
    shown, _ = open_chart()
    assert shown.locator("#chart-panel text", has_text="Point at a curve").is_visible()
    point_at(shown, "ln", 2**9)
    assert shown.locator("#chart-panel text", has_text="Point at a curve").count() == 0
    widths = [width for *_, width in points(shown, "ln")]
    assert widths.index(max(widths)) == LENGTHS.index(2**9)
    shown.locator("#chart-choices").hover()
    choose(shown, task="dictionary", temperature="fitted")
    assert f": {cell(shown, 2, 'fitted', '+ ln', 2**9)}%" in read_out(shown)


def test_choices_change_the_curves_and_variants_can_be_hidden(open_chart):
    shown, _ = open_chart()
    before = points(shown, "ln")
    assert len(before) == len(points(shown, "std")) == len(LENGTHS)
    choose(shown, task="dictionary")
    assert points(shown, "ln") != before
    assert shown.locator("#chart-panel text", has_text="30 of the paper's 10,000 gradient steps").is_visible()
    shown.get_by_label("+ std", exact=True).uncheck()
    settle(shown)
    assert (len(points(shown, "std")), len(points(shown, "ln"))) == (0, len(LENGTHS))
    choose(shown, range="long")
    shown.get_by_label("+ std", exact=True).check()
    assert points(shown, "std") == []  # the long range has none


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_the_chart_fits_and_nothing_overflows(open_chart, width):
    shown, _ = open_chart(width)
    choose(shown, temperature="fitted")
    point_at(shown, "ln", 2**14)
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    panel = shown.locator("#chart-panel").bounding_box()
    assert panel["width"] > min(0.7 * width, 800)
    pointing.assert_texts_fit(shown, "chart")


def test_the_still_figures_fold_only_once_the_chart_is_drawn(open_chart, visit):
    shown, _ = open_chart()
    still = shown.locator("#accuracy-figure img")
    assert shown.locator("#chart-figure").is_visible()
    assert not still.is_visible()
    shown.locator("#chart-still > summary").click()
    assert still.is_visible()
    shown, problems = visit("broken", 1280)
    shown.wait_for_load_state("networkidle")
    assert len(problems) == 1
    assert shown.locator("#accuracy-figure img").is_visible()
    assert not shown.locator("#chart-figure").is_visible()


def test_print_has_the_still_figures_and_no_chart(open_chart):
    shown, _ = open_chart()
    shown.emulate_media(media="print")
    for name in ("accuracy", "accuracy-long"):
        assert shown.locator(f"#{name}-figure img").bounding_box()["height"] > 100
    assert not shown.locator("#chart-figure").is_visible()
