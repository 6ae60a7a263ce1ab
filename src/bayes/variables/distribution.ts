/**
 * The interface of distributions: log density, draws, support and moments. Random variables carry one, and models see nothing
 * else of it. How distributions are written is in ../definition.
 *
 * Densities are lists of terms because terms that do not depend on what is sampled need not be computed: `Posterior`
 * drops them when asked, as Stan's ~ does. They are plain tensor expressions, so that they can be differentiated and
 * fused.
 */
import type { DType } from "../../core/dtype.js";
import type { Shape } from "../../core/shape.js";
import type { Key } from "../../random/key.js";
import type { Tensor } from "../../tensor/index.js";
import type { Argument } from "../arguments/argument.js";
import type { Parameter } from "../arguments/parameter.js";
import type { Constraint } from "../constraints/constraint.js";
import type { Term } from "../numerics/terms.js";

export interface DrawOptions {
  /** Of floats: that of the arguments, f32 where they are numbers. Counts come as i32. */
  readonly dtype?: DType;
}

export interface MomentOptions {
  readonly dtype?: DType;
  readonly device?: string;
}

/** A draw written as a function of a standard one: what samplers like better when data say little. */
export interface Noncentered {
  /** Distribution of the standard numbers, as many as the draw has. */
  readonly base: Distribution;
  forward(standard: Tensor): Tensor;
  inverse(value: Tensor): Tensor;
}

export interface Distribution {
  readonly name: string;
  /** Shape of the independent draws that the arguments ask for. */
  readonly batchShape: Shape;
  /** Shape of one draw. */
  readonly eventShape: Shape;
  readonly support: Constraint;
  /** The range of data, if it is smaller: without ends of the support where the density is 0 or infinite. */
  readonly domain?: Constraint;
  /** Whether the density is no probability density: it is known up to a factor, which may be infinite. */
  readonly isUnnormalized?: boolean;
  /** Whether it has no end and the density does not fall off, so that nothing is left of it when it is normalized. */
  readonly isImproper?: boolean;
  /**
   * Summands of the log density at values inside the support, which are floats. `isShort`: by the textbook formula, where
   * there is another one that keeps more digits; see `isShortEnough`.
   */
  terms(x: Tensor, isShort?: boolean): readonly Term[];
  /**
   * The same by the free numbers behind values, for a variable that is sampled: it may be so close to an end that x is the end.
   */
  readonly freeTerms?: (free: Tensor, isShort?: boolean) => readonly Term[];
  /** Whether values or parameters are so few and small that the short terms keep enough digits for a sampler. */
  readonly isShortEnough?: (x: Tensor) => boolean;
  /** The log density, one for each draw; -Infinity outside the support, NaN of NaN. */
  logDensity(x: Tensor): Tensor;
  /** Independent draws: `shape` of them, that of the arguments when left out. */
  sample(key: Key, shape?: Shape, options?: DrawOptions): Tensor;
  /** The moments of each draw; NaN if the distribution has none. */
  mean(options?: MomentOptions): Tensor;
  variance(options?: MomentOptions): Tensor;
  /** log P(X ≤ x) and log P(X > x), where they are known. */
  readonly logCdf?: (x: Tensor) => Tensor;
  readonly logSurvival?: (x: Tensor) => Tensor;
  readonly noncentered?: () => Noncentered;
  /** The arguments as they were given; they decide the dtype of draws. */
  readonly arguments: readonly Argument[];
  /** The arguments that a rule holds for. */
  readonly parameters?: readonly Parameter[];
  /** An error where an argument has a value out of its domain. What depends on placeholders has none and is not looked at. */
  checkArguments(): void;
}
