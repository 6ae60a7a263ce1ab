/**
 * Derivatives of functions of tensors: `grad`, `valueAndGrad`, `vjp`, `jvp`, `linearize`, and matrices of them. The function
 * runs once, on variables; its graph is then walked by the rules of the primitives. All results are lazy tensors again,
 * so transforms nest in any order.
 */

import { checkFunction, checkOptions } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { isComplex, isFloat } from "../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../core/errors.js";
import { formatShape } from "../core/shape.js";
import { derive, scalarNode } from "../graph/build.js";
import { makePlaceholder, substitute } from "../graph/function.js";
import { computeTogether, measureDepth, type Node } from "../graph/node.js";
import { stopped } from "../graph/primitives/movement.js";
import { g } from "../graph/vocabulary.js";
import { isTensor, Tensor } from "../tensor/index.js";
import { checkNotAsync, variableOf, withTrace } from "./trace.js";
import { type FlatTree, flattenTensors, leavesBeside, pathOf, type TreeStructure, unflatten } from "./trees.js";

// biome-ignore lint/suspicious/noExplicitAny: any function of any arguments
type AnyFunction = (...args: any[]) => any;

/** Options of `grad` and `valueAndGrad`. */
export interface GradOptions<I = number | readonly number[]> {
  /** The argument to differentiate by, or several; the first unless told. */
  readonly argument?: I;
}

/** The arguments chosen by I: one, or a list. */
type Chosen<A extends readonly unknown[], I> = I extends number
  ? A[I]
  : I extends readonly number[]
    ? { -readonly [K in keyof I]: I[K] extends number ? A[I[K]] : never }
    : A[0];

/** The result of a function with `{ aux: true }`: its value, and anything else. */
type WithAux<X> = readonly [value: Tensor, aux: X];

/**
 * The gradient of a function that returns one number: a function of the same arguments whose result has the form of the
 * chosen argument: `grad(loss)(w, x)`. For a function that returns `[value, aux]` pass `{ aux: true }`; the gradient then
 * comes as `[gradient, aux]`.
 */
export function grad<A extends readonly unknown[], X, const I extends number | readonly number[] = 0>(
  f: (...args: A) => WithAux<X>,
  options: GradOptions<I> & { readonly aux: true },
): (...args: A) => [gradient: Chosen<A, I>, aux: X];
export function grad<A extends readonly unknown[], const I extends number | readonly number[] = 0>(
  f: (...args: A) => Tensor,
  options?: GradOptions<I>,
): (...args: A) => Chosen<A, I>;
export function grad(f: AnyFunction, options: AuxOptions = {}): AnyFunction {
  checkCount("grad", 2, arguments);
  return gradAs("grad", f, options);
}

interface AuxOptions extends GradOptions {
  readonly aux?: boolean;
}

const GRAD_OPTIONS = { argument: "numbers", aux: "flag" } as const;

/** @internal grad; errors name `operation`. */
export function gradAs(operation: string, f: AnyFunction, options: AuxOptions = {}): AnyFunction {
  checkFunction(operation, f);
  checkOptions(operation, options, GRAD_OPTIONS);
  return (...args) => {
    const { gradient, aux } = differentiate(operation, f, args, options, false);
    return options.aux ? [gradient, aux] : gradient;
  };
}

/** The value of a function and its gradient, of one run: `[value, gradient]`, or `[[value, aux], gradient]`. */
export function valueAndGrad<A extends readonly unknown[], X, const I extends number | readonly number[] = 0>(
  f: (...args: A) => WithAux<X>,
  options: GradOptions<I> & { readonly aux: true },
): (...args: A) => [[value: Tensor, aux: X], gradient: Chosen<A, I>];
export function valueAndGrad<A extends readonly unknown[], const I extends number | readonly number[] = 0>(
  f: (...args: A) => Tensor,
  options?: GradOptions<I>,
): (...args: A) => [value: Tensor, gradient: Chosen<A, I>];
export function valueAndGrad(f: AnyFunction, options: AuxOptions = {}): AnyFunction {
  checkCount("valueAndGrad", 2, arguments);
  checkFunction("valueAndGrad", f);
  checkOptions("valueAndGrad", options, GRAD_OPTIONS);
  return (...args) => {
    const { value, aux, gradient } = differentiate("valueAndGrad", f, args, options, true);
    return [options.aux ? [value, aux] : value, gradient];
  };
}

function differentiate(
  operation: string,
  f: AnyFunction,
  args: readonly unknown[],
  options: AuxOptions,
  isValueWanted: boolean,
) {
  const { argument = 0 } = options;
  const chosen = chooseArguments(operation, args, argument);
  const { leaves, structure } = flattenTensors(chosen.tree, operation);
  checkFloats(operation, leaves, structure, "choose another argument with { argument }");
  return withTrace((trace) => {
    if (!trace.outer) computeFirst(leaves.map(({ node }) => node));
    const variables = leaves.map((leaf) => variableOf(trace, leaf));
    const result = f(...chosen.replace(unflatten(structure, variables)));
    checkNotAsync(result, operation);
    const [value, aux] = options.aux ? checkAux(operation, result) : [result, undefined];
    checkLoss(operation, value);
    const seed = scalarNode(1, value.dtype, value.node.device, value.shape);
    const gradients = g.pullBack(
      [value.node],
      [seed],
      variables.map(({ node }) => node),
    );
    const tensors = gradients.map((gradient, i) => new Tensor(gradient ?? zerosLike(leaves[i].node)));
    if (!trace.outer && !value.node.isAbstract) {
      const results = isValueWanted ? [value, ...tensors] : tensors;
      // Also arguments that are computed, not views: the next step of a loop starts from them.
      const computed = leaves.filter(
        ({ node: { primitive } }) => primitive.kind !== "leaf" && primitive.kind !== "movement",
      );
      computeTogether([...results, ...computed].map(({ node }) => node));
    }
    return { value, aux, gradient: unflatten(structure, tensors) };
  });
}

function chooseArguments(operation: string, args: readonly unknown[], argument: number | readonly number[]) {
  const positions = typeof argument === "number" ? [argument] : argument;
  for (const [i, position] of positions.entries()) {
    if (!Number.isInteger(position) || position < 0 || position >= args.length) {
      throw new ArgumentError(
        `${operation}: argument ${position} of a call with ${args.length} arguments; { argument } counts from 0.`,
      );
    }
    if (positions.indexOf(position) < i) {
      throw new ArgumentError(`${operation}: argument ${position} is chosen twice in { argument }; name it once.`);
    }
    if (typeof args[position] === "number") {
      throw new ArgumentError(
        `${operation}: argument ${position} is the number ${args[position]}; make it a tensor with tensor(), ` +
          `or choose another argument with { argument }.`,
      );
    }
  }
  return {
    tree: typeof argument === "number" ? args[argument] : positions.map((position) => args[position]),
    replace: (tree: unknown): unknown[] => {
      const parts = typeof argument === "number" ? [tree] : (tree as unknown[]);
      return args.map((arg, i) => (positions.includes(i) ? parts[positions.indexOf(i)] : arg));
    },
  };
}

function checkFloats(
  operation: string,
  leaves: readonly Tensor[],
  structure: TreeStructure,
  remedy = "take it from outside the function",
): void {
  if (leaves.length === 0) throw new ArgumentError(`${operation}: there is no tensor to differentiate by.`);
  leaves.forEach(({ dtype }, i) => {
    if (isFloat(dtype) || dtype === "c64" || dtype === "c128") return;
    const where = pathOf(structure, i);
    throw new DTypeError(
      `${operation}: ${where || "the argument"} is ${dtype}; only floats have gradients. Cast it, or ${remedy}.`,
    );
  });
}

function checkAux(operation: string, result: unknown): readonly [Tensor, unknown] {
  if (Array.isArray(result) && result.length === 2 && isTensor(result[0])) {
    return result as unknown as readonly [Tensor, unknown];
  }
  throw new ArgumentError(`${operation}: with { aux: true } the function returns [value, aux], the value a tensor.`);
}

function checkLoss(operation: string, value: unknown): asserts value is Tensor {
  if (!isTensor(value)) {
    const what = Array.isArray(value) ? "an array; return [value, aux] only with { aux: true }" : `${typeof value}`;
    throw new ArgumentError(`${operation}: the function must return one tensor; it returned ${what}.`);
  }
  if (value.size !== 1) {
    throw new ShapeError(
      `${operation}: the function must return one number; it returned ${formatShape(value.shape)}. ` +
        `Reduce it with sum() or mean(), or use vjp or jacobian.`,
    );
  }
  if (!isFloat(value.dtype)) {
    throw new DTypeError(
      `${operation}: the function returned ${value.dtype}; only floats have gradients. ` +
        (isComplex(value.dtype)
          ? "Return its real() or abs()."
          : "Return what it was computed from: a choice or a count has no slope."),
    );
  }
}

/** A chain of this many operations is worth a program of its own. */
const LONG = 8;

/**
 * Starts computing arguments behind which much work waits: most likely the previous step of a loop. So every step is the
 * same program, and a loop that reads nothing does not become one program of many steps.
 */
function computeFirst(nodes: readonly Node[]): void {
  const [{ device }] = nodes;
  const waiting = nodes.filter(
    (node) => node.storage === null && !node.isAbstract && node.depth > LONG && node.device === device,
  );
  // Each walk is short if little is pending; the first long chain ends the search.
  if (waiting.some((node) => measureDepth(node) > LONG)) device.realize(waiting);
}

const zerosLike = ({ shape, dtype, device }: Node): Node => scalarNode(0, dtype, device, shape);

/**
 * The results of a function and its pullback: a function from a tree like the results (cotangents) to the list of
 * cotangents of the arguments. It may be called any number of times.
 */
export function vjp<A extends readonly unknown[], R>(
  f: (...args: A) => R,
  ...args: A
): [result: R, pullback: (cotangent: R) => A] {
  return vjpAs("vjp", f, args);
}

/** @internal vjp; errors name `operation`. */
function vjpAs<A extends readonly unknown[], R>(
  operation: string,
  f: (...args: A) => R,
  args: A,
): [result: R, pullback: (cotangent: R) => A] {
  return onVariables(operation, f, args, (run) => [run.result, pullbackOf(run)]);
}

/** @internal A function that has run on variables of a trace that is still open. */
export interface Run<A, R> {
  readonly operation: string;
  readonly result: R;
  readonly inputs: FlatTree<Tensor>;
  readonly outputs: FlatTree<Tensor>;
  readonly variables: readonly Node[];
  /** Only for its type, that of the arguments. */
  readonly args?: A;
}

/** @internal Runs a function on variables in the place of its arguments' tensors. */
export function onVariables<A extends readonly unknown[], R, T>(
  operation: string,
  f: (...args: A) => R,
  args: A,
  use: (run: Run<A, R>) => T,
): T {
  checkFunction(operation, f);
  const inputs = flattenTensors(args, operation);
  checkFloats(operation, inputs.leaves, inputs.structure);
  return withTrace((trace) => {
    const variables = inputs.leaves.map((leaf) => variableOf(trace, leaf));
    const result = f(...(unflatten(inputs.structure, variables) as A));
    checkNotAsync(result, operation);
    const outputs = flattenTensors(result, `${operation}, results`);
    return use({ operation, result, inputs, outputs, variables: variables.map(({ node }) => node) });
  });
}

/** @internal Builds the pullback at once, on placeholders for the cotangents: the function's graph need not be kept. */
export function pullbackOf<A, R>({ operation, inputs, outputs, variables }: Run<A, R>): (cotangent: R) => A {
  const nodes = outputs.leaves.map(({ node }) => node);
  const seeds = nodes.map(makePlaceholder);
  const gradients = g.pullBack(nodes, seeds, variables);
  const whole = gradients.map((gradient, i) => gradient ?? zerosLike(inputs.leaves[i].node));
  return (cotangent) => {
    const given = beside(`${operation}, cotangents`, outputs.structure, outputs.leaves, cotangent);
    return rebuilt(inputs.structure, substitute(whole, seeds, given)) as A;
  };
}

/** @internal Builds the linear approximation in the same way. */
export function pushOf<A extends readonly unknown[], R>({
  operation,
  inputs,
  outputs,
  variables,
}: Run<A, R>): (...tangents: A) => R {
  const seeds = inputs.leaves.map(({ node }) => makePlaceholder(node));
  const moved = g.pushForward(
    outputs.leaves.map(({ node }) => node),
    variables,
    seeds,
  );
  const whole = moved.map((tangent, i) => tangent ?? zerosLike(outputs.leaves[i].node));
  return (...tangents) => {
    const given = beside(`${operation}, tangents`, inputs.structure, inputs.leaves, tangents);
    return rebuilt(outputs.structure, substitute(whole, seeds, given)) as R;
  };
}

const rebuilt = (structure: TreeStructure, nodes: readonly Node[]): unknown =>
  unflatten(
    structure,
    nodes.map((node) => new Tensor(node)),
  );

/** The results of a function and their tangents, for arguments and tangents of the arguments given as two lists. */
export function jvp<A extends readonly unknown[], R>(
  f: (...args: A) => R,
  args: A,
  tangents: A,
): [result: R, tangent: R] {
  checkCount("jvp", 3, arguments);
  if (![args, tangents].every((list) => Array.isArray(list))) {
    throw new ArgumentError("jvp: arguments and tangents are lists, as in jvp(f, [x], [t]).");
  }
  const [result, push] = linearizeAs("jvp", f, args);
  return [result, push(...tangents)];
}

/** The results of a function and its linear approximation: a function from tangents of the arguments to those of the results. */
export function linearize<A extends readonly unknown[], R>(
  f: (...args: A) => R,
  ...args: A
): [result: R, push: (...tangents: A) => R] {
  return linearizeAs("linearize", f, args);
}

/** @internal linearize; errors name `operation`. */
export function linearizeAs<A extends readonly unknown[], R>(
  operation: string,
  f: (...args: A) => R,
  args: A,
): [R, (...tangents: A) => R] {
  return onVariables(operation, f, args, (run) => [run.result, pushOf(run)]);
}

/** The nodes of a tree that must match another in structure, shapes and dtypes. */
function beside(operation: string, structure: TreeStructure, like: readonly Tensor[], tree: unknown): Node[] {
  return leavesBeside(structure, tree, 2, operation).map((leaf, i) => {
    const wanted = like[i];
    const where = pathOf(structure, i) || "what was given";
    if (!isTensor(leaf)) {
      throw new ArgumentError(`${operation}: ${where} is a ${typeof leaf}, not a tensor; make it one with tensor().`);
    }
    if (formatShape(leaf.shape) !== formatShape(wanted.shape)) {
      throw new ShapeError(
        `${operation}: ${where} has the shape ${formatShape(leaf.shape)}; what it goes with has ` +
          `${formatShape(wanted.shape)}, and they must be equal.`,
      );
    }
    return leaf.cast(wanted.dtype).node;
  });
}

/** The same values, through which no gradient flows. Trees of tensors too. */
export function stopGradient<T>(tree: T): T {
  checkCount("stopGradient", 1, arguments);
  const { leaves, structure } = flattenTensors(tree, "stopGradient");
  return rebuilt(
    structure,
    leaves.map(({ node }) => derive(stopped, node, {})),
  ) as T;
}
