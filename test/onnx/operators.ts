/**
 * ONNX's operators by the public functions of the library: what each means, in a line or a few. Operators that are left out
 * cannot be written, or were not; `npm run test:onnx` counts them.
 */
import {
  arange,
  concat,
  einsum,
  eye,
  full,
  logsumexp,
  maximum,
  minimum,
  softmax,
  stack,
  type Tensor,
  tensor,
  where,
  zeros,
} from "../../src/index.js";
import { Attributes, dtypeNumbered, NotOurs } from "./messages.js";

type Inputs = readonly (Tensor | undefined)[];
/** `opset`: the version of the operators. `results`: how many are wanted. */
export type Operator = (
  inputs: Inputs,
  attributes: Attributes,
  opset: number,
  results: number,
) => Tensor | readonly Tensor[];

const x0 = (inputs: Inputs): Tensor => inputs[0]!;
const whole = (x: Tensor): number[] => [...x.cast("i64").dataSync()].map(Number);
const isFloat = (x: Tensor): boolean => ["f16", "bf16", "f32", "f64"].includes(x.dtype);

const unary =
  (apply: (x: Tensor, a: Attributes) => Tensor): Operator =>
  (inputs, a) =>
    apply(x0(inputs), a);

const several =
  (apply: (x: Tensor) => readonly Tensor[]): Operator =>
  (inputs) =>
    apply(x0(inputs));

const binary =
  (apply: (x: Tensor, y: Tensor, a: Attributes) => Tensor): Operator =>
  ([x, y], a) =>
    apply(x!, y!, a);

/** The axes of a reduction: an attribute, or the second input in newer versions. */
const reduction =
  (reduce: (x: Tensor, options: { axis?: number[]; keepDims: boolean }) => Tensor): Operator =>
  ([x, given], a) => {
    const axes = given ? whole(given) : a.numbers("axes");
    const keepDims = a.number("keepdims", 1) === 1;
    if ((!axes || axes.length === 0) && a.number("noop_with_empty_axes") === 1) return x!;
    const options = axes && axes.length > 0 ? { axis: [...axes], keepDims } : { keepDims };
    return reduce(x!, options).cast(x!.dtype);
  };

const extreme =
  (find: (x: Tensor, axis: number) => Tensor): Operator =>
  ([x], a) => {
    const axis = a.number("axis");
    const along = axis < 0 ? axis + x!.rank : axis;
    const last = a.number("select_last_index") === 1;
    const seen = last ? x!.flip(along) : x!;
    const found = find(seen, along).cast("i64");
    const at = last ? found.neg().add(x!.shape[along]! - 1) : found;
    return a.number("keepdims", 1) === 1 ? at.expandDims(along) : at;
  };

/** [begin, end] of each spatial axis. */
function padding(x: Tensor, size: readonly number[], a: Attributes): (readonly [number, number])[] {
  const strides = a.numbers("strides") ?? size.map(() => 1);
  const dilations = a.numbers("dilations") ?? size.map(() => 1);
  const auto = a.text("auto_pad", "NOTSET");
  const pads = a.numbers("pads");
  return size.map((n, i) => {
    if (auto === "VALID" || (auto === "NOTSET" && !pads)) return [0, 0];
    if (auto === "NOTSET") return [pads![i]!, pads![i + size.length]!];
    const extent = x.shape[i + 2]!;
    const reach = (n - 1) * dilations[i]! + 1;
    const total = Math.max(0, (Math.ceil(extent / strides[i]!) - 1) * strides[i]! + reach - extent);
    const less = Math.floor(total / 2);
    return auto === "SAME_UPPER" ? [less, total - less] : [total - less, less];
  });
}

const windowOf = (x: Tensor, a: Attributes) => {
  const size = a.numbers("kernel_shape")!;
  if (a.number("ceil_mode") === 1) throw new NotOurs("windows that reach over the end");
  return {
    size: [...size],
    options: {
      axis: size.map((_, i) => i + 2),
      stride: [...(a.numbers("strides") ?? size.map(() => 1))],
      dilation: [...(a.numbers("dilations") ?? size.map(() => 1))],
      padding: padding(x, size, a),
    },
  };
};

const spatial = (x: Tensor): number[] => x.shape.slice(2).map((_, i) => i + 2);
/** A value per channel beside a tensor of [batch, channels, …]. */
const perChannel = (x: Tensor, of: Tensor): Tensor => x.reshape([1, of.shape[1]!, ...spatial(of).map(() => 1)]);

const conv: Operator = ([x, w, bias], a) => {
  const size = w!.shape.slice(2);
  const result = x!.conv(w!, {
    stride: [...(a.numbers("strides") ?? size.map(() => 1))],
    kernelDilation: [...(a.numbers("dilations") ?? size.map(() => 1))],
    padding: padding(x!, size, a),
    featureGroups: a.number("group", 1),
  });
  return bias ? result.add(perChannel(bias, result)) : result;
};

const normalized = (x: Tensor, axis: number[], epsilon: number): Tensor => {
  const centred = x.sub(x.mean({ axis, keepDims: true }));
  return centred.div(centred.square().mean({ axis, keepDims: true }).add(epsilon).sqrt());
};

const normalizedAxis = (a: Attributes, rank: number, otherwise = 0): number => {
  const axis = a.number("axis", otherwise);
  return axis < 0 ? axis + rank : axis;
};

/** Softmax and its kin: along one axis, or along all from it on in older versions. */
const alongAxis =
  (apply: (x: Tensor, axis: number) => Tensor): Operator =>
  ([x], a, opset) => {
    if (opset >= 13) return apply(x!, normalizedAxis(a, x!.rank, -1));
    const axis = normalizedAxis(a, x!.rank, 1);
    const rows = x!.shape.slice(0, axis).reduce((m, n) => m * n, 1);
    return apply(x!.reshape([rows, x!.size / rows]), 1).reshape(x!.shape);
  };

const slice: Operator = ([x, starts, ends, axes, steps]) => {
  const along = axes ? whole(axes) : starts!.dataSync().length === 0 ? [] : whole(starts!).map((_, i) => i);
  const [from, to] = [whole(starts!), whole(ends!)];
  const by = steps ? whole(steps) : from.map(() => 1);
  const ranges = x!.shape.map(() => ":");
  along.forEach((axis, i) => {
    const at = axis < 0 ? axis + x!.rank : axis;
    const n = x!.shape[at]!;
    const inside = (place: number, low: number, high: number) =>
      Math.min(high, Math.max(low, place < 0 ? place + n : place));
    const isBack = by[i]! < 0;
    const first = isBack ? inside(from[i]!, -1, n - 1) : inside(from[i]!, 0, n);
    const end = isBack ? inside(to[i]!, -1, n - 1) : inside(to[i]!, 0, n);
    ranges[at] = `${first}:${isBack && end < 0 ? "" : end}:${by[i]}`;
  });
  return x!.at(...(ranges as ":"[]));
};

const bitwise =
  (apply: (x: Tensor, y: Tensor) => Tensor): Operator =>
  ([x, y]) =>
    apply(x!, y!);

const folded =
  (combine: (x: Tensor, y: Tensor) => Tensor): Operator =>
  (inputs) =>
    (inputs as Tensor[]).reduce((x, y) => combine(x, y));

const pad: Operator = ([x, pads, value], a) => {
  const amounts = pads ? whole(pads) : [...(a.numbers("pads") ?? [])];
  const mode = a.text("mode", "constant");
  const rank = x!.rank;
  const widths = x!.shape.map((_, i) => [amounts[i]!, amounts[i + rank]!] as const);
  if (mode === "constant") return x!.pad(widths, { value: value ? Number(value.dataSync()[0]) : 0 });
  let result = x!;
  widths.forEach(([low, high], axis) => {
    const n = x!.shape[axis]!;
    const places = Array.from({ length: n + low + high }, (_, i) => {
      const at = i - low;
      if (mode === "edge") return Math.min(n - 1, Math.max(0, at));
      const period = Math.max(1, 2 * (n - 1));
      const folded = ((at % period) + period) % period;
      return folded < n ? folded : period - folded;
    });
    result = result.take(tensor(places, { dtype: "i32" }), { axis });
  });
  return result;
};

const insideAxis = (positions: Tensor, extent: number): Tensor =>
  where(positions.less(0), positions.add(extent), positions).cast("i32");

const scatterElements: Operator = ([x, indices, updates], a) => {
  if (a.text("reduction", "none") !== "none") throw new NotOurs("scattering that combines along an axis");
  const axis = normalizedAxis(a, x!.rank);
  return x!.putAlongAxis(insideAxis(indices!, x!.shape[axis]!), updates!, { axis });
};

const scatterNd: Operator = ([x, indices, updates], a) => {
  const op = { none: undefined, add: "add", mul: "mul", min: "min", max: "max" }[a.text("reduction", "none")];
  return x!.scatterNd(indices!.cast("i32"), updates!, (op ? { op } : {}) as object);
};

const negativeLogLikelihood = (logs: Tensor, labels: Tensor, weight: Tensor | undefined, a: Attributes): Tensor => {
  const ignored = a.has("ignore_index") ? a.number("ignore_index") : null;
  const classes = logs.shape[1]!;
  const isUsed = ignored === null ? null : labels.notEqual(ignored);
  const safe = isUsed ? where(isUsed, labels, labels.mul(0)) : labels;
  const picked = logs.takeAlongAxis(safe.cast("i32").expandDims(1), { axis: 1 }).squeeze(1);
  const ones = full([classes], 1, { dtype: logs.dtype });
  const weights = (weight ?? ones).take(safe.cast("i32"), { axis: 0 });
  const counted = isUsed ? where(isUsed, weights, weights.mul(0)) : weights;
  const losses = picked.mul(counted).neg();
  const how = a.text("reduction", "mean");
  if (how === "none") return losses;
  return how === "sum" ? losses.sum() : losses.sum().div(counted.sum());
};

const logSoftmax = (x: Tensor, axis: number): Tensor => x.sub(logsumexp(x, { axis, keepDims: true }));

const gemm: Operator = ([a, b, c], attributes) => {
  const left = attributes.number("transA") ? a!.T : a!;
  const right = attributes.number("transB") ? b!.T : b!;
  const product = left.matmul(right).mul(attributes.number("alpha", 1));
  return c ? product.add(c.mul(attributes.number("beta", 1))) : product;
};

const oneHot: Operator = ([indices, depth, values], a) => {
  const n = whole(depth!)[0]!;
  const at = a.number("axis", -1);
  const axis = at < 0 ? at + indices!.rank + 1 : at;
  const places = indices!.cast("i64");
  const inside = where(places.less(0), places.add(n), places).expandDims(axis);
  const counting = arange(n, { dtype: "i64" }).reshape(
    Array.from({ length: indices!.rank + 1 }, (_, i) => (i === axis ? n : 1)),
  );
  const [off, on] = [values!.at(0), values!.at(1)];
  return where(inside.equal(counting), on, off);
};

const averagePool: Operator = ([x], a) => {
  const { size, options } = windowOf(x!, a);
  if (a.number("count_include_pad") === 1) return x!.windowMean(size, options);
  const counts = full(x!.shape, 1, { dtype: x!.dtype }).windowSum(size, options);
  return x!.windowSum(size, options).div(counts);
};

const quantizeRange = { u8: [0, 255], i8: [-128, 127] } as const;

const quantize: Operator = ([x, scale, zero], a) => {
  const dtype = (zero?.dtype ?? "u8") as "u8" | "i8";
  const axis = normalizedAxis(a, x!.rank, 1);
  const along = (y: Tensor) =>
    y.size === 1 ? y.reshape([]) : y.reshape(x!.shape.map((_, i) => (i === axis ? y.size : 1)));
  const [low, high] = quantizeRange[dtype];
  const shifted = x!
    .div(along(scale!))
    .round()
    .add(zero ? along(zero).cast("f32") : 0);
  return shifted.clip(low, high).cast(dtype);
};

const dequantize: Operator = ([x, scale, zero], a) => {
  const axis = normalizedAxis(a, x!.rank, 1);
  const along = (y: Tensor) =>
    y.size === 1 ? y.reshape([]) : y.reshape(x!.shape.map((_, i) => (i === axis ? y.size : 1)));
  const values = x!.cast("f32");
  return (zero ? values.sub(along(zero).cast("f32")) : values).mul(along(scale!));
};

/** A tensor, or a number or a list of one dtype. */
const constant: Operator = (_inputs, a) => {
  const given = a.tensor("value");
  if (given) return given;
  const kinds = { value_float: "f32", value_int: "i64", value_floats: "f32", value_ints: "i64" } as const;
  const [name, dtype] = Object.entries(kinds).find(([kind]) => a.has(kind)) ?? [];
  if (!name || !dtype) throw new NotOurs("constants of text");
  return name.endsWith("s") ? tensor([...a.numbers(name)!], { dtype }) : tensor(a.number(name), { dtype });
};

const split: Operator = ([x, sizes], a, _opset, results) => {
  const axis = normalizedAxis(a, x!.rank);
  const even = Array.from({ length: results }, () => x!.shape[axis]! / results);
  const given = sizes ? whole(sizes) : (a.numbers("split") ?? even);
  let end = 0;
  return given.map((length) => {
    end += length;
    return x!.at(...(x!.shape.map((_, i) => (i === axis ? `${end - length}:${end}` : ":")) as ":"[]));
  });
};

const topK: Operator = ([x, k], a) => {
  const { values, indices } = x!.topK(whole(k!)[0]!, {
    axis: a.number("axis", -1),
    largest: a.number("largest", 1) === 1,
  });
  return [values, indices.cast("i64")];
};

const depthToSpace: Operator = ([x], a) => {
  const [n, c, h, w] = x!.shape as [number, number, number, number];
  const b = a.number("blocksize");
  const isColumns = a.text("mode", "DCR") === "CRD";
  const apart = isColumns ? x!.reshape([n, c / b ** 2, b, b, h, w]) : x!.reshape([n, b, b, c / b ** 2, h, w]);
  return apart.permute(isColumns ? [0, 1, 4, 2, 5, 3] : [0, 3, 4, 1, 5, 2]).reshape([n, c / b ** 2, h * b, w * b]);
};

const layerNormalization: Operator = ([x, scale, bias], a) => {
  const axis = normalizedAxis(a, x!.rank, -1);
  const axes = x!.shape.flatMap((_, i) => (i >= axis ? [i] : []));
  const mean = x!.mean({ axis: axes, keepDims: true });
  const spread = x!.sub(mean).square().mean({ axis: axes, keepDims: true });
  const inverse = spread.add(a.number("epsilon", 1e-5)).sqrt().reciprocal();
  const scaled = x!.sub(mean).mul(inverse).mul(scale!);
  return [bias ? scaled.add(bias) : scaled, mean, inverse];
};

const batchNormalization: Operator = ([x, scale, bias, mean, variance], a) => {
  if (a.number("training_mode") === 1) throw new NotOurs("statistics that run along");
  const of = (y: Tensor) => perChannel(y, x!);
  const spread = of(variance!).add(a.number("epsilon", 1e-5)).sqrt();
  return x!.sub(of(mean!)).div(spread).mul(of(scale!)).add(of(bias!));
};

const compress: Operator = ([x, condition], a) => {
  const places = condition!.nonzero()[0]!;
  const given = a.has("axis") ? x!.take(places, { axis: a.number("axis") }) : x!.flatten().take(places, { axis: 0 });
  return given;
};

const trilu: Operator = ([x, k], a) => {
  const at = k ? whole(k)[0]! : 0;
  return a.number("upper", 1) === 1 ? x!.triu(at) : x!.tril(at);
};

const mod: Operator = ([x, y], a) => (a.number("fmod") === 1 ? x!.fmod(y!) : x!.mod(y!));

const cumsum: Operator = ([x, axis], a) => {
  const at = whole(axis!)[0]!;
  const along = at < 0 ? at + x!.rank : at;
  const isReverse = a.number("reverse") === 1;
  const seen = isReverse ? x!.flip(along) : x!;
  const totals = seen.cumsum({ axis: along }).cast(x!.dtype);
  const shown = a.number("exclusive") === 1 ? totals.sub(seen) : totals;
  return isReverse ? shown.flip(along) : shown;
};

const clip: Operator = ([x, low, high], a) => {
  let result = x!;
  if (low) result = maximum(result, low) as Tensor;
  if (high) result = minimum(result, high) as Tensor;
  if (a.has("min")) result = result.clip(a.number("min"), Infinity);
  if (a.has("max")) result = result.clip(-Infinity, a.number("max"));
  return result;
};

const reshape: Operator = ([x, shape], a) => {
  const wanted = whole(shape!);
  const isLiteral = a.number("allowzero") === 1;
  return x!.reshape(wanted.map((extent, i) => (extent === 0 && !isLiteral ? x!.shape[i]! : extent)));
};

const axesGiven = (given: Tensor | undefined, a: Attributes): number[] | undefined =>
  given ? whole(given) : a.numbers("axes")?.slice();

const squeeze: Operator = ([x, given], a) => {
  const axis = axesGiven(given, a);
  return axis ? x!.squeeze(axis) : x!.squeeze();
};

const unsqueeze: Operator = ([x, given], a) => {
  const axes = axesGiven(given, a)!;
  const rank = x!.rank + axes.length;
  const at = axes.map((axis) => (axis < 0 ? axis + rank : axis));
  const rest = [...x!.shape];
  return x!.reshape(Array.from({ length: rank }, (_, i) => (at.includes(i) ? 1 : rest.shift()!)));
};

const isInf: Operator = ([x], a) => {
  const [up, down] = [a.number("detect_positive", 1), a.number("detect_negative", 1)];
  const seen = [...(up ? [x!.equal(Infinity)] : []), ...(down ? [x!.equal(-Infinity)] : [])];
  return seen.length === 0 ? zeros(x!.shape, { dtype: "bool" }) : seen.reduce((p, q) => p.logicalOr(q));
};

const selu = (x: Tensor, alpha: number, gamma: number): Tensor =>
  where(x.greater(0), x, x.exp().sub(1).mul(alpha)).mul(gamma);

/** Sums of squares and logarithms are as ONNX writes them. */
export const operators: Readonly<Record<string, Operator>> = {
  Abs: unary((x) => x.abs()),
  Acos: unary((x) => x.acos()),
  Acosh: unary((x) => x.acosh()),
  Add: binary((x, y) => x.add(y)),
  And: bitwise((x, y) => x.logicalAnd(y)),
  ArgMax: extreme((x, axis) => x.argmax({ axis })),
  ArgMin: extreme((x, axis) => x.argmin({ axis })),
  Asin: unary((x) => x.asin()),
  Asinh: unary((x) => x.asinh()),
  Atan: unary((x) => x.atan()),
  Atanh: unary((x) => x.atanh()),
  AveragePool: averagePool,
  BatchNormalization: batchNormalization,
  BitShift: binary((x, y, a) => (a.text("direction") === "LEFT" ? x.leftShift(y) : x.rightShift(y))),
  Cast: unary((x, a) => x.cast(dtypeNumbered(a.number("to")))),
  CastLike: binary((x, y) => x.cast(y.dtype)),
  Ceil: unary((x) => x.ceil()),
  Celu: unary((x, a) => {
    const alpha = a.number("alpha", 1);
    return x.maximum(0).add(x.div(alpha).exp().sub(1).mul(alpha).minimum(0));
  }),
  Clip: clip,
  Compress: compress,
  Concat: (inputs, a) => concat(inputs as Tensor[], { axis: a.number("axis") }),
  Constant: constant,
  ConstantOfShape: ([shape], a) => {
    const value = a.tensor("value");
    const extents = whole(shape!);
    return value ? value.reshape([]).broadcastTo(extents) : zeros(extents);
  },
  Conv: conv,
  Cos: unary((x) => x.cos()),
  Cosh: unary((x) => x.cosh()),
  CumSum: cumsum,
  DepthToSpace: depthToSpace,
  DequantizeLinear: dequantize,
  Div: binary((x, y) => (isFloat(x) ? x.div(y) : x.quotient(y))),
  Dropout: ([x, ratio, training]) => {
    const isRandom = training && Number(training.dataSync()[0]) !== 0 && (!ratio || Number(ratio.dataSync()[0]) > 0);
    if (isRandom) throw new NotOurs("random results");
    return [x!, full(x!.shape, true, { dtype: "bool" })];
  },
  DynamicQuantizeLinear: several((x) => {
    const [low, high] = [x.min().minimum(0), x.max().maximum(0)];
    const scale = high.sub(low).div(255);
    const zero = low.neg().div(scale).clip(0, 255).round().cast("u8");
    return [quantize([x, scale, zero], new Attributes(new Map()), 0, 1) as Tensor, scale, zero];
  }),
  Einsum: (inputs, a) => einsum(a.text("equation"), ...(inputs as Tensor[])),
  Elu: unary((x, a) => where(x.greater(0), x, x.exp().sub(1).mul(a.number("alpha", 1)))),
  Equal: binary((x, y) => x.equal(y)),
  Erf: unary((x) => x.erf()),
  Exp: unary((x) => x.exp()),
  Expand: ([x, shape]) => x!.mul(full(whole(shape!), 1, { dtype: x!.dtype })),
  EyeLike: unary((x, a) => {
    const dtype = a.has("dtype") ? dtypeNumbered(a.number("dtype")) : x.dtype;
    const [rows, columns] = x.shape as [number, number];
    return eye(rows, columns, { offset: a.number("k"), dtype } as never) as Tensor;
  }),
  Flatten: unary((x, a) => {
    const axis = normalizedAxis(a, x.rank, 1);
    const rows = x.shape.slice(0, axis).reduce((m, n) => m * n, 1);
    return x.reshape([rows, x.size / rows]);
  }),
  Floor: unary((x) => x.floor()),
  Gather: ([x, indices], a) => x!.take(indices!, { axis: a.number("axis") }),
  GatherElements: ([x, indices], a) => x!.takeAlongAxis(indices!, { axis: a.number("axis") }),
  GatherND: ([x, indices], a) => {
    if (a.number("batch_dims") > 0) throw new NotOurs("gathering in batches");
    return x!.gatherNd(indices!.cast("i32"));
  },
  Gemm: gemm,
  GlobalAveragePool: unary((x) => x.mean({ axis: spatial(x), keepDims: true })),
  GlobalMaxPool: unary((x) => x.max({ axis: spatial(x), keepDims: true })),
  Greater: binary((x, y) => x.greater(y)),
  GreaterOrEqual: binary((x, y) => x.greaterEqual(y)),
  HardSigmoid: unary((x, a) => x.mul(a.number("alpha", 0.2)).add(a.number("beta", 0.5)).clip(0, 1)),
  HardSwish: unary((x) => x.mul(x.div(6).add(0.5).clip(0, 1))),
  Hardmax: alongAxis((x, axis) =>
    x
      .argmax({ axis })
      .expandDims(axis)
      .equal(arange(x.shape[axis]!).reshape(x.shape.map((n, i) => (i === axis ? n : 1))))
      .cast(x.dtype),
  ),
  Identity: unary((x) => x),
  InstanceNormalization: ([x, scale, bias], a) =>
    normalized(x!, spatial(x!), a.number("epsilon", 1e-5)).mul(perChannel(scale!, x!)).add(perChannel(bias!, x!)),
  IsInf: isInf,
  IsNaN: unary((x) => x.isNaN()),
  LayerNormalization: layerNormalization,
  LeakyRelu: unary((x, a) => where(x.less(0), x.mul(a.number("alpha", 0.01)), x)),
  Less: binary((x, y) => x.less(y)),
  LessOrEqual: binary((x, y) => x.lessEqual(y)),
  Log: unary((x) => x.log()),
  LogSoftmax: alongAxis(logSoftmax),
  MatMul: binary((x, y) => x.matmul(y)),
  MatMulInteger: ([x, y, xZero, yZero]) => {
    const shifted = (of: Tensor, zero: Tensor | undefined) => of.cast("i32").sub(zero ? zero.cast("i32") : 0);
    return shifted(x!, xZero).matmul(shifted(y!, yZero));
  },
  Max: folded((x, y) => maximum(x, y) as Tensor),
  MaxPool: ([x], a) => {
    const { size, options } = windowOf(x!, a);
    return x!.windowMax(size, options);
  },
  Mean: (inputs) => stack(inputs as Tensor[]).mean({ axis: 0 }),
  MeanVarianceNormalization: unary((x, a) => normalized(x, [...(a.numbers("axes") ?? [0, 2, 3])], 1e-9)),
  Min: folded((x, y) => minimum(x, y) as Tensor),
  Mod: mod,
  Mul: binary((x, y) => x.mul(y)),
  Neg: unary((x) => x.neg()),
  NegativeLogLikelihoodLoss: ([x, labels, weight], a) => negativeLogLikelihood(x!, labels!, weight, a),
  NonZero: unary((x) => stack(x.nonzero() as Tensor[]).cast("i64")),
  Not: unary((x) => x.logicalNot()),
  OneHot: oneHot,
  Or: bitwise((x, y) => x.logicalOr(y)),
  PRelu: binary((x, slope) => where(x.less(0), x.mul(slope), x)),
  Pad: pad,
  Pow: ([x, y]) => (isFloat(x!) ? x!.pow(y!.cast(x!.dtype)) : x!.cast("f64").pow(y!.cast("f64")).cast(x!.dtype)),
  QuantizeLinear: quantize,
  Range: ([start, limit, delta]) => {
    const [from, to, by] = [start!, limit!, delta!].map((x) => Number(x.dataSync()[0])) as [number, number, number];
    return arange(from, to, by, { dtype: start!.dtype } as never) as Tensor;
  },
  Reciprocal: unary((x) => x.reciprocal()),
  ReduceL1: reduction((x, options) => x.abs().sum(options)),
  ReduceL2: reduction((x, options) => x.square().sum(options).sqrt()),
  ReduceLogSum: reduction((x, options) => x.sum(options).log()),
  ReduceLogSumExp: reduction((x, options) => logsumexp(x, options)),
  ReduceMax: reduction((x, options) => x.max(options)),
  ReduceMean: reduction((x, options) => x.mean(options)),
  ReduceMin: reduction((x, options) => x.min(options)),
  ReduceProd: reduction((x, options) => x.prod(options)),
  ReduceSum: reduction((x, options) => x.sum(options)),
  ReduceSumSquare: reduction((x, options) => x.square().sum(options)),
  Relu: unary((x) => x.relu()),
  Reshape: reshape,
  Round: unary((x) => x.round()),
  Scatter: scatterElements,
  ScatterElements: scatterElements,
  ScatterND: scatterNd,
  Selu: unary((x, a) => selu(x, a.number("alpha", 1.6732631921768188), a.number("gamma", 1.0507010221481323))),
  Shape: unary((x, a) => {
    const end = a.has("end") ? a.number("end") : x.rank;
    return tensor(x.shape.slice(a.number("start"), end), { dtype: "i64" });
  }),
  Shrink: unary((x, a) => {
    const [bias, limit] = [a.number("bias"), a.number("lambd", 0.5)];
    return where(x.less(-limit), x.add(bias), where(x.greater(limit), x.sub(bias), x.mul(0)));
  }),
  Sigmoid: unary((x) => x.sigmoid()),
  Sign: unary((x) => x.sign()),
  Sin: unary((x) => x.sin()),
  Sinh: unary((x) => x.sinh()),
  Size: unary((x) => tensor(x.size, { dtype: "i64" })),
  Slice: slice,
  Softmax: alongAxis((x, axis) => softmax(x, { axis })),
  SoftmaxCrossEntropyLoss: ([x, labels, weight], a) => {
    const logs = logSoftmax(x!, 1);
    return [negativeLogLikelihood(logs, labels!, weight, a), logs];
  },
  Softplus: unary((x) => x.softplus()),
  Softsign: unary((x) => x.div(x.abs().add(1))),
  SpaceToDepth: unary((x, a) => {
    const [n, c, h, w] = x.shape as [number, number, number, number];
    const b = a.number("blocksize");
    return x
      .reshape([n, c, h / b, b, w / b, b])
      .permute([0, 3, 5, 1, 2, 4])
      .reshape([n, c * b ** 2, h / b, w / b]);
  }),
  Split: split,
  Sqrt: unary((x) => x.sqrt()),
  Squeeze: squeeze,
  Sub: binary((x, y) => x.sub(y)),
  Sum: folded((x, y) => x.add(y)),
  Tan: unary((x) => x.tan()),
  Tanh: unary((x) => x.tanh()),
  ThresholdedRelu: unary((x, a) => where(x.greater(a.number("alpha", 1)), x, x.mul(0))),
  Tile: ([x, repeats]) => x!.tile(whole(repeats!)),
  TopK: topK,
  Transpose: unary((x, a) => x.permute([...(a.numbers("perm") ?? x.shape.map((_, i) => x.rank - 1 - i))])),
  Trilu: trilu,
  Unsqueeze: unsqueeze,
  Where: ([condition, x, y]) => where(condition!, x!, y!),
  Xor: bitwise((x, y) => x.logicalXor(y)),
};
