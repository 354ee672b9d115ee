"""The templates of the pages, and the script of their charts."""

from functools import cache
from importlib import resources

import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from vanishing_variance.report.formats import raised

TEMPLATES = Environment(
    loader=PackageLoader("vanishing_variance.report"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def read_template(name: str) -> str:
    """Return the text of a template as it stands."""
    return (resources.files("vanishing_variance.report") / "templates" / name).read_text(encoding="utf-8")


@cache
def script() -> Markup:
    """Return templates/chart.js bundled with vega-embed, Vega-Lite and Vega, minified, below their licences."""
    licences, code = (read_template(name) for name in ("licences.txt", "chart.js"))
    return Markup(f"/*\n{licences}*/\n{vl_convert.javascript_bundle(code)}")  # noqa: S704 -- files of ours, and Vega


TEMPLATES.filters["raised"] = raised
TEMPLATES.globals["script"] = script
