"""Peers of the rows on tensors, bench/rows/tensors.ts: PyTorch eager and JAX jitted, in full f32.

The other families take the libraries from here, and NumPy, the peer of rows of the CPU engine.

The inputs are the same hash of each element's position as ours (bench/tensor-work.ts), and elements of the result at the
same places are shown, so that a peer which computes something else is found out.
"""

import time
from functools import partial

from timing import Pace, peer, sample, seconds, the

SPREAD, START, MIX = 0x9E3779B1, 0x85EBCA6B, 0x2C1B3C6D
MOST_REPEATS = 8
LONG = 0.04  # seconds: what takes longer hides the wait by itself
PROBES = 8
EPSILON = 1e-5


def edge(full):
    return full >> Pace.halvings


def length(full):
    return full // 4**Pace.halvings


def probes(size):
    """Positions spread over a result, the first and the last among them, each once."""
    return sorted({(size - 1) * k // (PROBES - 1) for k in range(PROBES)})


def milliseconds(compute, wait):
    """Milliseconds per call, several calls to a wait, fewer where a call takes long."""
    wait(compute())  # compiles
    repeats = min(MOST_REPEATS, max(1, int(LONG / seconds(lambda: wait(compute())))))

    def once():
        start = time.perf_counter()
        for _ in range(repeats):
            result = compute()
        wait(result)
        return 1e3 * (time.perf_counter() - start) / repeats

    return sample(once)


# ---------------------------------------------------------------------------------------- the libraries


def listed(results):
    """The results of a computation that gives one, or several together."""
    return list(results) if isinstance(results, (tuple, list)) else [results]


class Torch:
    name = "torch"

    def __init__(self):
        self.torch = the("torch")
        self.torch.backends.cuda.matmul.allow_tf32 = False
        self.torch.backends.cudnn.allow_tf32 = False
        names = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
        self.dtypes = {short: getattr(self.torch, name, None) for short, name in names.items()}

    def cast(self, x, dtype):
        return x.to(self.dtypes[dtype])

    def centred(self, shape, seed, dtype="f32"):
        return self.cast(self.uniform(shape, seed) * 2 - 1, dtype)

    def hashes(self, size, seed):
        h = self.torch.arange(size, device="cuda", dtype=self.torch.int64)
        h = (h * SPREAD + (seed + 1) * START) & 0xFFFFFFFF
        h ^= h >> 15
        return ((h * MIX) & 0xFFFFFFFF) >> 8

    def uniform(self, shape, seed):
        return (self.hashes(product(shape), seed).to(self.torch.float32) * 2**-24).reshape(shape)

    def positions(self, size, seed, limit=None):
        return (self.hashes(size, seed) % (limit or size)).to(self.torch.int32)

    def measure(self, compute, inputs):
        self.torch.cuda.empty_cache()
        samples = milliseconds(lambda: compute(*inputs), lambda _: self.torch.cuda.synchronize())
        flat = [result.reshape(-1) for result in listed(compute(*inputs))]
        return samples, [each[place].item() for each in flat for place in probes(each.numel())]


class Jax:
    name = "jax"

    def __init__(self):
        self.jax = the("jax")
        self.np = self.jax.numpy
        self.configure()
        names = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
        self.dtypes = {short: getattr(self.np, name, None) for short, name in names.items()}

    def configure(self, precision="highest", has_f64=False):
        """For the rows to come: f32 products without shortcuts, and no f64, unless told."""
        self.jax.config.update("jax_default_matmul_precision", precision)
        self.jax.config.update("jax_enable_x64", has_f64)

    def cast(self, x, dtype):
        """The row is about this dtype: products of narrow ones are rounded once as they come."""
        self.configure("default" if dtype in ("f16", "bf16") else "highest", dtype == "f64")
        return x.astype(self.dtypes[dtype])

    def centred(self, shape, seed, dtype="f32"):
        return self.cast(self.uniform(shape, seed) * 2 - 1, dtype)

    def hashes(self, size, seed):
        u32 = self.np.uint32
        h = self.np.arange(size, dtype=u32) * u32(SPREAD) + u32((seed + 1) * START & 0xFFFFFFFF)
        h ^= h >> 15
        return h * u32(MIX) >> 8

    def uniform(self, shape, seed):
        return (self.hashes(product(shape), seed).astype(self.np.float32) * 2**-24).reshape(shape)

    def positions(self, size, seed, limit=None):
        return (self.hashes(size, seed) % (limit or size)).astype(self.np.int32)

    def measure(self, compute, inputs):
        jitted = self.jax.jit(compute)
        samples = milliseconds(lambda: jitted(*inputs), self.jax.block_until_ready)
        flat = [result.reshape(-1) for result in listed(jitted(*inputs))]
        return samples, [each[place].item() for each in flat for place in probes(each.size)]


class Numpy:
    """NumPy, on as many threads as its BLAS takes: two on the machine of our rows."""

    name = "numpy"

    def __init__(self):
        self.np = the("numpy")
        self.dtypes = {"f32": self.np.float32, "f64": self.np.float64}

    def hashes(self, size, seed):
        h = self.np.arange(size, dtype=self.np.uint32)
        h = h * self.np.uint32(SPREAD) + self.np.uint32((seed + 1) * START & 0xFFFFFFFF)
        h ^= h >> self.np.uint32(15)
        return h * self.np.uint32(MIX) >> self.np.uint32(8)

    def centred(self, shape, seed, dtype="f32"):
        h = self.hashes(product(shape), seed).astype(self.np.float32)
        return (h * self.np.float32(2**-23) - self.np.float32(1)).reshape(shape).astype(self.dtypes[dtype])

    def positions(self, size, seed, limit):
        return (self.hashes(size, seed) % limit).astype(self.np.int32)

    def measure(self, compute, inputs):
        samples = milliseconds(lambda: compute(*inputs), lambda _: None)
        flat = [result.reshape(-1) for result in listed(compute(*inputs))]
        return samples, [each[place].item() for each in flat for place in probes(each.size)]


def product(shape):
    size = 1
    for extent in shape:
        size *= extent
    return size


# ---------------------------------------------------------------------------------------- the work


def chain(of, library):
    size = length(100_000_000)
    return of["chain"](library), [library.uniform((size,), seed) for seed in range(4)]


def total(axis):
    def work(of, library):
        side = edge(16384)
        return of["sum"](library, axis), [library.uniform((side, side), 0)]

    return work


def rows(name):
    def work(of, library):
        return of[name](library), [library.uniform((edge(16384), edge(4096)), 0)]

    return work


def transpose(of, library):
    side = edge(16384)
    return of["transpose"](library), [library.uniform((side, side), 0)]


def gather(of, library):
    size = length(10_000_000)
    return of["gather"](library), [library.uniform((size,), 0), library.positions(size, 1)]


def scatter_add(of, library):
    size = length(10_000_000)
    inputs = [library.uniform((size,), 0), library.positions(size, 1), library.uniform((size,), 2)]
    return of["scatter-add"](library), inputs


def vector(name, full):
    def work(of, library):
        return of[name](library), [library.uniform((length(full),), 0)]

    return work


def matmul(full):
    def work(of, library):
        side = edge(full)
        return of["matmul"](library), [library.uniform((side, side), seed) for seed in range(2)]

    return work


# How each library computes the work: from the library's wrapper (and an axis) to a function of the inputs.
TORCH = {
    "chain": lambda t: lambda a, b, c, d: t.torch.tanh(a * b + c) * t.torch.sigmoid(d),
    "sum": lambda t, axis: lambda x: x.sum() if axis is None else x.sum(axis),
    "softmax": lambda t: lambda x: t.torch.softmax(x, 1),
    "layer-norm": lambda t: lambda x: t.torch.nn.functional.layer_norm(x, x.shape[1:], eps=EPSILON),
    "transpose": lambda t: lambda x: x.T.contiguous(),
    "gather": lambda t: lambda x, places: t.torch.index_select(x, 0, places),
    "scatter-add": lambda t: lambda x, places, values: t.torch.index_add(x, 0, places, values),
    "cumsum": lambda t: lambda x: t.torch.cumsum(x, 0),
    "sort": lambda t: lambda x: t.torch.sort(x).values,
    "matmul": lambda t: t.torch.matmul,
}


def jax_layer_norm(j):
    def normalised(x):
        mean = x.mean(1, keepdims=True)
        variance = x.var(1, keepdims=True)
        return (x - mean) * j.jax.lax.rsqrt(variance + EPSILON)

    return normalised


IN_BOUNDS = {"mode": "promise_in_bounds"}
JAX = {
    "chain": lambda j: lambda a, b, c, d: j.np.tanh(a * b + c) * j.jax.nn.sigmoid(d),
    "sum": lambda j, axis: lambda x: x.sum(axis),
    "softmax": lambda j: lambda x: j.jax.nn.softmax(x, 1),
    "layer-norm": jax_layer_norm,
    "transpose": lambda j: lambda x: x.T,
    "gather": lambda j: lambda x, places: x.at[places].get(**IN_BOUNDS),
    "scatter-add": lambda j: lambda x, places, values: x.at[places].add(values, **IN_BOUNDS),
    "cumsum": lambda j: lambda x: j.np.cumsum(x),
    "sort": lambda j: lambda x: j.np.sort(x),
    "matmul": lambda j: j.np.matmul,
}

WORKS = {
    "chain": chain,
    "sum-rows": total(1),
    "sum-columns": total(0),
    "sum-all": total(None),
    "softmax": rows("softmax"),
    "layer-norm": rows("layer-norm"),
    "transpose": transpose,
    "gather": gather,
    "scatter-add": scatter_add,
    "cumsum": vector("cumsum", 100_000_000),
    "sort": vector("sort", 10_000_000),
}


def enter(library, name, work, operations=None, is_comparable=True):
    """Enters a work in the table: from the opened library to a function and its inputs.

    In milliseconds, or in TFLOP/s where `operations` gives their number. A row that is not comparable shows no elements.
    """

    @peer(f"{library.name}/{name}", "TFLOP/s" if operations else "ms")
    def run():
        opened = library()
        compute, inputs = work(opened)
        samples, values = opened.measure(compute, inputs)
        if operations:
            samples = [operations() / (1e9 * ms) for ms in samples]
        return samples, values if is_comparable else []


for library_, of_ in ((Torch, TORCH), (Jax, JAX)):
    for name_, work_ in WORKS.items():
        enter(library_, name_, partial(work_, of_))
    for full_ in (1024, 2048, 4096):
        enter(library_, f"matmul-{full_}", partial(matmul(full_), of_), lambda full=full_: 2 * edge(full) ** 3)
