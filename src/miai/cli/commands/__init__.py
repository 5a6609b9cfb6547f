"""One file a command. Each has a docstring (its help), `EXAMPLES`, `CONFIG` (its primary YAML, or None) and `run`."""
