/**
 * An optimiser: a gradient transform. `update` turns gradients into updates, which `applyUpdates` adds to the parameters.
 * Its state is a plain tree of tensors (the step count too), so a step of training is one compiled program that reads
 * nothing back, and the state is saved like the parameters. Transforms that only shape gradients have the same form;
 * `chain` puts them one after the other. Other files of this folder define the transforms.
 */
import { type DType, isFloat, isNarrowFloat } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { formatShape, type Shape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import { flattenTensors, leafPaths, leavesBeside, type TreeStructure, unflatten } from "../../transforms/trees.js";

/** The state of an optimiser: tensors by name, in objects in objects. */
export interface OptimizerState {
  readonly [name: string]: Tensor | OptimizerState;
}

/** Further values of a step, for transforms that look at them. */
export interface UpdateExtras {
  /** The loss of this step: `scaleByPlateau` follows it. */
  readonly value?: Tensor;
  /** How much this step counts beside others, 1 unless told: what its mean loss was divided by. `accumulate` weights gradients by it. */
  readonly count?: Tensor | number;
  /** @internal A factor of all updates, for those that say `takesFactor`. */
  readonly factor?: Tensor;
}

/** A gradient transform: `init` makes its state, `update` turns gradients into updates that are added to parameters. */
export interface Optimizer {
  init<P>(params: P): OptimizerState;
  update<P>(gradients: P, state: OptimizerState, params: P, extras?: UpdateExtras): [updates: P, state: OptimizerState];
  /** @internal It multiplies its updates by `factor` of the extras. */
  readonly takesFactor?: boolean;
}

/** An optimiser that prints as this text, and is otherwise as it was. */
export function printedAs<O extends Optimizer>(text: string, optimizer: O): O {
  const show = { value: () => text, enumerable: false };
  return Object.defineProperties(optimizer, { toString: show, [Symbol.for("nodejs.util.inspect.custom")]: show });
}

/** An optimiser that multiplies its updates by `factor` of the extras, or does not. The mark is none of its methods: it is not listed. */
export const takingFactor = <O extends Optimizer>(takesFactor: boolean, optimizer: O): O =>
  Object.defineProperty(optimizer, "takesFactor", { value: takesFactor, enumerable: false });

/** An optimiser in words, for checkpoints and for those that hold it. */
export const describedOptimizer = (optimizer: Optimizer): string =>
  Object.hasOwn(optimizer, "toString") ? String(optimizer) : "a transform";

/** Options in words, for `printedAs`: those that are set. */
export function shownOptions(options: object): string {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return given.map(([name, value]) => `, ${name}: ${shown(value)}`).join("");
}

/** Transforms one after the other: `chain(clipByGlobalNorm(1), adamw(1e-3))`. The state has theirs as "0", "1" … */
export function chain(...transforms: readonly Optimizer[]): Optimizer {
  for (const each of transforms) checkOptimizer("chain", each);
  const last = transforms.length - 1;
  const text = `chain(${transforms.map(describedOptimizer).join(", ")})`;
  const made: Optimizer = {
    init: (params) => Object.fromEntries(transforms.map((each, i) => [String(i), each.init(params)])),
    update(gradients, state, params, extras) {
      let updates = gradients;
      const next = transforms.map((each, i) => {
        const own = i === last ? extras : { ...extras, factor: undefined };
        const [shaped, after] = each.update(updates, stateIn("chain", state, String(i)), params, own);
        updates = shaped;
        return [String(i), after] as const;
      });
      return [updates, Object.fromEntries(next)];
    },
  };
  return printedAs(text, takingFactor(transforms[last]?.takesFactor === true, made));
}

/** The parameters with their updates added, in the dtypes of the parameters. */
export function applyUpdates<P>(params: P, updates: P): P {
  const flat = flatParams("applyUpdates", params);
  const added = besideParams("applyUpdates", "the updates", flat, updates);
  return unflatten(
    flat.structure,
    flat.leaves.map((p, i) => {
      const sum = p.add(added[i] as Tensor);
      return sum.dtype === p.dtype ? sum : sum.cast(p.dtype);
    }),
  ) as P;
}

export function checkOptimizer(operation: string, value: unknown): void {
  const { init, update } = (value ?? {}) as Partial<Optimizer>;
  if (typeof init === "function" && typeof update === "function") return;
  throw new ArgumentError(
    `${operation}: takes optimisers and gradient transforms, as adam(1e-3), not ${shown(value)}.`,
  );
}

/** Parameters as a list, with their paths. */
export interface FlatParams {
  readonly leaves: readonly Tensor[];
  readonly structure: TreeStructure;
  /** As in `encoder.dense0.weights`. */
  readonly paths: readonly string[];
}

/** The tensors of a tree of parameters. All are floats. */
export function flatParams(operation: string, params: unknown): FlatParams {
  if (params === undefined) {
    throw new ArgumentError(
      `${operation}: the parameters are undefined; write init(params), and update(gradients, state, params).`,
    );
  }
  const { leaves, structure } = flattenTensors(params, `${operation}, the parameters`);
  const paths = leafPaths(structure);
  leaves.forEach((leaf, i) => {
    if (isFloat(leaf.dtype)) return;
    throw new DTypeError(
      `${operation}: the parameter ${paths[i]} is ${leaf.dtype}; parameters that are trained are floats.`,
    );
  });
  return { leaves, structure, paths };
}

/** The tensors of a tree like that of the parameters: gradients, updates, or a part of the state. */
export function besideParams(
  operation: string,
  what: string,
  flat: FlatParams,
  tree: unknown,
  hasSameShapes = true,
): Tensor[] {
  const beside = leavesBeside(flat.structure, tree, 2, `${operation}, ${what} beside the parameters`);
  beside.forEach((leaf, i) => {
    const { shape } = flat.leaves[i] as Tensor;
    if (!isTensor(leaf)) {
      throw new ArgumentError(`${operation}: ${what} have no tensor at ${flat.paths[i]}, but ${shown(leaf)}.`);
    }
    if (!hasSameShapes || isSameShape(leaf.shape, shape)) return;
    throw new ShapeError(
      `${operation}: ${what} have shape ${formatShape(leaf.shape)} at ${flat.paths[i]}, the parameter ${formatShape(shape)}.`,
    );
  });
  return beside as Tensor[];
}

const isSameShape = (a: Shape, b: Shape): boolean => a.length === b.length && a.every((extent, i) => extent === b[i]);

/** A part of an optimiser's state. */
export function partOf(operation: string, state: OptimizerState, name: string): Tensor | OptimizerState {
  if (typeof state === "object" && state !== null && !isTensor(state) && Object.hasOwn(state, name)) {
    return state[name] as Tensor | OptimizerState;
  }
  throw new ArgumentError(`${operation}: the state has no "${name}"; give the state that init of this optimiser made.`);
}

/** The state of an optimiser inside another one's. */
export const stateIn = (operation: string, state: OptimizerState, name: string): OptimizerState =>
  partOf(operation, state, name) as OptimizerState;

/** A scalar of an optimiser's state. */
export function scalarIn(operation: string, state: OptimizerState, name: string): Tensor {
  const found = partOf(operation, state, name);
  if (isTensor(found) && found.rank === 0) return found;
  throw new ArgumentError(
    `${operation}: "${name}" of the state is no scalar; give the state that init of this optimiser made.`,
  );
}

/** The dtype that an optimiser computes in and keeps averages in: f32 for anything narrower. */
export const wideDType = (dtype: DType): DType => (isNarrowFloat(dtype) ? "f32" : dtype);

/** A tensor in at least f32. */
export const widened = (x: Tensor): Tensor => (isNarrowFloat(x.dtype) ? x.cast("f32") : x);

/** The dtype of scalars that all parameters share: that of the widest parameter, f32 at least. */
export function scalarDType(leaves: readonly Tensor[]): DType {
  return leaves.some(({ dtype }) => dtype === "f64") ? "f64" : "f32";
}
