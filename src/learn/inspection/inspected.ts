/** Samples of an inspection: the matrix that a model sees, whose columns are then shuffled or replaced. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import { leaves } from "../../transforms/tree.js";
import { inputNames } from "../core/feature-names.js";
import { type Fitted, FittedModel } from "../core/model.js";
import { numberSamples, type Placing, type Samples } from "../core/samples.js";
import { samplesFor } from "../core/sorts.js";
import type { Label } from "../core/targets.js";

/** A fitted model of any kind, as inspections see it. Pipelines have no options of their own. */
export interface Inspected extends Pick<Fitted, "kind" | "features" | "classes"> {
  predict?(samples: Samples): Tensor;
  predictLabels?(samples: Samples): Promise<Label[]>;
  predictProbability?(samples: Samples): Tensor;
  decisionFunction?(samples: Samples): Tensor;
  // biome-ignore lint/suspicious/noExplicitAny: targets of any kind
  score?(samples: Samples, targets: any): number | Tensor | Promise<number | Tensor>;
}

/** Models come first. */
export function checkInspected(operation: string, model: Inspected): void {
  if (typeof model === "object" && model !== null && "features" in model) return;
  throw new ArgumentError(`${operation}: ${shown(model)} stands where a model does: await an estimator's fit first.`);
}

/** Samples as the matrix that a model takes. Categories are codes there; pipelines take numbers. */
export function inspectedMatrix(operation: string, model: Inspected, samples: Samples): Tensor {
  if (model instanceof FittedModel) return samplesFor(model, operation, samples);
  const like = (leaves(model) as Tensor[]).find(({ dtype }) => dtype === "f32" || dtype === "f64");
  const dtype = like?.dtype === "f64" ? "f64" : "f32";
  const placing: Placing = isTensor(samples) ? {} : { device: like?.device, dtype };
  return numberSamples.readLike(`${model.kind}: ${operation}`, samples, model.features, placing, {});
}

/** The place of a feature, which is named or numbered. */
export function featurePlace(operation: string, model: Inspected, feature: number | string): number {
  const { count } = model.features;
  const names = inputNames(model.features);
  const place = typeof feature === "string" ? names.indexOf(feature) : feature;
  if (Number.isInteger(place) && place >= 0 && place < count) return place;
  throw new ArgumentError(
    `${operation}: there is no feature ${shown(feature)}; the model has ${count}: ${names.slice(0, 12).join(", ")}${count > 12 ? " …" : ""}.`,
  );
}

/** How many copies of samples are predicted together: as many as have 2^23 numbers, and one at least. */
export const copiesTogether = ({ size }: Tensor): number => Math.max(1, Math.floor(2 ** 23 / Math.max(1, size)));
