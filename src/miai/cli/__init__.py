"""The command `miai`: thin entry points, one file a command, found by themselves."""
