"""Which techniques the search uses: all of them. Frozen into the compiled code.

For `benchmarks/solver_techniques.py`, which turns one off at a time, before the search is imported,
to measure what it is worth; never changed in use. No technique changes a value.
"""

from __future__ import annotations

TABLE = True  # remember values of positions (milsim.solver.table)
BOUNDS = True  # cut by points that are sure for the side on lead (milsim.solver.bounds)
OFF_LEAD = True  # and for the other side
ORDER = True  # try first what should decide (milsim.solver.ordering)
DOMINANCE = True  # of equal neighbours only the best, where the taker of the trick is certain
