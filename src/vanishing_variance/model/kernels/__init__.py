"""What is compiled for the processor at hand, a C source and its Python side each; where none can be, torch does it.

Every one computes what a plain definition in torch computes, and is tested against it.
"""
