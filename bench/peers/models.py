"""Peers of the rows on whole models, bench/rows/models.ts: training steps of ResNet-18 and GPT-2 small by PyTorch.

Inputs, labels and weights are the same hashes as ours (bench/model-work.ts), and the losses of the first steps must agree.
PyTorch has its images and kernels with channels last and picks convolutions by timing; in bf16 it trains under autocast, with
f32 weights. Its attention is its fused one, its optimisers are the fused ones. Nothing is compiled by torch.compile.
"""

from contextlib import nullcontext
from functools import partial

from contractions import at_least_one
from sequences import torch_block
from tensors import Torch, edge, product
from timing import Pace
from training import enter_torch, torch_adam

INPUT_SEED, TARGET_SEED, WEIGHT_SEED = 0, 1, 2
EPSILON, MOMENTUM = 1e-5, 0.9
IMAGE_RATE, TEXT_RATE = 0.01, 3e-4
SIDE, CLASSES = 32, 10


def casting(torch, is_narrow):
    """Casts are not kept from step to step: a captured graph must do them again."""
    return torch.autocast("cuda", dtype=torch.bfloat16, cache_enabled=False) if is_narrow else nullcontext()


class Hashed:
    """Weights by hashes, seed after seed."""

    def __init__(self, library):
        self.library, self.count = library, 0

    def __call__(self, shape, spread):
        self.count += 1
        return self.library.centred(shape, WEIGHT_SEED + self.count - 1) * spread

    def matrix(self, inputs, results):
        return self((inputs, results), inputs**-0.5)


# ---------------------------------------------------------------------------------------- ResNet-18


def resnet_blocks():
    """(channels, filters, stride, whether the shortcut has a convolution) of each block."""
    width = edge(64)
    for stage in range(4):
        filters = width << stage
        yield (filters // 2 if stage else filters), filters, (2 if stage else 1), stage > 0
        yield filters, filters, 1, False


def resnet_start(library):
    torch, weights = library.torch, Hashed(library)
    parameters = []

    def convolution(filters, channels, size):
        shape = (filters, channels, size, size)
        kernel = weights(shape, (6 / product(shape[1:])) ** 0.5)
        parameters.append(kernel.contiguous(memory_format=torch.channels_last))
        parameters.extend([torch.ones(filters, device="cuda"), torch.zeros(filters, device="cuda")])

    convolution(edge(64), 3, 3)
    for channels, filters, _, is_wider in resnet_blocks():
        convolution(filters, channels, 3)
        convolution(filters, filters, 3)
        if is_wider:
            convolution(filters, channels, 1)
    return [*parameters, weights.matrix(8 * edge(64), CLASSES), torch.zeros(CLASSES, device="cuda")]


def torch_resnet(is_narrow):
    library = Torch()
    torch = library.torch
    torch.backends.cudnn.benchmark = True
    functional = torch.nn.functional
    batch = at_least_one(256)
    images = library.centred((batch, 3, SIDE, SIDE), INPUT_SEED).contiguous(memory_format=torch.channels_last)
    labels = library.hashes(batch, TARGET_SEED) % CLASSES
    start = resnet_start(library)
    # Running statistics are kept up to date, as ours are.
    running = [[torch.zeros_like(scale), torch.ones_like(scale)] for scale in start[1:-2:3]]

    def scores(parameters):
        place = iter(range(0, len(parameters) - 2, 3))

        def normed(x, stride=1):
            i = next(place)
            kernel, scale, bias = parameters[i : i + 3]
            y = functional.conv2d(x, kernel, stride=stride, padding=kernel.shape[-1] // 2)
            return functional.batch_norm(y, *running[i // 3], scale, bias, True, 0.1, EPSILON)

        x = functional.relu(normed(images))
        for _, _, stride, is_wider in resnet_blocks():
            between = normed(functional.relu(normed(x, stride)))
            x = functional.relu(between + (normed(x, stride) if is_wider else x))
        return torch.addmm(parameters[-1], x.mean((2, 3)), parameters[-2])

    def loss(parameters):
        with casting(torch, is_narrow):
            return functional.cross_entropy(scores(parameters), labels)

    def optimizer_of(parameters, **_):
        return torch.optim.SGD(parameters, IMAGE_RATE, MOMENTUM, fused=True)

    return torch, start, loss, optimizer_of


# ---------------------------------------------------------------------------------------- GPT-2


def gpt_start(library, vocabulary, tokens, width, blocks):
    torch, weights = library.torch, Hashed(library)
    ones, zeros = partial(torch.ones, device="cuda"), partial(torch.zeros, device="cuda")
    parameters = [weights.matrix(vocabulary, width), weights.matrix(tokens, width)]

    def dense(inputs, results):
        # PyTorch's layers keep their weights as [results, inputs].
        return [weights.matrix(inputs, results).T.contiguous(), zeros(results)]

    for _ in range(blocks):
        parameters += [ones(width), zeros(width), *dense(width, 3 * width), *dense(width, width)]
        parameters += [ones(width), zeros(width), *dense(width, 4 * width), *dense(4 * width, width)]
    return [*parameters, ones(width), zeros(width)]


def torch_gpt():
    library = Torch()
    torch = library.torch
    functional = torch.nn.functional
    batch, tokens, width, vocabulary = at_least_one(8), edge(1024), edge(768), edge(50304)
    blocks = 12 if Pace.halvings == 0 else 2
    text, following = (
        (library.hashes(batch * tokens, seed) % vocabulary).reshape(batch, tokens) for seed in (INPUT_SEED, TARGET_SEED)
    )

    def loss(parameters):
        table, places, *rest, scale, bias = parameters
        with casting(torch, True):
            x = functional.embedding(text, table) + places
            for i in range(blocks):
                x = torch_block(torch, x, rest[12 * i : 12 * i + 12])
            hidden = functional.layer_norm(x, (width,), scale, bias, EPSILON)
            scores = functional.linear(hidden, table)
            return functional.cross_entropy(scores.view(-1, vocabulary), following.view(-1))

    start = gpt_start(library, vocabulary, tokens, width, blocks)
    return torch, start, loss, torch_adam(torch, TEXT_RATE)


enter_torch("resnet-f32", partial(torch_resnet, False))
enter_torch("resnet-bf16", partial(torch_resnet, True))
enter_torch("gpt2-bf16", torch_gpt)
