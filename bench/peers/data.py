"""Peers of the rows of data processing, bench/rows/data.ts: the same work as PyTorch's and JAX's users write it."""

from functools import partial

from tensors import Jax, Torch, edge, enter, length

TOP, NEAREST, GAMMA_SHAPE, SOFTENING = 32, 10, 2.5, 0.01
CLUSTERS, ROUNDS = 64, 20

# ---------------------------------------------------------------------------------------- inputs


def cube(library):
    return [library.uniform((edge(256), edge(1024), edge(256)), 0)]


def square(library):
    return [library.uniform((edge(4096), edge(4096)), 0)]


def vector(full, library):
    return [library.uniform((length(full),), 0)]


def narrow(library):
    return [library.centred((edge(2048), edge(8192)), 0, "bf16") * 4]


def wide(library):
    return [library.centred((length(10_000_000),), seed, "f64") for seed in range(2)]


def logits(library):
    rows, classes = edge(8192), edge(50257)
    return [library.centred((rows, classes), 0), library.positions(rows, 1, classes)]


def points(library):
    return [library.uniform((length(10_000), 64), 0), library.uniform((length(100_000), 64), 1)]


def bodies(library):
    count = length(20_000)
    return [library.uniform((count, 3), 0), library.uniform((count,), 1)]


def clustered(library):
    return [library.uniform((length(1_000_000), 32), 0)]


def nothing(library):
    return []


def key(library):
    return [library.jax.random.key(0)]


# ---------------------------------------------------------------------------------------- PyTorch


def torch_gammas(t):
    shapes = t.torch.full((length(10_000_000),), GAMMA_SHAPE, device="cuda")
    return lambda: t.torch._standard_gamma(shapes)


def torch_cross_entropy(t):
    def compute(logits, labels):
        with t.torch.enable_grad():
            leaf = logits.detach().requires_grad_()
            loss = t.torch.nn.functional.cross_entropy(leaf, labels.long())
            return loss.detach(), t.torch.autograd.grad(loss, leaf)[0]

    return compute


def torch_neighbours(t):
    def compute(queries, points):
        distances, indices = t.torch.cdist(queries, points).topk(NEAREST, largest=False)
        return distances.square(), indices

    return compute


def torch_bodies(t):
    def compute(places, masses):
        apart = places[None] - places[:, None]
        near = (apart.square().sum(-1) + SOFTENING).rsqrt()
        return (apart * (masses * near * near * near)[..., None]).sum(1)

    return compute


def torch_k_means(t):
    def compute(x):
        means = x[:CLUSTERS]
        ones = t.torch.ones(x.shape[0], device=x.device)
        for _ in range(ROUNDS):
            labels = t.torch.addmm(means.square().sum(1), x, means.T, alpha=-2).argmin(1)
            sums = t.torch.zeros_like(means).index_add_(0, labels, x)
            counts = t.torch.zeros(CLUSTERS, device=x.device).index_add_(0, labels, ones)
            means = sums / counts.clamp(min=1)[:, None]
        return means

    return compute


# By row: how it is computed, from the library's wrapper to a function of the inputs.
TORCH = {
    "random-normal": lambda t: lambda: t.torch.randn(length(100_000_000), device="cuda"),
    "random-gamma": torch_gammas,
    "data-argsort": lambda t: lambda x: t.torch.argsort(x, stable=True),
    "data-sort-rows": lambda t: lambda x: t.torch.sort(x, 1).values,
    "data-top-rows": lambda t: lambda x: tuple(t.torch.topk(x, TOP, 1)),
    "data-median-rows": lambda t: lambda x: t.torch.median(x, 1).values,
    "data-cumsum-middle": lambda t: lambda x: t.torch.cumsum(x, 1),
    "data-std-first": lambda t: lambda x: t.torch.std(x, 0, correction=0),
    "data-permute": lambda t: lambda x: x.permute(2, 0, 1).contiguous(),
    "data-gelu-bf16": lambda t: t.torch.nn.functional.gelu,
    "data-chain-f64": lambda t: lambda x, y: t.torch.tanh(x * y + 1) * t.torch.sigmoid(x),
    "data-cross-entropy": torch_cross_entropy,
    "data-neighbours": torch_neighbours,
    "data-bodies": torch_bodies,
    "data-k-means": torch_k_means,
}

# ---------------------------------------------------------------------------------------- JAX


def jax_cross_entropy(j):
    def loss(logits, labels):
        chosen = (logits * j.jax.nn.one_hot(labels, logits.shape[1])).sum(-1)
        return (j.jax.nn.logsumexp(logits, axis=-1) - chosen).mean()

    return j.jax.value_and_grad(loss)


def jax_neighbours(j):
    def compute(queries, points):
        squares = (queries**2).sum(1, keepdims=True) + (points**2).sum(1)
        nearness, indices = j.jax.lax.top_k(2 * (queries @ points.T) - squares, NEAREST)
        return -nearness, indices

    return compute


def jax_bodies(j):
    def compute(places, masses):
        apart = places[None] - places[:, None]
        near = j.jax.lax.rsqrt((apart**2).sum(-1) + SOFTENING)
        return (apart * (masses * near * near * near)[..., None]).sum(1)

    return compute


def jax_k_means(j):
    def compute(x):
        def step(_, means):
            labels = ((means**2).sum(1) - 2 * (x @ means.T)).argmin(1)
            sums = j.np.zeros_like(means).at[labels].add(x)
            counts = j.np.zeros(CLUSTERS, x.dtype).at[labels].add(1)
            return sums / j.np.maximum(counts, 1)[:, None]

        return j.jax.lax.fori_loop(0, ROUNDS, step, x[:CLUSTERS])

    return compute


JAX = {
    "random-normal": lambda j: lambda key: j.jax.random.normal(key, (length(100_000_000),)),
    "random-gamma": lambda j: lambda key: j.jax.random.gamma(key, GAMMA_SHAPE, (length(10_000_000),)),
    "data-argsort": lambda j: lambda x: j.np.argsort(x),
    "data-sort-rows": lambda j: lambda x: j.np.sort(x, axis=1),
    "data-top-rows": lambda j: lambda x: j.jax.lax.top_k(x, TOP),
    "data-median-rows": lambda j: lambda x: j.np.median(x, axis=1),
    "data-cumsum-middle": lambda j: lambda x: j.np.cumsum(x, axis=1),
    "data-std-first": lambda j: lambda x: x.std(0),
    "data-permute": lambda j: lambda x: j.np.transpose(x, (2, 0, 1)),
    "data-gelu-bf16": lambda j: lambda x: j.jax.nn.gelu(x, approximate=False),
    "data-chain-f64": lambda j: lambda x, y: j.np.tanh(x * y + 1) * j.jax.nn.sigmoid(x),
    "data-cross-entropy": jax_cross_entropy,
    "data-neighbours": jax_neighbours,
    "data-bodies": jax_bodies,
    "data-k-means": jax_k_means,
}

INPUTS = {
    "data-argsort": partial(vector, 10_000_000),
    "data-sort-rows": square,
    "data-top-rows": square,
    "data-median-rows": square,
    "data-cumsum-middle": cube,
    "data-std-first": cube,
    "data-permute": cube,
    "data-gelu-bf16": narrow,
    "data-chain-f64": wide,
    "data-cross-entropy": logits,
    "data-neighbours": points,
    "data-bodies": bodies,
    "data-k-means": clustered,
}


def work(compute, inputs, library):
    given = inputs(library)
    return compute(library), given


for library_, of_, seed_ in ((Torch, TORCH, nothing), (Jax, JAX, key)):
    for name_, compute_ in of_.items():
        inputs_ = INPUTS.get(name_, seed_)
        # Only JAX's normal numbers are the same as ours.
        is_random_ = name_.startswith("random-") and (library_, name_) != (Jax, "random-normal")
        enter(library_, name_, partial(work, compute_, inputs_), is_comparable=not is_random_)
