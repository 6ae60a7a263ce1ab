/** A function of tensors as a transformer, so that it can be a step of a pipeline. */
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import type { Tensor } from "../../tensor/index.js";
import { inputNames, numberedNames } from "../core/feature-names.js";
import type { Fitted } from "../core/model.js";
import { type PlaceLearned, placeOf, transformer } from "../core/sorts.js";

/** Options of `functionTransformer`. Models with functions cannot be saved. */
export interface FunctionTransformerOptions {
  /** From samples to samples, [samples, features] to [samples, columns]: nothing is changed unless told. */
  readonly apply?: (x: Tensor) => Tensor;
  /** The way back. */
  readonly inverse?: (y: Tensor) => Tensor;
  /** Names of the columns that come out: those that go in where the number stays. */
  readonly names?: readonly string[];
}

function applied(x: Tensor, change: ((x: Tensor) => Tensor) | undefined): Tensor {
  const y = change ? change(x) : x;
  if (y.rank === 2 && y.shape[0] === x.shape[0]) return y;
  throw new ShapeError(
    `functionTransformer: ${formatShape(x.shape)} became ${formatShape(y.shape)}; a row of columns for each sample is wanted.`,
  );
}

const methods = {
  /** Samples as they were, by the function `inverse`. */
  inverseTransform(model: Fitted<PlaceLearned, FunctionTransformerOptions>, samples: Tensor): Tensor {
    const { apply, inverse } = model.options;
    if (!apply || inverse) return applied(samples, inverse);
    throw new ArgumentError("functionTransformer: there is no way back; give one by { inverse }.");
  },
};

/** `functionTransformer({ apply: (x) => x.log1p(), inverse: (y) => y.expm1() })`. */
export const functionTransformer = transformer<PlaceLearned, FunctionTransformerOptions, typeof methods>({
  kind: "functionTransformer",
  options: { apply: "function", inverse: "function", names: "any" },
  allowsMissing: true,
  takesWeights: false,
  learn: ({ x }) => placeOf(x),
  transform: (_, x, { apply }) => applied(x, apply),
  featureNames({ place }, features, { apply, names }) {
    const width = applied(place.broadcastTo([1, features.count]) as Tensor, apply).shape[1] as number;
    if (names === undefined) {
      return width === features.count ? inputNames(features) : numberedNames("functionTransformer", width);
    }
    if (names.length === width) return names;
    throw new ArgumentError(`functionTransformer: there are ${names.length} names, and ${width} columns come out.`);
  },
  methods,
});
