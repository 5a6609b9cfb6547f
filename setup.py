"""Ships the top-level `conf` and `experiments` folders inside the package.

They stay at the top of the checkout, where people look for them, and install as `miai.conf` and `miai.experiments`.
Hydra's plugins are in a namespace that other packages share. Everything else is in pyproject.toml.
"""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages("src"), "hydra_plugins.miai", "miai.conf", "miai.experiments"],
    package_dir={"": "src", "miai.conf": "conf", "miai.experiments": "experiments"},
    package_data={
        "miai": ["**/*.html"],
        "miai.conf": ["*.yaml", "*/*.yaml", "*/*/*.yaml"],
        "miai.experiments": ["*.yaml"],
    },
)
