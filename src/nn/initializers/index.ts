/** First values of parameters: `initializers.heNormal`. Layers take them as options. */

export { constant, identity, ones, zeros } from "./constants.js";
export {
  glorotNormal,
  glorotUniform,
  heNormal,
  heUniform,
  lecunNormal,
  lecunUniform,
  normal,
  orthogonal,
  truncatedNormal,
  uniform,
  type VarianceScaling,
  varianceScaling,
} from "./random.js";
