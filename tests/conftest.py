"""Settings of all tests: the first call of a kernel compiles it, so no deadline is meaningful.

Neither is how long hypothesis takes to draw examples: a second in which a busy machine stood still
would fail a test.

``pytest --update-golden`` writes the files of ``tests/golden`` that are made by the slow reference
anew, instead of checking them; look at the difference before you commit it.
"""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # As a shell leaves it for what it starts with "&"; the commands that tests start inherit it,
    # and Ctrl-C is one of the things that are tested.
    signal.signal(signal.SIGINT, signal.default_int_handler)

UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("milsim", UNTIMED)
# CI judges a change: the same examples each time, so that a verdict can be had again. Everywhere
# else hypothesis goes on looking for new ones.
settings.register_profile("ci", UNTIMED, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "milsim")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the golden files that tests make, instead of checking them (minutes)",
    )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written anew (``--update-golden``)."""
    return bool(request.config.getoption("--update-golden"))
