"""Answers to a player's question about his hand: from the table of all hands, and played live."""
