/** Neural networks: `import { dense, sequential } from "pumice/nn"`. */

export * as activations from "./activations/index.js";
export { type BlockRun, block, type Part, type PartsOf } from "./core/block.js";
export type { Initializer, ParameterInfo } from "./core/initializer.js";
export type { InputSpec, ShapeSpec, TensorSpec } from "./core/input-spec.js";
export {
  type AnyLayer,
  type ApplyOptions,
  type Definition,
  type Hook,
  type Hooks,
  Layer,
  layer,
} from "./core/layer.js";
export type { Policy } from "./core/policy.js";
export type { ModelRun, ParameterOptions, Scope, Watcher } from "./core/scope.js";
export { type Step, sequential } from "./core/sequential.js";
export { Summary, type SummaryRow, summary } from "./core/summary.js";
export type { Variables, VariableTree } from "./core/variables.js";
export * as initializers from "./initializers/index.js";
export { bias, type DenseOptions, dense } from "./layers/dense.js";
export * as losses from "./losses/index.js";
export * as metrics from "./metrics/index.js";
