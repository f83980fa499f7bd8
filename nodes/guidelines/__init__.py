"""Which guidelines hold: those that a message may touch, and what relations leave of them."""
