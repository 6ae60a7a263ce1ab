/** Methods of models that have centres: places of samples, distances and scores. Every k-means has them. */
import type { Tensor } from "../../tensor/index.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { samplesFor } from "../core/sorts.js";
import { inertiaOf, nearestOfFar } from "./centers.js";

type CentersModel = Fitted<{ readonly centers: Tensor }, object>;

export const centersMethods = {
  /** The cluster of each sample, [samples], i32. */
  predict(model: CentersModel, samples: Samples): Tensor {
    return nearestOfFar(samplesFor(model, "predict", samples), model.learned.centers);
  },
  /** The distance of each sample to each centre, [samples, clusters]. */
  transform(model: CentersModel, samples: Samples): Tensor {
    const x = samplesFor(model, "transform", samples);
    return x.expandDims(1).sub(model.learned.centers).square().sum({ axis: 2 }).sqrt() as Tensor;
  },
  /** Minus the inertia of samples. */
  score(model: CentersModel, samples: Samples): Tensor {
    const x = samplesFor(model, "score", samples);
    const { centers } = model.learned;
    return inertiaOf(x, null, centers, nearestOfFar(x, centers)).neg() as Tensor;
  },
};
