/** Layers of several inputs, or of several outputs: sums, differences, products, joined and split axes, one of two layers. */
import { checkFunction, checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { concat, isTensor, type Parts, type Tensor } from "../../tensor/index.js";
import { cond as choose } from "../../transforms/control.js";
import { type AnyLayer, type Definition, Layer, layer } from "../core/layer.js";
import { Scope } from "../core/scope.js";
import { asLayer, type Step } from "../core/sequential.js";
import {
  emptyTree,
  findAt,
  finished,
  type GrowingTree,
  isSubtree,
  putAt,
  type VariableTree,
} from "../core/variables.js";

/** A layer of several inputs, in a list. */
type Joining = Layer<readonly Tensor[]>;

/** The sum of the inputs: `add().apply({}, [a, b, c])`. */
export const add = (): Joining => folding("add", (a, b) => a.add(b));

/** The first input less all others. */
export const subtract = (): Joining => folding("subtract", (a, b) => a.sub(b));

/** The product of the inputs, element by element. */
export const multiply = (): Joining => folding("multiply", (a, b) => a.mul(b));

const folding = (kind: string, combine: (a: Tensor, b: Tensor) => Tensor): Joining =>
  layer(kind, {}, (_, inputs: readonly Tensor[]) => checkInputs(kind, inputs).reduce(combine));

/** The inputs one after the other along an axis, the last unless told. */
export function concatenate(options: { readonly axis?: number } = {}): Joining {
  checkOptions("concatenate", options, { axis: "number" });
  const { axis = -1 } = options;
  return layer("concatenate", { ...options }, (_, inputs: readonly Tensor[]) =>
    concat([...checkInputs("concatenate", inputs)], { axis }),
  );
}

/** Several outputs: equal parts along an axis, the last unless told, or parts of given sizes, `split({ sizes: [2, 3] })`. */
export function split(parts: Parts, options: { readonly axis?: number } = {}): Layer<Tensor, Tensor[]> {
  checkOptions("split", options, { axis: "number" });
  const { axis = -1 } = options;
  const isParts = typeof parts === "number" || (typeof parts === "object" && parts !== null);
  if (!isParts) throw new ArgumentError(`split: parts are a number, positions or { sizes }, not ${shown(parts)}.`);
  return layer("split", { parts, ...options }, (_, x: Tensor) => x.split(parts, { axis }) as Tensor[]);
}

/**
 * One of two layers, by a function of the input that gives one bool: `cond((x) => x.mean().greater(0), dense(8), dense(8))`. Both give
 * outputs of the same shapes and dtypes.
 */
export function cond<In = Tensor, Out = Tensor>(
  predicate: (x: In) => Tensor,
  whenTrue: Step,
  whenFalse: Step,
): Layer<In, Out> {
  checkFunction("cond", predicate, "the predicate");
  return new Layer(choiceOf<In, Out>(predicate, { whenTrue: asLayer(whenTrue), whenFalse: asLayer(whenFalse) }));
}

const choiceOf = <In, Out>(
  predicate: (x: In) => Tensor,
  parts: Readonly<Record<string, AnyLayer>>,
): Definition<In, Out> => ({
  kind: "cond",
  options: { predicate },
  parts,
  run(scope, input) {
    const branch = (name: string, run: Scope["run"]): Out => {
      const part = parts[name] as unknown as Layer<In, Out>;
      return part.call(new Scope(run, [...scope.path, name], part.kind, scope.inherited), input);
    };
    if (scope.isInitializing) {
      const [no, yes] = [branch("whenFalse", scope.run), branch("whenTrue", scope.run)];
      return choose(
        predicate(input),
        () => yes,
        () => no,
      );
    }
    const before = stateBelow(scope);
    // A branch is traced by itself: state that it sets leaves it as a result.
    let isSet = false;
    const traced = (name: string) => (): { output: Out; state: VariableTree } => {
      const newState = emptyTree();
      const output = branch(name, { ...scope.run, newState });
      const set = treeOrNone(findAt(newState, scope.path));
      isSet ||= Object.keys(set).length > 0;
      return { output, state: updated(before, finished(set as GrowingTree)) };
    };
    const { output, state } = choose(predicate(input), traced("whenTrue"), traced("whenFalse"));
    if (isSet) keepState(scope, [], state);
    return output;
  },
  withParts: (others) => choiceOf(predicate, others),
});

/** State of the layers below a scope, as it is now. */
function stateBelow({ run, path }: Scope): VariableTree {
  const [old, now] = [findAt(run.state, path), findAt(run.newState, path)];
  return updated(treeOrNone(old), finished(treeOrNone(now) as GrowingTree));
}

const treeOrNone = (tree: Tensor | VariableTree | undefined): VariableTree =>
  tree !== undefined && isSubtree(tree) ? tree : {};

function updated(before: VariableTree, after: VariableTree): VariableTree {
  const result: Record<string, Tensor | VariableTree> = { ...before };
  for (const [name, value] of Object.entries(after)) {
    result[name] = isSubtree(value) ? updated(treeOrNone(before[name]), value) : value;
  }
  return result;
}

function keepState(scope: Scope, below: readonly string[], state: VariableTree): void {
  for (const [name, value] of Object.entries(state)) {
    if (isSubtree(value)) keepState(scope, [...below, name], value);
    else putAt(scope.run.newState, [...scope.path, ...below], name, value);
  }
}

function checkInputs(kind: string, inputs: readonly Tensor[]): readonly Tensor[] {
  if (Array.isArray(inputs) && inputs.length > 0 && inputs.every(isTensor)) return inputs;
  throw new ArgumentError(`${kind}: takes a list of tensors, as in apply(params, [a, b]), not ${shown(inputs)}.`);
}
