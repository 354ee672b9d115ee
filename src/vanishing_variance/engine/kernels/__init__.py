"""Compiled kernels, a C source and its Python side each; without a compiler torch takes their place.

Every one computes what a plain definition in torch computes, and is tested against it.
"""
