"""Peers of the rows on contractions, bench/rows/contractions.ts: products, attention and convolutions at the same sizes.

PyTorch's attention is its fused one; JAX's is written by hand, as ours is, and jitted.
"""

from functools import partial

from tensors import Jax, Torch, edge, enter, length
from timing import Pace

SMALL_PRODUCT = 512


def at_least_one(full):
    return max(1, edge(full))


# ---------------------------------------------------------------------------------------- products


def matrix_product(shape, dtype, transposed, library):
    """`shape` gives (batch or None, m, k, n); `transposed` names the operand that is stored so."""
    batch, m, k, n = shape()
    stack = (batch,) if batch else ()
    a = library.centred((*stack, *((k, m) if transposed == "a" else (m, k))), 0, dtype)
    b = library.centred((*stack, *((n, k) if transposed == "b" else (k, n))), 1, dtype)

    def compute(a, b):
        return (a.mT if transposed == "a" else a) @ (b.mT if transposed == "b" else b)

    return compute, [a, b]


def square(full):
    def shape():
        size = min(SMALL_PRODUCT, edge(full)) if Pace.halvings > 0 else full
        return None, size, size, size

    return shape


def batched():
    return at_least_one(64), edge(512), edge(512), edge(512)


def long():
    return None, edge(128), length(262144), edge(128)


def slim():
    return None, length(100003), 37, 53


PRODUCTS = {
    "f16-4096": (square(4096), "f16", None),
    "f16-8192": (square(8192), "f16", None),
    "bf16-4096": (square(4096), "bf16", None),
    "bf16-8192": (square(8192), "bf16", None),
    "f32-4096": (square(4096), "f32", None),
    "f32-8192": (square(8192), "f32", None),
    "f32-4096-nt": (square(4096), "f32", "b"),
    "f32-4096-tn": (square(4096), "f32", "a"),
    "f64-2048": (square(2048), "f64", None),
    "batched-f32": (batched, "f32", None),
    "batched-bf16": (batched, "bf16", None),
    "long": (long, "f32", None),
    "slim": (slim, "f32", None),
}


def operations(shape):
    batch, m, k, n = shape()
    return 2 * (batch or 1) * m * k * n


# ---------------------------------------------------------------------------------------- attention


def torch_attention(library):
    fused = library.torch.nn.functional.scaled_dot_product_attention
    return lambda q, k, v: fused(q, k, v, is_causal=True)


def jax_attention(library):
    np = library.np

    def compute(q, k, v):
        tokens, width = q.shape[-2:]
        is_seen = np.tril(np.ones((tokens, tokens), dtype=bool))
        scores = (q @ k.mT) * width**-0.5
        return library.jax.nn.softmax(np.where(is_seen, scores, -np.inf), axis=-1) @ v

    return compute


def attention(computed, dtype, library):
    shape = (at_least_one(8), at_least_one(16), edge(1024), 64)
    return computed(library), [library.centred(shape, seed, dtype) for seed in range(3)]


# ---------------------------------------------------------------------------------------- convolutions


def torch_convolution(library, stride, padding):
    return lambda x, w: library.torch.nn.functional.conv2d(x, w, stride=stride, padding=padding)


def torch_gradients(library, stride, padding):
    backward = library.torch.ops.aten.convolution_backward
    wanted = [True, True, False]

    def compute(x, w, slopes):
        pads = [padding, padding]
        return backward(slopes, x, w, None, [stride, stride], pads, [1, 1], False, [0, 0], 1, wanted)[:2]

    return compute


def jax_convolution(library, stride, padding):
    layouts = ("NCHW", "OIHW", "NCHW")

    def compute(x, w):
        pads = [(padding, padding)] * 2
        return library.jax.lax.conv_general_dilated(x, w, (stride, stride), pads, dimension_numbers=layouts)

    return compute


def jax_gradients(library, stride, padding):
    forward = jax_convolution(library, stride, padding)
    return lambda x, w, slopes: library.jax.vjp(forward, x, w)[1](slopes)


def three_by_three():
    """(batch, channels, results, side, kernel, stride)"""
    return at_least_one(32), edge(64), edge(64), 56, 3, 1


def seven_by_seven():
    return at_least_one(32), 3, edge(64), edge(224), 7, 2


def convolution(computed, shape, dtype, has_slopes, library):
    batch, channels, results, side, kernel, stride = shape()
    inputs = [
        library.centred((batch, channels, side, side), 0, dtype),
        library.centred((results, channels, kernel, kernel), 1, dtype),
    ]
    if has_slopes:
        out = -(-side // stride)
        inputs.append(library.centred((batch, results, out, out), 2, dtype))
    return computed(library, stride, kernel // 2), inputs


LIBRARIES = (
    (Torch, torch_attention, torch_convolution, torch_gradients),
    (Jax, jax_attention, jax_convolution, jax_gradients),
)

for library_, attended_, convolved_, gradients_ in LIBRARIES:
    for name_, (shape_, dtype_, transposed_) in PRODUCTS.items():
        work_ = partial(matrix_product, shape_, dtype_, transposed_)
        enter(library_, f"product-{name_}", work_, partial(operations, shape_))
    for dtype_ in ("f32", "bf16"):
        enter(library_, f"attention-{dtype_}", partial(attention, attended_, dtype_))
        forward_ = partial(convolution, convolved_, three_by_three, dtype_, False)
        enter(library_, f"convolution-3x3-{dtype_}", forward_)
        backward_ = partial(convolution, gradients_, three_by_three, dtype_, True)
        enter(library_, f"convolution-3x3-gradients-{dtype_}", backward_)
    enter(library_, "convolution-7x7-f32", partial(convolution, convolved_, seven_by_seven, "f32", False))
