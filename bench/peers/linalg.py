"""Peers of the rows on linear algebra, bench/rows/linalg.ts: the same matrices and sizes."""

from functools import partial

from tensors import Jax, Torch, edge, enter, length


def positive(library, shape):
    """Symmetric matrices with eigenvalues from 1 to about 3."""
    m = library.centred(shape, 0)
    eye = library.torch.eye(shape[-1], device=m.device) if library.name == "torch" else library.np.eye(shape[-1])
    return m @ m.mT / shape[-1] * 3 + eye


def square(full):
    return edge(full), edge(full)


def batch():
    return length(4096), 32, 32


def cholesky(shape, library):
    a = positive(library, shape())
    return (library.torch if library.name == "torch" else library.np).linalg.cholesky, [a]


def triangular(full, library):
    a, b = positive(library, square(full)), library.centred(square(full), 1)
    if library.name == "torch":
        return lambda a, b: library.torch.linalg.solve_triangular(a, b, upper=False), [a, b]
    solve = library.jax.scipy.linalg.solve_triangular
    return lambda a, b: solve(a, b, lower=True), [a, b]


def solve(shape, sides, library):
    a = positive(library, shape())
    b = library.centred((*shape()[:-1], sides()), 1)
    return (library.torch if library.name == "torch" else library.np).linalg.solve, [a, b]


WORKS = {
    "cholesky-2048": partial(cholesky, partial(square, 2048)),
    "cholesky-4096": partial(cholesky, partial(square, 4096)),
    "cholesky-batch": partial(cholesky, batch),
    "triangular-4096": partial(triangular, 4096),
    "solve-2048": partial(solve, partial(square, 2048), partial(edge, 2048)),
    "solve-batch": partial(solve, batch, lambda: 1),
}

for library_ in (Torch, Jax):
    for name_, work_ in WORKS.items():
        enter(library_, f"linalg-{name_}", work_)
