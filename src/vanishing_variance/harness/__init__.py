"""Files, parameters, errors, processes, progress: what every script stands on, and no number depends on."""
