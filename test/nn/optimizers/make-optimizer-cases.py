"""Trajectories of torch.optim on two small problems, for test/nn/optimizers: python3 make-optimizer-cases.py cases.json

The first problem is a quadratic of a 3 x 4 matrix and a vector, the second Rosenbrock's function of two numbers. The file
has the parameters after each of ten steps, in f64 (in f32 where the optimiser rounds to bf16 by itself).
"""
import inspect
import json
import sys

import torch

STEPS = 10


def quadratic():
    torch.manual_seed(0)
    w = (torch.arange(12, dtype=torch.float64).reshape(3, 4) / 6 - 0.8).requires_grad_()
    b = torch.tensor([0.5, -1.5, 2.0], dtype=torch.float64).requires_grad_()

    def loss():
        curve = torch.arange(1, 13, dtype=torch.float64).reshape(3, 4) / 4
        aim = torch.cos(torch.arange(12, dtype=torch.float64)).reshape(3, 4)
        return (curve * (w - aim) ** 2).sum() + ((b + w.sum(1)) ** 2).sum() / 2

    return [w, b], loss


def matrix():
    w = (torch.arange(12, dtype=torch.float64).reshape(3, 4) / 6 - 0.8).requires_grad_()
    aim = torch.cos(torch.arange(12, dtype=torch.float64)).reshape(3, 4)
    curve = torch.arange(1, 13, dtype=torch.float64).reshape(3, 4) / 4
    return [w], lambda: (curve * (w - aim) ** 2).sum()


def rosenbrock():
    x = torch.tensor([-1.2, 1.0], dtype=torch.float64).requires_grad_()
    return [x], lambda: (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


def run(problem, make):
    params, loss = problem()
    optimizer = make(params)
    track = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
        track.append([[float("%.12g" % v) for v in p.detach().reshape(-1).tolist()] for p in params])
    return track


O = torch.optim
CASES = {
    "sgd": (O.SGD, dict(lr=0.001)),
    "sgd momentum": (O.SGD, dict(lr=0.0005, momentum=0.9)),
    "sgd nesterov": (O.SGD, dict(lr=0.0005, momentum=0.9, nesterov=True)),
    "sgd decay": (O.SGD, dict(lr=0.001, momentum=0.9, weight_decay=0.1)),
    "adam": (O.Adam, dict(lr=0.02)),
    "adam amsgrad": (O.Adam, dict(lr=0.02, betas=(0.7, 0.9), amsgrad=True)),
    "adamw": (O.AdamW, dict(lr=0.02, weight_decay=0.1)),
    "nadam": (O.NAdam, dict(lr=0.02)),
    "adamax": (O.Adamax, dict(lr=0.02)),
    "radam": (O.RAdam, dict(lr=0.02)),
    "radam short": (O.RAdam, dict(lr=0.02, betas=(0.9, 0.95))),
    "adagrad": (O.Adagrad, dict(lr=0.05)),
    "adagrad decay": (O.Adagrad, dict(lr=0.05, lr_decay=0.1, initial_accumulator_value=0.1)),
    "rmsprop": (O.RMSprop, dict(lr=0.01)),
    "rmsprop centred": (O.RMSprop, dict(lr=0.01, alpha=0.9, centered=True, momentum=0.5)),
    "adafactor": (O.Adafactor, dict(lr=0.02)),
    "adafactor decay": (O.Adafactor, dict(lr=0.5, weight_decay=0.1, beta2_decay=-0.6, d=1.0)),
}


def main(path):
    out = {"torch": torch.__version__, "steps": STEPS, "cases": {}}
    for name, (kind, options) in CASES.items():
        if "foreach" in inspect.signature(kind).parameters:
            options = dict(options, foreach=False)
        out["cases"][name] = {
            "quadratic": run(quadratic, lambda p: kind(p, **options)),
            "rosenbrock": run(rosenbrock, lambda p: kind(p, **options)),
        }
    if hasattr(O, "Muon"):
        out["cases"]["muon"] = {"matrix": run(matrix, lambda p: O.Muon(p, lr=0.02, weight_decay=0.1))}
    with open(path, "w") as file:
        json.dump(out, file, separators=(",", ":"))
        file.write("\n")


main(sys.argv[1])
