"""Both pages in a real browser, Chromium without a window."""

import os

import pytest
from browser import NONE, find
from made_up_leaderboard import MEANS, leaderboard
from made_up_results import VERDICTS, made_up
from test_page import MACHINE, TIMES

from vanishing_variance.report import leaderboard as leaderboard_page
from vanishing_variance.report.figures import NAMES
from vanishing_variance.report.page import page, side


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    found = find()
    if found is None:
        pytest.skip(f"browser: {NONE}")
    with playwright.sync_playwright() as driver:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = driver.chromium.launch(executable_path=found, args=arguments)
        yield started
        started.close()


@pytest.fixture(scope="module")
def plots(tmp_path_factory):
    """Both pages beside each other, and the side file of the study's."""
    plots, made = tmp_path_factory.mktemp("plots"), page(made_up())
    for name in ("report", "leaderboard"):
        (plots / name).mkdir()
    (plots / "report/index.html").write_text(made.html)
    (plots / "report/run.html").write_text(side(made.fingerprint, MACHINE, TIMES))
    (plots / "leaderboard/index.html").write_text(leaderboard_page.page(leaderboard()))
    return plots


TABLES = ["records", "interventions", "mechanism", *(f"table{number}" for number in range(1, 7)), "lines", "ceiling"]
FIGURES = ["lead", "recorded-figure", *(f"{name}-figure" for name in NAMES), "leaderboard-figure"]


@pytest.mark.parametrize(
    ("name", "tables", "figures", "charts"),
    [
        ("report", TABLES, FIGURES, ["chart", "leaderboard-chart"]),
        ("leaderboard", ["lines", "ablation", "ceiling"], ["leaderboard-figure"], ["leaderboard-chart"]),
    ],
)
def test_a_page_shows_everything_with_no_error_and_no_request(browser, plots, name, tables, figures, charts):
    problems, shown = [], browser.new_page()
    shown.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    shown.on("pageerror", lambda error: problems.append(str(error)))
    own = ("data:", plots.as_uri())
    shown.on("request", lambda sent: None if sent.url.startswith(own) else problems.append(sent.url))
    shown.goto(f"{(plots / name).as_uri()}/index.html")
    for chart in charts:
        shown.locator(f"#{chart}-panel svg").wait_for()
    shown.wait_for_load_state("networkidle")
    assert problems == []
    for table in tables:
        assert shown.locator(f"#{table} td").first.is_visible(), table
    for figure in figures:
        assert shown.locator(f"#{figure}").count() == 1, figure
    pictures = shown.evaluate("[...document.images].map(image => image.complete && image.naturalWidth > 0)")
    assert pictures == [True] * len([of for of in figures if of != "lead"])
    assert shown.locator("#lines tbody tr", has=shown.locator("td")).count() == len(MEANS) + 1
    if name == "report":
        badges = shown.locator(".board li .badge").evaluate_all("badges => badges.map(badge => badge.title)")
        assert sorted(badges) == sorted(VERDICTS.values())
        assert "59.8" in shown.locator("#run").inner_text()
