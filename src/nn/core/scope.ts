/**
 * The scope in which a layer runs: the place of its parameters and state in the trees of the model. A layer is written once,
 * and the same lines initialise it and apply it: `scope.parameter` makes the parameter in an initialising run, and finds it in
 * an applying one. So shapes are inferred from the inputs that arrive. layer.ts starts runs.
 */
import type { DType } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, type Shape, sameShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { foldIn, type Key } from "../../random/index.js";
import { isTensor, type Tensor, zeros } from "../../tensor/index.js";
import { stopGradient } from "../../transforms/grad.js";
import { LOSSES } from "./auxiliary-loss.js";
import { fansOf, type Initializer } from "./initializer.js";
import { type Policy, toDType } from "./policy.js";
import { findAt, type GrowingTree, isSubtree, pathText, putAt, type VariableTree } from "./variables.js";

/** Sees the layers of a run as they are called. */
export interface Watcher {
  /** A layer was called. May give another output in place of the layer's. */
  called(call: {
    readonly scope: Scope;
    readonly kind: string;
    readonly input: unknown;
    readonly output: unknown;
  }): unknown;
}

/** Everything that the scopes of one run share. */
export interface ModelRun {
  readonly isInitializing: boolean;
  readonly isTraining: boolean;
  /** For first values or, in an applying run, for dropout and its kin; null where none was given. */
  readonly key: Key | null;
  /** Grows in an initialising run. */
  readonly params: VariableTree;
  readonly state: VariableTree;
  /** State as layers have set it in this run. */
  readonly newState: GrowingTree;
  readonly watchers: readonly Watcher[];
  /** The number of keys that each scope has asked for. */
  readonly draws: Map<string, number>;
  /** In an initialising run that makes caches for generation: the most tokens that they hold. Null otherwise. */
  readonly cacheCapacity: number | null;
  /** In an initialising run: parameters have their shapes and no values, for runs that look at shapes only. */
  readonly isForShapes: boolean;
  /** Paths of the parameters that frozen layers used. */
  readonly frozen: Set<string>;
}

/** Settings that a layer hands down to its parts. */
export interface Inherited {
  readonly policy: Policy;
  readonly isFrozen: boolean;
}

/**
 * The fans of a parameter, for initialisers that keep the size of what passes through: those of its shape, [.., inputs, results], unless
 * told. And the dtype that it is used in.
 */
export interface ParameterOptions {
  readonly fanIn?: number;
  readonly fanOut?: number;
  /** Instead of the policy's: statistics stay in f32, for example. */
  readonly dtype?: DType;
}

export class Scope {
  /** Multiply-adds of this layer, parts excluded. */
  multiplyAdds = 0;

  constructor(
    readonly run: ModelRun,
    readonly path: readonly string[],
    readonly kind: string,
    readonly inherited: Inherited,
  ) {}

  get isTraining(): boolean {
    return this.run.isTraining;
  }

  get isInitializing(): boolean {
    return this.run.isInitializing;
  }

  /** The layer as messages name it: `dense "encoder.dense0"`. */
  get label(): string {
    return this.path.length === 0 ? this.kind : `${this.kind} "${pathText(this.path)}"`;
  }

  /** The parameter of this name. In an initialising run it is made, unless an earlier call of the layer has made it. */
  parameter(name: string, shape: Shape, initializer: Initializer, options: ParameterOptions = {}): Tensor {
    const { run, inherited } = this;
    let found = this.find(run.params, name);
    if (found === undefined && run.isInitializing) {
      found = this.made(name, shape, run.isForShapes ? withoutValues : initializer, options);
      putAt(run.params as GrowingTree, this.path, name, found);
    }
    if (found === undefined) throw this.missing("parameter", name, run.params);
    this.checkShape("parameter", name, found.shape, shape);
    const used = toDType(found, options.dtype ?? inherited.policy.compute);
    if (!inherited.isFrozen) return used;
    run.frozen.add(pathText([...this.path, name]));
    return stopGradient(used);
  }

  /** State of this name, as it was before the run or as the layer has set it since. */
  state(name: string, shape: Shape, initializer: Initializer): Tensor {
    const { run } = this;
    let found = this.find(run.newState, name) ?? this.find(run.state, name);
    if (found === undefined && run.isInitializing) {
      found = this.made(name, shape, initializer, {});
      putAt(run.newState, this.path, name, found);
    }
    if (found === undefined) throw this.missing("state", name, run.state);
    this.checkShape("state", name, found.shape, shape);
    return found;
  }

  /** State of this name if there is any, and whether this run has set it already. */
  stateIfAny(name: string): { readonly value: Tensor; readonly isNew: boolean } | null {
    const set = this.find(this.run.newState, name);
    const value = set ?? this.find(this.run.state, name);
    return value === undefined ? null : { value, isNew: set !== undefined };
  }

  /** Sets state for the runs that come. Gradients do not go through it. */
  setState(name: string, value: Tensor): void {
    putAt(this.run.newState, this.path, name, stopGradient(value));
  }

  /**
   * Keeps a loss of the layer's own, a scalar, among the state, for training to add to its loss (auxiliary-loss.ts). Gradients go through it; the
   * losses of several calls in one run add up. In an initialising run it is 0.
   */
  setLoss(name: string, value: Tensor): void {
    const losses = this.inside(LOSSES, LOSSES);
    if (this.isInitializing) {
      losses.state(name, [], (key, shape) => zeros(shape, { dtype: value.dtype, device: key.device }));
      return;
    }
    const earlier = losses.find(this.run.newState, name);
    putAt(this.run.newState, losses.path, name, earlier ? earlier.add(value) : value);
  }

  /** A key of this layer's own, another one for every call. */
  key(purpose: string): Key {
    const text = pathText(this.path);
    const count = this.run.draws.get(text) ?? 0;
    this.run.draws.set(text, count + 1);
    return foldIn(this.keyOfRun(purpose), hashOf(`${text} ${count}`));
  }

  /** Notes work for `summary`. */
  countMultiplyAdds(count: number): void {
    this.multiplyAdds += count;
  }

  /** The scope of a part. */
  inside(name: string, kind: string, inherited: Inherited = this.inherited): Scope {
    return new Scope(this.run, [...this.path, name], kind, inherited);
  }

  private made(name: string, shape: Shape, initializer: Initializer, options: ParameterOptions): Tensor {
    const fans = fansOf(shape);
    const { fanIn = fans.fanIn, fanOut = fans.fanOut } = options;
    const key = foldIn(this.keyOfRun("init"), hashOf(pathText([...this.path, name])));
    const { parameters: dtype } = this.inherited.policy;
    const values: unknown = initializer(key, shape, { dtype, fanIn, fanOut });
    if (isTensor(values) && sameShape(values.shape, shape)) return values;
    const what = isTensor(values) ? `a tensor of ${formatShape(values.shape)}` : shown(values);
    const remedy =
      typeof values === "function"
        ? "Call the function that makes it, as in initializers.orthogonal()."
        : "An initializer is a function of a key, a shape and { dtype, fanIn, fanOut }.";
    throw new ArgumentError(
      `${this.label}: the initializer of "${name}" gave ${what}, not a tensor of ${formatShape(shape)}. ${remedy}`,
    );
  }

  private keyOfRun(purpose: string): Key {
    if (this.run.key) return this.run.key;
    throw new ArgumentError(
      `${this.label}: ${purpose} needs random numbers; give a key, as in apply(params, x, { training: true, key }).`,
    );
  }

  private find(tree: VariableTree, name: string): Tensor | undefined {
    const found = findAt(tree, [...this.path, name]);
    return found === undefined || isSubtree(found) ? undefined : found;
  }

  private missing(what: "parameter" | "state", name: string, tree: VariableTree): ArgumentError {
    const here = findAt(tree, this.path);
    const names = here !== undefined && isSubtree(here) ? Object.keys(here).join(", ") : "";
    const there = names ? `there are ${names}` : `there is nothing under "${pathText(this.path)}"`;
    const remedy =
      what === "state"
        ? "Give the state that init made: apply(params, x, { state })."
        : "Give the params that init made for this model.";
    return new ArgumentError(`${this.label}: no ${what} "${name}"; ${there}. ${remedy}`);
  }

  private checkShape(what: string, name: string, found: Shape, needed: Shape): void {
    if (sameShape(found, needed)) return;
    throw new ShapeError(
      `${this.label}: its ${what} "${name}" has shape ${formatShape(found)}, but this input needs ${formatShape(needed)}.`,
    );
  }
}

/** Parameters of runs that look at shapes only. */
const withoutValues: Initializer = (key, shape, { dtype }) => zeros(shape, { dtype, device: key.device }) as Tensor;

/** A 32-bit number for a path, by FNV-1a and a final mix: neighbours in the alphabet get unrelated keys. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
