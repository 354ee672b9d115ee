"""The page in a real browser, Chromium without a window."""

import os

import pytest
from browser import NONE, find
from made_up_results import VERDICTS, made_up

from vanishing_variance.report.figures import NAMES, folder
from vanishing_variance.report.page import page

TABLES = ["records", "interventions", "mechanism", *(f"table{number}" for number in range(1, 7))]


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


@pytest.fixture
def index(tmp_path):
    """The page in its folder, and the figures where it looks for them."""
    results = made_up()
    files = {f"plots/figures/{folder(name)}/{name}.svg": results.pictures[name] for name in NAMES}
    for record, of in results.records.items():
        files |= {f"metrics/{record}/plots/{name}.svg": picture for name, picture in of.pictures.items()}
    for name, text in (files | {"plots/report/index.html": page(results)}).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path / "plots/report/index.html"


def test_the_page_shows_everything_with_no_error_no_script_and_no_request(browser, index):
    problems, shown = [], browser.new_page()
    shown.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    shown.on("pageerror", lambda error: problems.append(str(error)))
    own = ("data:", index.parents[2].as_uri())
    shown.on("request", lambda sent: None if sent.url.startswith(own) else problems.append(sent.url))
    shown.goto(index.as_uri())
    shown.wait_for_load_state("networkidle")
    assert problems == []
    assert shown.locator("script").count() == 0
    for table in TABLES:
        assert shown.locator(f"#{table} td").first.is_visible(), table
    for name in ("recorded-accuracy", *NAMES):
        assert shown.locator(f"#{name}-figure").count() == 1, name
    pictures = shown.evaluate("[...document.images].map(image => image.complete && image.naturalWidth > 0)")
    assert pictures == [True] * (1 + len(NAMES))
    badges = shown.locator(".board li .badge").evaluate_all("badges => badges.map(badge => badge.title)")
    assert sorted(badges) == sorted(VERDICTS.values())
