"""Runs on disk: columns, manifest, atomic parts, and reading them back checked."""
