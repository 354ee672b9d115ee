"""Put on PYTHONPATH by test_pipeline.py: every Python process logs which files below TRACE_ROOT it opens.

One line a file in TRACE_LOG: the stage's command line, and the file; and one a parameter, as params.yaml:<key>. A
module counts by its source. Files that are read by compiled code (parquet, safetensors) do not pass through here.
"""

import os
import sys

root, log = os.environ.get("TRACE_ROOT"), os.environ.get("TRACE_LOG")


def note(event, arguments):
    if event == "vanishing_variance.get_param":
        path = os.path.join(root, f"params.yaml:{arguments[0]}")
    elif event == "open" and isinstance(arguments[0], str):
        path = os.path.abspath(arguments[0])
    else:
        return
    if not path.startswith(root + os.sep):
        return
    folder, name = os.path.split(path)
    if os.path.basename(folder) == "__pycache__":
        path = os.path.join(os.path.dirname(folder), name.partition(".")[0] + ".py")
    with_arguments = " ".join(sys.orig_argv[1:])
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, f"{with_arguments}\t{os.path.relpath(path, root)}\n".encode())
    os.close(descriptor)


if root and log and sys.orig_argv[1:2] == ["-m"] and sys.orig_argv[2].startswith("stages."):
    sys.addaudithook(note)
