"""Hash of a set, kept up to date by the elements that come and go.

MuHash: the product of all elements, each as a number of 3072 bits, modulo a prime. To find another
set with the same product is as hard as a discrete logarithm in that group (Bellare and Micciancio,
"A new paradigm for collision-free hashing: incrementality at reduced cost", EUROCRYPT 1997). The
prime is the one of Bitcoin Core, `src/crypto/muhash.h`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

_PRIME = 2**3072 - 1_103_717
_BYTES = 384
EMPTY = f"{1:0{2 * _BYTES}x}"
"""The product of the empty set; 768 hexadecimal digits, as every product."""


def changed(product: str, added: Iterable[str], removed: Iterable[str] = ()) -> str:
    """Return the product of a set after a change; its cost depends on the change alone.

    Args:
        product: The product of the set before.
        added: Elements that the set did not have.
        removed: Elements that it had.
    """
    factor, divisor = _product(added), _product(removed)
    if divisor != 1:
        factor = factor * pow(divisor, -1, _PRIME) % _PRIME
    return f"{int(product, 16) * factor % _PRIME:0{2 * _BYTES}x}"


def _product(elements: Iterable[str]) -> int:
    made = 1
    for one in elements:
        expanded = hashlib.shake_256(one.encode()).digest(_BYTES)
        made = made * int.from_bytes(expanded) % _PRIME
    return made
