"""Nine pipelines that run as they are, one a pattern, to learn from and to copy.

Each is one file beside a folder with its material. It has the agents twice: as ordinary functions
that really do the work (`PIPELINE`), and as models that call the same functions as their tools
(`MODEL_PIPELINE`, which needs a model). `SAMPLES` are messages to try it with. People, firms,
prices and numbers in the material are invented.
"""
