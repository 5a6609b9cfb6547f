"""The studies; installs as `miai.experiments`."""
