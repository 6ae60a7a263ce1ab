/**
 * A fitted model: what was learned, as a plain tree of tensors, with the settings it was learned under and the methods of its kind.
 * Models are parts of trees, so `jit`, `vmap` and `grad` take and return them, and files hold them. `estimator` (beside this
 * file) makes them; nothing unfitted can predict.
 */
import { formatShape } from "../../core/shape.js";
import { registerClass } from "../../core/tree.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import { leaves } from "../../transforms/tree.js";
import { takenApart } from "./kinds.js";
import { type Features, numberSamples, type SampleReader } from "./samples.js";
import type { Label } from "./targets.js";

/** Learned tensors by name, nested as the model likes; null for what it has not. */
export interface LearnedTree {
  readonly [name: string]: Tensor | LearnedTree | readonly LearnedTree[] | null;
}

/** Facts about a fit besides its tensors. */
export interface Facts {
  readonly features: Features;
  /** The classes of a classification, in order; null elsewhere. */
  readonly classes: readonly Label[] | null;
}

/** The part of a model that does not depend on its kind. */
export interface Fitted<L = LearnedTree, O = object> {
  /** The estimator's name: "ridge". */
  readonly kind: string;
  /** What was learned. */
  readonly learned: L;
  /** The settings it was learned under. */
  readonly options: O;
  /** The columns it was fitted with. */
  readonly features: Features;
  /** The classes of a classification, in order; null elsewhere. */
  readonly classes: readonly Label[] | null;
}

/** A function of a model and more: a method, once it is bound. */
export type Method = (model: never, ...rest: never[]) => unknown;

/** The methods of a kind, as models have them. */
export type Bound<M> = {
  readonly [K in keyof M]: M[K] extends (model: never, ...rest: infer A) => infer R ? (...rest: A) => R : never;
};

/** A fitted model with its methods. */
export type Model<L, O, M> = Fitted<L, O> & Bound<M>;

/** Makes models of a kind. */
export type ModelMaker<L, O, M> = (learned: L, options: O, facts: Facts) => Model<L, O, M>;

/** A model as made here. @internal for files */
export class FittedModel implements Fitted<unknown, object> {
  constructor(
    readonly kind: string,
    readonly learned: unknown,
    readonly options: object,
    /** Facts besides tensors. */
    readonly facts: Facts,
  ) {
    takenApart("model", kind, this, () => ({ learned, options, features: facts.features, classes: facts.classes }));
  }

  /** How samples become a matrix; a kind's own on its prototype. */
  get sampleReader(): SampleReader {
    return numberSamples;
  }

  get features(): Features {
    return this.facts.features;
  }

  get classes(): readonly Label[] | null {
    return this.facts.classes;
  }

  toString(): string {
    const options = Object.entries(this.options).map(([name, value]) => `${name}: ${settingText(value)}`);
    const learned = Object.entries(this.learned as LearnedTree).map(([name, value]) => `${name} ${learnedText(value)}`);
    return `${this.kind}(${options.length > 0 ? `{ ${options.join(", ")} }` : ""}), fitted: ${learned.join(", ")}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

const settingText = (value: unknown): string =>
  isTensor(value)
    ? `tensor ${formatShape(value.shape)}`
    : typeof value === "function"
      ? "function"
      : JSON.stringify(value);

function learnedText(value: LearnedTree[string]): string {
  if (value === null) return "none";
  if (isTensor(value)) return formatShape((value as Tensor).shape);
  return `(${leaves(value).length} tensors)`;
}

/** The class of a kind: its methods on the prototype, and its rules as a part of trees. */
export function modelMaker<L, O extends object, M extends Readonly<Record<string, Method>>>(
  kind: string,
  methods: M,
  reader: SampleReader<O> = numberSamples as SampleReader<O>,
  lacks: (options: O) => readonly string[] = () => [],
): ModelMaker<L, O, M> {
  class OfKind extends FittedModel {}
  for (const [name, method] of Object.entries(methods)) {
    const bound = function (this: unknown, ...rest: unknown[]) {
      return (method as (model: unknown, ...rest: unknown[]) => unknown)(this, ...rest);
    };
    Object.defineProperty(OfKind.prototype, name, { value: bound, writable: true, configurable: true });
  }
  Object.defineProperty(OfKind.prototype, "sampleReader", { value: reader });
  const make = (learned: unknown, options: object, facts: Facts): FittedModel => {
    const model = new OfKind(kind, learned, options, facts);
    for (const name of lacks(options as O)) Object.defineProperty(model, name, { value: undefined });
    return model;
  };
  registerClass<OfKind, { readonly plain: object; readonly facts: Facts }>(OfKind, {
    name: kind,
    // Settings may be tensors: penalties that are mapped over.
    children: ({ learned, options }) => ({ learned, options: tensorsOf(options) }),
    data: ({ options, facts }) => ({ plain: plainOf(options), facts }),
    rebuild: ({ learned, options }, { plain, facts }) =>
      make(learned, { ...plain, ...(options as object) }, facts) as OfKind,
  });
  return make as unknown as ModelMaker<L, O, M>;
}

const tensorsOf = (options: object): object =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => isTensor(value)));

const plainOf = (options: object): object =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => !isTensor(value)));
