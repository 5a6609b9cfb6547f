"""The YAML groups that Hydra composes runs from; installs as `miai.conf`."""
