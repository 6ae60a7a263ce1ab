/**
 * `jit`: a function is traced once per form of its arguments, compiled into one program with its memory planned, and from
 * then on replayed. The form is the structure of the arguments, the shapes, dtypes and devices of the tensors, and the
 * values of everything that is neither tensor nor number.
 *
 * Numbers enter as data: the function sees a scalar tensor in their place, so a learning rate that changes every step does
 * not make a new program. Such a scalar takes the dtype of the floats it meets, as a number does, and what is computed of
 * such scalars alone does too; but whether it is whole is not known at the trace, so integers that meet it become floats.
 *
 * Tensors that the function reaches by closure are captured as they are at the trace: the same memory, and a later
 * assignment to the variable outside is not seen. Those of an outer function that is being traced or differentiated have
 * no memory to capture: the inner function then becomes part of the outer one, as it does when they are its arguments.
 */

import { checkFunction, checkOptions } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { realDType } from "../core/dtype.js";
import { ArgumentError, DeviceError } from "../core/errors.js";
import { castNode, scalarNode } from "../graph/build.js";
import { makePlaceholder, substitute } from "../graph/function.js";
import { hasWhileLoop } from "../graph/loop-mask.js";
import { computeTogether, isUnderWay, type Node, pendingInOrder } from "../graph/node.js";
import { cast } from "../graph/primitives/elementwise.js";
import { placeholder } from "../graph/primitives/leaf.js";
import { variable } from "../graph/primitives/movement.js";
import { type MatmulPrecision, matmulPrecision } from "../graph/product-precision.js";
import type { Argument, Backend, DeviceStorage } from "../runtime/backend.js";
import { adopt, backendFor, isTensor, Tensor } from "../tensor/index.js";
import { type Call, type Entering, takeApart, withoutStatic } from "./jit-call.js";
import { LastCall } from "./last-call.js";
import { type Describable, type Lowered, lowered } from "./lowered.js";
import { runningFor, tracedOn } from "./trace.js";
import { flattenTensors, type TreeStructure, unflatten } from "./trees.js";

export interface JitOptions {
  /** Positions of arguments that are part of the program: a new value is a new trace. */
  readonly static?: number | readonly number[];
  /** Positions of arguments the caller gives away: their tensors are disposed, their memory is used for results. */
  readonly donate?: number | readonly number[];
  /** Programs kept, the least recently used goes first: 64 unless told. */
  readonly maxPrograms?: number;
}

/** Numbers may stand where a function takes tensors of one element. */
export type JitArguments<A extends readonly unknown[]> = { [K in keyof A]: NumbersFor<A[K]> };
type NumbersFor<T> = T extends Tensor
  ? T | number
  : T extends (...args: never[]) => unknown
    ? T
    : T extends object
      ? { [K in keyof T]: NumbersFor<T[K]> }
      : T;

export interface Jitted<A extends readonly unknown[], R> {
  (...args: JitArguments<A>): R;
  // TypeScript infers types from the last overload: `grad(jit(f))` must see the parameters of `f` itself.
  (...args: A): R;
  /** The program of a call with such arguments. Printed, it shows the kernels, the memory plan and the time of compiling. */
  lower(...args: JitArguments<A>): Lowered;
  /** The most programs that are kept. */
  readonly programs: number;
}

/** A traced function for one form of its arguments. */
interface Compiled extends Describable {
  readonly name: string;
  /** The placeholders of tensors, in the order of a call, and of numbers. */
  readonly inputs: readonly Input[];
  /** For each scalar argument of the graph, its index among the numbers of a call. */
  readonly numbers: readonly number[];
  readonly results: TreeStructure;
}

const nameOf = (f: { readonly name: string }): string => `jit(${f.name || "function"})`;

const asList = (positions: number | readonly number[] | undefined): readonly number[] =>
  positions === undefined ? [] : typeof positions === "number" ? [positions] : positions;

/**
 * The same function, compiled: it runs once for each form of its arguments, to be traced, and from then on its program is
 * replayed.
 *
 * - Tensors enter as data, and so do numbers: inside they are scalar tensors that take the dtype of the floats they meet.
 *   Everything else (booleans, strings, functions), and arguments in `{ static }` positions, are part of the program.
 *   Functions, and instances of classes that are not registered, count by identity: make a new one when it changes inside.
 * - Tensors that the function reaches by closure are captured as they are when it is traced; pass those that change.
 * - Values cannot be read inside. Return them, choose with `where` or `cond`, loop with `scan`.
 * - Arguments in `{ donate }` positions are given away: updated in place where possible, and disposed.
 *
 * Inside another transform the function becomes part of that trace.
 *
 * @example
 * const step = jit((w: Tensor, g: Tensor, rate: Tensor) => w.sub(g.mul(rate)), { donate: 0 });
 * for (let t = 1; t <= 100; t++) w = step(w, g, 0.1 / t); // one program, one replay per step, no new memory
 */
export function jit<A extends readonly unknown[], R>(f: (...args: A) => R, options: JitOptions = {}): Jitted<A, R> {
  checkCount("jit", 2, arguments);
  checkFunction("jit", f);
  checkOptions("jit", options, { static: "numbers", donate: "numbers", maxPrograms: "number" });
  const programs = new Map<string, Compiled>();
  const maxPrograms = options.maxPrograms ?? 64;
  const fixed = asList(options.static);
  const donated = asList(options.donate);
  checkPositions(maxPrograms, fixed, donated);

  const plain = f as (...args: readonly unknown[]) => unknown;

  /** The program for a call; null when the function reaches tensors of an outer trace by closure. */
  const find = (call: Call): Compiled | null => {
    const known = programs.get(call.key);
    if (known) {
      if (programs.size > 1) {
        // Last in the order of use.
        programs.delete(call.key);
        programs.set(call.key, known);
      }
      return known;
    }
    const compiled = trace(plain, call);
    if (!compiled) return null;
    if (programs.size >= maxPrograms) programs.delete(programs.keys().next().value as string);
    programs.set(call.key, compiled);
    return compiled;
  };

  let last: LastRun | null = null;

  const run = (...args: readonly unknown[]): unknown => {
    const statics = fixed.map((position) => args[position]);
    const isSame = last?.precision === matmulPrecision();
    const leaves = isSame ? last?.like.leavesOf(withoutStatic(args, fixed), statics) : null;
    if (last && leaves) return apply(last.program, leaves, last);
    const call = takeApart(args, fixed, donated);
    const program = call.isTraced ? null : find(call);
    // Inside another trace there is nothing to replay: the function becomes part of that one.
    if (!program) return inlined(plain, call);
    const like = new LastCall(call.structure, call.leaves, statics);
    const { kinds, isDonated } = call;
    last = like.isComparable ? { like, program, kinds, isDonated, precision: matmulPrecision() } : null;
    return apply(program, call.leaves, call);
  };
  const lower = (...args: readonly unknown[]): Lowered => {
    const program = find(takeApart(args, fixed, donated));
    if (program) return lowered(program);
    throw new ArgumentError(
      "jit: the function uses a tensor of an outer function that is being traced; lower that one.",
    );
  };
  return Object.defineProperties(run, {
    lower: { value: lower },
    programs: { get: () => programs.size },
    name: { value: nameOf(f) },
  }) as unknown as Jitted<A, R>;
}

/** The last call that was replayed, to compare the next one with. */
interface LastRun extends Entering {
  readonly like: LastCall;
  readonly program: Compiled;
  readonly precision: MatmulPrecision;
}

function checkPositions(maxPrograms: number, fixed: readonly number[], donated: readonly number[]): void {
  if (!Number.isSafeInteger(maxPrograms) || maxPrograms < 1) {
    throw new ArgumentError(`jit: { maxPrograms: ${maxPrograms} }; keep at least 1, a whole number.`);
  }
  for (const [name, positions] of [["static", fixed] as const, ["donate", donated] as const]) {
    const wrong = positions.find((position) => !Number.isSafeInteger(position) || position < 0);
    if (wrong !== undefined)
      throw new ArgumentError(`jit: { ${name}: ${wrong} }; positions of arguments count from 0.`);
  }
  const both = fixed.find((position) => donated.includes(position));
  if (both !== undefined) {
    throw new ArgumentError(`jit: argument ${both} is static, so part of the program; it cannot be donated as well.`);
  }
}

// -------------------------------------------------------------------------------------------------- tracing

/** Runs the function with other leaves in its arguments. */
function runWith(f: (...args: readonly unknown[]) => unknown, call: Call, leaves: readonly unknown[]): unknown {
  const rebuilt = unflatten(call.structure, leaves) as readonly unknown[];
  // Static arguments are not among the leaves; nothing stands in their place.
  return f(...call.args.map((arg, i) => rebuilt[i] ?? arg));
}

/** Runs the function as part of another trace; numbers enter as in a trace of its own. */
function inlined(f: (...args: readonly unknown[]) => unknown, call: Call): unknown {
  const backend = deviceOf(call);
  const dtype = dtypeOfNumbers(call);
  const leaves = call.leaves.map((leaf) => {
    if (typeof leaf !== "number") return leaf;
    const scalar = scalarNode(leaf, dtype, backend);
    scalar.isWeak = true;
    return new Tensor(scalar);
  });
  return runningFor("jit", () => runWith(f, call, leaves));
}

/** The dtype of values that are computed of numbers alone: f64 beside tensors of f64, else f32. */
function dtypeOfNumbers({ leaves }: Call): "f32" | "f64" {
  const isWide = leaves.some((leaf) => isTensor(leaf) && (leaf.dtype === "f64" || leaf.dtype === "c128"));
  return isWide ? "f64" : "f32";
}

function trace(f: (...args: readonly unknown[]) => unknown, call: Call): Compiled | null {
  const began = performance.now();
  const backend = deviceOf(call);
  const dtype = dtypeOfNumbers(call);
  const inputs: Input[] = [];
  const leaves = call.leaves.map((leaf, i) => {
    if (call.kinds[i] === "static") return leaf;
    const isNumber = call.kinds[i] === "number";
    const node = makePlaceholder(isNumber ? { shape: [], dtype, device: backend } : (leaf as Tensor).node);
    node.isWeak = isNumber;
    const number = isNumber ? inputs.filter((input) => input.number >= 0).length : -1;
    inputs.push({ node, number, isDonated: call.isDonated[i] === true });
    return new Tensor(node);
  });
  const result = tracedOn(
    "jit",
    inputs.map(({ node }) => node),
    () => runWith(f, call, leaves),
  );
  const outputs = flattenTensors(result, "jit, results");
  const written = outputs.leaves.map(({ node }) => node);
  for (const { device } of written) {
    if (device !== backend) throw new DeviceError(`jit: a result is on ${device.id}, the arguments on ${backend.id}.`);
  }
  if (reachesOuterTrace(written, inputs)) return null;
  const roots = withTypedNumbers(written, inputs);
  const traced = performance.now();
  const captured = capturedBy(roots, backend);
  const args = [
    ...inputs.map(
      ({ node, number, isDonated }): Argument<DeviceStorage> =>
        number >= 0 ? { kind: "scalar", dtype: node.dtype } : { kind: "memory", isDonated },
    ),
    ...captured.map(({ storage }): Argument<DeviceStorage> => ({ kind: "fixed", memory: storage as DeviceStorage })),
  ];
  // The program holds the memory itself: disposing one of these tensors later ends a handle, not the memory.
  for (const node of captured) node.users++;
  const prepare = () => backend.prepare(roots, [...inputs.map(({ node }) => node), ...captured], args);
  const prepared = hasWhileLoop(roots) ? null : prepare();
  return {
    name: nameOf(f),
    prepared,
    prepare: () => prepared ?? prepare(),
    inputs,
    backend,
    numbers: inputs.flatMap(({ number }) => (number >= 0 ? [number] : [])),
    results: outputs.structure,
    outputs: roots.map(({ shape, dtype: own }) => ({ shape, dtype: own })),
    roots,
    isNumber: (node) => inputs.some((input) => input.node === node && input.number >= 0),
    traceMilliseconds: traced - began,
    compileMilliseconds: performance.now() - traced,
  };
}

/** A placeholder, and which of the numbers of a call it stands for; -1 for tensors. */
interface Input {
  readonly node: Node;
  readonly number: number;
  readonly isDonated: boolean;
}

function reachesOuterTrace(roots: readonly Node[], inputs: readonly Input[]): boolean {
  const own = new Set(inputs.map(({ node }) => node));
  return pendingInOrder(roots).some((node) => {
    if (node.primitive === placeholder) return !own.has(node);
    // A computed node of an open trace has kept its history; one that is not computed leads back to a variable.
    return node.storage !== null ? isUnderWay(node.trace) : node.primitive === variable && node.trace?.isOpen === true;
  });
}

/**
 * A number that is used in another dtype enters a second time, in that dtype: it is then rounded once, as it is where there
 * is no jit. Adds these inputs.
 */
function withTypedNumbers(roots: readonly Node[], inputs: Input[]): readonly Node[] {
  const numberOf = new Map(inputs.flatMap(({ node, number }) => (number >= 0 ? [[node, number] as const] : [])));
  if (numberOf.size === 0) return roots;
  const known = new Map<string, Node>();
  const casts = pendingInOrder(roots).filter(({ primitive, inputs: [x] }) => primitive === cast && numberOf.has(x));
  const typed = casts.map(({ dtype, device, inputs: [x] }) => {
    const number = numberOf.get(x) as number;
    const key = `${number} ${realDType(dtype)}`;
    const entering = known.get(key) ?? makePlaceholder({ shape: [], dtype: realDType(dtype), device });
    if (!known.has(key)) inputs.push({ node: entering, number, isDonated: false });
    known.set(key, entering);
    return castNode(entering, dtype);
  });
  return substitute(roots, casts, typed);
}

/** The memory of tensors that the function reached by closure. Pending ones are computed now, once. */
function capturedBy(roots: readonly Node[], backend: Backend): Node[] {
  const pending = pendingInOrder(roots);
  const isStored = new Map<Node, boolean>();
  const wanted = new Set<Node>();
  for (const node of pending) {
    isStored.set(node, node.storage !== null || node.inputs.some((input) => isStored.get(input)));
    if (!node.isAbstract) continue;
    for (const input of node.inputs) if (!input.isAbstract) wanted.add(computedBehind(input));
  }
  backend.realize([...wanted].filter((node) => isStored.get(node)));
  return pendingInOrder(roots).filter(({ storage }) => storage !== null);
}

/** The node behind movements: those stay part of the program, and their source is computed. */
function computedBehind(node: Node): Node {
  let source = node;
  while (source.storage === null && source.primitive.kind === "movement" && source.inputs.length === 1)
    [source] = source.inputs;
  return source;
}

function deviceOf(call: Call): Backend {
  const tensors = call.leaves.filter(isTensor);
  const [first] = tensors;
  const backend = first ? (first.node.device as Backend) : backendFor(undefined, "jit");
  for (const { node } of tensors) {
    if (node.device === backend) continue;
    throw new DeviceError(
      `jit: arguments on ${backend.id} and ${node.device.id}; a program runs on one device, move one with .to("${backend.id}").`,
    );
  }
  return backend;
}

// -------------------------------------------------------------------------------------------------- running

function apply(compiled: Compiled, leaves: readonly unknown[], { kinds, isDonated }: Entering): unknown {
  const { name, prepared, backend, numbers: entering, results, outputs } = compiled;
  const tensors: Tensor[] = [];
  const numbers: number[] = [];
  const isGiven: boolean[] = [];
  for (let i = 0; i < leaves.length; i++) {
    if (kinds[i] === "tensor") {
      tensors.push(leaves[i] as Tensor);
      isGiven.push(isDonated[i] === true);
    } else if (kinds[i] === "number") numbers.push(leaves[i] as number);
  }
  if (!prepared) return unflatten(results, builtOn(compiled, tensors, numbers, isGiven));
  const pending = tensors.filter(({ node }) => node.storage === null);
  if (pending.length > 0) backend.realize(pending.map(({ node }) => node));
  const memory = tensors.map(({ node }) => node.storage as DeviceStorage);
  const givesAny = isGiven.includes(true);
  const isFree = givesAny ? freeMemory(tensors, memory, isGiven) : isGiven;
  const scalars = entering.map((number) => numbers[number]);
  const made = prepared.run(memory, scalars, isFree);
  if (givesAny) {
    const results = new Set(made);
    tensors.forEach((tensor, i) => {
      if (isGiven[i]) tensor.surrender(name, results.has(memory[i]));
    });
  }
  return unflatten(
    results,
    made.map((storage, i) => adopt(storage, outputs[i].shape, outputs[i].dtype, backend)),
  );
}

/** The results of a function with while loops as a graph on the arguments; they are computed together. */
function builtOn(
  { name, backend, inputs, roots }: Compiled,
  tensors: readonly Tensor[],
  numbers: readonly number[],
  isGiven: readonly boolean[],
): Tensor[] {
  let next = 0;
  const nodes = inputs.map(({ node: { dtype }, number }) =>
    number >= 0 ? adopt(backend.uploadNumber(numbers[number], dtype), [], dtype, backend).node : tensors[next++].node,
  );
  // Each call is the same program, whatever its arguments wait for. Loops that wait are left: computing them may take long.
  const waiting = tensors.filter(({ node }) => node.storage === null && !hasWhileLoop([node]));
  if (waiting.length > 0) backend.realize(waiting.map(({ node }) => node));
  const made = substitute(
    roots,
    inputs.map(({ node }) => node),
    nodes,
  );
  computeTogether(made);
  const results = made.map((node) => new Tensor(node));
  tensors.forEach((tensor, i) => {
    if (isGiven[i]) tensor.surrender(name, false);
  });
  return results;
}

/** For each argument, whether its memory is free for results: donated, held by nobody else, and passed once. */
function freeMemory(tensors: readonly Tensor[], memory: readonly DeviceStorage[], isGiven: readonly boolean[]) {
  const uses = new Map<DeviceStorage, number>();
  for (const storage of memory) uses.set(storage, (uses.get(storage) ?? 0) + 1);
  return isGiven.map((given, i) => given && tensors[i].isOnlyHolder && uses.get(memory[i]) === 1);
}
