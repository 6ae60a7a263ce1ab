"""PyTorch's activations and their gradients, for activations.test.ts: python3 make-activation-cases.py OUT.json"""
import json, sys
import torch
import torch.nn.functional as F

X = [-9.5, -6.0, -4.25, -3.0, -2.5, -1.0, -0.75, -0.5, -0.3, -1e-3, 0.0, 1e-3, 0.2, 0.5, 0.8, 1.0, 2.0, 3.0, 4.5, 6.0, 7.5, 30.0]
EXTREMES = [-1e4, -100.0, -20.0, 20.0, 100.0, 1e4, float("inf"), float("-inf"), float("nan")]
ROWS = [[0.5, -1.0, 2.0, 3.5], [100.0, 0.0, -100.0, 99.0], [1e4, -1e4, 9999.0, 0.0], [0.25, 0.25, 0.25, 0.25], [float("-inf"), 1.0, 2.0, 0.0]]

ELEMENTS = {
    "celu": lambda x: F.celu(x), "celu 0.5": lambda x: F.celu(x, 0.5), "elu": lambda x: F.elu(x), "elu 2": lambda x: F.elu(x, 2.0),
    "exp": torch.exp, "gelu": lambda x: F.gelu(x), "gelu tanh": lambda x: F.gelu(x, approximate="tanh"), "hardSigmoid": F.hardsigmoid,
    "hardSilu": F.hardswish, "hardTanh": F.hardtanh, "leakyRelu": F.leaky_relu, "leakyRelu 0.2": lambda x: F.leaky_relu(x, 0.2),
    "logSigmoid": F.logsigmoid, "mish": F.mish, "relu": F.relu, "relu6": F.relu6, "selu": F.selu, "sigmoid": torch.sigmoid,
    "silu": F.silu, "softplus": F.softplus, "softsign": F.softsign, "tanh": torch.tanh, "tanhShrink": F.tanhshrink,
    "softShrink": F.softshrink, "hardShrink": F.hardshrink, "linear": lambda x: x * 1,
}
AXES = {
    "softmax": lambda x: F.softmax(x, -1), "logSoftmax": lambda x: F.log_softmax(x, -1),
    "logSumExp": lambda x: torch.logsumexp(x, -1, keepdim=True), "glu": lambda x: F.glu(x, -1),
}


def number(v):
    if v != v:
        return "NaN"
    if v in (float("inf"), float("-inf")):
        return "Infinity" if v > 0 else "-Infinity"
    return float(f"{v:.8g}")


def listed(t):
    return [number(v) for v in t.detach().double().flatten().tolist()]


def case(name, f, values, shape, dtype):
    x = torch.tensor(values, dtype=dtype).reshape(shape).requires_grad_()
    y = f(x)
    weights = torch.linspace(0.5, 1.5, y.numel(), dtype=dtype).reshape(y.shape)
    (y * weights).sum().backward()
    return {"name": name, "shape": shape, "x": [number(v) for v in values], "y": listed(y), "yShape": list(y.shape), "gradient": listed(x.grad)}


cases = []
for name, f in ELEMENTS.items():
    cases.append(case(name, f, X, [len(X)], torch.float64))
extremes = [{"name": name, "x": [number(v) for v in EXTREMES], "y": listed(f(torch.tensor(EXTREMES)))} for name, f in ELEMENTS.items()]
for name, f in AXES.items():
    flat = [v for row in ROWS for v in row]
    cases.append(case(name, f, flat, [len(ROWS), 4], torch.float64))
json.dump({"torch": torch.__version__, "cases": cases, "extremes": extremes}, open(sys.argv[1], "w"), separators=(",", ":"))
