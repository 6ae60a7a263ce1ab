/**
 * Control flow that compiles: loops and choices whose bodies are traced once and become part of the program. They can be
 * differentiated (a `whileLoop` in forward mode), vectorised and nested like any operation.
 */

import { checkFunction, checkOptions } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { bytesOf } from "../core/bytes.js";
import { isFloat } from "../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../core/errors.js";
import { promote } from "../core/promotion.js";
import { formatShape, normalizeAxis } from "../core/shape.js";
import { remedyForTensor, shown } from "../core/shown.js";
import { closeOverAll, madeFromNow, makePlaceholder } from "../graph/function.js";
import type { Node } from "../graph/node.js";
import { choiceNode } from "../graph/primitives/control/choice.js";
import { scanNode } from "../graph/primitives/control/scan.js";
import { whileNode } from "../graph/primitives/control/while.js";
import { arange, computedTogether, concat, Tensor } from "../tensor/index.js";
import { withChangingNumbers } from "./changing-numbers.js";
import { checkNotAsync, standInFor, tracedOn } from "./trace.js";
import { type FlatTree, flattenTensors, leafPaths, partingOf, type TreeStructure, unflatten } from "./trees.js";

/** Options of `scan`. */
export interface ScanOptions {
  /** The number of rounds; needed where there are no sequences. */
  readonly length?: number;
  /** From the last element to the first; stacked results keep the order of the elements. */
  readonly reverse?: boolean;
}

/**
 * A loop over the first axis of the tensors in `xs`: `f(carry, x)` returns the next carry and a result, and the results are
 * stacked. Returns the last carry and the stacked results. Carry, x and result are trees; the carry keeps its shapes.
 */
export function scan<C, X, Y>(
  f: (carry: C, x: X) => readonly [carry: C, y: Y],
  init: C,
  xs: X,
  options: ScanOptions = {},
): [carry: C, ys: Y] {
  checkCount("scan", 4, arguments);
  checkFunction("scan", f);
  checkOptions("scan", options, { length: "number", reverse: "flag" });
  return scanAs("scan", f, init, xs, options);
}

/** scan; errors name `operation`. */
function scanAs<C, X, Y>(
  operation: string,
  f: (carry: C, x: X) => readonly [carry: C, y: Y],
  init: C,
  xs: X,
  options: ScanOptions,
): [carry: C, ys: Y] {
  const first = flattenTensors(init, `${operation}, init`);
  const sequences = flattenTensors(xs ?? null, `${operation}, xs`);
  const length = scanLength(sequences.leaves, options.length);
  const carries = first.leaves.map(({ node }) => makePlaceholder(node));
  const elements = sequences.leaves.map(({ node }) =>
    makePlaceholder({ ...described(node), shape: node.shape.slice(1) }),
  );
  const result = tracedOn(operation, [...carries, ...elements], () =>
    f(
      unflatten(first.structure, carries.map(asTensor)) as C,
      unflatten(sequences.structure, elements.map(asTensor)) as X,
    ),
  );
  if (!Array.isArray(result) || result.length !== 2) {
    throw new ArgumentError("scan: the function must return [carry, y]; y may be null.");
  }
  const next = sameAs(operation, "the carry", first.structure, first.leaves, result[0]);
  const stacked = flattenTensors(result[1] ?? null, "scan, y");
  const { bodies, captured } = withChangingNumbers(
    closeOverAll([[...next, ...stacked.leaves.map(nodeOf)]], [...carries, ...elements]),
  );
  const parts = scanNode([...captured, ...first.leaves.map(nodeOf), ...sequences.leaves.map(nodeOf)], {
    body: bodies[0],
    constants: captured.length,
    carries: carries.length,
    length,
    isReverse: options.reverse === true,
  });
  const tensors = parts.map(asTensor);
  const areSmall = sumOf(parts.slice(carries.length).map(bytesOf)) <= MAX_STACKED;
  computedTogether(areSmall ? tensors : tensors.slice(0, carries.length));
  return [
    unflatten(first.structure, tensors.slice(0, carries.length)) as C,
    unflatten(stacked.structure, tensors.slice(carries.length, carries.length + stacked.leaves.length)) as Y,
  ];
}

/** Stacked results of more bytes are not computed with the last carry: a tensor of theirs may be there only because nobody collected it. */
const MAX_STACKED = 2 ** 26;

function scanLength(sequences: readonly Tensor[], wanted: number | undefined): number {
  for (const x of sequences) {
    if (x.rank === 0)
      throw new ShapeError("scan: a scalar in xs has no axis to go along; capture it or put it in the carry.");
    if (x.shape[0] !== sequences[0].shape[0]) {
      throw new ShapeError(`scan: sequences of ${sequences[0].shape[0]} and ${x.shape[0]} elements.`);
    }
  }
  const length = sequences[0]?.shape[0] ?? wanted;
  if (length === undefined) throw new ArgumentError("scan: without xs it needs to be told { length }.");
  if (wanted !== undefined && wanted !== length) {
    throw new ArgumentError(`scan: length ${wanted} for sequences of ${length} elements.`);
  }
  if (!Number.isSafeInteger(length) || length < 0) throw new ArgumentError(`scan: a length of ${length}.`);
  return length;
}

/** Options of `whileLoop`. */
export interface WhileOptions {
  /** A loop that still runs after this many rounds is an error: a million unless told. */
  readonly maxRounds?: number;
}

/** Runs `body` on the carry as long as `condition` of it, a scalar, is true. Both are traced once. */
export function whileLoop<C>(
  condition: (carry: C) => Tensor,
  body: (carry: C) => C,
  init: C,
  options: WhileOptions = {},
): C {
  checkCount("whileLoop", 4, arguments);
  checkFunction("whileLoop", condition, "the condition");
  checkFunction("whileLoop", body, "the body");
  checkOptions("whileLoop", options, { maxRounds: "number" });
  const { maxRounds = 1_000_000 } = options;
  if (!Number.isSafeInteger(maxRounds) || maxRounds < 0) {
    throw new ArgumentError(`whileLoop: { maxRounds: ${maxRounds} }; it is a whole number, 0 or more.`);
  }
  const first = flattenTensors(init, "whileLoop, init");
  const carries = first.leaves.map(({ node }) => makePlaceholder(node));
  const carry = () => unflatten(first.structure, carries.map(asTensor)) as C;
  const test = tracedOn("whileLoop", carries, () => condition(carry()));
  if (!(test instanceof Tensor) || test.size !== 1) {
    throw new ShapeError(
      `whileLoop: the condition must return one bool, a tensor of one element; it returned ${whatOf(test)}. It is traced ` +
        "once, so it compares with tensors: (x) => x.less(10).",
    );
  }
  const goesOn = test.cast("bool").reshape([]).node;
  const result = tracedOn("whileLoop", carries, () => body(carry()));
  const next = sameAs("whileLoop", "the carry", first.structure, first.leaves, result);
  const { bodies, captured } = withChangingNumbers(closeOverAll([[goesOn], next], carries));
  const parts = whileNode([...captured, ...first.leaves.map(nodeOf)], {
    test: bodies[0],
    body: bodies[1],
    constants: captured.length,
    maxRounds,
  });
  return unflatten(first.structure, computedTogether(parts.map(asTensor))) as C;
}

/** Runs `body(i, carry)` for i from `start` up to `end`, which are numbers. It can be differentiated like `scan`. */
export function forLoop<C>(start: number, end: number, body: (i: Tensor<"i32">, carry: C) => C, init: C): C {
  checkCount("forLoop", 4, arguments);
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end)) {
    throw new ArgumentError(
      `forLoop: from ${shown(start)} to ${shown(end)}; the bounds are whole numbers known at the trace.` +
        remedyForTensor(start, end),
    );
  }
  checkFunction("forLoop", body, "the body");
  const device = flattenTensors(init, "forLoop, init").leaves[0]?.device;
  const indices = arange(start, Math.max(start, end), 1, { dtype: "i32", device }) as Tensor<"i32">;
  const round = (now: C, i: Tensor<"i32">) => {
    const next = body(i, now);
    checkNotAsync(next, "forLoop");
    return [next, null] as const;
  };
  return scanAs("forLoop", round, init, indices, {})[0];
}

/**
 * `whenTrue(...args)` or `whenFalse(...args)`, by a scalar. Both must give trees of the same structure, shapes and dtypes.
 * The branch not taken has no effect: its NaN do not show, nor in derivatives. A long branch (with a product of matrices or
 * a loop) is not computed. Short branches are both computed and the result is selected, which is faster. For a condition
 * that is known outside of a trace, write a JavaScript `if`.
 */
export function cond<A extends readonly unknown[], R>(
  predicate: Tensor,
  whenTrue: (...args: A) => R,
  whenFalse: (...args: A) => R,
  ...args: A
): R {
  if (!(predicate instanceof Tensor) || predicate.size !== 1) {
    throw new ShapeError(
      `cond: the predicate is one bool, a tensor of one element, not ${whatOf(predicate)}; for a JavaScript boolean write ` +
        "if, or tensor(true); use where() to choose element by element.",
    );
  }
  checkFunction("cond", whenTrue, "whenTrue");
  checkFunction("cond", whenFalse, "whenFalse");
  const index = predicate.cast("bool").cast("i32").reshape([]);
  return choose("cond", ["whenFalse", "whenTrue"], index, [whenFalse, whenTrue], args);
}

/** One of several functions, by an integer scalar; an index outside counts as the nearest branch. See `cond`. */
export function switchCase<A extends readonly unknown[], R>(
  index: Tensor,
  branches: readonly ((...args: A) => R)[],
  ...args: A
): R {
  if (!(index instanceof Tensor)) {
    throw new ArgumentError(`switchCase: the index is one integer in a tensor, not ${whatOf(index)}; write tensor(1).`);
  }
  if (!Array.isArray(branches)) {
    throw new ArgumentError(`switchCase: the branches are a list of functions, not ${shown(branches)}.`);
  }
  branches.forEach((branch, i) => {
    checkFunction("switchCase", branch, `branch ${i}`);
  });
  if (branches.length === 0) throw new ArgumentError("switchCase: there are no branches.");
  if (index.size !== 1)
    throw new ShapeError(`switchCase: the index has the shape ${formatShape(index.shape)}; it is one integer.`);
  const last = branches.length - 1;
  // Wide integers are clipped before the cast to i32; narrow ones may not hold the number of the last branch.
  const inside =
    promote(index.dtype, "i32") === "i32" ? index.cast("i32").clip(0, last) : index.clip(0, last).cast("i32");
  return choose(
    "switchCase",
    branches.map((_, i) => `branch ${i}`),
    inside.reshape([]),
    branches,
    args,
  );
}

function choose<A extends readonly unknown[], R>(
  operation: string,
  names: readonly string[],
  index: Tensor,
  branches: readonly ((...args: A) => R)[],
  args: A,
): R {
  const given = flattenTensors(args, operation);
  const own = given.leaves.map(({ node }) => standInFor(node));
  // A branch's work is its own also where it depends on no argument: else it would be computed before the choice.
  const isOwn = madeFromNow();
  const returned = branches.map((branch) => {
    const result = tracedOn(operation, own, () => branch(...(unflatten(given.structure, own.map(asTensor)) as A)));
    return flattenTensors(result, `${operation}, results`);
  });
  const outcomes = withTypedNumbers(returned);
  const [first] = outcomes;
  outcomes.forEach((outcome, i) => {
    sameResults(operation, names[0], names[i], first, outcome);
  });
  const { bodies, captured } = withChangingNumbers(
    closeOverAll(
      outcomes.map(({ leaves }) => leaves.map(nodeOf)),
      own,
      isOwn,
    ),
  );
  const parts = choiceNode(index.node, [...captured, ...given.leaves.map(nodeOf)], bodies);
  return unflatten(first.structure, computedTogether(parts.map(asTensor))) as R;
}

/** Options of `associativeScan`. */
export interface AssociativeScanOptions {
  /** The first unless told. */
  readonly axis?: number;
  /** From the last element to the first: element i combines elements i … n - 1. */
  readonly reverse?: boolean;
}

/**
 * Running combinations along an axis by any associative function of trees: element i of the result combines elements 0 … i.
 * It takes a logarithmic number of steps, each over the whole axis, and not a step for each element.
 */
export function associativeScan<T>(combine: (a: T, b: T) => T, elements: T, options: AssociativeScanOptions = {}): T {
  checkCount("associativeScan", 3, arguments);
  checkFunction("associativeScan", combine);
  checkOptions("associativeScan", options, { axis: "number", reverse: "flag" });
  const { leaves, structure } = flattenTensors(elements, "associativeScan");
  if (leaves.length === 0) return elements;
  const flip = (x: Tensor) => (options.reverse ? x.flip(0) : x);
  const front = leaves.map((x) => flip(x.moveAxis(normalizeAxis(options.axis ?? 0, x.rank, "associativeScan"), 0)));
  const length = front[0].shape[0];
  for (const x of front) {
    if (x.shape[0] !== length) throw new ShapeError(`associativeScan: axes of ${length} and ${x.shape[0]} elements.`);
  }
  const apply = (a: readonly Tensor[], b: readonly Tensor[]): Tensor[] => {
    const combined = combine(unflatten(structure, a) as T, unflatten(structure, b) as T);
    checkNotAsync(combined, "associativeScan");
    return sameAs("associativeScan", "the combination", structure, a, combined).map(asTensor);
  };
  let running = front;
  for (let distance = 1; distance < length; distance *= 2) {
    const behind = running.map((x) => x.at(`${distance}:`));
    const before = running.map((x) => x.at(`:${length - distance}`));
    const joined = apply(before, behind);
    running = running.map((x, i) => concat([x.at(`:${distance}`), joined[i]], { axis: 0 }));
  }
  const axisOf = (i: number) => normalizeAxis(options.axis ?? 0, leaves[i].rank, "associativeScan");
  return unflatten(
    structure,
    running.map((x, i) => flip(x).moveAxis(0, axisOf(i))),
  ) as T;
}

// -------------------------------------------------------------------------------------------------- checks

const whatOf = (value: unknown): string =>
  value instanceof Tensor ? `one of shape ${formatShape(value.shape)}` : `the ${typeof value} ${String(value)}`;

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);
const nodeOf = ({ node }: Tensor): Node => node;
const asTensor = (node: Node): Tensor => new Tensor(node);
const described = ({ shape, dtype, device }: Node) => ({ shape, dtype, device });

/** The nodes of a tree that must be like another in structure, shapes and dtypes. */
function sameAs(
  operation: string,
  what: string,
  structure: TreeStructure,
  like: readonly Tensor[],
  tree: unknown,
): Node[] {
  const { leaves, structure: own } = flattenTensors(tree, operation);
  if (own.key !== structure.key) {
    const { at, first, second } = partingOf(structure, own);
    throw new ArgumentError(
      `${operation}: at ${at} ${what} has ${first} at first and ${second} after a round; it must keep its structure.`,
    );
  }
  return leaves.map((leaf, i) => {
    const at = leafPaths(structure)[i];
    const name = at ? `${what}'s ${at}` : what;
    if (formatShape(leaf.shape) !== formatShape(like[i].shape)) {
      throw new ShapeError(
        `${operation}: ${name} has the shape ${formatShape(like[i].shape)} at first and ${formatShape(leaf.shape)} after a ` +
          `round; it must keep its shape.`,
      );
    }
    if (leaf.dtype !== like[i].dtype) {
      throw new DTypeError(
        `${operation}: ${name} is ${like[i].dtype} at first and ${leaf.dtype} after a round; cast one of them.`,
      );
    }
    return leaf.node;
  });
}

/** Numbers of a jitted function take the dtype of the floats that other branches return in their place. */
function withTypedNumbers(outcomes: readonly FlatTree<Tensor>[]): readonly FlatTree<Tensor>[] {
  const isTyped = (leaf: Tensor | undefined) => leaf !== undefined && !leaf.node.isWeak && isFloat(leaf.dtype);
  const typed = outcomes[0].leaves.map((_, i) => outcomes.map(({ leaves }) => leaves[i]).find(isTyped));
  return outcomes.map(({ leaves, structure }) => ({
    structure,
    leaves: leaves.map((leaf, i) => (typed[i] && leaf.node.isWeak ? leaf.cast(typed[i].dtype) : leaf)),
  }));
}

function sameResults(
  operation: string,
  firstName: string,
  name: string,
  first: { leaves: readonly Tensor[]; structure: TreeStructure },
  other: { leaves: readonly Tensor[]; structure: TreeStructure },
): void {
  if (first.structure.key !== other.structure.key) {
    const parting = partingOf(first.structure, other.structure);
    throw new ArgumentError(
      `${operation}: at ${parting.at} ${firstName} returns ${parting.first}, ${name} ${parting.second}; ` +
        "all must return the same tree.",
    );
  }
  other.leaves.forEach((leaf, i) => {
    const wanted = first.leaves[i];
    const at = leafPaths(first.structure)[i] || "the result";
    const describe = (x: Tensor) => `${x.dtype}${formatShape(x.shape)}`;
    if (describe(leaf) === describe(wanted)) return;
    const isOfOneShape = formatShape(leaf.shape) === formatShape(wanted.shape);
    const remedy = isOfOneShape ? `cast one of them, with cast("${wanted.dtype}")` : "broadcast or reshape one of them";
    throw new (isOfOneShape ? DTypeError : ShapeError)(
      `${operation}: ${at} is ${describe(wanted)} from ${firstName} and ${describe(leaf)} from ${name}; they must be alike: ` +
        `${remedy}.`,
    );
  });
}
