"""Settings of the whole suite."""

from hypothesis import settings

# The first call of a kernel compiles it, which takes seconds: no deadline. The same examples in every run of the suite.
settings.register_profile("miai", deadline=None, derandomize=True)
settings.load_profile("miai")
