"""What is installed and declared: `train` needs no extra, the tools nothing of the study; and what git checks out."""

import ast
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest
from checkout import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

SOURCE = ROOT / "src"
# Run as a program; or looked for by what is imported: transformers, Dask and pandas.
UNIMPORTED = {"dvc", "accelerate", "bokeh", "gguf", "tabulate"}
DISTRIBUTIONS = {package: {*map(canonicalize_name, of)} for package, of in packages_distributions().items()}


def project(folder):
    return tomllib.loads((folder / "pyproject.toml").read_text())["project"]


def names(requirements):
    """The distributions of some requirements."""
    return {canonicalize_name(Requirement(requirement).name) for requirement in requirements}


def imported(paths, own):
    """The packages that files import, but for Python's and their own."""
    found = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(node.module)
    return {name.partition(".")[0] for name in found} - sys.stdlib_module_names - own


def undeclared(packages, declared):
    """Those of some packages that no declared distribution has."""
    return {package for package in packages if not declared & DISTRIBUTIONS.get(package, set())}


def unimported(packages, declared):
    """Those of the declared distributions that have none of some packages."""
    return declared - UNIMPORTED - set().union(*(DISTRIBUTIONS[package] for package in packages))


def test_what_the_study_imports_is_declared_in_the_right_extra_and_nothing_else_is():
    found = project(ROOT)
    always = names(found["dependencies"])
    study, probe = (names(found["optional-dependencies"][extra]) for extra in ("study", "probe"))
    files = {*(SOURCE / "vanishing_variance").rglob("*.py"), *(ROOT / "stages").glob("*.py")}
    of_probe = {path for path in files if path.parent.name == "probe"}
    inside, outside = (imported(some, {"vanishing_variance", "stages"}) for some in (of_probe, files - of_probe))
    assert undeclared(inside, always | probe) == undeclared(outside, always | study) == set()
    assert unimported(inside | outside, always | study | probe) == set()


def test_dvc_parallel_declares_what_it_imports_and_that_is_nothing_of_the_study():
    tool = "dvc_parallel"
    packages, declared = imported((SOURCE / tool).rglob("*.py"), {tool}), names(project(SOURCE / tool)["dependencies"])
    assert undeclared(packages, declared) == unimported(packages, declared) == set()
    assert "vanishing-variance" not in declared
    code = (
        "import runpy, sys; sys.modules |= dict.fromkeys(['vanishing_variance', 'stages']); "
        f"runpy.run_module('{tool}', run_name='__main__')"
    )
    command = [sys.executable, "-c", code, "--help"]
    assert subprocess.check_output(command, cwd=SOURCE, text=True).startswith("usage: ")


TRAIN = """
import importlib, pkgutil, sys
sys.modules |= dict.fromkeys(sys.argv[1:])  # their import fails
import vanishing_variance
for room in ("attentions", "networks", "norms", "tasks"):
    package = importlib.import_module(f"vanishing_variance.{room}")
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
small = {"tasks.argmax.steps.short": 1, "model.width": 8, "training.batch_size": 2}
params = vanishing_variance.read_params(small, sys.modules["vanishing_variance.notebook"].DEFAULTS)
for network in (None, "paper"):
    models = vanishing_variance.train(params, "argmax", "ln", [0], network=network)
    assert len(vanishing_variance.evaluate(models, [4], 2))
"""


@pytest.mark.trains
def test_to_train_and_evaluate_no_extra_is_needed(tmp_path):
    found = project(ROOT)
    extras = found["optional-dependencies"]
    others = [*extras["study"], *extras["probe"], *project(SOURCE / "dvc_parallel")["dependencies"]]
    left_out = names(others) - names(found["dependencies"])
    blocked = [package for package, of in DISTRIBUTIONS.items() if left_out & of]
    assert {"dvc", "matplotlib", "transformers", "dask", "jinja2"} <= {*blocked}
    subprocess.run([sys.executable, "-c", TRAIN, *blocked], cwd=tmp_path, env={"PYTHONPATH": str(SOURCE)}, check=True)


def test_the_package_has_the_studys_parameters():
    assert (SOURCE / "vanishing_variance/params.yaml").samefile(ROOT / "params.yaml")


def checked_out(folder, setting):
    """The bytes of every file of the index, by name, as git with this setting writes them."""
    command = ["git", "-c", setting, "checkout-index", "--all", f"--prefix={folder}/"]
    subprocess.run(command, cwd=ROOT, check=True)
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_no_setting_changes_a_file(tmp_path):
    plain = checked_out(tmp_path / "plain", "core.autocrlf=false")
    for setting in ("core.autocrlf=true", "core.eol=crlf"):
        other = checked_out(tmp_path / setting, setting)
        assert [str(path) for path in plain if other[path] != plain[path]] == []
