/** `schedules`: numbers by step, for learning rates. */
export {
  type CosineRestartsOptions,
  cosine,
  cosineRestarts,
  type OneCycleOptions,
  oneCycle,
  warmup,
} from "./cycles.js";
export {
  constant,
  type ExponentialOptions,
  exponential,
  inverseSquareRoot,
  linear,
  piecewise,
  polynomial,
} from "./decays.js";
export { type Plateau, type PlateauOptions, type PlateauState, plateau } from "./plateau.js";
export type { Schedule, StepSchedule } from "./schedule.js";
