/** Transformers side by side: all see the same samples, and their columns are laid next to each other. */
import { ArgumentError } from "../../core/errors.js";
import { Run } from "../../runs/run.js";
import { concat, type Tensor } from "../../tensor/index.js";
import { changedOption } from "../core/changed-options.js";
import type { Estimator, FitOptions, FitProgress } from "../core/estimator.js";
import { registerKind, takenApart } from "../core/kinds.js";
import { listOfParts } from "../core/parts.js";
import type { Features, Samples } from "../core/samples.js";
import type { Ignored } from "../core/sorts.js";
import { placeOf } from "../core/sorts.js";
import { withTimeLeft } from "../core/time-left.js";
import { FittedJoined, joinedOf } from "./joined.js";
import {
  type AnyEstimator,
  checkEstimator,
  type FittedTransformer,
  fittedAndTransformed,
  fittedWithin,
  somePartTells,
  transformerOptions,
  transforming,
} from "./steps.js";

/** Options of the transformers, by their place: `featureUnion(…).with({ 1: { degree: 3 } })`. */
export type FeatureUnionOptions = Readonly<Record<number, object>>;

const EXAMPLE = "featureUnion(standardScaler(), pca())";

const isDone = (step: AnyEstimator, place: number, model: FittedTransformer): FittedTransformer =>
  transforming(`featureUnion: step ${place}, ${step.kind},`, model, `all must, as in ${EXAMPLE}`);

function joined(models: readonly FittedTransformer[], x: Tensor): FittedJoined {
  const { features } = models[0] as unknown as { readonly features: Features };
  return new FittedJoined("featureUnion", models, { features, columns: models.map(() => null) }, placeOf(x).place);
}

/** `featureUnion(standardScaler(), pca())`: the columns of all transformers of the same samples. */
export function featureUnion(
  ...steps: readonly [AnyEstimator, ...AnyEstimator[]]
): Estimator<Ignored, FittedJoined, FeatureUnionOptions> {
  if (steps.length === 0) throw new ArgumentError(`featureUnion: takes estimators, as in ${EXAMPLE}.`);
  steps.forEach((step, place) => {
    checkEstimator(`featureUnion: step ${place}`, step, EXAMPLE);
  });
  const made: Estimator<Ignored, FittedJoined, FeatureUnionOptions> = {
    kind: "featureUnion",
    predictsLabels: false,
    takesWeights: true,
    // Those that cannot handle missing values say so themselves.
    allowsMissing: true,
    options: Object.fromEntries(steps.map((step, place) => [place, step.options as object])),
    fit: (samples, targets, options: FitOptions = {}) =>
      new Run(() => withTimeLeft(fitting(steps, samples, targets, options, null))),
    ...(somePartTells(steps)
      ? {
          async fitTransform(samples: Samples, targets: Ignored, options: FitOptions = {}) {
            const columns: Tensor[] = [];
            const model = await new Run(() => withTimeLeft(fitting(steps, samples, targets, options, columns)));
            return { model, transformed: concat(columns, { axis: 1 }) as Tensor };
          },
        }
      : {}),
    fitTensors(samples, targets, options: FitOptions = {}) {
      const models = steps.map((step, place) =>
        isDone(step, place, step.fitTensors(samples, targets, transformerOptions(step, options)) as FittedTransformer),
      );
      return joined(models, samples);
    },
    with: (others) =>
      featureUnion(
        ...(steps.map((step, place) => (place in others ? changedOption(step, others[place]) : step)) as [
          AnyEstimator,
        ]),
      ),
  };
  return takenApart("estimator", "featureUnion", made, () => ({ steps }));
}

registerKind("featureUnion", {
  estimator: ({ steps }) => featureUnion(...(listOfParts("featureUnion", "estimator", steps) as [AnyEstimator])),
  model: (parts) => joinedOf("featureUnion", parts),
});

/** Fits step after step; its progress counts them. `onto`: where the columns of the samples go, if they are wanted. */
async function* fitting(
  steps: readonly AnyEstimator[],
  samples: Samples,
  targets: Ignored,
  options: FitOptions,
  onto: Tensor[] | null,
): AsyncGenerator<FitProgress, FittedJoined> {
  const models: FittedTransformer[] = [];
  for (const [place, step] of steps.entries()) {
    options.signal?.throwIfAborted();
    const own = transformerOptions(step, options);
    const checked = (model: FittedTransformer) => isDone(step, place, model);
    const at = { step: place, steps: steps.length };
    if (onto) {
      const { model, transformed } = yield* fittedAndTransformed(step, samples, targets, own, at, checked);
      models.push(model);
      onto.push(transformed);
    } else models.push(checked(yield* fittedWithin(step, samples, targets, own, at)));
    yield { step: place + 1, steps: steps.length };
  }
  return joined(models, onto?.[0] ?? (models[0] as FittedTransformer).transform(samples));
}
