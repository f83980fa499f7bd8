"""`python -m journeygraph.server.cli` is the `journeygraph` command."""

from journeygraph.server.cli import main

main()
