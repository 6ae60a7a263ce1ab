"""Peers of the rows on linear algebra, bench/rows/linalg.ts: the same matrices and sizes."""

from functools import partial

from tensors import Jax, Numpy, Torch, edge, enter, length


def positive(library, shape, dtype="f32"):
    """Symmetric matrices with eigenvalues from 1 to about 3."""
    m = library.centred(shape, 0, dtype)
    if library.name == "torch":
        eye = library.torch.eye(shape[-1], device=m.device)
    else:
        eye = library.np.eye(shape[-1], dtype=m.dtype)
    transposed = m.swapaxes(-1, -2)
    return m @ transposed / shape[-1] * 3 + eye


def linalg(library):
    return (library.torch if library.name == "torch" else library.np).linalg


def square(full):
    return edge(full), edge(full)


def batch():
    return length(4096), 32, 32


def small():
    return length(1000), 8, 8


def cholesky(shape, library, dtype="f32"):
    a = positive(library, shape(), dtype)
    return linalg(library).cholesky, [a]


def triangular(full, library):
    a, b = positive(library, square(full)), library.centred(square(full), 1)
    if library.name == "torch":
        return lambda a, b: library.torch.linalg.solve_triangular(a, b, upper=False), [a, b]
    solve = library.jax.scipy.linalg.solve_triangular
    return lambda a, b: solve(a, b, lower=True), [a, b]


def solve(shape, sides, library, dtype="f32"):
    a = positive(library, shape(), dtype)
    b = library.centred((*shape()[:-1], sides()), 1, dtype)
    return linalg(library).solve, [a, b]


def of_general(name, shape, library, dtype="f32", **options):
    """A decomposition of any matrices."""
    function = getattr(linalg(library), name)
    return lambda a: function(a, **options), [library.centred(shape(), 0, dtype)]


def of_symmetric(name, shape, library, dtype="f32"):
    return getattr(linalg(library), name), [positive(library, shape(), dtype)]


def thin(shape, library, dtype="f32"):
    return of_general("svd", shape, library, dtype, full_matrices=False)


def in_both(works):
    """Each work in f32, and in f64 under a name of its own."""
    return {**works, **{f"{name}-f64": partial(work, dtype="f64") for name, work in works.items()}}


LARGE = {
    "cholesky-2048": partial(cholesky, partial(square, 2048)),
    "cholesky-4096": partial(cholesky, partial(square, 4096)),
    "cholesky-batch": partial(cholesky, batch),
    "triangular-4096": partial(triangular, 4096),
    "solve-2048": partial(solve, partial(square, 2048), partial(edge, 2048)),
    "solve-batch": partial(solve, batch, lambda: 1),
}
# Signs are each library's own choice: no elements are shown.
LARGE_BASES = {
    "qr-2048": partial(of_general, "qr", partial(square, 2048)),
    "eigh-512": partial(of_symmetric, "eigh", partial(square, 512)),
    "eigh-2048": partial(of_symmetric, "eigh", partial(square, 2048)),
    "svd-512": partial(thin, partial(square, 512)),
    "eigh-batch": partial(of_symmetric, "eigh", batch),
    "svd-batch": partial(thin, batch),
    "qr-batch": partial(of_general, "qr", batch),
}
ON_CPU = {
    **in_both(
        {
            "cholesky-512": partial(cholesky, partial(square, 512)),
            "solve-512": partial(solve, partial(square, 512), partial(edge, 512)),
        }
    ),
    "cholesky-small": partial(cholesky, small),
    "solve-small": partial(solve, small, lambda: 1),
    "inv-small": partial(of_symmetric, "inv", small),
}
BASES_ON_CPU = in_both(
    {
        "qr-512": partial(of_general, "qr", partial(square, 512)),
        "eigh-512": partial(of_symmetric, "eigh", partial(square, 512)),
        "svd-512": partial(thin, partial(square, 512)),
        "qr-small": partial(of_general, "qr", small),
        "eigh-small": partial(of_symmetric, "eigh", small),
        "svd-small": partial(thin, small),
    }
)

for libraries_, works_, is_comparable_ in (
    ((Torch, Jax), LARGE, True),
    ((Torch, Jax), LARGE_BASES, False),
    ((Numpy,), ON_CPU, True),
    ((Numpy,), BASES_ON_CPU, False),
):
    for library_ in libraries_:
        for name_, work_ in works_.items():
            enter(library_, f"linalg-{name_}", work_, is_comparable=is_comparable_)
