"""Outputs and gradients of PyTorch's sequence layers, for test/nn/layers: python3 make-sequence-cases.py sequence-cases.json

As make-layer-cases.py: inputs and parameters follow from a seed (`values`), everything is computed in f64, and the loss is the sum of
all outputs, one after the other, times cos(0), cos(1), … `input` says where the inputs stand: a position in the list, or an object of
positions. Several outputs are in the order of their sorted names.
"""
import json
import math
import sys

import torch
from torch import nn

torch.set_default_dtype(torch.float64)


def values(shape, seed):
    count = math.prod(shape)
    numbers = [((i * 397 + seed * 31) % 1021 - 510) / 256 for i in range(count)]
    return torch.tensor(numbers).reshape(shape)


def digits(x):
    return [float(f"{v:.8g}") for v in x.detach().reshape(-1).tolist()]


cases = []


def case(name, layer, args, inputs, params, f, input=0):
    """`inputs`: shapes of floats, or (shape, dtype, numbers). `params`: path -> (our shape, scale, shift). f(inputs, params) -> outputs."""
    xs, described = [], []
    for i, given in enumerate(inputs):
        if isinstance(given, tuple):
            shape, dtype, numbers = given
            kinds = {"bool": torch.bool, "i32": torch.int32}
            xs.append(torch.tensor(numbers, dtype=kinds[dtype]).reshape(shape))
            described.append({"shape": list(shape), "dtype": dtype, "values": numbers})
        else:
            xs.append(values(given, 1 + i).requires_grad_())
            described.append({"shape": list(given), "seed": 1 + i})
    ps = {k: (values(s, 11 + i) * scale + shift).detach().requires_grad_() for i, (k, (s, scale, shift)) in enumerate(params.items())}
    out = f(xs, ps)
    outs = [out] if isinstance(out, torch.Tensor) else list(out)
    flat = torch.cat([o.reshape(-1) for o in outs])
    ct = torch.cos(torch.arange(flat.numel(), dtype=torch.float64))
    leaves = [x for x in xs if x.requires_grad] + list(ps.values())
    grads = torch.autograd.grad((flat * ct).sum(), leaves, allow_unused=True)
    grads = [torch.zeros_like(l) if g is None else g for g, l in zip(grads, leaves)]
    count = len(leaves) - len(ps)
    cases.append({
        "name": name, "layer": layer, "args": args, "training": False, "input": input, "inputs": described,
        "params": {k: {"shape": list(s), "seed": 11 + i, "scale": scale, "shift": shift} for i, (k, (s, scale, shift)) in enumerate(params.items())},
        "state": {}, "newState": {},
        "shape": list(outs[0].shape) if len(outs) == 1 else [list(o.shape) for o in outs],
        "output": digits(flat),
        "inputGradients": [digits(g) for g in grads[:count]],
        "paramGradients": {k: digits(g) for k, g in zip(ps, grads[count:])},
    })


# Recurrent layers. PyTorch's weights are [gates, inputs], ours [inputs, gates]; its two biases are one here.

GATES = {"rnn": 1, "lstm": 4, "gru": 3}


def recurrent_params(kind, inputs, units, prefix="", projection=None):
    gates = GATES[kind] * units
    ps = {
        f"{prefix}weights": ([inputs, gates], 0.4, 0),
        f"{prefix}recurrent": ([projection or units, gates], 0.4, 0),
        f"{prefix}biases": ([gates], 0.3, 0.1),
    }
    if kind == "gru":
        ps[f"{prefix}recurrentBiases"] = ([units], 0.3, -0.1)
    if projection:
        ps[f"{prefix}projection"] = ([units, projection], 0.5, 0)
    return ps


def flat_weights(kind, ps, prefix=""):
    b = ps[f"{prefix}biases"]
    other = torch.zeros_like(b)
    if kind == "gru":
        other = torch.cat([torch.zeros(2 * b.numel() // 3), ps[f"{prefix}recurrentBiases"]])
    found = [ps[f"{prefix}weights"].T, ps[f"{prefix}recurrent"].T, b, other]
    if f"{prefix}projection" in ps:
        found.append(ps[f"{prefix}projection"].T)
    return found


def torch_run(kind, x, start, weights, layers=1, bidirectional=False, activation="tanh", batch_sizes=None):
    run = {"rnn": getattr(torch._VF, f"rnn_{activation}"), "lstm": torch._VF.lstm, "gru": torch._VF.gru}[kind]
    if batch_sizes is None:
        return run(x, start, weights, True, layers, 0.0, False, bidirectional, True)
    return run(x, batch_sizes, start, weights, True, layers, 0.0, False, bidirectional)


def zeros_of(kind, batch, units, count, projection=None):
    h = torch.zeros(count, batch, projection or units)
    return (h, torch.zeros(count, batch, units)) if kind == "lstm" else h


def simple(name, kind, batch, time, inputs, units, **options):
    """All outputs and the last state, from a first state that is given."""
    projection = options.get("projection")
    hidden = [batch, projection or units]

    def f(xs, ps):
        start = (xs[1][None], xs[2][None]) if kind == "lstm" else xs[1][None]
        out, *state = torch_run(kind, xs[0], start, flat_weights(kind, ps), activation=options.get("activation", "tanh"))
        return [out, *[s[0] for s in reversed(state)]]  # output, state.cell, state.hidden

    positions = {"cell": 2, "hidden": 1} if kind == "lstm" else {"hidden": 1}
    shapes = [[batch, time, inputs], hidden] + ([[batch, units]] if kind == "lstm" else [])
    case(name, kind, [units, {"returnSequences": True, "returnState": True, **options}], shapes,
         recurrent_params(kind, inputs, units, projection=projection), f, {"x": 0, "initialState": positions})


simple("tanh", "rnn", 2, 4, 3, 5)
simple("relu", "rnn", 2, 3, 2, 3, activation="relu")
simple("of one step", "lstm", 1, 1, 2, 1)
simple("", "lstm", 3, 5, 2, 4)
simple("with a projection", "lstm", 2, 4, 3, 4, projection=2)
simple("", "gru", 2, 5, 3, 4)


def lengths(name, kind, time, inputs, units, counts):
    """Sequences of several lengths, packed by PyTorch: outputs behind the end are zeros."""
    batch = len(counts)

    def f(xs, ps):
        packed = nn.utils.rnn.pack_padded_sequence(xs[0], torch.tensor(counts), batch_first=True)
        start = zeros_of(kind, batch, units, 1)
        out, *_ = torch_run(kind, packed.data, start, flat_weights(kind, ps), batch_sizes=packed.batch_sizes)
        whole = nn.utils.rnn.PackedSequence(out, packed.batch_sizes)
        return nn.utils.rnn.pad_packed_sequence(whole, batch_first=True, total_length=time)[0]

    case(name, kind, [units, {"returnSequences": True, "zeroMasked": True}], [[batch, time, inputs], ([batch], "i32", counts)],
         recurrent_params(kind, inputs, units), f, {"x": 0, "lengths": 1})


lengths("with lengths", "lstm", 5, 2, 3, [5, 3, 1])
lengths("with lengths", "gru", 4, 2, 3, [3, 2, 2])


def both_ways(name, kind, batch, time, inputs, units, layers, counts=None):
    """Layers in both directions, one on the other: the outputs of all steps and the states."""
    prefixes, params = [], {}
    for i in range(layers):
        for way in ["forward", "backward"]:
            prefix = f"bidirectional{i}.{way}." if layers > 1 else f"{way}."
            prefixes.append(prefix)
            params.update(recurrent_params(kind, inputs if i == 0 else 2 * units, units, prefix))

    def f(xs, ps):
        weights = [w for prefix in prefixes for w in flat_weights(kind, ps, prefix)]
        start = zeros_of(kind, batch, units, 2 * layers)
        if counts is None:
            return torch_run(kind, xs[0], start, weights, layers, True)[0]
        packed = nn.utils.rnn.pack_padded_sequence(xs[0], torch.tensor(counts), batch_first=True)
        out, *_ = torch_run(kind, packed.data, start, weights, layers, True, batch_sizes=packed.batch_sizes)
        whole = nn.utils.rnn.PackedSequence(out, packed.batch_sizes)
        return nn.utils.rnn.pad_packed_sequence(whole, batch_first=True, total_length=time)[0]

    one = {"layer": "bidirectional", "args": [{"layer": kind, "args": [units, {"returnSequences": True, "zeroMasked": True}]}]}
    shapes = [[batch, time, inputs]] + ([([batch], "i32", counts)] if counts else [])
    position = {"x": 0, "lengths": 1} if counts else 0
    if layers == 1:
        case(name, "bidirectional", one["args"], shapes, params, f, position)
    else:
        case(name, "stacked", [[one] * layers], shapes, params, f, position)


both_ways("rnn", "rnn", 2, 3, 2, 2, 1)
both_ways("gru", "gru", 2, 3, 2, 2, 1)
both_ways("two lstm in both directions", "lstm", 2, 3, 2, 2, 2)
both_ways("two gru in both directions, with lengths", "gru", 3, 4, 2, 2, 2, [4, 2, 1])


# Attention. PyTorch's projections are one matrix [3 · features, features].

def dense_params(prefix, inputs, units):
    return {f"{prefix}.weights": ([inputs, units], 0.4, 0), f"{prefix}.biases": ([units], 0.2, 0)}


def attention_params(prefix, features):
    return {k: v for part in ["query", "key", "value", "output"] for k, v in dense_params(f"{prefix}{part}", features, features).items()}


def attention_weights(ps, prefix, name):
    parts = ["query", "key", "value"]
    return {
        f"{name}in_proj_weight": torch.cat([ps[f"{prefix}{p}.weights"].T for p in parts]),
        f"{name}in_proj_bias": torch.cat([ps[f"{prefix}{p}.biases"] for p in parts]),
        f"{name}out_proj.weight": ps[f"{prefix}output.weights"].T,
        f"{name}out_proj.bias": ps[f"{prefix}output.biases"],
    }


def attended(name, batch, queries, heads, size, keys=None, causal=False, hidden=None):
    """`hidden`: numbers [batch, keys], 0 for keys that no query sees."""
    features = heads * size
    module = nn.MultiheadAttention(features, heads, batch_first=True)

    def f(xs, ps):
        memory = xs[0] if keys is None else xs[1]
        masks = {}
        if causal:
            masks["attn_mask"] = torch.ones(queries, queries, dtype=torch.bool).triu(1)
        if hidden is not None:
            masks["key_padding_mask"] = ~xs[-1]
        return torch.func.functional_call(module, attention_weights(ps, "", ""), (xs[0], memory, memory), {"need_weights": False, **masks})[0]

    shapes = [[batch, queries, features]] + ([] if keys is None else [[batch, keys, features]])
    position = {"x": 0} if keys is None else {"x": 0, "memory": 1}
    if hidden is not None:
        position["mask"] = len(shapes)
        shapes.append(([batch, keys or queries], "bool", hidden))
    options = {"headSize": size, **({"causal": True} if causal else {})}
    case(name, "multiHeadAttention", [heads, options], shapes, attention_params("", features), f, position)


attended("self", 2, 4, 2, 3)
attended("causal", 2, 5, 2, 2, causal=True)
attended("of one token", 1, 1, 1, 2)
attended("cross, with hidden keys", 2, 3, 2, 2, keys=5, hidden=[1, 1, 0, 1, 0, 1, 0, 0, 0, 1])


# Transformers.

def norm_params(prefix, features):
    return {f"{prefix}.scale": ([features], 0.2, 1), f"{prefix}.biases": ([features], 0.2, 0)}


def block_params(prefix, features, hidden, cross):
    ps = {**attention_params(f"{prefix}attention.", features), **norm_params(f"{prefix}attentionNorm", features)}
    if cross:
        ps.update({**attention_params(f"{prefix}crossAttention.", features), **norm_params(f"{prefix}crossAttentionNorm", features)})
    return {**ps, **dense_params(f"{prefix}feedForward.up", features, hidden), **dense_params(f"{prefix}feedForward.down", hidden, features),
            **norm_params(f"{prefix}feedForwardNorm", features)}


def block_weights(ps, prefix, name, cross):
    norms = ["attentionNorm", "crossAttentionNorm", "feedForwardNorm"] if cross else ["attentionNorm", "feedForwardNorm"]
    found = attention_weights(ps, f"{prefix}attention.", f"{name}self_attn.")
    if cross:
        found.update(attention_weights(ps, f"{prefix}crossAttention.", f"{name}multihead_attn."))
    for i, part in enumerate(["up", "down"]):
        found[f"{name}linear{i + 1}.weight"] = ps[f"{prefix}feedForward.{part}.weights"].T
        found[f"{name}linear{i + 1}.bias"] = ps[f"{prefix}feedForward.{part}.biases"]
    for i, norm in enumerate(norms):
        found[f"{name}norm{i + 1}.weight"] = ps[f"{prefix}{norm}.scale"]
        found[f"{name}norm{i + 1}.bias"] = ps[f"{prefix}{norm}.biases"]
    return found


def encoder(name, batch, tokens, features, heads, hidden, pre, activation, layers=None, seen=None):
    one = nn.TransformerEncoderLayer(features, heads, hidden, 0.0, activation, batch_first=True, norm_first=pre)
    module = one if layers is None else nn.TransformerEncoder(one, layers, norm=nn.LayerNorm(features), enable_nested_tensor=False)
    params = {}
    for i in range(layers or 1):
        params.update(block_params("" if layers is None else f"block{i}.", features, hidden, False))
    if layers is not None:
        params.update(norm_params("norm", features))

    def f(xs, ps):
        weights = {}
        for i in range(layers or 1):
            prefix, own = ("", "") if layers is None else (f"block{i}.", f"layers.{i}.")
            weights.update(block_weights(ps, prefix, own, False))
        if layers is not None:
            weights.update({"norm.weight": ps["norm.scale"], "norm.bias": ps["norm.biases"]})
        masks = {} if seen is None else {"src_key_padding_mask": ~xs[1]}
        return torch.func.functional_call(module, weights, (xs[0],), masks)

    options = {"heads": heads, "hidden": hidden, "preNorm": pre, "activation": activation, **({} if layers is None else {"layers": layers})}
    shapes = [[batch, tokens, features]] + ([] if seen is None else [([batch, tokens], "bool", seen)])
    case(name, "encoderBlock" if layers is None else "transformerEncoder", [features, options], shapes, params, f,
         0 if seen is None else {"x": 0, "mask": 1})


encoder("after the sum, relu", 2, 3, 4, 2, 6, False, "relu")
encoder("before, gelu, hidden keys", 2, 4, 4, 2, 5, True, "gelu", seen=[1, 1, 1, 0, 1, 1, 0, 0])
encoder("of two blocks", 1, 3, 4, 2, 3, True, "relu", layers=2)


def decoder(name, batch, tokens, keys, features, heads, hidden, pre, activation):
    module = nn.TransformerDecoderLayer(features, heads, hidden, 0.0, activation, batch_first=True, norm_first=pre)

    def f(xs, ps):
        masks = {"tgt_mask": torch.ones(tokens, tokens, dtype=torch.bool).triu(1), "memory_key_padding_mask": ~xs[2]}
        return torch.func.functional_call(module, block_weights(ps, "", "", True), (xs[0], xs[1]), masks)

    options = {"heads": heads, "hidden": hidden, "preNorm": pre, "activation": activation}
    seen = [1] * (batch * keys - 2) + [0, 0]
    case(name, "decoderBlock", [features, options], [[batch, tokens, features], [batch, keys, features], ([batch, keys], "bool", seen)],
         block_params("", features, hidden, True), f, {"x": 0, "memory": 1, "memoryMask": 2})


decoder("after the sum, relu", 2, 3, 4, 4, 2, 5, False, "relu")
decoder("before, gelu", 1, 4, 3, 4, 1, 3, True, "gelu")

with open(sys.argv[1], "w") as file:
    json.dump(cases, file, separators=(",", ":"))
print(len(cases), "cases")
