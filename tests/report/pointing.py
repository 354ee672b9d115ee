"""Charts of a page in a real browser, by the name that their parts begin with: what is chosen and pointed at."""


def settle(shown):
    """Wait until the chart has followed: it is drawn anew before the next frame."""
    shown.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def choose(shown, chart, **chosen):
    for name, value in chosen.items():
        shown.locator(f"#{chart}-choices [name=chosen_{name}]").select_option(value)
    settle(shown)


def points(shown, chart, colour):
    """Where the points of the curves of a colour are, and how wide, by length."""
    boxes = shown.locator(f"#{chart}-panel path[aria-roledescription=point]").evaluate_all(
        """(points, colour) => points.filter(point => point.getAttribute("fill") === colour).map(point => {
            const box = point.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2, box.width];
        })""",
        colour,
    )
    return sorted(boxes)


def point_at(shown, chart, colour, place):
    """Point at a point of a curve, the first of which is at the shortest length; return what the chart reads out."""
    shown.locator(f"#{chart}-panel").scroll_into_view_if_needed()
    across, down, _ = points(shown, chart, colour)[place]
    shown.mouse.move(across, down)
    settle(shown)
    return read_out(shown, chart)


def read_out(shown, chart):
    """The texts above the curves, below the title."""
    return " ".join(shown.locator(f"#{chart}-panel text", has_text="at N = ").locator("tspan").all_text_contents())


def assert_texts_fit(shown, chart):
    """Every text of a chart is within its panel."""
    panel = shown.locator(f"#{chart}-panel").bounding_box()
    for of in shown.locator(f"#{chart}-panel text").all():
        box = of.bounding_box()
        assert panel["x"] <= box["x"]
        assert box["x"] + box["width"] <= panel["x"] + panel["width"], of.inner_text()
