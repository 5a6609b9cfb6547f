"""Where runs and units of work are done. A launcher is one file here, with a `KIND`, and one YAML in `conf/launcher/`.

Start reading in `launcher.py`: what a launcher offers. `runner/pool.py` is the engine under all of them but `serial`:
a worker anywhere is a process of its pool.
"""

from miai.runner.launchers.launcher import Launcher, Workers, launchers, named

__all__ = ["Launcher", "Workers", "launchers", "named"]
