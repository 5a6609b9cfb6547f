"""The Go Text Protocol, version 2, from both ends.

`protocol` is the text itself, `client` drives somebody else's engine, `engine` is Miai as an engine. Within this layer
the imports go `protocol`, `client` → `players` → `arena`, `engine`; so nothing is imported here.
"""
