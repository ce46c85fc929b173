"""Whether compiled linear algebra gives numpy's bits on this machine.

numpy and compiled code call BLAS libraries of their own, which pick a kernel by the processor.
robosuite computes partly with one and partly with the other, so a compiled control step is exact
only where both round alike.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from pytest_robomem.scene.native import compiled

Array = NDArray[np.float64]

_TRIALS = 64  # a kernel that rounds in another order differs in most products
_VELOCITIES = (21, 26, 27, 33, 39, 45)  # lengths around those of the scenes


@compiled
def _product(matrix: Array, vector: Array) -> Array:
    product: Array = np.dot(matrix, vector)
    return product


@compiled
def _transposed_product(matrix: Array, vector: Array) -> Array:
    product: Array = np.dot(matrix.T, vector)
    return product


@cache
def same_arithmetic() -> bool:
    """Compare the products of a control step, in its shapes and memory layouts."""
    numbers = np.random.Generator(np.random.PCG64(0))
    for trial in range(_TRIALS):
        length = _VELOCITIES[trial % len(_VELOCITIES)]
        jacobian, velocities = numbers.normal(size=(3, length)), numbers.normal(size=length)
        inertia, force = np.asfortranarray(numbers.normal(size=(3, 3))), numbers.normal(size=3)
        arm, wrench = np.asfortranarray(numbers.normal(size=(6, 7))), numbers.normal(size=6)
        turn, rotation = numbers.normal(size=(2, 3, 3))
        pairs = (
            (np.dot(jacobian, velocities), _product(jacobian, velocities)),
            (np.dot(inertia, force), _product(inertia, force)),
            (np.dot(arm.T, wrench), _transposed_product(arm, wrench)),
            (np.dot(turn, rotation), _product(turn, rotation)),
        )
        if any(stock.tobytes() != ours.tobytes() for stock, ours in pairs):
            return False
    return True
