/**
 * The range of a computed tensor, as far as its operations tell: exp(x) is never negative, and 1 - sigmoid(x) is no more than
 * 1. `plan` asks for the range of parameters: where it is good enough, no density has to look at them.
 */
import { isComplex } from "../../core/dtype.js";
import type { Node } from "../../graph/node.js";
import { Tensor } from "../../tensor/index.js";
import type { Range } from "../arguments/parameter.js";

const ANYWHERE: Range = [-Infinity, Infinity];
const NON_NEGATIVE: Range = [0, Infinity];
const UNIT: Range = [0, 1];

/** The range of an input of an operation, by the input's number. */
type Of = (input: number) => Range;
type Rule = (of: Of, node: Node) => Range;

/** Longer chains of operations than this are not looked through. */
const DEEPEST = 100;

const hull = (...numbers: number[]): Range => {
  const known = numbers.every((x) => !Number.isNaN(x));
  return known ? [Math.min(...numbers), Math.max(...numbers)] : ANYWHERE;
};
const union = (...ranges: Range[]): Range => hull(...ranges.flat());
const common = ([a, b]: Range, [c, d]: Range): Range => [Math.max(a, c), Math.min(b, d)];

/** A product with an infinite end: it stands for arbitrarily large finite numbers, so that 0 times it is 0. */
const times = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : a * b);
const product = ([a, b]: Range, [c, d]: Range): Range => hull(times(a, c), times(a, d), times(b, c), times(b, d));
const inverse = ([low, high]: Range): Range => (low >= 0 || high <= 0 ? reciprocals(low, high) : ANYWHERE);
const reciprocals = (low: number, high: number): Range =>
  low >= 0 ? [1 / high, low === 0 ? Infinity : 1 / low] : [high === 0 ? -Infinity : 1 / high, 1 / low];

const fixed =
  (range: Range): Rule =>
  () =>
    range;
const same: Rule = (of) => of(0);
/** Of functions that never fall. */
const rising =
  (f: (x: number) => number, least = -Infinity): Rule =>
  (of) => {
    const [low, high] = of(0);
    return hull(f(Math.max(low, least)), f(Math.max(high, least)));
  };
/** Sums and products of many numbers. */
const accumulated: Rule = (of, { inputs }) => (inputs.every((_, i) => of(i)[0] >= 0) ? NON_NEGATIVE : ANYWHERE);

/** The node before it was moved by operations of these names. */
function before(node: Node, ...moves: string[]): Node {
  let origin = node;
  while (moves.includes(origin.primitive.name) && origin.inputs.length > 0) [origin] = origin.inputs;
  return origin;
}

/**
 * Whether numbers are sums of others along axes that they still have: a share of such a sum is no more than 1, as in softmax.
 */
function isSumOf(total: Node, part: Node): boolean {
  const sum = before(total, "expand", "reshape");
  if (sum.primitive.name !== "sum" || sum.inputs[0] !== part) return false;
  const axes = sum.params.axes as readonly number[];
  const { shape } = before(total, "expand");
  const missing = part.shape.length - shape.length;
  return part.shape.every((extent, axis) => (shape[axis - missing] ?? 1) === (axes.includes(axis) ? 1 : extent));
}

function quotient(of: Of, part: Node, total: Node, whole: () => Range): Range {
  if (isSumOf(total, part) && of(0)[0] >= 0) return UNIT;
  return product(of(0), whole());
}

const RULES: Readonly<Record<string, Rule>> = {
  constant: (_, { params }) => hull(Number(params.value)),
  iota: (_, { shape }) => [0, shape[0]],
  reshape: same,
  permute: same,
  expand: same,
  slice: same,
  take: same,
  takeAlongAxis: same,
  gather: same,
  stored: same,
  variable: same,
  recompute: same,
  stopped: same,
  cast: same,
  concat: (of, { inputs }) => union(...inputs.map((_, i) => of(i))),
  pad: (of, { params }) => union(of(0), hull(Number(params.value))),
  where: (of) => union(of(1), of(2)),
  add: (of) => {
    const [[a, b], [c, d]] = [of(0), of(1)];
    return [a + c, b + d];
  },
  sub: (of) => {
    const [[a, b], [c, d]] = [of(0), of(1)];
    return [a - d, b - c];
  },
  mul(of, { inputs: [a, b] }) {
    if (a === b) return NON_NEGATIVE;
    const divisor = before(b, "expand");
    if (divisor.primitive.name !== "reciprocal") return product(of(0), of(1));
    return quotient(of, a, divisor.inputs[0], () => of(1));
  },
  div: (of, { inputs: [a, b] }) => quotient(of, a, b, () => inverse(of(1))),
  reciprocal: (of) => inverse(of(0)),
  neg: (of) => {
    const [low, high] = of(0);
    return [-high, -low];
  },
  maximum: (of) => {
    const [[a, b], [c, d]] = [of(0), of(1)];
    return [Math.max(a, c), Math.max(b, d)];
  },
  minimum: (of) => {
    const [[a, b], [c, d]] = [of(0), of(1)];
    return [Math.min(a, c), Math.min(b, d)];
  },
  pow: (of) => {
    const [[low, high], [least, most]] = [of(0), of(1)];
    if (low >= 0 && high <= 1 && least >= 0) return UNIT;
    return low >= 0 || (least === most && least % 2 === 0) ? NON_NEGATIVE : ANYWHERE;
  },
  sum(of, { inputs: [x], shape }) {
    const count = x.shape.reduce((a, b) => a * b, 1) / shape.reduce((a, b) => a * b, 1);
    const [low, high] = of(0);
    return [times(low, count), times(high, count)];
  },
  max: same,
  min: same,
  product: accumulated,
  dot: accumulated,
  cumulate: accumulated,
  abs: fixed(NON_NEGATIVE),
  square: fixed(NON_NEGATIVE),
  relu: fixed(NON_NEGATIVE),
  exp: fixed(NON_NEGATIVE),
  exp2: fixed(NON_NEGATIVE),
  softplus: fixed(NON_NEGATIVE),
  cosh: fixed(NON_NEGATIVE),
  hypot: fixed(NON_NEGATIVE),
  rsqrt: fixed(NON_NEGATIVE),
  sigmoid: fixed(UNIT),
  erfc: fixed([0, 2]),
  erf: (of) => (of(0)[0] >= 0 ? UNIT : [-1, 1]),
  sin: fixed([-1, 1]),
  cos: fixed([-1, 1]),
  tanh: rising(Math.tanh),
  sqrt: rising(Math.sqrt, 0),
  log: rising(Math.log, 0),
  log1p: rising(Math.log1p, -1),
  expm1: rising(Math.expm1),
  floor: rising(Math.floor),
  ceil: rising(Math.ceil),
  round: rising(Math.round),
};

/** Of values that are known; they are read. */
function rangeOfValues(node: Node): Range {
  if (node.dtype === "bool") return UNIT;
  if (isComplex(node.dtype)) return ANYWHERE;
  const values = new Tensor(before(node, "expand", "reshape", "permute")).dataSync() as ArrayLike<number | bigint>;
  let [low, high] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    const value = Number(values[i]);
    if (Number.isNaN(value)) return ANYWHERE;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}

/** `declared`: where nodes lie for another reason than how they are computed, as random variables do. */
export function knownRange(node: Node, declared: (node: Node) => Range | undefined): Range {
  const found = new Map<Node, Range>();
  const rangeOf = (at: Node, depth: number): Range => {
    const known = found.get(at);
    if (known) return known;
    const range = common(declared(at) ?? ANYWHERE, computed(at, depth));
    found.set(at, range);
    return range;
  };
  const computed = (at: Node, depth: number): Range => {
    const rule = RULES[at.primitive.name];
    if (!at.isAbstract && at.primitive.name !== "constant") return rangeOfValues(at);
    if (!rule || depth === DEEPEST) return ANYWHERE;
    const range = rule((input) => rangeOf(at.inputs[input], depth + 1), at);
    return range.some(Number.isNaN) ? ANYWHERE : range;
  };
  return rangeOf(node, 0);
}
