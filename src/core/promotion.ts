/**
 * The dtype of an operation on mixed operands. The rule is JAX's lattice: a dtype points at the next wider ones, and two
 * dtypes promote to the lowest one that both reach. JavaScript numbers are weak: they enter low in the lattice, at i* or f*,
 * so they take the dtype of the tensor beside them. docs/dtypes.md shows the resulting table and explains the
 * choices. The graph's dtype rules call this.
 */
import { checkDType, DTYPES, type DType, defaultDType, isDType, isInteger, type Scalar } from "./dtype.js";
import { ArgumentError, DTypeError } from "./errors.js";
import { remedyForTensor, shown } from "./shown.js";

/**
 * Weak integer, float and complex: values whose kind is known and whose width is left to the other operands. f8* is where
 * the two 8-bit floats meet: both fit bf16 and f16, and another operand may say which.
 */
type Weak = "i*" | "f*" | "c*" | "f8*";
type Node = DType | Weak;

// biome-ignore format: the lattice reads best by rows
const WIDER: { readonly [N in Node]: readonly Node[] } = {
  bool: ["i*"],
  "i*": ["u2", "i2"],
  u2: ["u4", "i4"], u4: ["u8", "i8"], i2: ["i4"], i4: ["i8"],
  u8: ["u16", "i16"], u16: ["u32", "i32"], u32: ["u64", "i64"], u64: ["f*"],
  i8: ["i16"], i16: ["i32"], i32: ["i64"], i64: ["f*"],
  "f*": ["f8e4m3", "f8e5m2", "c*"],
  f8e4m3: ["f8*"], f8e5m2: ["f8*"], "f8*": ["bf16", "f16"],
  bf16: ["f32"], f16: ["f32"], f32: ["f64", "c64"], f64: ["c128"],
  "c*": ["c64"],
  c64: ["c128"], c128: [],
};

/** The dtype of a weak node when no other operand decides. */
const DEFAULTS = { "i*": "i32", "f*": "f32", "c*": "c64", "f8*": "f16" } as const;

const NODES = Object.keys(WIDER) as Node[];
const JOINS = joinsOf(WIDER);

/** The lowest common upper bound of every pair. */
function joinsOf(wider: typeof WIDER): ReadonlyMap<Node, ReadonlyMap<Node, Node>> {
  const above = new Map<Node, Set<Node>>();
  const reach = (node: Node): Set<Node> => {
    const known = above.get(node);
    if (known) return known;
    const all = new Set<Node>([node, ...wider[node].flatMap((next) => [...reach(next)])]);
    above.set(node, all);
    return all;
  };
  for (const node of NODES) reach(node);
  const lowestCommon = (a: Node, b: Node): Node => {
    const common = [...reach(a)].filter((node) => reach(b).has(node));
    // The lowest bound is the one from which all the others are reached.
    return common.reduce((low, node) => (reach(node).size > reach(low).size ? node : low));
  };
  return new Map(NODES.map((a) => [a, new Map(NODES.map((b) => [b, lowestCommon(a, b)]))]));
}

function join(a: Node, b: Node): Node {
  return (JOINS.get(a) as ReadonlyMap<Node, Node>).get(b) as Node;
}

function settle(node: Node): DType {
  return node in DEFAULTS ? DEFAULTS[node as Weak] : (node as DType);
}

/** The dtype of an operation on two tensors. */
export function promote(a: DType, b: DType): DType {
  return settle(join(a, b));
}

/**
 * The dtype of several operands, dtypes and JavaScript values mixed. Beside a dtype, a whole number keeps any dtype but bool
 * (which becomes i32), a fraction turns integers into f32, a bigint keeps any dtype but bool (which becomes i64), a boolean
 * keeps every dtype. An integer that the dtype cannot hold is a DTypeError, not a silent wrap. All operands are joined at
 * once, so their order never matters: i64, u64 and f16 give f16, although i64 and u64 alone give f32. Without any dtype
 * among them, numbers give f32, as `tensor(1)` does; bigints and whole numbers give i64, and bigints beside fractions are a
 * DTypeError, because no float dtype holds every bigint.
 */
export function resultType(operands: readonly (DType | Scalar)[], operation = "resultType"): DType {
  if (operands.length === 0) throw new DTypeError(`${operation}: needs at least one operand to find a dtype for.`);
  const typed = operands.some((operand) => isDType(operand));
  const isExact = !typed && operands.some((operand) => typeof operand === "bigint");
  const nodes = operands.map((operand) => nodeOf(operand, typed, operation));
  if (isExact) checkWholeNumbers(operands as readonly Scalar[], operation);
  const lowest = isExact ? "i64" : nodes.reduce(join);
  // Bigints among booleans only: the dtype of bigints is i64.
  const dtype = lowest === "i*" && operands.some((operand) => typeof operand === "bigint") ? "i64" : settle(lowest);
  if (isInteger(dtype)) {
    for (const value of operands) if (!isDType(value)) checkFits(value, dtype, typed, operation);
  }
  return dtype;
}

/** Beside bigints, which must not be rounded. */
function checkWholeNumbers(values: readonly Scalar[], operation: string): void {
  const other = values.find(
    (value) => typeof value === "object" || (typeof value === "number" && !Number.isInteger(value)),
  );
  if (other === undefined) return;
  throw new DTypeError(
    `${operation}: bigints beside ${shown(other)}: a float would round them; pass { dtype }, or give whole numbers only.`,
  );
}

function nodeOf(operand: DType | Scalar, typed: boolean, operation: string): Node {
  if (isDType(operand)) return operand;
  if (typeof operand === "string") checkDType(operand, operation);
  checkScalar(operand, operation);
  if (!typed) return defaultDType(operand);
  if (typeof operand === "boolean") return "bool";
  if (typeof operand === "bigint") return "i*";
  if (typeof operand === "number") return Number.isInteger(operand) ? "i*" : "f*";
  return "c*";
}

export function isScalar(value: unknown): value is Scalar {
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return true;
  const parts = value as { re?: unknown; im?: unknown } | null | undefined;
  return typeof parts?.re === "number" && typeof parts.im === "number";
}

/** Throws unless the value is a scalar: any other object would pass for a complex number with undefined parts. */
export function checkScalar(value: unknown, operation: string): void {
  if (isScalar(value)) return;
  throw new ArgumentError(
    `${operation}: ${shown(value)} is neither a tensor nor a number, bigint, boolean or { re, im }; make a tensor of it with tensor().` +
      remedyForTensor(value),
  );
}

/** Whether a dtype holds the value without wrapping, saturating or dropping a fraction. Rounding of floats is fine. */
export function fitsDType(value: Scalar, dtype: DType): boolean {
  const { kind, min, max } = DTYPES[dtype];
  if (typeof value === "boolean" || kind === "complex") return true;
  if (typeof value === "object") return false;
  if (kind === "float") return true;
  // Comparisons between numbers and bigints are exact in JavaScript.
  return value >= min && value <= max && (typeof value === "bigint" || Number.isInteger(value));
}

/** `hasTensor`: the dtype is that of a tensor, not of plain values alone. */
function checkFits(value: Scalar, dtype: DType, hasTensor: boolean, operation: string): void {
  if (fitsDType(value, dtype)) return;
  const { min, max } = DTYPES[dtype];
  const shown = typeof value === "object" ? `${value.re}+${value.im}i` : `${value}`;
  const given = fitsDType(value, "u64")
    ? 'give { dtype: "u64" }'
    : 'no integer dtype holds it; { dtype: "f64" } rounds it to 53 bits';
  const remedy = hasTensor ? "cast the tensor to a wider dtype first" : given;
  throw new DTypeError(`${operation}: ${shown} does not fit ${dtype} (${min} to ${max}); ${remedy}.`);
}
