/**
 * Estimators one after the other: samples go through each transformer to the last step, whose methods the pipeline's model has. Steps are
 * fitted to the training samples alone, so that nothing of the test samples leaks into them in a cross-validation.
 */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { registerClass } from "../../core/tree.js";
import { Run } from "../../runs/run.js";
import type { Tensor } from "../../tensor/index.js";
import { changedOption } from "../core/changed-options.js";
import type { Estimator, FitOptions, FitProgress } from "../core/estimator.js";
import { registerKind, takenApart } from "../core/kinds.js";
import type { Fitted } from "../core/model.js";
import { listOfParts } from "../core/parts.js";
import type { Features, Samples } from "../core/samples.js";
import type { Label } from "../core/targets.js";
import { withTimeLeft } from "../core/time-left.js";
import { forwardMethods, type MethodsOf } from "./forwarded.js";
import {
  type AnyEstimator,
  checkEstimator,
  type FittedTransformer,
  fittedAndTransformed,
  fittedWithin,
  optionsAfter,
  somePartTells,
  transformerOptions,
  transforming,
} from "./steps.js";

export type { AnyEstimator } from "./steps.js";

type ModelOf<E> = E extends Estimator<infer _Y, infer Mo, infer _O> ? Mo : never;
type TargetsOf<E> = E extends Estimator<infer Y, infer _Mo, infer _O> ? Y : never;
type LastOf<S extends readonly unknown[]> = S extends readonly [...unknown[], infer L] ? L : never;

/** The model of a pipeline: the fitted steps, and the methods of the last. */
export type PipelineModel<S extends readonly AnyEstimator[]> = {
  readonly kind: "pipeline";
  /** The fitted steps, in their order. */
  readonly steps: { readonly [K in keyof S]: ModelOf<S[K]> };
  /** The columns that go into the first step. */
  readonly features: Features;
  /** The classes that the last step predicts; null where it does not. */
  readonly classes: readonly Label[] | null;
} & MethodsOf<ModelOf<LastOf<S>>>;

class FittedPipeline {
  readonly kind = "pipeline";
  constructor(readonly steps: readonly FittedTransformer[]) {
    takenApart("model", "pipeline", this, () => ({ steps }));
    forwardMethods(this, steps.at(-1) as object, (samples) => this.before(samples));
    if ("inverseTransform" in this)
      Object.defineProperty(this, "inverseTransform", { value: (x: Samples) => this.back(x) });
  }

  /** The columns that go into the first step. */
  get features(): Features {
    return (this.steps[0] as unknown as Fitted).features;
  }

  /** The classes that the last step predicts; null where it does not. */
  get classes(): readonly Label[] | null {
    return (this.steps.at(-1) as unknown as Fitted).classes;
  }

  /** Samples as the last step takes them. */
  private before(samples: Samples): Samples {
    return this.steps.slice(0, -1).reduce<Samples>((x, step) => step.transform(x), samples);
  }

  private back(samples: Samples): Samples {
    return this.steps.reduceRight<Samples>((x, step) => {
      const { inverseTransform } = step as unknown as { inverseTransform?(x: Samples): Tensor };
      if (!inverseTransform) throw new ArgumentError(`pipeline: ${String(step)} cannot be undone.`);
      return inverseTransform.call(step, x);
    }, samples);
  }

  toString(): string {
    return `pipeline of ${this.steps.map(String).join(" → ")}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }
}

registerClass<FittedPipeline>(FittedPipeline, {
  name: "pipeline",
  children: ({ steps }) => ({ steps }),
  rebuild: ({ steps }) => new FittedPipeline(steps as readonly FittedTransformer[]),
});

/** Options of the steps, or others in their place, by the place of the step: `pipeline(…).with({ 1: { alpha: 10 } })`. */
export type PipelineOptions = Readonly<Record<number, object>>;

/** `pipeline(standardScaler(), ridge())`: an estimator whose samples go through all steps. */
export function pipeline<const S extends readonly [...AnyEstimator[], AnyEstimator]>(
  ...steps: S
): Estimator<TargetsOf<LastOf<S>>, PipelineModel<S>, PipelineOptions> {
  if (steps.length === 0) throw new ArgumentError("pipeline: no steps, as in pipeline(standardScaler(), ridge()).");
  steps.forEach((step, place) => {
    checkEstimator(`pipeline: step ${place}`, step, "pipeline(standardScaler(), ridge())");
  });
  type Result = Estimator<TargetsOf<LastOf<S>>, PipelineModel<S>, PipelineOptions>;
  const made: Result = {
    kind: "pipeline",
    predictsLabels: (steps.at(-1) as AnyEstimator).predictsLabels,
    takesWeights: (steps.at(-1) as AnyEstimator).takesWeights,
    allowsMissing: (steps[0] as AnyEstimator).allowsMissing,
    settings: steps.flatMap(({ settings = [] }, place) => settings.map((name) => `${place}.${name}`)),
    options: Object.fromEntries(steps.map((step, place) => [place, step.options as object])),
    fit: (samples, targets, options: FitOptions = {}) =>
      new Run(() => withTimeLeft(fitting<S>(steps, samples, targets, options, null))),
    ...(somePartTells(steps)
      ? {
          async fitTransform(samples: Samples, targets: TargetsOf<LastOf<S>>, options: FitOptions = {}) {
            const columns: Tensor[] = [];
            const model = await new Run(() => withTimeLeft(fitting<S>(steps, samples, targets, options, columns)));
            return { model, transformed: columns[0] as Tensor };
          },
        }
      : {}),
    fitTensors(samples, targets, options: FitOptions = {}) {
      const fitted: FittedTransformer[] = [];
      let x: Tensor = samples;
      let given = options;
      for (const [place, step] of steps.entries()) {
        const isLast = place === steps.length - 1;
        const model = step.fitTensors(
          x,
          targets,
          isLast ? given : transformerOptions(step, given),
        ) as FittedTransformer;
        fitted.push(model);
        if (isLast) break;
        x = changing(step, place, model).transform(x);
        given = optionsAfter(options, model, x);
      }
      return new FittedPipeline(fitted) as unknown as PipelineModel<S>;
    },
    with(others) {
      const stray = Object.keys(others).find((place) => !(place in steps));
      if (stray !== undefined) {
        throw new ArgumentError(
          `pipeline.with: there is no step ${shown(stray)}; there are ${steps.length}, from 0 on.`,
        );
      }
      const changed = steps.map((step, place) => (place in others ? changedOption(step, others[place]) : step));
      return pipeline(...(changed as unknown as S)) as unknown as Result;
    },
  };
  return takenApart("estimator", "pipeline", made, () => ({ steps }));
}

registerKind("pipeline", {
  estimator: ({ steps }) => pipeline(...(listOfParts("pipeline", "estimator", steps) as [AnyEstimator])),
  model: ({ steps }) => new FittedPipeline(listOfParts("pipeline", "model", steps) as readonly FittedTransformer[]),
});

/** Fits step after step; its progress counts them. `onto`: where the samples go as the last step makes them, if they are wanted. */
async function* fitting<S extends readonly AnyEstimator[]>(
  steps: S,
  samples: Samples,
  targets: unknown,
  options: FitOptions,
  onto: Tensor[] | null,
): AsyncGenerator<FitProgress, PipelineModel<S>> {
  const fitted: FittedTransformer[] = [];
  let x: Samples = samples;
  let given = options;
  for (const [place, step] of steps.entries()) {
    options.signal?.throwIfAborted();
    const isLast = place === steps.length - 1;
    const at = { step: place, steps: steps.length };
    if (isLast && !onto) fitted.push(yield* fittedWithin(step, x, targets, given, at));
    else {
      const own = transformerOptions(step, given);
      const checked = (model: FittedTransformer) => changing(step, place, model);
      const { model, transformed } = yield* fittedAndTransformed(step, x, targets, own, at, checked);
      fitted.push(model);
      onto?.splice(0, 1, transformed);
      given = optionsAfter(options, model, transformed);
      x = transformed;
    }
    yield { step: place + 1, steps: steps.length };
  }
  return new FittedPipeline(fitted) as unknown as PipelineModel<S>;
}

const changing = (step: AnyEstimator, place: number, model: FittedTransformer): FittedTransformer =>
  transforming(`pipeline: step ${place}, ${step.kind},`, model, "only the last step may predict");
