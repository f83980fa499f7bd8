"""New projects: a folder with a journey, its tests, and the files that run it."""
