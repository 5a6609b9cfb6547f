"""Rules of games, the graph of a small game, and the compiled Go engine."""
