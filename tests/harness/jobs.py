"""Jobs for `parallel.run`, in a file of their own so that the processes that run them import little."""

import os
import signal
import time

from vanishing_variance.harness.errors import InputError


def square(number, report):
    report(number)
    return number**2


def refuse(report):
    raise InputError("this one")


def wait(report):
    time.sleep(300)


def run_out(report):
    raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes")


def be_killed(report):
    os.kill(os.getpid(), signal.SIGKILL)
