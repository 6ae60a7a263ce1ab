"""Peers of the rows on whole training steps, bench/rows/training.ts: PyTorch eager and as a CUDA graph, JAX jitted.

Pixels, labels and weights are the same hashes as ours (bench/training-work.ts), in full f32, and the losses of the first
steps are shown: a peer that trains something else is found out. Adam has our decays and epsilon.
"""

from functools import partial

from tensors import Jax, Torch, milliseconds, product
from timing import Pace, peer

RATE, MEAN_DECAY, SQUARE_DECAY, ADAM_EPSILON = 1e-3, 0.9, 0.999, 1e-8
STEPS = 5
PIXEL_SEED, LABEL_SEED, WEIGHT_SEED = 0, 1, 2
SHAPES = {
    "mlp": [(784, 256), (256, 128), (128, 10)],
    "cnn": [(32, 1, 3, 3), (64, 32, 3, 3), (3136, 128), (128, 10)],
}


def sized(full):
    return max(16, full // 4**Pace.halvings)


def results_of(shape):
    return shape[0] if len(shape) > 2 else shape[1]


def spread(shape):
    return (6 * results_of(shape) / product(shape)) ** 0.5


def start(library, network, batch):
    """Pixels, labels, and weights and biases in turn."""
    layers = []
    for i, shape in enumerate(SHAPES[network]):
        layers.append((library.uniform(shape, WEIGHT_SEED + i) * 2 - 1) * spread(shape))
        layers.append(library.uniform((results_of(shape),), 0) * 0)
    labels = library.hashes(batch, LABEL_SEED) % 10
    return library.uniform((batch, 784), PIXEL_SEED), labels, layers


# ---------------------------------------------------------------------------------------- PyTorch


def torch_logits(torch, network, x, p):
    relu, conv = torch.nn.functional.relu, torch.nn.functional.conv2d
    if network == "cnn":
        pool = torch.nn.functional.max_pool2d
        x = pool(relu(conv(x.reshape(-1, 1, 28, 28), p[0], p[1], padding=1)), 2)
        x = pool(relu(conv(x, p[2], p[3], padding=1)), 2).flatten(1)
        p = p[4:]
    for w, b in zip(p[:-2:2], p[1:-2:2]):
        x = relu(torch.addmm(b, x, w))
    return torch.addmm(p[-1], x, p[-2])


def torch_adam(torch, rate):
    """Adam with our decays and epsilon, as a function of the parameters."""

    def optimizer_of(parameters, **options):
        decays = (MEAN_DECAY, SQUARE_DECAY)
        return torch.optim.Adam(parameters, rate, decays, ADAM_EPSILON, fused=True, **options)

    return optimizer_of


class TorchTraining:
    """A training under way: `step` does one and leaves the loss, unread."""

    def __init__(self, torch, start, loss_of, optimizer_of, **options):
        """From parameters to start with, and functions from parameters to the loss and to their optimiser."""
        self.torch = torch
        torch.cuda.empty_cache()
        self.start = start
        self.loss_of = loss_of
        self.parameters = [p.clone().requires_grad_() for p in start]
        self.optimizer = optimizer_of(self.parameters, **options)
        self.loss = None

    def step(self):
        with self.torch.enable_grad():
            self.optimizer.zero_grad(set_to_none=True)
            self.loss = self.loss_of(self.parameters)
            self.loss.backward()
        self.optimizer.step()

    def restart(self):
        for p, first in zip(self.parameters, self.start):
            p.copy_(first)
        for state in self.optimizer.state.values():
            for value in state.values():
                value.zero_()

    def measure(self, step):
        losses = []
        for _ in range(STEPS):
            step()
            losses.append(self.loss.item())
        return milliseconds(step, lambda _: self.torch.cuda.synchronize()), losses


def torch_eager(*work):
    training = TorchTraining(*work)
    return training.measure(training.step)


def torch_graph(*work):
    training = TorchTraining(*work, capturable=True)
    torch = training.torch
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            training.step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    training.optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        training.step()
    training.restart()
    return training.measure(graph.replay)


# ---------------------------------------------------------------------------------------- JAX


def jax_logits(j, network, x, p):
    np, nn, lax = j.np, j.jax.nn, j.jax.lax
    if network == "cnn":

        def convolution(x, w, b):
            y = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))
            y = nn.relu(y + b[:, None, None])
            return lax.reduce_window(y, -np.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

        x = convolution(x.reshape(-1, 1, 28, 28), p[0], p[1])
        x = convolution(x, p[2], p[3]).reshape(x.shape[0], -1)
        p = p[4:]
    for w, b in zip(p[:-2:2], p[1:-2:2]):
        x = nn.relu(x @ w + b)
    return x @ p[-2] + p[-1]


def torch_network(network, batch):
    library = Torch()
    torch = library.torch
    pixels, labels, layers = start(library, network, sized(batch))

    def loss(parameters):
        return torch.nn.functional.cross_entropy(torch_logits(torch, network, pixels, parameters), labels)

    return torch, layers, loss, torch_adam(torch, RATE)


def jax_network(network, batch):
    j = Jax()
    np = j.np
    pixels, labels, parameters = start(j, network, sized(batch))

    def loss(p, x, y):
        logits = jax_logits(j, network, x, p)
        chosen = np.take_along_axis(logits, y[:, None].astype(np.int32), 1)[:, 0]
        return (j.jax.nn.logsumexp(logits, 1) - chosen).mean()

    return j, parameters, loss, (pixels, labels), RATE


def jax_training(j, parameters, loss, data, rate):
    """Steps of Adam: `loss` is a function of the parameters and of the data."""
    np = j.np

    def step(p, m, v, count, x, y):
        value, gradient = j.jax.value_and_grad(loss)(p, x, y)
        count = count + 1
        m = [MEAN_DECAY * a + (1 - MEAN_DECAY) * g for a, g in zip(m, gradient)]
        v = [SQUARE_DECAY * a + (1 - SQUARE_DECAY) * g * g for a, g in zip(v, gradient)]
        mean_reached, square_reached = 1 - MEAN_DECAY**count, 1 - SQUARE_DECAY**count
        p = [
            w - rate * (a / mean_reached) / (np.sqrt(b / square_reached) + ADAM_EPSILON)
            for w, a, b in zip(p, m, v)
        ]
        return p, m, v, count, value

    jitted = j.jax.jit(step, donate_argnums=(0, 1, 2, 3))
    state = [parameters, [w * 0 for w in parameters], [w * 0 for w in parameters], np.float32(0)]

    def once():
        *state[:], value = jitted(*state, *data)
        return value

    losses = [once().item() for _ in range(STEPS)]
    return milliseconds(once, lambda value: value.block_until_ready()), losses


def enter_torch(name, work):
    """Enters a training in the table, eager and as a graph, by a function that makes what TorchTraining takes."""
    peer(f"torch/{name}-eager", "ms")(lambda: torch_eager(*work()))
    peer(f"torch/{name}-graph", "ms")(lambda: torch_graph(*work()))


def enter(name, torch_work, jax_work):
    """Enters a training of both libraries, the second by a function that makes what jax_training takes."""
    enter_torch(name, torch_work)
    peer(f"jax/{name}", "ms")(lambda: jax_training(*jax_work()))


for name_, network_, batch_ in (("mlp-128", "mlp", 128), ("mlp-4096", "mlp", 4096), ("cnn-128", "cnn", 128)):
    enter(name_, partial(torch_network, network_, batch_), partial(jax_network, network_, batch_))
