"""Peers of the rows on linear algebra, bench/rows/linalg.ts: the same matrices and sizes."""

from functools import partial

from tensors import MIX, SPREAD, START, Jax, Torch, edge, enter, length, listed, milliseconds, probes, product
from timing import the


class Numpy:
    """NumPy, on as many threads as its BLAS takes: two on the machine of our rows."""

    name = "numpy"

    def __init__(self):
        self.np = the("numpy")

    def hashes(self, size, seed):
        h = self.np.arange(size, dtype=self.np.uint32)
        h = h * self.np.uint32(SPREAD) + self.np.uint32((seed + 1) * START & 0xFFFFFFFF)
        h ^= h >> self.np.uint32(15)
        return h * self.np.uint32(MIX) >> self.np.uint32(8)

    def centred(self, shape, seed):
        h = self.hashes(product(shape), seed).astype(self.np.float32)
        return (h * self.np.float32(2**-23) - self.np.float32(1)).reshape(shape)

    def positions(self, size, seed, limit):
        return (self.hashes(size, seed) % limit).astype(self.np.int32)

    def measure(self, compute, inputs):
        samples = milliseconds(lambda: compute(*inputs), lambda _: None)
        flat = [result.reshape(-1) for result in listed(compute(*inputs))]
        return samples, [each[place].item() for each in flat for place in probes(each.size)]


def positive(library, shape):
    """Symmetric matrices with eigenvalues from 1 to about 3."""
    m = library.centred(shape, 0)
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


def cholesky(shape, library):
    a = positive(library, shape())
    return linalg(library).cholesky, [a]


def triangular(full, library):
    a, b = positive(library, square(full)), library.centred(square(full), 1)
    if library.name == "torch":
        return lambda a, b: library.torch.linalg.solve_triangular(a, b, upper=False), [a, b]
    solve = library.jax.scipy.linalg.solve_triangular
    return lambda a, b: solve(a, b, lower=True), [a, b]


def solve(shape, sides, library):
    a = positive(library, shape())
    b = library.centred((*shape()[:-1], sides()), 1)
    return linalg(library).solve, [a, b]


def of_general(name, shape, library, **options):
    """A decomposition of any matrices."""
    function = getattr(linalg(library), name)
    return lambda a: function(a, **options), [library.centred(shape(), 0)]


def of_symmetric(name, shape, library):
    return getattr(linalg(library), name), [positive(library, shape())]


def thin(shape, library):
    return of_general("svd", shape, library, full_matrices=False)


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
    "cholesky-512": partial(cholesky, partial(square, 512)),
    "solve-512": partial(solve, partial(square, 512), partial(edge, 512)),
    "cholesky-small": partial(cholesky, small),
    "solve-small": partial(solve, small, lambda: 1),
    "inv-small": partial(of_symmetric, "inv", small),
}
BASES_ON_CPU = {
    "qr-512": partial(of_general, "qr", partial(square, 512)),
    "eigh-512": partial(of_symmetric, "eigh", partial(square, 512)),
    "svd-512": partial(thin, partial(square, 512)),
}

for libraries_, works_, is_comparable_ in (
    ((Torch, Jax), LARGE, True),
    ((Torch, Jax), LARGE_BASES, False),
    ((Numpy,), ON_CPU, True),
    ((Numpy,), BASES_ON_CPU, False),
):
    for library_ in libraries_:
        for name_, work_ in works_.items():
            enter(library_, f"linalg-{name_}", work_, is_comparable=is_comparable_)
