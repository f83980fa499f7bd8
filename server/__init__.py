"""The edge: settings and the `journeygraph` command."""
