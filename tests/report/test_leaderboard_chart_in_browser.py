"""The leaderboard's chart in a real browser, on its own page and as a section of the study's."""

import pandas as pd
import pytest
from made_up_board import LENGTHS, accuracies, make_board
from made_up_results import made_up
from pointing import assert_texts_fit, choose, point_at, points, read_out, settle
from test_leaderboard_page import results

from vanishing_variance.figures import variants
from vanishing_variance.leaderboard.curves import curves
from vanishing_variance.report.leaderboard import page as leaderboard
from vanishing_variance.report.leaderboard_chart import BLACK, COLOURS, RULES
from vanishing_variance.report.page import page

CHART = "leaderboard-chart"
BEST = "direct-power-ln-cosine-longest"
LINES = ["softmax", BEST, *(f"line-{place}" for place in range(7))]
DOCUMENT = '<script type="application/json" id="leaderboard-chart-specification">'


def means(task, rule, place):
    """Accuracies at `LENGTHS`, which fall: the first line's, the baseline, most."""
    low = 0.9 - 0.1 * (place - 1 if place else 8) - (0.03 if task == "argmax" else 0)
    return 0.999, *(low + share * (0.95 - low) for share in (0.6, 0.3, 0.1 if rule == "hard" else 0))


FRAMES = [
    accuracies(line, means(task, rule, place), rule, task)
    for place, line in enumerate(LINES)
    for task in ("argmax", "dictionary")
    for rule in ("trained", "hard")
]
ACCURACY = curves(pd.concat(FRAMES))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Both pages beside each other: whole, with a chart that cannot be read or is missing, and with a late script."""
    board = make_board(*FRAMES, lines=LINES).assign(step=1.0)
    own, study = leaderboard(results(board, LINES, accuracy=ACCURACY)), page(made_up()).html
    script = '<script type="module">\n'
    assert own.count(DOCUMENT) == study.count(script) == 1
    late = study.replace(script, f"{script}await new Promise((done) => setTimeout(done, 1500));\n")
    pages = {
        "whole": (own, study),
        "broken": (own.replace(f"{DOCUMENT}{{", DOCUMENT), study),
        "missing": (own.replace(DOCUMENT, DOCUMENT.replace(CHART, "other")), study),
        "late": (own, late),
    }
    folders = {}
    for name, htmls in pages.items():
        plots = tmp_path_factory.mktemp(name)
        for where, html in zip(("leaderboard", "report"), htmls, strict=True):
            folders[f"{name} {where}"] = plots / where
            (plots / where).mkdir()
            (plots / where / "index.html").write_text(html)
    return folders


@pytest.fixture
def open_chart(visit):
    """Opens a page, and returns it with the leaderboard's chart drawn."""

    def open_chart(name, width=1280, **options):
        shown, problems = visit(name, width, **options)
        shown.locator(f"#{CHART}-panel svg").wait_for()
        return shown, problems

    return open_chart


def expected(task, rule, line, length):
    [row] = ACCURACY.query("task == @task and rule == @rule and line == @line and length == @length").to_dict("records")
    return f"{row['mean']:.1f}%, 95% interval [{row['low']:.1f}, {row['high']:.1f}], n = 6 seeds"


@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize("where", ["leaderboard", "report"])
def test_pointing_at_a_curve_reads_out_the_number_of_accuracy_csv(open_chart, where, width):
    shown, problems = open_chart(f"whole {where}", width)
    for task in ("argmax", "dictionary"):
        for rule in ("trained", "hard"):
            choose(shown, CHART, task=task, rule=rule)
            for line, colour in ((BEST, COLOURS[0]), ("softmax", BLACK), ("line-1", COLOURS[2])):
                assert point_at(shown, CHART, colour, 2) == (f"{line} at N = 2⁸: {expected(task, rule, line, 256)}")
    assert point_at(shown, CHART, COLOURS[0], 3).startswith(f"{BEST} at N = 2¹⁴: ")
    assert_texts_fit(shown, CHART)
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    assert problems == []


def test_a_tap_reads_out_too(open_chart):
    shown, _ = open_chart("whole report", 390, has_touch=True)
    shown.locator(f"#{CHART}-panel").scroll_into_view_if_needed()
    across, down, _ = points(shown, CHART, BLACK)[1]
    shown.touchscreen.tap(across, down)
    settle(shown)
    assert read_out(shown, CHART) == f"softmax at N = 2⁶: {expected('argmax', 'trained', 'softmax', 64)}"


@pytest.mark.parametrize("where", ["leaderboard", "report"])
def test_lines_are_shown_and_hidden_by_boxes_that_have_their_look(open_chart, where):
    shown, _ = open_chart(f"whole {where}")
    boxes = shown.locator(f"#{CHART}-choices label", has=shown.locator("[type=checkbox]"))
    assert boxes.count() == len(LINES)
    assert boxes.locator("svg path").evaluate_all("looks => looks.map(look => look.getAttribute('stroke'))") == [
        *COLOURS,
        COLOURS[0],
        COLOURS[1],
        BLACK,
    ]
    dashes = boxes.locator("svg path").evaluate_all("looks => looks.map(look => look.getAttribute('stroke-dasharray'))")
    assert dashes[0] != dashes[6]
    assert len(points(shown, CHART, COLOURS[0])) == len(LENGTHS)
    shown.get_by_label("line-5", exact=True).check()
    settle(shown)
    assert len(points(shown, CHART, COLOURS[0])) == 2 * len(LENGTHS)
    shown.get_by_label("softmax (baseline)").uncheck()
    settle(shown)
    assert points(shown, CHART, BLACK) == []
    chosen = shown.locator(f"#{CHART}-choices [name=chosen_rule] option").all_text_contents()
    assert chosen == [RULES["trained"], RULES["hard"]]


def test_the_studys_chart_is_another(open_chart):
    shown, problems = open_chart("whole report")
    shown.locator("#chart-panel svg").wait_for()
    read = point_at(shown, CHART, BLACK, 2)
    assert read_out(shown, "chart") == ""
    assert " at N = 2⁴: 50.0%" in point_at(shown, "chart", variants.colour("ln"), 0)
    assert read_out(shown, CHART) == read
    assert problems == []


def test_a_section_that_comes_before_the_script_is_drawn_by_it(open_chart):
    shown, problems = open_chart("late report")
    shown.locator("#chart-panel svg").wait_for()
    assert shown.locator(f"#{CHART}-panel svg").count() == 1
    assert problems == []


def test_the_frame_draws_nothing_and_can_do_nothing_but_post(open_chart):
    shown, _ = open_chart("whole report")
    frame = shown.locator("#leaderboard-file")
    assert frame.get_attribute("sandbox") == "allow-scripts"
    assert frame.content_frame.locator("#leaderboard").count() == 0


def test_a_message_that_is_not_the_frames_is_ignored(open_chart):
    shown, _ = open_chart("whole report")
    shown.evaluate("postMessage({html: '<b id=forged></b>'}, '*')")
    settle(shown)
    assert shown.locator("#forged").count() == 0
    assert shown.locator(f"#{CHART}-panel svg").is_visible()


@pytest.mark.parametrize("name", ["broken", "missing"])
@pytest.mark.parametrize("where", ["leaderboard", "report"])
def test_without_its_document_the_figure_stands(visit, name, where):
    shown, problems = visit(f"{name} {where}", 1280)
    shown.locator("#leaderboard-figure img").wait_for()
    if where == "report":
        shown.locator("#chart-panel svg").wait_for()
    shown.wait_for_load_state("networkidle")
    shown.wait_for_timeout(300)
    assert len(problems) == 1
    assert not shown.locator(f"#{CHART}-figure").is_visible()
    assert shown.locator("#leaderboard-figure img").is_visible()


@pytest.mark.parametrize("where", ["leaderboard", "report"])
def test_print_has_the_figure_and_no_chart(open_chart, where):
    shown, _ = open_chart(f"whole {where}")
    shown.emulate_media(media="print")
    assert shown.locator("#leaderboard-figure img").is_visible()
    assert not shown.locator(f"#{CHART}-figure").is_visible()


def test_without_javascript_the_figure_stands(visit):
    shown, problems = visit("whole leaderboard", 390, java_script_enabled=False)
    assert shown.locator("#leaderboard-figure img").is_visible()
    assert not shown.locator(f"#{CHART}-figure").is_visible()
    assert problems == []
