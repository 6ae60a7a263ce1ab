/**
 * A layer: a value that knows what it computes, and from which parameters. `layer` makes one from a function of a scope and an
 * input; `init` runs that function to make parameters, `apply` to compute. Both build a graph and compute nothing by
 * themselves, so initialising costs no more than the parameters. Models are layers made of parts (sequential.ts, block.ts).
 */
import { checkFunction, checkOptions, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError, PumiceError, ShapeError, TraceError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import type { Key } from "../../random/index.js";
import { checkKey } from "../../random/key.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import { flatten, leaves } from "../../transforms/tree.js";
import { exampleOf, type InputSpec, nullsOf } from "./input-spec.js";
import { shownLayer } from "./layer-text.js";
import { checkPolicy, PLAIN_POLICY, type Policy, toDType } from "./policy.js";
import { type Inherited, type ModelRun, Scope, type Watcher } from "./scope.js";
import { checkIndependent, SMALL, WIDE } from "./unknown-extents.js";
import { emptyTree, finished, pathText, type Variables, type VariableTree } from "./variables.js";
import { wrongInput } from "./wrong-input.js";

/** Options of `apply`. */
export interface ApplyOptions {
  /** Dropout drops, and batch norm takes the statistics of the batch. */
  readonly training?: boolean;
  /** For layers that draw random numbers while training. */
  readonly key?: Key;
  /** State as `init` made it, or as an earlier step gave it. */
  readonly state?: VariableTree;
  /** Functions that see, and may replace, the outputs of layers, by the layer's path; "*" sees all. */
  readonly hooks?: Hooks;
}

const APPLY: OptionKinds<ApplyOptions> = { training: "flag", key: "any", state: "any", hooks: "any" };

/** A function that sees a layer's output; what it returns, if anything, takes the output's place. */
export type Hook = (output: unknown, path: string, kind: string) => unknown;
/** Hooks by the paths of layers. */
export type Hooks = Readonly<Record<string, Hook>>;

/** Any layer, whatever it takes and gives. */
export type AnyLayer = Layer<never, unknown>;

/** A layer's definition. */
export interface Definition<In, Out> {
  readonly kind: string;
  /** Options as the user gave them: shown in summaries and written to files. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly parts: Readonly<Record<string, AnyLayer>>;
  run(scope: Scope, input: In): Out;
  /** The function that the layer was made with, where another is around it (`around`). */
  readonly ownRun?: (scope: Scope, input: In) => Out;
  /** The same layer of other parts; only for layers that have parts. */
  withParts?(parts: Readonly<Record<string, AnyLayer>>): Definition<In, Out>;
  /** The same layer with some options changed, for layers that others wrap: bidirectional needs one in each direction. */
  withOptions?(changes: Readonly<Record<string, unknown>>): Definition<In, Out>;
}

/** Settings that any layer may have. */
interface Modifiers {
  readonly name: string | null;
  readonly policy: Partial<Policy>;
  readonly isFrozen: boolean | null;
}

const PLAIN: Modifiers = { name: null, policy: {}, isFrozen: null };

/** Functions of models take them first. */
export function checkLayer(operation: string, given: unknown): void {
  if (given instanceof Layer) return;
  throw new ArgumentError(`${operation}: takes a layer or a model, not ${shown(given)}.`);
}

/** A layer or a model: what it computes, from which parameters. `layer`, `sequential` and `block` make one. */
export class Layer<In = Tensor, Out = Tensor> {
  readonly kind: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly parts: Readonly<Record<string, AnyLayer>>;

  constructor(
    /** @internal */
    readonly definition: Definition<In, Out>,
    /** @internal Name, dtypes and whether it is frozen, for files. */
    readonly modifiers: Modifiers = PLAIN,
  ) {
    this.kind = definition.kind;
    this.options = definition.options;
    this.parts = definition.parts;
  }

  /** The name that the user gave, or null: then the model that it is part of finds one. */
  get name(): string | null {
    return this.modifiers.name;
  }

  /** The same layer under a name of the user's: `dense(10).named("head")`. */
  named(name: string): Layer<In, Out> {
    checkName("named", name);
    return new Layer(this.definition, { ...this.modifiers, name });
  }

  /** The same layer, whose parameters are not trained: gradients with respect to them are zero. */
  frozen(isFrozen = true): Layer<In, Out> {
    return new Layer(this.definition, { ...this.modifiers, isFrozen });
  }

  /** The same layer in other dtypes; its parts inherit them: `model.withDTypes({ compute: "bf16", output: "f32" })`. */
  withDTypes(policy: Partial<Policy>): Layer<In, Out> {
    checkPolicy(policy);
    return new Layer(this.definition, { ...this.modifiers, policy: { ...this.modifiers.policy, ...policy } });
  }

  /** @internal The same layer, its name and dtypes, with some options changed; only for kinds that say how. */
  withOptions(changes: Readonly<Record<string, unknown>>): Layer<In, Out> {
    const changed = this.definition.withOptions?.(changes);
    if (changed) return new Layer(changed, this.modifiers);
    throw new ArgumentError(`The options of ${this.kind} cannot be changed; make another layer.`);
  }

  /** Parameters and state for inputs of this shape: `model.init(key, [null, 784])`, or `model.init(key, batch)`. */
  init(key: Key, input: InputSpec): Variables {
    checkKey(key, "init", "");
    const { params, newState } = this.initialized(key, input, []);
    checkIndependent(input, { params, newState }, (extent) => this.shapesOnly(key, input, extent));
    return { params: realized(finished(params as never)), state: realized(finished(newState)) };
  }

  /** The output for an input: a pure function of its arguments, which all transforms take. */
  apply(params: VariableTree, input: In, options: ApplyOptions = {}): Out {
    return this.applyWithState(params, input, options)[0];
  }

  /** The output, and the state for the next step. */
  applyWithState(params: VariableTree, input: In, options: ApplyOptions = {}): [output: Out, state: VariableTree] {
    const { output, state } = this.applied(params, input, options);
    return [output, state];
  }

  /** @internal The output, the next state, and the paths of the parameters that frozen layers used. */
  applied(
    params: VariableTree,
    input: In,
    options: ApplyOptions,
  ): { readonly output: Out; readonly state: VariableTree; readonly frozen: ReadonlySet<string> } {
    checkOptions("apply", options, APPLY);
    const { training = false, key = null, state = {}, hooks = {} } = options;
    const called = new Set<string>();
    const run: ModelRun = {
      ...EMPTY_RUN,
      isInitializing: false,
      isTraining: training,
      key,
      params,
      state,
      newState: emptyTree(),
      watchers: watchersOf(hooks, called),
      draws: new Map(),
      frozen: new Set(),
    };
    const output = this.call(rootScope(run, this.kind), input);
    for (const path of Object.keys(hooks)) if (!called.has(path)) this.checkHooked(path);
    return { output, state: mergedState(state, finished(run.newState)), frozen: run.frozen };
  }

  /** Throws where a hook that was never called is at no part. Parts that are not called, or computed again, have none to see. */
  private checkHooked(path: string): void {
    if (path === "*" || path === "") return;
    try {
      this.at(path);
    } catch (error) {
      throw error instanceof ArgumentError ? new ArgumentError(`The option hooks: ${error.message}`) : error;
    }
  }

  /** @internal A run that makes parameters; watchers see each layer. With a capacity it makes caches for generation, too. */
  initialized(
    key: Key,
    input: InputSpec,
    watchers: readonly Watcher[],
    cacheCapacity: number | null = null,
  ): ModelRun & { readonly output: Out } {
    const run = { ...initialRun(key), watchers, cacheCapacity };
    const output = this.call(rootScope(run, this.kind), this.exampleFor(key, input) as In);
    return { ...run, output };
  }

  /** @internal An input as an initialising run takes it: null is 1, or more where windows do not fit that. */
  exampleFor(key: Key, input: InputSpec): unknown {
    if (nullsOf(input) !== "others") return exampleOf(input, key.device);
    try {
      this.shapesOnly(key, input, SMALL);
    } catch (error) {
      if (error instanceof ShapeError) return exampleOf(input, key.device, WIDE);
      throw error;
    }
    return exampleOf(input, key.device, SMALL);
  }

  /** An initialising run without values, with `extent` in place of null. */
  private shapesOnly(key: Key, input: InputSpec, extent: number) {
    const kinds = new Map<string, string>();
    const watcher: Watcher = { called: ({ scope, kind }) => void kinds.set(pathText(scope.path), kind) };
    const run = { ...initialRun(key), isForShapes: true, watchers: [watcher] };
    this.call(rootScope(run, this.kind), exampleOf(input, key.device, extent) as In);
    return { ...run, kinds };
  }

  /** @internal Runs the layer in a scope: its own, as the part of a model or as the whole. */
  call(scope: Scope, input: In): Out {
    const { policy, isFrozen } = this.modifiers;
    const inherited: Inherited = {
      policy: { ...scope.inherited.policy, ...policy },
      isFrozen: isFrozen ?? scope.inherited.isFrozen,
    };
    const own = new Scope(scope.run, scope.path, this.kind, inherited);
    const isOwn = "function" in this.options || Object.keys(this.parts).length > 0;
    return located(own, input, isOwn, () => {
      const converted = converting(input, inherited.policy.compute);
      let output: unknown = this.definition.run(own, converted);
      if (policy.output) output = converting(output, policy.output);
      for (const watcher of scope.run.watchers) {
        const other = watcher.called({ scope: own, kind: this.kind, input: converted, output });
        if (other !== undefined) output = other;
      }
      return output as Out;
    });
  }

  /** @internal The same layer, with another function around the one that computes it. */
  around(wrap: (run: Definition<In, Out>["run"]) => Definition<In, Out>["run"]): Layer<In, Out> {
    const wrapped = (definition: Definition<In, Out>): Definition<In, Out> => {
      const { withParts, withOptions } = definition;
      return {
        ...definition,
        run: wrap((scope, input) => definition.run(scope, input)),
        ownRun: definition.ownRun ?? definition.run,
        ...(withParts && { withParts: (parts) => wrapped(withParts.call(definition, parts)) }),
        ...(withOptions && { withOptions: (changes) => wrapped(withOptions.call(definition, changes)) }),
      };
    };
    return new Layer(wrapped(this.definition), this.modifiers);
  }

  /** The layer at a path, as in `model.at("encoder.dense0")`. */
  at(path: string): AnyLayer {
    let found = this as unknown as AnyLayer;
    for (const name of path.split(".")) {
      const part = Object.hasOwn(found.parts, name) ? found.parts[name] : undefined;
      if (!part) throw noPart(path, name, found);
      found = part;
    }
    return found;
  }

  /** The same model with another layer at a path. The parameters of the others keep their names. */
  replace(path: string, by: AnyLayer | ((layer: AnyLayer) => AnyLayer)): Layer<In, Out> {
    return this.replaced(path.split("."), by, path);
  }

  private replaced(names: readonly string[], by: Parameters<Layer["replace"]>[1], path: string): Layer<In, Out> {
    const [name, ...rest] = names as [string, ...string[]];
    const part = Object.hasOwn(this.parts, name) ? this.parts[name] : undefined;
    if (!part || !this.definition.withParts) throw noPart(path, name, this as unknown as AnyLayer);
    const next = rest.length > 0 ? part.replaced(rest, by, path) : typeof by === "function" ? by(part) : by;
    if (!(next instanceof Layer)) {
      throw new ArgumentError(
        `replace: takes a layer, or a function of the layer at the path that gives one, not ${shown(next)}.`,
      );
    }
    return new Layer(this.definition.withParts({ ...this.parts, [name]: next as AnyLayer }), this.modifiers);
  }

  /** A tree of kinds and options, by the names of parts. */
  toString(): string {
    return shownLayer(this as unknown as AnyLayer);
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

/** Names of layers are the steps of paths: a full stop in one would make paths ambiguous. */
export function checkName(operation: string, name: string): void {
  if (typeof name === "string" && /^[^\s.]+$/.test(name) && name !== "__proto__") return;
  throw new ArgumentError(
    `${operation}: a layer's name is text without spaces and full stops, as in "head", and not "__proto__"; not ${shown(name)}.`,
  );
}

/** A layer from a function: `layer("scale", {}, (scope, x) => x.mul(scope.parameter("gain", [], nn.ones)))`. */
export function layer<In = Tensor, Out = Tensor>(
  kind: string,
  options: Readonly<Record<string, unknown>>,
  run: (scope: Scope, input: In) => Out,
): Layer<In, Out> {
  checkFunction("layer", run);
  return new Layer<In, Out>({ kind, options, parts: {}, run });
}

const rootScope = (run: ModelRun, kind: string): Scope =>
  new Scope(run, [], kind, { policy: PLAIN_POLICY, isFrozen: false });

/** A run before anything was said about it. */
const EMPTY_RUN = { isForShapes: false, cacheCapacity: null } as const;

const initialRun = (key: Key): ModelRun => ({
  ...EMPTY_RUN,
  isInitializing: true,
  isTraining: false,
  key,
  params: emptyTree(),
  state: {},
  newState: emptyTree(),
  watchers: [],
  draws: new Map(),
  frozen: new Set(),
});

/** Hooks as watchers, which note the paths that they were called at. */
function watchersOf(hooks: Hooks, called: Set<string>): Watcher[] {
  return Object.entries(hooks).map(([path, hook]) => ({
    called: ({ scope, kind, output }) => {
      const own = scope.path.join(".");
      if (path !== "*" && path !== own) return undefined;
      called.add(path);
      const other = hook(output, own, kind);
      if (other === undefined || isTensor(other) || !isTensor(output)) return other;
      throw new ArgumentError(
        `The hook "${path}" gave ${shown(other)} for the tensor of ${scope.label}; return a tensor, or nothing.`,
      );
    },
  }));
}

/** Floating-point tensors of a tree in this dtype. Anything that is no tensor stays. */
function converting<T>(value: T, dtype: Policy["compute"]): T {
  if (dtype === null) return value;
  if (isTensor(value)) return toDType(value, dtype) as T;
  if (typeof value !== "object" || value === null || leaves(value).length === 0) return value;
  const { leaves: all, unflatten } = flatten(value);
  return unflatten(all.map((leaf) => toDType(leaf, dtype)));
}

/** State that the run did not set stays as it was. */
function mergedState(before: VariableTree, after: VariableTree): VariableTree {
  const merged: Record<string, Tensor | VariableTree> = { ...before };
  for (const [name, value] of Object.entries(after)) {
    const old = before[name];
    merged[name] = isTensor(value) || old === undefined || isTensor(old) ? value : mergedState(old, value);
  }
  return merged;
}

/** Computes all parameters in one go. Inside a transform they stay part of its graph. */
function realized<T extends VariableTree>(tree: T): T {
  const all = leaves(tree);
  try {
    for (const leaf of all) leaf.checkReadable();
  } catch (error) {
    if (error instanceof TraceError) return tree;
    throw error;
  }
  for (const leaf of all) leaf.realize();
  return tree;
}

const seen = new WeakSet<Error>();

/** Errors of operations say in which layer they came up. `isOwn`: the layer runs a function of the user's own. */
function located<T>(scope: Scope, input: unknown, isOwn: boolean, run: () => T): T {
  try {
    return run();
  } catch (error) {
    const wrong = error instanceof TypeError ? wrongInput(scope.label, input, isOwn, error) : null;
    if (wrong) {
      seen.add(wrong);
      throw wrong;
    }
    if (error instanceof PumiceError && !seen.has(error)) {
      seen.add(error);
      if (!error.message.includes(scope.label)) {
        const message = `In ${scope.label}: ${error.message}`;
        error.stack = error.stack?.replace(error.message, message);
        error.message = message;
      }
    }
    throw error;
  }
}

function noPart(path: string, name: string, found: AnyLayer): ArgumentError {
  const names = Object.keys(found.parts);
  const there = names.length > 0 ? `its parts are ${names.join(", ")}` : "it has no parts";
  return new ArgumentError(`No layer "${path}": ${found.kind} has no part "${name}"; ${there}.`);
}
