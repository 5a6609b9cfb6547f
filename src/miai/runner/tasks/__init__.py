"""The tasks: one file a task, each with a `TASK`."""
