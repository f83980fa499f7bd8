"""`python -m server.cli` is the `journeygraph` command."""

from server.cli import main

main()
