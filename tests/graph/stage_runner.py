"""Run stage scripts, each in a forked child of this process, which has the libraries loaded but none of our modules.

Each line on standard input is a JSON document: `folder`, where to run; `words`, the command after `python -m`;
`result`, the file that gets the exit code, the files below the folder that were opened (a module counts by its
source), and the parameters that were taken. What the child printed goes to that path with `.said` after it.
"""

import json
import os
import runpy
import signal
import sys
import traceback
from importlib import import_module
from pathlib import Path

LIBRARIES = (
    *("jinja2", "jaxtyping", "matplotlib.pyplot", "numpy", "pandas", "psutil", "pyarrow.parquet"),
    *("pydantic", "ruamel.yaml", "safetensors.numpy", "scipy.stats", "torch", "tqdm", "yaml"),
    *("transformers.models.llama.modeling_llama", "transformers.models.auto.modeling_auto"),
)


class Watch:
    """The files that this process opens below a folder, and the keys of params.yaml that it takes."""

    def __init__(self, folder):
        self.folder, self.opened, self.taken = f"{folder}{os.sep}", set(), set()

    def __call__(self, event, arguments):
        """Note an audit event."""
        if event == "vanishing_variance.get_param":
            self.taken.add(arguments[0])
        elif event == "open" and isinstance(arguments[0], str):
            path = Path(os.path.abspath(arguments[0]))
            if path.parent.name == "__pycache__":
                path = path.parents[1] / f"{path.name.partition('.')[0]}.py"
            if str(path).startswith(self.folder):
                self.opened.add(str(path.relative_to(self.folder)))


def announce_compiled_reader():
    """Let safetensors, which opens files out of Python's sight, raise the audit event that `open` raises."""
    import safetensors

    original = safetensors.safe_open

    def safe_open(path, *arguments, **options):
        sys.audit("open", str(path), "rb", 0)
        return original(path, *arguments, **options)

    safetensors.safe_open = safe_open


def run(request):
    """Run one script in this process; write what became of it, and exit."""
    folder, words = request["folder"], request["words"]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    said = os.open(f"{request['result']}.said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.chdir(folder)
    sys.path.insert(0, folder)
    sys.argv = [words[0], *words[1:]]
    watch, code = Watch(folder), 0
    sys.addaudithook(watch)
    try:
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    found = {"code": code, "opened": sorted(watch.opened), "taken": sorted(watch.taken)}
    with open(request["result"], "w") as file:
        json.dump(found, file)
    os._exit(0)


def main():
    """Serve requests until standard input ends."""
    for name in LIBRARIES:
        import_module(name)
    announce_compiled_reader()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            run(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
