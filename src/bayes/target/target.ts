/**
 * A posterior as samplers and approximations see it. They know nothing of models: `Posterior` fits these interfaces, and so does
 * anything else that has a log density of free numbers.
 */
import type { Shape } from "../../core/shape.js";
import type { Key } from "../../random/key.js";
import type { Tensor } from "../../tensor/index.js";

export type FloatDType = "f32" | "f64";

/** A log density of `dim` free numbers: what a kernel of chains is written around. */
export interface TargetDensity {
  readonly dim: number;
  logDensityAndGrad(u: Tensor, options?: { readonly normalized?: boolean }): readonly [Tensor, Tensor];
}

/** Values by name at free numbers: latent variables, and what is computed from them. */
export interface NamedValues {
  readonly latents: readonly { readonly name: string; readonly shape: Shape }[];
  readonly deterministics: readonly { readonly name: string; readonly shape: Shape }[];
  constrain(u: Tensor): Readonly<Record<string, Tensor>>;
}

/** Whether a parameter of a variable is what it must be. */
export interface ParameterAt {
  readonly variable: string;
  readonly name: string;
  /** The rule for its values, in words: "a positive number". */
  readonly says: string;
  readonly isInside: Tensor;
}

/** The log density in parts, for messages about points where it is not finite. */
export interface DensityBreakdown {
  /** The log density, by variable. */
  breakdown(u: Tensor): Readonly<Record<string, Tensor>>;
  /** The parameters that only the density looks at. */
  parametersAt(u: Tensor): readonly ParameterAt[];
}

/** All that sampling needs of a posterior. */
export interface SampledTarget extends TargetDensity, NamedValues, DensityBreakdown {
  readonly dtype: FloatDType;
  readonly device: string;
  readonly latents: readonly (NamedValues["latents"][number] & {
    readonly freeShape: readonly number[];
    readonly offset: number;
    /** Between which numbers its elements lie, ends included, as far as it is known. */
    readonly range?: readonly [low: number, high: number];
  })[];
  readonly observed: readonly { readonly name: string; readonly shape: Shape }[];
  logLikelihood(at: Tensor | Readonly<Record<string, Tensor>>): Readonly<Record<string, Tensor>>;
  posteriorPredictive(key: Key, at: Readonly<Record<string, Tensor>>): Readonly<Record<string, Tensor>>;
}
