"""Value tables, and the learners that fill them, on the graph of a small game."""
