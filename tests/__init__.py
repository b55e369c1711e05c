"""The tests of milsim; they mirror the package."""
