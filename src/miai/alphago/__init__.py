"""The stages of the pipeline of AlphaGo (Silver et al., 2016)."""
