"""The critical factor of logits, by counting gaps: against a search for the factor itself."""

import runpy

import numpy as np
import torch
from checkout import ROOT
from scipy.optimize import brentq

critical = runpy.run_path(str(ROOT / "studies/tasks/critical.py"))["critical"]


def test_with_less_than_the_critical_factor_some_nearest_rivals_outweigh_the_largest_logit():
    logits = np.random.default_rng(0).normal(size=(2, 3, 40)).astype(np.float32)
    found = critical(torch.from_numpy(logits))
    for row, factor in zip(logits.reshape(-1, 40), found.flatten().tolist(), strict=True):
        gaps = np.sort(row.max() - row)[1:]
        counts = np.arange(1, 40)

        def excess(beta, gaps=gaps, counts=counts):  # of k rivals over the largest logit
            return (np.log(counts) - beta * gaps)[1:].max()

        np.testing.assert_allclose(factor, brentq(excess, 1e-6, 1e3), rtol=1e-4)
