"""Pages for a browser, each one self-contained file: what a player can click without a terminal."""
