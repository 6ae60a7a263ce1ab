"""Outputs and gradients of PyTorch's layers, for test/nn/layers: python3 make-layer-cases.py layer-cases.json

Inputs and parameters follow from a seed (`values`), so that the file holds results only. Everything is computed in f64. The
loss is the sum of the output times cos(0), cos(1), … Parameters are given to PyTorch in its own layout and named here as
Pumice names them.
"""
import json
import math
import sys

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)


def values(shape, seed):
    count = math.prod(shape)
    numbers = [((i * 397 + seed * 31) % 1021 - 510) / 256 for i in range(count)]
    return torch.tensor(numbers).reshape(shape)


def digits(x):
    return [float(f"{v:.8g}") for v in x.detach().reshape(-1).tolist()]


cases = []


def case(name, layer, args, inputs, params, f, state=None, training=False):
    """`inputs`: shapes. `params`: path -> (our shape, scale, shift). f(inputs, params, state) -> (output, new state)."""
    xs = [values(s, 1 + i).requires_grad_() for i, s in enumerate(inputs)]
    ps = {k: (values(s, 11 + i) * scale + shift).detach().requires_grad_() for i, (k, (s, scale, shift)) in enumerate(params.items())}
    ss = {k: values(s, 21 + i) * scale + shift for i, (k, (s, scale, shift)) in enumerate((state or {}).items())}
    out, new = f(xs, ps, ss)
    ct = torch.cos(torch.arange(out.numel(), dtype=torch.float64)).reshape(out.shape)
    entry = {
        "name": name, "layer": layer, "args": args, "training": training,
        "inputs": [{"shape": list(s), "seed": 1 + i} for i, s in enumerate(inputs)],
        "params": {k: {"shape": list(s), "seed": 11 + i, "scale": scale, "shift": shift} for i, (k, (s, scale, shift)) in enumerate(params.items())},
        "state": {k: {"shape": list(s), "seed": 21 + i, "scale": scale, "shift": shift} for i, (k, (s, scale, shift)) in enumerate((state or {}).items())},
        "shape": list(out.shape), "output": digits(out),
        "newState": {k: digits(v) for k, v in (new or {}).items()},
    }
    leaves = xs + list(ps.values())
    if out.numel() > 0:
        grads = torch.autograd.grad((out * ct).sum(), leaves, allow_unused=True)
        grads = [torch.zeros_like(l) if g is None else g for g, l in zip(grads, leaves)]
    else:
        grads = [torch.zeros_like(l) for l in leaves]
    entry["inputGradients"] = [digits(g) for g in grads[: len(xs)]]
    entry["paramGradients"] = {k: digits(g) for k, g in zip(ps, grads[len(xs):])}
    cases.append(entry)


def last(x):
    """[batch, ..., channels] -> [batch, channels, ...]"""
    return x.movedim(-1, 1)


def first(x):
    return x.movedim(1, -1)


CONVS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


def conv(name, shape, filters, kernel, channels="first", **o):
    rank = len(shape) - 2
    count = shape[1] if channels == "first" else shape[-1]
    groups = o.get("groups", 1)
    k = [kernel] * rank if isinstance(kernel, int) else kernel
    options = dict(o)
    if channels == "last":
        options["channels"] = "last"

    def f(xs, ps, _):
        x = xs[0] if channels == "first" else last(xs[0])
        y = CONVS[rank](x, ps["weights"], ps["biases"], **o)
        return (y if channels == "first" else first(y)), None

    case(name, "conv", [filters, kernel, options], [shape], {"weights": ([filters, count // groups, *k], 1, 0), "biases": ([filters], 1, 0)}, f)


conv("1-D", [2, 3, 7], 4, 3)
conv("2-D with stride and padding", [2, 2, 6, 5], 3, 3, stride=2, padding=1)
conv("2-D, same, dilated", [1, 2, 6, 7], 2, 3, padding="same", dilation=2)
conv("2-D in groups", [1, 4, 4, 4], 6, 2, groups=2)
conv("2-D with a number for each axis", [1, 2, 6, 7], 2, [3, 2], stride=[1, 2], padding=[1, 0])
conv("3-D", [1, 2, 3, 4, 3], 2, 2, padding=1)
conv("of one pixel", [3, 2, 1, 1], 2, 1)
conv("with a stride beyond the kernel", [1, 1, 7, 7], 2, 2, stride=3)
conv("channels last", [2, 5, 6, 2], 3, 3, channels="last", padding=1)
conv("of an empty batch", [0, 2, 4, 4], 3, 3)


def transposed(name, shape, filters, kernel, channels="first", **o):
    rank = len(shape) - 2
    count = shape[1] if channels == "first" else shape[-1]
    groups = o.get("groups", 1)
    k = [kernel] * rank if isinstance(kernel, int) else kernel
    options = {("outputPadding" if a == "output_padding" else a): b for a, b in o.items()}
    if channels == "last":
        options["channels"] = "last"

    def f(xs, ps, _):
        x = xs[0] if channels == "first" else last(xs[0])
        y = TRANSPOSED[rank](x, ps["weights"], ps["biases"], **o)
        return (y if channels == "first" else first(y)), None

    case(name, "convTranspose", [filters, kernel, options], [shape], {"weights": ([count, filters // groups, *k], 1, 0), "biases": ([filters], 1, 0)}, f)


transposed("1-D", [2, 3, 4], 2, 3)
transposed("2-D with stride, padding and output padding", [1, 2, 3, 4], 3, 3, stride=2, padding=1, output_padding=1)
transposed("2-D in groups, dilated", [1, 4, 3, 3], 6, 2, groups=2, dilation=2)
transposed("3-D", [1, 2, 2, 3, 2], 2, 2, stride=2)
transposed("with a stride beyond the kernel", [1, 1, 3, 3], 2, 2, stride=3)
transposed("channels last", [2, 3, 3, 2], 3, [3, 2], channels="last", stride=[2, 1], padding=[1, 0])

case("2-D", "depthwiseConv", [3, {"padding": 1}], [[2, 3, 4, 5]], {"weights": ([3, 1, 3, 3], 1, 0), "biases": ([3], 1, 0)},
     lambda xs, ps, _: (F.conv2d(xs[0], ps["weights"], ps["biases"], padding=1, groups=3), None))
case("with a multiplier", "depthwiseConv", [2, {"multiplier": 2, "stride": 2}], [[1, 3, 4, 4]], {"weights": ([6, 1, 2, 2], 1, 0), "biases": ([6], 1, 0)},
     lambda xs, ps, _: (F.conv2d(xs[0], ps["weights"], ps["biases"], stride=2, groups=3), None))
case("2-D", "separableConv", [4, 3, {"multiplier": 2}], [[1, 2, 5, 5]],
     {"weights": ([4, 1, 3, 3], 1, 0), "pointwise": ([4, 4, 1, 1], 1, 0), "biases": ([4], 1, 0)},
     lambda xs, ps, _: (F.conv2d(F.conv2d(xs[0], ps["weights"], groups=2), ps["pointwise"], ps["biases"]), None))


def pool(name, layer, args, shape, f):
    case(name, layer, args, [shape], {}, lambda xs, ps, _: (f(xs[0]), None))


pool("1-D", "maxPool", [2], [2, 3, 7], lambda x: F.max_pool1d(x, 2))
pool("2-D with stride and padding", "maxPool", [3, {"stride": 2, "padding": 1}], [1, 2, 6, 7], lambda x: F.max_pool2d(x, 3, 2, 1))
pool("dilated", "maxPool", [2, {"stride": 1, "dilation": 2}], [1, 2, 5, 5], lambda x: F.max_pool2d(x, 2, 1, 0, 2))
pool("3-D", "maxPool", [[1, 2, 2]], [1, 2, 2, 4, 5], lambda x: F.max_pool3d(x, (1, 2, 2)))
pool("with a stride beyond the window", "maxPool", [2, {"stride": 3}], [1, 1, 8, 8], lambda x: F.max_pool2d(x, 2, 3))
pool("channels last", "maxPool", [2, {"channels": "last"}], [1, 4, 5, 3], lambda x: first(F.max_pool2d(last(x), 2)))
pool("of an empty batch", "maxPool", [2], [0, 2, 4, 4], lambda x: F.max_pool2d(x, 2))
pool("1-D", "averagePool", [2], [2, 3, 7], lambda x: F.avg_pool1d(x, 2))
pool("2-D with padding that counts", "averagePool", [3, {"stride": 2, "padding": 1}], [1, 2, 6, 7], lambda x: F.avg_pool2d(x, 3, 2, 1))
pool("2-D with padding that does not", "averagePool", [3, {"stride": 2, "padding": 1, "countPadding": False}], [1, 2, 6, 7],
     lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False))
pool("3-D", "averagePool", [2], [1, 2, 2, 4, 5], lambda x: F.avg_pool3d(x, 2))
pool("of order 2", "lpPool", [2], [1, 2, 4, 5], lambda x: F.lp_pool2d(x, 2, 2))
pool("of order 4 with a stride", "lpPool", [3, {"norm": 4, "stride": 2}], [2, 2, 7], lambda x: F.lp_pool1d(x, 4, 3, 2))


def blur(x, stride):
    row = torch.tensor([1.0, 2.0, 1.0]) / 4
    k = torch.outer(row, row).reshape(1, 1, 3, 3).repeat(x.shape[1], 1, 1, 1)
    return F.conv2d(F.pad(x, (1, 1, 1, 1), mode="reflect"), k, stride=stride, groups=x.shape[1])


pool("of stride 2", "blurPool", [], [1, 2, 5, 6], lambda x: blur(x, 2))
pool("of stride 1", "blurPool", [{"stride": 1}], [2, 1, 3, 4], lambda x: blur(x, 1))
pool("to uneven windows", "adaptiveAveragePool", [[3, 2]], [1, 2, 7, 5], lambda x: F.adaptive_avg_pool2d(x, (3, 2)))
pool("to more windows than elements", "adaptiveAveragePool", [5], [1, 2, 3], lambda x: F.adaptive_avg_pool1d(x, 5))
pool("3-D", "adaptiveAveragePool", [2], [1, 1, 3, 4, 5], lambda x: F.adaptive_avg_pool3d(x, 2))
pool("to uneven windows", "adaptiveMaxPool", [[3, 2]], [1, 2, 7, 5], lambda x: F.adaptive_max_pool2d(x, (3, 2)))
pool("to even windows", "adaptiveMaxPool", [2], [1, 2, 4, 6], lambda x: F.adaptive_max_pool2d(x, 2))
pool("global", "globalAveragePool", [], [2, 3, 4, 5], lambda x: x.mean((2, 3)))
pool("global", "globalMaxPool", [{"keepDims": True}], [2, 3, 4, 5], lambda x: F.adaptive_max_pool2d(x, 1))
pool("global", "globalLpPool", [{"norm": 4}], [2, 3, 5], lambda x: (x**4).sum(2) ** 0.25)


def batch(name, shape, training, channels="first", **options):
    n = shape[1] if channels == "first" else shape[-1]
    if channels == "last":
        options["channels"] = "last"

    def f(xs, ps, ss):
        mean, var = ss["mean"].clone(), ss["variance"].clone()
        x = xs[0] if channels == "first" else last(xs[0])
        y = F.batch_norm(x, mean, var, ps["scale"], ps["biases"], training, 1 - options.get("momentum", 0.9), options.get("eps", 1e-5))
        return (y if channels == "first" else first(y)), {"mean": mean, "variance": var}

    case(name, "batchNorm", [options], [shape], {"scale": ([n], 0.3, 1), "biases": ([n], 1, 0)}, f,
         state={"mean": ([n], 1, 0), "variance": ([n], 0.2, 1)}, training=training)


batch("training, 2-D", [3, 2, 4, 3], True)
batch("training, features", [5, 3], True, momentum=0.5, eps=0.1)
batch("with running statistics", [3, 2, 4], False)
batch("training, channels last", [2, 3, 3, 2], True, channels="last")

AFFINE = lambda shape: {"scale": (shape, 0.3, 1), "biases": (shape, 1, 0)}
case("over the last axis", "layerNorm", [{}], [[2, 3, 5]], AFFINE([5]), lambda xs, ps, _: (F.layer_norm(xs[0], [5], ps["scale"], ps["biases"]), None))
case("over two axes", "layerNorm", [{"axis": [-2, -1], "eps": 0.01}], [[2, 3, 5]], AFFINE([3, 5]),
     lambda xs, ps, _: (F.layer_norm(xs[0], [3, 5], ps["scale"], ps["biases"], 0.01), None))
case("of two groups", "groupNorm", [2, {}], [[2, 4, 3, 3]], AFFINE([4]), lambda xs, ps, _: (F.group_norm(xs[0], 2, ps["scale"], ps["biases"]), None))
case("channels last", "groupNorm", [2, {"channels": "last"}], [[2, 5, 4]], AFFINE([4]),
     lambda xs, ps, _: (first(F.group_norm(last(xs[0]), 2, ps["scale"], ps["biases"])), None))
case("2-D", "instanceNorm", [{}], [[2, 3, 3, 4]], AFFINE([3]), lambda xs, ps, _: (F.instance_norm(xs[0], weight=ps["scale"], bias=ps["biases"]), None))
case("over the last axis", "rmsNorm", [{}], [[2, 3, 5]], {"scale": ([5], 0.3, 1)}, lambda xs, ps, _: (F.rms_norm(xs[0], [5], ps["scale"], 1e-6), None))


case("of a dense layer", "weightNorm", [{"layer": "dense", "args": [4]}], [[3, 5]],
     {"layer.weights": ([5, 4], 1, 0), "layer.biases": ([4], 1, 0), "scale": ([4], 0.3, 1)},
     lambda xs, ps, _: (torch.nn.functional.linear(xs[0], torch._weight_norm(ps["layer.weights"].T, ps["scale"].reshape(4, 1), 0), ps["layer.biases"]), None))
case("of a convolution", "weightNorm", [{"layer": "conv", "args": [3, 2]}], [[2, 2, 3, 4]],
     {"layer.weights": ([3, 2, 2, 2], 1, 0), "layer.biases": ([3], 1, 0), "scale": ([3], 0.3, 1)},
     lambda xs, ps, _: (F.conv2d(xs[0], torch._weight_norm(ps["layer.weights"], ps["scale"].reshape(3, 1, 1, 1), 0), ps["layer.biases"]), None))


def spectral(training):
    def f(xs, ps, ss):
        w = ps["layer.weights"].T
        u, v = ss["left"].clone(), ss["right"].clone()
        if training:
            with torch.no_grad():
                u = F.normalize(w @ v, dim=0, eps=1e-12)
                v = F.normalize(w.T @ u, dim=0, eps=1e-12)
        sigma = torch.dot(u, w @ v)
        return F.linear(xs[0], w / sigma, ps["layer.biases"]), {"left": u, "right": v}

    return f


for training in (False, True):
    case(f"of a dense layer{', training' if training else ''}", "spectralNorm", [{"layer": "dense", "args": [4]}], [[3, 5]],
         {"layer.weights": ([5, 4], 1, 0), "layer.biases": ([4], 1, 0)}, spectral(training), state={"left": ([4], 1, 0.5), "right": ([5], 1, 0.2)}, training=training)

case("of two inputs", "bilinear", [4], [[3, 2], [3, 5]], {"weights": ([4, 2, 5], 1, 0), "biases": ([4], 1, 0)},
     lambda xs, ps, _: (F.bilinear(xs[0], xs[1], ps["weights"], ps["biases"]), None))
case("one slope", "prelu", [], [[2, 3, 4]], {"slopes": ([], 1, 0.5)}, lambda xs, ps, _: (F.prelu(xs[0], ps["slopes"].reshape(1)), None))
case("a slope for each channel", "prelu", [{"perChannel": True}], [[2, 3, 4]], {"slopes": ([3], 1, 0)}, lambda xs, ps, _: (F.prelu(xs[0], ps["slopes"]), None))

for method, mode in (("bilinear", "bilinear"), ("bicubic", "bicubic")):
    for name, size in (("up", [7, 9]), ("down", [2, 3]), ("mixed", [3, 11])):
        pool(f"{method}, {name}", "resize", [size, {"method": method}], [1, 2, 4, 6],
             lambda x, size=size, mode=mode: F.interpolate(x, size=size, mode=mode, antialias=True, align_corners=False))
pool("bilinear, down, without antialias", "resize", [[2, 3], {"method": "bilinear", "antialias": False}], [1, 2, 5, 7],
     lambda x: F.interpolate(x, size=[2, 3], mode="bilinear", align_corners=False))
pool("bilinear, 1-D", "resize", [5, {"method": "bilinear", "antialias": False}], [1, 2, 3], lambda x: F.interpolate(x, size=5, mode="linear", align_corners=False))
pool("bilinear, 3-D", "resize", [3, {"method": "bilinear", "antialias": False}], [1, 1, 2, 4, 2], lambda x: F.interpolate(x, size=3, mode="trilinear", align_corners=False))
pool("nearest", "resize", [[7, 3], {"method": "nearest"}], [1, 2, 4, 5], lambda x: F.interpolate(x, size=[7, 3], mode="nearest-exact"))

with open(sys.argv[1], "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]\n")
