"""Vega-Lite: the script that draws the page's chart, with all that it needs."""

from functools import cache
from importlib import resources

import vl_convert

_TEMPLATES = resources.files("vanishing_variance.report") / "templates"


@cache
def script() -> str:
    """Return templates/chart.js bundled with vega-embed, Vega-Lite and Vega, minified, below their licences."""
    code = vl_convert.javascript_bundle((_TEMPLATES / "chart.js").read_text(encoding="utf-8"))
    return f"/*\n{(_TEMPLATES / 'licences.txt').read_text(encoding='utf-8')}*/\n{code}"
