"""The page in a real browser, Chromium without a window."""

import os

import pytest
from browser import NONE, find
from made_up_results import draw, made_up, paper

from vanishing_variance.report.page import page


@pytest.fixture
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    path = find()
    if path is None:
        pytest.skip(f"browser: {NONE}")
    with playwright.sync_playwright() as driver:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = driver.chromium.launch(executable_path=path, args=arguments)
        yield started
        started.close()


def test_the_page_shows_everything_with_no_error_no_script_and_no_request(browser, tmp_path):
    index = tmp_path / "plots/report/index.html"
    index.parent.mkdir(parents=True)
    index.write_text(page(made_up(), {"paper-scale": made_up(drawn="recorded")}, paper(), "norm: ln\n"))
    for name in ("accuracy", "recorded"):
        draw(tmp_path / f"plots/figures/{name}.png")
    errors, requests = [], []
    shown = browser.new_page()
    shown.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    shown.on("pageerror", lambda error: errors.append(str(error)))
    shown.on("request", lambda sent: requests.append(sent.url))
    shown.goto(index.as_uri())
    shown.wait_for_load_state("networkidle")
    assert errors == []
    own = ("data:", tmp_path.as_uri())
    assert [url for url in requests if not url.startswith(own)] == []
    assert shown.locator("script").count() == 0
    assert shown.locator("#tables table").count() == 8
    assert all(table.is_visible() for table in shown.locator("table").all())
    pictures = shown.evaluate("[...document.images].map(image => image.complete && image.naturalWidth > 0)")
    assert pictures == [True] * 2
