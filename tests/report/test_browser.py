"""The page in a real browser: Chromium, without a window."""

import io
import re
from itertools import combinations, product
from urllib.parse import quote

import numpy as np
import pytest
from made_up_board import many_lines
from made_up_results import KEYS, ROOT, VERDICTS, all_of, comparisons, made_up
from matplotlib.image import imread
from test_leaderboard_page import results
from test_page import MACHINE, TIMES

from vanishing_variance.core.yaml import read_yaml
from vanishing_variance.report.figures import figure
from vanishing_variance.report.leaderboard import page as leaderboard
from vanishing_variance.report.page import page, side
from vanishing_variance.report.strongest import Study, strongest
from vanishing_variance.report.verdicts import SYMBOLS
from vanishing_variance.study.judged import read_claims

WIDTHS = (360, 768, 1280)
FIRST_SCREENS = ((1280, 800), (390, 844))
# Of the answer, beside that of the results in git.
WORDINGS = ("supported", "contradicted", "undecided", "not comparable", "not tested")


def leaderboard_page():
    board, lines = many_lines(12)
    return leaderboard(results(board.assign(step=1.0), lines))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The page alone, with its side file, and with the side file of other results."""
    wide = comparisons(lengths=[2**power for power in range(4, 15)])
    made, other = (page(made_up(tests=wide, **changes)) for changes in ({}, {"source": "norm: ln\n"}))
    folders = {name: tmp_path_factory.mktemp(name) for name in ("alone", "beside", "stale")}
    for name, fingerprint in (("alone", None), ("beside", made.fingerprint), ("stale", other.fingerprint)):
        (folders[name] / "index.html").write_text(made.html)
        if fingerprint:
            (folders[name] / "run.html").write_text(side(fingerprint, MACHINE, TIMES))
    folders["ranked"] = tmp_path_factory.mktemp("plots") / "report"
    for name, html in {"report": made.html, "leaderboard": leaderboard_page()}.items():
        folder = folders["ranked"].with_name(name)
        folder.mkdir()
        (folder / "index.html").write_text(html)
    records = (ROOT, ROOT / "metrics"), (ROOT / "metrics/paper-scale",) * 2
    studies = [Study(read_claims(of / "claims.json"), read_yaml(where / "params.yaml")) for where, of in records]
    for name, found in {"git": strongest(*studies), **{verdict: all_of(verdict) for verdict in WORDINGS}}.items():
        folders[name] = tmp_path_factory.mktemp("first-screen")
        (folders[name] / "index.html").write_text(page(made_up(tests=wide, evidence=found)).html)
    return folders


def style(shown, selector, name):
    return shown.locator(selector).first.evaluate(f"element => getComputedStyle(element)['{name}']")


def rgb(colour):
    """Red, green, blue 0 to 255, and opacity."""
    red, green, blue, *opacity = map(float, re.findall(r"[\d.]+", colour))
    return (red, green, blue), opacity[0] if opacity else 1.0


def contrast(shown, selector):
    """Of the text, against its background over the card's, as WCAG 2 has it."""
    above, share = rgb(style(shown, selector, "backgroundColor"))
    card, _ = rgb(style(shown, ".scroll", "backgroundColor"))
    ground = tuple(share * one + (1 - share) * other for one, other in zip(above, card, strict=True))
    text, _ = rgb(style(shown, selector, "color"))
    dark, light = sorted(map(luminance, (text, ground)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    linear = [(one / 255 / 12.92) if one <= 10 else ((one / 255 + 0.055) / 1.055) ** 2.4 for one in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(("width", "name"), list(product(WIDTHS, ("alone", "beside"))))
def test_the_page_is_whole_and_nothing_complains(visit, width, name):
    shown, problems = visit(name, width)
    if name == "beside":
        shown.locator("#run h2").wait_for(timeout=5000)
    shown.locator("#chart-panel svg").wait_for()
    shown.wait_for_load_state("networkidle")
    assert problems == []
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    images = shown.evaluate("[...document.images].map(image => [image.alt, image.complete && image.naturalWidth])")
    assert len(images) == 12
    assert all(alt and natural > 0 for alt, natural in images)


def test_this_run_is_shown_only_beside_the_page_that_it_made(visit):
    shown, _ = visit("beside")
    shown.locator("#run h2").wait_for(timeout=5000)
    assert "A <fast> one" in shown.locator("#run").inner_text()
    assert "59.8" in shown.locator("#run").inner_text()
    for name in ("alone", "stale"):
        shown, _ = visit(name)
        shown.wait_for_load_state("networkidle")
        shown.wait_for_timeout(200)
        assert not shown.locator("#run").is_visible()


def test_the_page_needs_no_javascript(visit):
    shown, problems = visit("beside", java_script_enabled=False)
    assert problems == []
    assert shown.locator("#table1").is_visible()
    assert "−40.0" in shown.locator("#table1").inner_text()
    assert shown.locator("#lead .mean").first.is_visible()
    assert shown.locator("#accuracy-figure img").is_visible()
    assert not shown.locator("#chart-figure").is_visible()
    assert shown.locator(".line .ours").last.is_visible()


def test_a_wide_table_scrolls_by_itself_below_a_first_column_that_stays(visit):
    shown, _ = visit()
    place = """box => { box.scrollLeft = 1000; const cell = box.querySelector('tbody th[scope=row]');
        return [box.scrollLeft, cell.getBoundingClientRect().left - box.getBoundingClientRect().left]; }"""
    scrolled, left = shown.locator("#table1 > .scroll").evaluate(place)
    assert scrolled > 50
    assert 0 <= left <= 2


@pytest.mark.parametrize(("size", "name"), list(product(FIRST_SCREENS, ("git", "alone", *WORDINGS))))
def test_the_first_screen_has_question_answer_figure_and_counts_and_nothing_else(visit, size, name):
    shown, _ = visit(name, *size)
    top = 0
    for selector in ("h1", ".answer", "#lead svg >> nth=0", "#lead svg >> nth=1", "#lead figcaption", ".counts"):
        box = shown.locator(selector).bounding_box()
        assert box["width"] > 0.4 * size[0]
        assert box["height"] > 15
        assert top <= box["y"] < box["y"] + box["height"] <= size[1], selector
        top = box["y"] if "svg" in selector else box["y"] + box["height"]
    if name == "git":
        box = shown.locator(".scale").bounding_box()
        assert top <= box["y"] < box["y"] + box["height"] <= size[1]
    assert shown.locator("nav").bounding_box()["y"] >= size[1] - 0.5


def test_the_curves_are_drawn(visit):
    shown, _ = visit(width=1280)
    for panel in shown.locator("#lead svg").all():
        assert panel.get_attribute("aria-label").startswith("Accuracy on ")
        for curve in (".mean.none", ".mean.ln"):
            box = panel.locator(curve).bounding_box()
            assert box["width"] > 300
    strokes = [style(shown, f"#lead .mean.{norm}", "stroke") for norm in ("none", "ln")]
    assert strokes[0] != strokes[1]
    assert style(shown, "#lead polyline.paper", "strokeDasharray") != "none"
    assert style(shown, "#lead .mean", "strokeDasharray") == "none"


@pytest.mark.parametrize("width", WIDTHS)
def test_every_claim_is_one_line_with_its_mark_in_its_group(visit, width):
    shown, _ = visit(width=width)
    groups = ("accuracy", "variance", "accuracy", "mechanism", "cause", "cause", "other")
    assert shown.locator(".board li").count() == len(KEYS)
    for key, verdict, group in zip(KEYS, VERDICTS, groups, strict=True):
        line = shown.locator(f"#group-{group} li #claim-{key} .line")
        badge = line.locator(".badge")
        assert badge.get_attribute("title") == verdict
        assert SYMBOLS[verdict] in badge.inner_text()
        assert badge.inner_text().endswith(verdict.partition(" (")[0])
        box = line.bounding_box()
        assert 20 < box["height"] < (40 if width == 1280 else 110)
        parts = [one.bounding_box() for one in line.locator(".badge, .words, .ours, .papers, .unit").all()]
        assert all(box["x"] <= one["x"] and one["x"] + one["width"] <= box["x"] + box["width"] + 1 for one in parts)
        assert not any(overlap(one, other) for one, other in combinations(parts, 2))
        assert line.locator(".ours").inner_text().endswith("+3.2")
        assert line.locator(".papers").inner_text().endswith("+1.8")


def overlap(one, other):
    return all(
        min(one[start] + one[size], other[start] + other[size]) - max(one[start], other[start]) > 1
        for start, size in (("x", "width"), ("y", "height"))
    )


@pytest.mark.parametrize("javascript", [True, False])
def test_folded_parts_open_by_click_and_by_keyboard(visit, javascript):
    shown, _ = visit(width=1280, java_script_enabled=javascript)
    for fold, inside in (
        ("#claim-argmax", ".evidence"),
        ("#table1-folded", "table"),
        ("#verdicts > details", "p"),
        ("#study details", "pre"),
    ):
        summary, hidden = shown.locator(f"{fold} > summary"), shown.locator(f"{fold} {inside}")
        assert not hidden.is_visible()
        summary.click()
        assert hidden.is_visible()
        summary.press("Enter")
        assert not hidden.is_visible()
        summary.press("Space")
        assert hidden.is_visible()
    assert "seeds for 90% power" in shown.locator("#table1-folded").inner_text()
    assert "seeds for 90% power" not in shown.locator("#table1 > .scroll").inner_text()


def test_on_a_phone_a_line_hides_nothing(visit):
    shown, _ = visit()
    line = shown.locator("#claim-argmax")
    assert "ours +3.2" in line.locator(".ours").inner_text()
    assert "paper’s +1.8" in line.locator(".papers").inner_text()
    assert line.locator(".name").first.bounding_box()["width"] > 10
    line.locator("summary").click()
    assert line.get_by_text("This run, 10,000 of the paper's 100,000 steps").is_visible()
    assert line.get_by_text("the paper's steps, n = 2").is_visible()
    assert line.get_by_text("The rule. supported where").is_visible()


def test_numbers_are_right_aligned(visit):
    shown, _ = visit(width=1280)
    assert style(shown, "#table1 td", "textAlign") == style(shown, "#interventions td", "textAlign") == "right"
    assert style(shown, "#table1 thead th:nth-child(2)", "textAlign") == "right"
    ends = [(box := of.bounding_box())["x"] + box["width"] for of in shown.locator(".board .papers").all()]
    assert max(ends) - min(ends) < 1
    assert style(shown, ".board .papers", "textAlign") == "right"


def test_shades_are_in_proportion(visit):
    shown, _ = visit()
    assert rgb(style(shown, "td.below", "backgroundColor")) == ((230, 159, 0), pytest.approx(0.6, abs=0.01))
    assert rgb(style(shown, "td.above", "backgroundColor")) == ((0, 114, 178), pytest.approx(0.15, abs=0.01))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(visit, scheme):
    shown, _ = visit(color_scheme=scheme)
    body, _ = rgb(style(shown, "body", "backgroundColor"))
    assert (luminance(body) > 0.5) == (scheme == "light")
    assert rgb(style(shown, ".picture", "backgroundColor"))[0] == (255, 255, 255)
    kinds = ("supported", "contradicted", "undecided", "not-comparable", "not-tested")
    badges = {kind: style(shown, f".line .badge.{kind}", "backgroundColor") for kind in kinds}
    assert len(set(badges.values())) == 5
    assert rgb(badges["not-tested"])[1] == 0
    assert style(shown, ".badge.not-tested", "borderTopColor") == style(shown, ".badge.not-tested", "color")
    for selector in (
        ".answer",
        ".scale",
        ".words",
        ".unit",
        *(f".line .badge.{kind}" for kind in kinds),
        "td.below",
        "td.above",
        "tbody th",
        "details > summary",
    ):
        assert contrast(shown, selector) >= 4.5, selector


def test_print_shows_everything_and_cuts_nothing(visit):
    shown, _ = visit(width=703)  # A4 less its margins
    assert not shown.locator("#study pre").is_visible()
    shown.emulate_media(media="print", color_scheme="dark")
    assert shown.evaluate("document.documentElement.scrollWidth") <= 703
    overflowing = "boxes => boxes.filter(box => box.scrollWidth > box.clientWidth + 1).length"
    assert shown.locator(".scroll, table, td").evaluate_all(overflowing) == 0
    assert style(shown, ".scroll", "overflowX") == "visible"
    assert style(shown, "tbody th", "position") == "static"
    assert shown.locator("#study pre").bounding_box()["height"] > 100
    assert shown.locator(".line").evaluate_all(overflowing) == 0
    for selector in (".board .ours", ".board .papers", ".evidence", "#table1-folded table"):
        assert all(of.bounding_box()["height"] > 5 for of in shown.locator(selector).all())
    assert style(shown, "tr", "breakInside") == style(shown, "figure.drawn", "breakInside") == "avoid"
    assert luminance(rgb(style(shown, "body", "backgroundColor"))[0]) == pytest.approx(1)
    assert luminance(rgb(style(shown, "body", "color"))[0]) < 0.1
    assert shown.pdf(prefer_css_page_size=True).startswith(b"%PDF")


def test_a_picture_looks_like_its_file(browser):
    """It is smaller on the page: numbers have fewer digits, and names are shorter."""
    drawn = (ROOT / "plots/figures/results/figure2.svg").read_text()
    small = figure("figure2", drawn)
    shots = []
    for address in (f"data:image/svg+xml,{quote(drawn)}", small.image):
        shown = browser.new_page(viewport={"width": 1100, "height": 1000})
        shown.set_content(f'<img src="{address}" style="width: 1080px">')
        shots.append(imread(io.BytesIO(shown.screenshot())))
        shown.close()
    apart = np.abs(shots[0] - shots[1])
    assert shots[0].std() > 0.05
    assert apart.mean() < 1e-3
    assert len(small.image) < 0.5 * len(drawn)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_leaderboard_is_a_section_where_its_page_is_beside(visit, width):
    shown, problems = visit("ranked", width)
    section = shown.locator("#leaderboard")
    section.locator("#lines-title").wait_for()
    assert section.locator("tbody tr", has_text="line-with-a-name-3").first.is_visible()
    assert "Trained on up to 16 items" in section.inner_text()
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    assert problems == []


def test_without_it_the_section_says_where_it_is(visit):
    shown, problems = visit("alone")
    section = shown.locator("#leaderboard")
    assert section.is_visible()
    assert section.locator("a", has_text="leaderboard").get_attribute("href") == "../../metrics/leaderboard/board.md"
    assert section.locator("table").count() == 0
    assert problems == []
