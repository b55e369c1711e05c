"""Policies: who bids, gives and plays. Names in :mod:`registry`, kernels behind :mod:`dispatch`."""
