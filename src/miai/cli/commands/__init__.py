"""One file a command, found by itself. Each has

- a docstring, which is its help; the first line stands in the overview;
- `EXAMPLES`: command lines;
- `CONFIG`: its primary YAML in `conf/`, whose options and groups the help page lists, or `None`;
- `run(arguments) -> int`: the exit code.
"""
