/** Classical learning: `import { ridge } from "pumice/learn"`. A line for each family. */
export * from "./cluster/index.js";
export * from "./compose/index.js";
export * from "./core/index.js";
export * from "./covariance/index.js";
export * from "./decomposition/index.js";
export * from "./discriminant/index.js";
export * from "./files/index.js";
export * as integrate from "./integrate/index.js";
export * as interpolate from "./interpolate/index.js";
export * from "./linear/index.js";
export * as metrics from "./metrics/index.js";
export * from "./naive-bayes/index.js";
export * from "./neighbors/index.js";
export * as optimize from "./optimize/index.js";
export * from "./preprocessing/index.js";
export * from "./selection/index.js";
export * from "./tables/index.js";
export * from "./trees/index.js";
