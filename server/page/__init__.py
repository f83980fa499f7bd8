"""The page that `journeygraph serve` shows in a browser."""
