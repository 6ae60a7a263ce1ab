"""PyTorch's losses and their gradients, for the tests of src/nn/losses: python3 make-loss-cases.py OUT.json"""
import json, sys
import torch
import torch.nn.functional as F

torch.manual_seed(7)
D = torch.float64


def number(v):
    if v != v:
        return "NaN"
    if v in (float("inf"), float("-inf")):
        return "Infinity" if v > 0 else "-Infinity"
    return float(f"{v:.8g}")


def rounded(t):
    """Inputs with few digits, so that the file holds them exactly."""
    return (t * 64).round() / 64


def listed(t):
    return [number(v) for v in t.detach().double().flatten().tolist()]


def tensor(t):
    return {"shape": list(t.shape), "values": listed(t)}


def case(name, f, predictions, targets, **more):
    """f(predictions, targets, reduction); values of all three reductions, and the gradient of the mean."""
    leaves = [p.clone().requires_grad_() for p in predictions]
    mean = f(leaves, targets, "mean")
    mean.backward()
    return {
        "name": name,
        "predictions": [tensor(p) for p in predictions],
        "targets": [tensor(t) for t in targets],
        "none": tensor(f(leaves, targets, "none")),
        "sum": number(f(leaves, targets, "sum").item()),
        "mean": number(mean.item()),
        "gradients": [tensor(leaf.grad) for leaf in leaves],
        **more,
    }


def reduced(losses, r):
    return losses if r == "none" else losses.sum() if r == "sum" else losses.mean()


scores = rounded(torch.randn(4, 5, dtype=D) * 3)
others = rounded(torch.randn(4, 5, dtype=D) * 3)
shares = torch.sigmoid(scores)
signs = torch.where(torch.rand(4, 5) < 0.5, -1.0, 1.0).to(D)
bits = (signs + 1) / 2
labels = torch.tensor([3, 0, 4, 3])
classWeights = torch.tensor([0.5, 1.0, 2.0, 1.5, 0.25], dtype=D)
soft = F.softmax(rounded(torch.randn(4, 5, dtype=D)), -1)
counts = torch.randint(0, 5, (4, 5)).to(D)
v1, v2, v3 = (rounded(torch.randn(6, 8, dtype=D)) for _ in range(3))

one = lambda f, **k: lambda p, t, r: f(p[0], t[0], reduction=r, **k)
cases = [
    case("meanSquaredError", one(F.mse_loss), [scores], [others]),
    case("meanAbsoluteError", one(F.l1_loss), [scores], [others]),
    case("huber", one(F.huber_loss), [scores], [others]),
    case("huber 0.5", one(F.huber_loss, delta=0.5), [scores], [others]),
    case("poisson", one(F.poisson_nll_loss, log_input=False, eps=0.0), [shares * 4], [counts]),
    case("poisson log", one(F.poisson_nll_loss, log_input=True), [scores], [counts]),
    case("binaryCrossEntropy", one(F.binary_cross_entropy), [shares], [bits]),
    case("binaryCrossEntropy logits", one(F.binary_cross_entropy_with_logits), [scores], [bits]),
    case("binaryCrossEntropy positive 3", one(F.binary_cross_entropy_with_logits, pos_weight=torch.tensor(3.0, dtype=D)), [scores], [bits]),
    case("categoricalCrossEntropy", one(F.cross_entropy), [scores], [labels]),
    case("categoricalCrossEntropy weights", one(F.cross_entropy, weight=classWeights), [scores], [labels]),
    case("categoricalCrossEntropy smooth", one(F.cross_entropy, label_smoothing=0.1), [scores], [labels]),
    case("categoricalCrossEntropy smooth weights", one(F.cross_entropy, label_smoothing=0.1, weight=classWeights), [scores], [labels]),
    case("categoricalCrossEntropy dense", one(F.cross_entropy), [scores], [soft]),
    case("categoricalCrossEntropy dense smooth", one(F.cross_entropy, label_smoothing=0.2), [scores], [soft]),
    case("categoricalCrossEntropy ignore", one(F.cross_entropy, ignore_index=3, weight=classWeights), [scores], [labels]),
    case("softMargin", one(F.soft_margin_loss), [scores], [signs]),
    case("marginRanking", lambda p, t, r: F.margin_ranking_loss(p[0], p[1], t[0], margin=0.5, reduction=r), [scores, others], [signs]),
    case("triplet", lambda p, t, r: F.triplet_margin_loss(*p, margin=1.0, eps=0.0, reduction=r), [v1, v2, v3], []),
    case("triplet swap", lambda p, t, r: F.triplet_margin_loss(*p, margin=2.0, eps=0.0, swap=True, reduction=r), [v1, v2, v3], []),
    case("cosineSimilarity", lambda p, t, r: F.cosine_embedding_loss(p[0], p[1], torch.ones(6, dtype=D), reduction=r), [v1, v2], []),
]

cases += [
    case("klDivergence logits", lambda p, t, r: reduced(F.kl_div(F.log_softmax(p[0], -1), t[0], reduction="none").sum(-1), r), [scores], [soft]),
    case("infoNCE", lambda p, t, r: F.cross_entropy(F.normalize(p[0]) @ F.normalize(p[1]).T / 0.2, torch.arange(6), reduction=r), [v1, v2], []),
]


def focal(p, t, r):
    bce = F.binary_cross_entropy_with_logits(p[0], t[0], reduction="none")
    right = torch.where(t[0] > 0, torch.sigmoid(p[0]), 1 - torch.sigmoid(p[0]))
    return reduced(torch.where(t[0] > 0, 0.25, 0.75) * (1 - right) ** 2 * bce, r)


cases.append(case("focal", focal, [scores], [bits]))

# CTC: [batch, time, classes] here, [time, batch, classes] in PyTorch.
logits = rounded(torch.randn(4, 12, 6, dtype=D) * 2)
words = torch.tensor([[1, 2, 2, 5], [3, 3, 3, 0], [4, 1, 0, 0], [2, 0, 0, 0]])
inputLengths, labelLengths = torch.tensor([12, 9, 12, 4]), torch.tensor([4, 3, 2, 0])


def ctc(blank):
    def loss(p, t, r):
        losses = F.ctc_loss(F.log_softmax(p[0], -1).transpose(0, 1), t[0], inputLengths, labelLengths, blank=blank, reduction="none")
        return reduced(losses, r)

    return loss


lengths = {"inputLengths": inputLengths.tolist(), "labelLengths": labelLengths.tolist()}
cases.append(case("ctc", ctc(0), [logits], [words], **lengths))
last = torch.tensor([[1, 2, 2, 4], [3, 3, 3, 0], [4, 1, 0, 0], [2, 0, 0, 0]])
cases.append(case("ctc blank 5", ctc(5), [logits], [last], **lengths))

json.dump({"torch": torch.__version__, "cases": cases}, open(sys.argv[1], "w"), separators=(",", ":"))
