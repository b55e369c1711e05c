"""Settings of all tests: the first call of a kernel compiles it, so no deadline is meaningful."""

from hypothesis import settings

settings.register_profile("milsim", deadline=None)
settings.load_profile("milsim")
