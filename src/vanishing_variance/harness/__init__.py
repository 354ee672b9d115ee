"""Errors, parameters, files, random streams, processes: everything that more than one stage stands on."""
