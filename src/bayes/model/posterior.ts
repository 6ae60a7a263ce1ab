/**
 * A model joined with data: the log density as a function of one flat vector of free numbers, and the way between that
 * vector and the values that have names. All of it is made of ordinary tensor operations, with data as tensors, so that it
 * can be differentiated, vectorised and compiled into a sampler's kernel. Samplers and diagnostics start from here.
 */
import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import type { DType } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import { checkKey, type Key } from "../../random/key.js";
import { Tensor } from "../../tensor/index.js";
import { valueAndGrad } from "../../transforms/grad.js";
import type { Argument } from "../arguments/argument.js";
import type { Fit } from "../chains/fit.js";
import { type LeapfrogChains, type LeapfrogOptions, leapfrog } from "../chains/leapfrog.js";
import type { ResumeOptions, SampleOptions } from "../chains/options.js";
import type { SampleRun } from "../chains/run.js";
import { resume, sample } from "../chains/sample.js";
import type { UnnamedVariable } from "../draws/draws.js";
import type { ParameterAt, SampledTarget } from "../target/target.js";
import { RandomVariable } from "../variables/variable.js";
import type { Observation } from "./given-data.js";
import { GivenModel, plainValue, type Returned } from "./given-model.js";
import { breakdownAt, densityPartsAt, logLikelihoodAt, unsureParametersAt } from "./log-density.js";
import { missingName, missingOf } from "./missing-values.js";
import { namingErrors } from "./named-errors.js";
import { checkInside } from "./observations.js";
import type { Deterministic, Latent, Observed } from "./plan-entries.js";
import { observationsAt, priorDrawOf, priorPredictiveOf } from "./predictive.js";

export interface DensityOptions {
  /**
   * Whether terms that do not depend on what is sampled are kept (true). Without them the density is known up to a factor,
   * which is all that samplers need, and cheaper: Stan's ~ leaves them out too.
   */
  readonly normalized?: boolean;
}

/** In the dtype of the free numbers. */
export type Floats = Tensor<"f32" | "f64">;

/** Values by name: latent variables, and what is computed from them. */
export type Values<R, O extends string> = {
  readonly [K in Exclude<keyof R, O> & string]: R[K] extends RandomVariable ? Floats : R[K];
};

/** The names of `Values`; any where the compiler does not know them. */
export type NamesOf<R, O extends string> = string extends keyof R ? string : Exclude<keyof R, O> & string;

/** Values of latent variables, by name. All are needed, also of those without a name of yours. */
export type LatentValues<R, O extends string> = string extends keyof R
  ? Readonly<Record<string, Argument>>
  : { readonly [K in NamesOf<R, O> as R[K] extends RandomVariable ? K : never]?: Argument } & {
      readonly [unnamed: UnnamedVariable]: Argument;
    };

const densityOptions: OptionKinds<DensityOptions> = { normalized: "flag" };
const dtypeOption: OptionKinds<{ readonly dtype?: DType }> = { dtype: "dtype" };

export class Posterior<R extends Returned, O extends string = never> {
  private readonly model: GivenModel;

  /** @internal Use `model(fn).given(observed, data)`. */
  constructor(fn: (data: never) => R, observed: Readonly<Record<string, Observation>>, data: unknown) {
    this.model = new GivenModel(fn as (data: unknown) => R, observed, data);
  }

  /** f64 where data are, else f32: what samplers compute in unless told. */
  get dtype(): "f32" | "f64" {
    return this.model.dtype;
  }

  /** The device of the data; everything is computed there. */
  get device(): string {
    return this.model.device;
  }

  /** The number of free numbers. */
  get dim(): number {
    return this.model.plan.dim;
  }

  /** The variables behind the flat vector, in its order. */
  get latents(): readonly Latent[] {
    return this.model.entries("latent");
  }

  get observed(): readonly Observed[] {
    return this.model.entries("observed");
  }

  /** Returned tensors that are computed from others. */
  get deterministics(): readonly Deterministic[] {
    return this.model.plan.deterministic;
  }

  // ------------------------------------------------------------------------------------------------ log densities

  /** The log density at free numbers [dim], with the Jacobian of the way to values: a scalar of their dtype. */
  logDensity(u: Tensor, options: DensityOptions = {}): Floats {
    checkOptions("logDensity", options, densityOptions);
    const { prior, likelihood } = this.densityParts(u, options);
    return prior.add(likelihood);
  }

  /** The log density and its gradient by the free numbers. */
  logDensityAndGrad(u: Tensor, options: DensityOptions = {}): readonly [logDensity: Floats, gradient: Floats] {
    checkOptions("logDensityAndGrad", options, densityOptions);
    this.model.checkFree(u);
    return valueAndGrad((free: Tensor) => this.logDensity(free, options))(u) as [Floats, Floats];
  }

  /** The log density in two parts that sum to it: of latent variables (with Jacobians), and of observations and factors. */
  densityParts(u: Tensor, options: DensityOptions = {}): { readonly prior: Floats; readonly likelihood: Floats } {
    checkOptions("densityParts", options, densityOptions);
    return densityPartsAt(this.model, u, options.normalized === false) as { prior: Floats; likelihood: Floats };
  }

  /**
   * The log density of each observation, by name, at free numbers or values of all latent variables; plain numbers are of
   * the dtype of the data. Constants are kept.
   */
  logLikelihood(at: Tensor | LatentValues<R, O>): { readonly [K in O]: Floats } {
    return logLikelihoodAt(this.model, at) as { [K in O]: Floats };
  }

  /**
   * The log density of every variable, observed or not, of every factor ("factor 1" …) and of every Jacobian ("Jacobian of
   * tau" …), one number for each draw: where a density that is not finite comes from.
   */
  breakdown(u: Tensor): Readonly<Record<string, Floats>> {
    return breakdownAt(this.model, u) as Record<string, Floats>;
  }

  /** @internal The parameters that may lie outside their allowed range, for messages. */
  parametersAt(u: Tensor): readonly ParameterAt[] {
    return unsureParametersAt(this.model, u);
  }

  /** An error where no sampler could end: a flat variable that nothing pins down. */
  checkProper(): void {
    const [name] = this.model.plan.improper;
    if (name === undefined) return;
    const { distribution } = this.latents.find((latent) => latent.name === name) as Latent;
    throw new ArgumentError(
      `${name}: ${distribution}(…) is flat, wholly or in part, and no data depend on ${name}, so there is no posterior to ` +
        "draw from. Give it a proper prior, or data that it explains.",
    );
  }

  // ------------------------------------------------------------------------------------------------ sampling

  /**
   * Leapfrog steps of Hamiltonian dynamics from free numbers q and momenta p, [dim] or [chains, dim], in one dispatch of a
   * kernel made of this model. Returns q, p, the gradient and the log density after each step.
   */
  leapfrog(q: Tensor, p: Tensor, options: LeapfrogOptions): LeapfrogChains {
    return leapfrog(this, q, p, options);
  }

  /**
   * Draws from the distribution, by NUTS in one kernel. Await it for the fit, or iterate over it to watch:
   * `for await (const p of run)`.
   */
  sample(options: SampleOptions = {}): SampleRun<NamesOf<R, O>, O> {
    this.checkProper();
    return sample(this.sampled, options);
  }

  /**
   * Goes on from a file that `fit.save` or a checkpoint wrote: the fit as it was, to be extended. Options are for the runs to
   * come; the file has none of them.
   */
  resume(path: string, options: ResumeOptions = {}): Promise<Fit<NamesOf<R, O>, O>> {
    return resume(this.sampled, path, options);
  }

  /** Samplers know variables by any name; the compiler cannot tell that any names are these names. */
  private get sampled(): SampledTarget {
    return this as unknown as SampledTarget;
  }

  // ------------------------------------------------------------------------------------------------ values

  /** Values by name from free numbers [dim]: latent variables, also those without a name of yours, and deterministic ones. */
  constrain(u: Tensor): Values<R, O> {
    const { model } = this;
    const given = model.dataAt(u);
    return model.runAtFree(u, given, (run) => {
      const found: Record<string, Tensor> = {};
      run.variables.forEach((variable, number) => {
        const entry = model.plan.variables.get(number);
        if (entry?.kind === "latent") found[entry.name] = plainValue(variable);
        const missing = model.missingIn(given, number);
        if (entry && missing) found[missingName(entry.name)] = missingOf(plainValue(variable), missing);
      });
      const computed = Object.entries(run.returned).filter(([, value]) => !(value instanceof RandomVariable));
      return { ...found, ...Object.fromEntries(computed) } as Values<R, O>;
    });
  }

  /**
   * Free numbers from values of all latent variables. The way back of `constrain`; values must lie in their supports. Plain
   * numbers are of the dtype of the data unless told.
   */
  unconstrain(values: LatentValues<R, O>, options: { readonly dtype?: DType } = {}): Floats {
    checkOptions("unconstrain", options, dtypeOption);
    const { model } = this;
    return model.runAtValues(values, options.dtype, (run, given) => {
      for (const [number, { kind, name }] of model.plan.variables) {
        const variable = run.variables[number];
        if (kind === "latent" || model.missingIn(given, number)) {
          namingErrors(name, () => checkInside(variable.distribution.name, variable.constraint, plainValue(variable)));
        }
      }
      return model.freeNumbersIn(run, given) as Floats;
    });
  }

  // ------------------------------------------------------------------------------------------------ predictions

  /**
   * Free numbers [dim] drawn from the prior: where particles begin. `flat` and constrained variables are known by their
   * density only, and cannot be drawn.
   */
  priorDraw(key: Key, options: { readonly dtype?: DType } = {}): Floats {
    checkKey(key, "priorDraw", "");
    checkOptions("priorDraw", options, dtypeOption);
    return priorDrawOf(this.model, key, options.dtype ?? this.dtype) as Floats;
  }

  /**
   * Observations the model would make, at free numbers [dim] or values of all latent variables: one draw of each observed
   * variable, in the shape of the data. Those that depend on other observations depend on the new ones.
   */
  posteriorPredictive(key: Key, at: Tensor | LatentValues<R, O>): { readonly [K in O]: Tensor } {
    checkKey(key, "posteriorPredictive", "");
    // Latent variables keep their values, also where the way from free numbers to them goes by data.
    const values = (at instanceof Tensor ? this.constrain(at) : at) as Readonly<Record<string, Argument>>;
    return observationsAt(this.model, key, values) as { [K in O]: Tensor };
  }

  /**
   * One draw of everything from the prior, observed variables included, which have the shape of their data. Floats have the
   * dtype of the data unless told.
   */
  priorPredictive(key: Key, options: { readonly dtype?: DType } = {}): { readonly [K in keyof R]: Tensor } {
    checkKey(key, "priorPredictive", "");
    checkOptions("priorPredictive", options, dtypeOption);
    return priorPredictiveOf(this.model, key, options.dtype ?? this.dtype) as { [K in keyof R]: Tensor };
  }
}
