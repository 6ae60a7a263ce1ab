"""Peers of the rows on networks over sequences, bench/rows/sequences.ts: transformer blocks in training, and an LSTM.

Inputs and weights are the same hashes as ours (bench/sequence-work.ts). In bf16 PyTorch trains under autocast, JAX as ours
does: weights, norms and the running sum in f32, products and attention in bf16. PyTorch's attention is its fused one, its
LSTM cuDNN's.
"""

from contextlib import nullcontext
from functools import partial

from contractions import at_least_one, jax_attention
from tensors import Jax, Torch, edge, enter
from training import enter as enter_training
from training import torch_adam

BLOCKS, HEADS, EPSILON, RATE = 4, 12, 1e-5, 1e-4
INPUT_SEED, TARGET_SEED, WEIGHT_SEED = 0, 1, 2


def sequences(library):
    shape = (at_least_one(8), edge(512), edge(768))
    return library.centred(shape, INPUT_SEED), library.centred(shape, TARGET_SEED)


def blocks(library, ones, zeros):
    """Twelve parameters to a block: norm, projections, output, norm, up, down, each of weights and biases."""
    width = edge(768)
    parameters = []
    for block in range(BLOCKS):

        def weights(inputs, results, place, block=block):
            hashed = library.centred((inputs, results), WEIGHT_SEED + 4 * block + place)
            return [hashed * inputs**-0.5, zeros(results)]

        parameters += [ones(width), zeros(width)]
        parameters += weights(width, 3 * width, 0) + weights(width, width, 1)
        parameters += [ones(width), zeros(width)]
        parameters += weights(width, 4 * width, 2) + weights(4 * width, width, 3)
    return parameters


def by_blocks(parameters):
    return [parameters[i : i + 12] for i in range(0, len(parameters), 12)]


# ---------------------------------------------------------------------------------------- PyTorch


def torch_block(torch, x, parameters):
    functional = torch.nn.functional
    gain1, bias1, w_parts, b_parts, w_out, b_out, gain2, bias2, w_up, b_up, w_down, b_down = parameters
    batch, tokens, width = x.shape
    parts = functional.linear(functional.layer_norm(x, (width,), gain1, bias1, EPSILON), w_parts, b_parts)
    q, k, v = parts.reshape(batch, tokens, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
    seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    x = x + functional.linear(seen.transpose(1, 2).reshape(batch, tokens, width), w_out, b_out)
    hidden = functional.linear(functional.layer_norm(x, (width,), gain2, bias2, EPSILON), w_up, b_up)
    return x + functional.linear(functional.gelu(hidden), w_down, b_down)


def torch_transformer(is_narrow):
    library = Torch()
    torch = library.torch
    inputs, targets = sequences(library)
    ones, zeros = partial(torch.ones, device="cuda"), partial(torch.zeros, device="cuda")
    # PyTorch's layers keep their weights as [results, inputs].
    start = [p.T.contiguous() if p.dim() == 2 else p for p in blocks(library, ones, zeros)]

    def loss(parameters):
        # Casts are not kept from step to step: a captured graph must do them again.
        casting = torch.autocast("cuda", dtype=torch.bfloat16, cache_enabled=False) if is_narrow else nullcontext()
        with casting:
            x = inputs
            for block in by_blocks(parameters):
                x = torch_block(torch, x, block)
            return (x.float() - targets).square().mean()

    return torch, start, loss, torch_adam(torch, RATE)


def torch_lstm(has_gradient, library):
    torch = library.torch
    inputs, slopes, from_input, from_hidden = lstm_operands(library)
    width = edge(512)
    network = torch.nn.LSTM(width, width, device="cuda")
    weights = [network.weight_ih_l0, network.weight_hh_l0]
    for given, values in zip(weights, (from_input, from_hidden)):
        given.copy_(values.T)
    network.bias_ih_l0.zero_()
    network.bias_hh_l0.zero_()

    def forward(inputs, slopes):
        return network(inputs)[0]

    def gradient(inputs, slopes):
        with torch.enable_grad():
            total = (network(inputs)[0] * slopes).sum()
            by_input, by_hidden, by_biases = torch.autograd.grad(total, [*weights, network.bias_ih_l0])
        return by_input.T, by_hidden.T, by_biases

    return (gradient if has_gradient else forward), [inputs, slopes]


# ---------------------------------------------------------------------------------------- JAX


def jax_block(j, dtype, x, parameters):
    np, attention = j.np, jax_attention(j)
    gain1, bias1, w_parts, b_parts, w_out, b_out, gain2, bias2, w_up, b_up, w_down, b_down = parameters
    batch, tokens, width = x.shape

    def norm(x, gain, bias):
        scale = j.jax.lax.rsqrt(x.var(-1, keepdims=True) + EPSILON)
        return (x - x.mean(-1, keepdims=True)) * scale * gain + bias

    def dense(x, weights, biases):
        return x.astype(dtype) @ weights.astype(dtype) + biases.astype(dtype)

    parts = dense(norm(x, gain1, bias1), w_parts, b_parts).reshape(batch, tokens, 3, HEADS, width // HEADS)
    q, k, v = np.transpose(parts, (2, 0, 3, 1, 4))
    seen = np.transpose(attention(q, k, v), (0, 2, 1, 3)).reshape(batch, tokens, width)
    x = x + dense(seen, w_out, b_out)
    hidden = dense(norm(x, gain2, bias2), w_up, b_up)
    return x + dense(j.jax.nn.gelu(hidden, approximate=False), w_down, b_down)


def jax_transformer(is_narrow):
    j = Jax()
    dtype = j.np.bfloat16 if is_narrow else j.np.float32
    data = sequences(j)
    parameters = blocks(j, j.np.ones, j.np.zeros)
    if is_narrow:
        j.configure("default")

    def loss(parameters, x, targets):
        for block in by_blocks(parameters):
            x = jax_block(j, dtype, x, block)
        return ((x - targets) ** 2).mean()

    return j, parameters, loss, data, RATE


def jax_lstm(has_gradient, library):
    j = library
    inputs, slopes, from_input, from_hidden = lstm_operands(library)
    sigmoid, tanh = j.jax.nn.sigmoid, j.np.tanh

    def forward(from_input, from_hidden, biases, inputs, slopes):
        given = inputs @ from_input + biases
        start = j.np.zeros(inputs.shape[1:], inputs.dtype)

        def step(carry, x):
            hidden, cell = carry
            enter_, forget, candidate, output = j.np.split(x + hidden @ from_hidden, 4, axis=1)
            cell = sigmoid(forget) * cell + sigmoid(enter_) * tanh(candidate)
            hidden = sigmoid(output) * tanh(cell)
            return (hidden, cell), hidden

        return j.jax.lax.scan(step, (start, start), given)[1]

    def total(from_input, from_hidden, biases, inputs, slopes):
        return (forward(from_input, from_hidden, biases, inputs, slopes) * slopes).sum()

    compute = j.jax.grad(total, argnums=(0, 1, 2)) if has_gradient else forward
    biases = j.np.zeros(4 * edge(512), j.np.float32)
    return compute, [from_input, from_hidden, biases, inputs, slopes]


def lstm_operands(library):
    """Inputs [steps, batch, width], slopes of the hidden states, and weights [width, 4·width] of both kinds."""
    width = edge(512)
    shape = (edge(64), edge(128), width)
    weights = [library.centred((width, 4 * width), seed) * width**-0.5 for seed in (1, 2)]
    return library.centred(shape, 0), library.centred(shape, 3), *weights


for name_, is_narrow_ in (("transformer-f32", False), ("transformer-bf16", True)):
    enter_training(name_, partial(torch_transformer, is_narrow_), partial(jax_transformer, is_narrow_))
for library_, lstm_ in ((Torch, torch_lstm), (Jax, jax_lstm)):
    enter(library_, "lstm-forward", partial(lstm_, False))
    enter(library_, "lstm-gradient", partial(lstm_, True))
