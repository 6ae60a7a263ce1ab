/** Methods of a fitted model on a model that holds it: pipelines have those of their last step, searches those of the best model. */
import type { Samples } from "../core/samples.js";

/** The methods of a model that take samples first. */
export type MethodsOf<Mo> = {
  readonly [K in keyof Mo as Mo[K] extends (samples: Samples, ...rest: never[]) => unknown ? K : never]: Mo[K];
};

/** Gives `holder` the methods of `model`. `before`: how samples are changed on their way. */
export function forwardMethods(holder: object, model: object, before: (samples: Samples) => Samples = (x) => x): void {
  const methods = model as Readonly<Record<string, (...all: unknown[]) => unknown>>;
  for (const name of methodNames(model)) {
    const method = (...given: unknown[]) => {
      // Methods that are called with nothing are about the model.
      if (given.length === 0) return methods[name]?.call(model);
      return methods[name]?.call(model, before(given[0] as Samples), ...given.slice(1));
    };
    Object.defineProperty(holder, name, { value: method, configurable: true });
  }
}

/** Names of the methods of a model: of its kind, on the prototype, less those that it lacks, and those that it has of another. */
const methodNames = (model: object): string[] =>
  [model, Object.getPrototypeOf(model) as object].flatMap((holder) =>
    Object.entries(Object.getOwnPropertyDescriptors(holder))
      .filter(([name, { value }]) => typeof value === "function" && !RESERVED.has(name))
      .map(([name]) => name)
      .filter((name) => (model as Readonly<Record<string, unknown>>)[name] !== undefined),
  );

const RESERVED: ReadonlySet<string> = new Set(["constructor", "toString", "before", "back"]);
