"""The templates of the page and of results.md."""

from jinja2 import Environment, PackageLoader, StrictUndefined

from vanishing_variance.report.formats import raised

TEMPLATES = Environment(
    loader=PackageLoader("vanishing_variance.report"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)

TEMPLATES.filters["raised"] = raised
