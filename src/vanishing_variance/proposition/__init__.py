"""Proposition 1, checked: the variance of the attention outputs O, before the normaliser, against the length N.

Under its own assumptions: the query is fixed, and items are i.i.d. (`Task.sample_iid`). That E[V] = 0, which it
assumes too, needs nothing to be done: attention weights sum to one, so centring V moves O by a
constant, and no variance.
"""
