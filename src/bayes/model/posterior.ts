/**
 * A model joined with data: the log density as a function of one flat vector of free numbers, and the way between that
 * vector and the values that have names. All of it is made of ordinary tensor operations, with data as tensors, so that it
 * can be differentiated, vectorised and compiled into a sampler's kernel. Samplers and diagnostics start from here.
 */
import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { type DType, isFloat } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError, UnsupportedError } from "../../core/errors.js";
import { formatShape, type Shape, sameShape, sizeOf } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { checkKey, foldIn, type Key } from "../../random/key.js";
import { concat, defaultDevice, Tensor, zeros } from "../../tensor/index.js";
import { valueAndGrad } from "../../transforms/grad.js";
import { type Argument, isArgument, tensorOf } from "../argument.js";
import type { Fit } from "../chains/fit.js";
import { type LeapfrogChains, type LeapfrogOptions, leapfrog } from "../chains/leapfrog.js";
import type { ResumeOptions, SampleOptions } from "../chains/options.js";
import type { SampleRun } from "../chains/run.js";
import { resume, type Sampled, sample } from "../chains/sample.js";
import {
  deviceOf,
  floatOf,
  type Parameter,
  parameterInside,
  sumOfTerms,
  type Term,
} from "../distributions/distribution.js";
import type { UnnamedVariable } from "../draws.js";
import {
  type DataIn,
  dataIn,
  explaining,
  type GivenData,
  isPlain,
  type Observation,
  widestFloat,
} from "./given-data.js";
import type { ParameterAt } from "./impossible.js";
import { changed, checkSame, outlineOf } from "./outline.js";
import {
  bijectionOf,
  checkInside,
  type Deterministic,
  type Latent,
  type Observed,
  type Placed,
  type Plan,
  placedAt,
  planOf,
  termsInside,
  termsOf,
  valueShapeOf,
} from "./plan.js";
import { batchShapeOf, type Run, runModel, speakingOf } from "./run.js";
import { Sum } from "./sum.js";
import { RandomVariable } from "./variable.js";

export type { Observation } from "./given-data.js";
export type { Deterministic, Latent, Observed } from "./plan.js";

type Returned = Readonly<Record<string, Tensor>>;

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
  private readonly plan: Plan;
  private otherPlan: { readonly dtype: DType; readonly plan: Plan } | null = null;
  private readonly dataIn: DataIn<unknown>;
  /** f64 where data are, else f32: what samplers compute in unless told. */
  readonly dtype: "f32" | "f64";
  private readonly fn: (data: unknown) => R;

  /** @internal Use `model(fn).given(observed, data)`. */
  constructor(fn: (data: never) => R, observed: Readonly<Record<string, Observation>>, data: unknown) {
    if (!isPlain(observed)) {
      throw new ArgumentError(
        `given: ${shown(observed)} stands where observations do, by name: given({ y: [1, 2, 3] }), or given({}).`,
      );
    }
    this.fn = fn as (data: unknown) => R;
    this.dataIn = dataIn(data, observed);
    this.dtype = widestFloat([data, observed]);
    this.plan = planOf(this.fn, this.dataIn(this.dtype), this.dtype);
  }

  /** Where the data are, and with them everything that is computed. */
  get device(): string {
    return this.dataIn(this.dtype).tensors[0]?.device ?? defaultDevice();
  }

  /** How many free numbers there are. */
  get dim(): number {
    return this.plan.dim;
  }

  /** What the flat vector holds, in its order. */
  get latents(): readonly Latent[] {
    return this.entries("latent");
  }

  get observed(): readonly Observed[] {
    return this.entries("observed");
  }

  /** Returned tensors that are computed from others. */
  get deterministics(): readonly Deterministic[] {
    return this.plan.deterministic;
  }

  /** The log density at free numbers [dim], with the Jacobian of the way to values: a scalar of their dtype. */
  logDensity(u: Tensor, options: DensityOptions = {}): Floats {
    checkOptions("logDensity", options, densityOptions);
    const { prior, likelihood } = this.densityParts(u, options);
    return prior.add(likelihood);
  }

  /** The log density and its gradient by the free numbers. */
  logDensityAndGrad(u: Tensor, options: DensityOptions = {}): readonly [logDensity: Floats, gradient: Floats] {
    checkOptions("logDensityAndGrad", options, densityOptions);
    this.checkFree(u);
    return valueAndGrad((free: Tensor) => this.logDensity(free, options))(u) as [Floats, Floats];
  }

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

  /** For samplers, who know variables by name only; the compiler cannot tell that any names are these names. */
  private get sampled(): Sampled {
    return this as unknown as Sampled;
  }

  /** The log density in two parts that sum to it: of latent variables (with Jacobians), and of observations and factors. */
  densityParts(u: Tensor, options: DensityOptions = {}): { readonly prior: Floats; readonly likelihood: Floats } {
    checkOptions("densityParts", options, densityOptions);
    return this.inParts(u, options, (parts) => {
      const prior = new Sum(u);
      const likelihood = new Sum(u);
      for (const { kind, terms, shape } of parts) (kind === "latent" ? prior : likelihood).add(terms, shape);
      return { prior: prior.total() as Floats, likelihood: likelihood.total() as Floats };
    });
  }

  /**
   * The log density of each observation, by name, at free numbers or values of all latent variables; plain numbers are of
   * the dtype of the data. Constants are kept.
   */
  logLikelihood(at: Tensor | LatentValues<R, O>): { readonly [K in O]: Floats } {
    return this.evaluateAt(at, (run, given, dtype) => {
      const parts = run.variables.flatMap((variable, number) =>
        this.plan.variables.get(number)?.kind === "observed" ? this.variablePart(variable, number, given) : [],
      );
      const like = at instanceof Tensor ? at : zeros([], { dtype, device: deviceOf(Object.values(at)) ?? this.device });
      return byName(parts, like) as { [K in O]: Floats };
    });
  }

  /**
   * The log density of every variable, observed or not, of every factor ("factor 1" …) and of every Jacobian ("Jacobian of
   * tau" …), one number for each draw: where a density that is not finite comes from.
   */
  breakdown(u: Tensor): Readonly<Record<string, Floats>> {
    return this.inParts(u, {}, (parts) => byName(parts, u));
  }

  /** @internal The parameters that may lie outside of what they may be, for messages. */
  parametersAt(u: Tensor): readonly ParameterAt[] {
    return this.evaluate(u, this.dataAt(u), (run) =>
      [...this.plan.open].flatMap(([number, { parameters }]) => {
        const { name: variable } = this.plan.variables.get(number) as Latent | Observed;
        return parameters.map((at) => {
          const parameter = run.variables[number].distribution.parameters?.[at] as Parameter;
          const { name, rule } = parameter;
          return { variable, name, says: rule.says, isInside: parameterInside(parameter, u) };
        });
      }),
    );
  }

  /** An error where no sampler could end: a flat variable that nothing pins down. */
  checkProper(): void {
    const [name] = this.plan.improper;
    if (name === undefined) return;
    const { distribution } = this.latents.find((latent) => latent.name === name) as Latent;
    throw new ArgumentError(
      `${name}: ${distribution}(…) is flat, wholly or in part, and no data depend on ${name}, so there is no posterior to ` +
        "draw from. Give it a proper prior, or data that it explains.",
    );
  }

  /** The plan in another dtype, in which densities may have other terms. */
  private planIn(dtype: DType, given: GivenData<unknown>): Plan {
    if (dtype === this.dtype) return this.plan;
    if (this.otherPlan?.dtype !== dtype) this.otherPlan = { dtype, plan: planOf(this.fn, given, dtype) };
    return this.otherPlan.plan;
  }

  /** Runs the model at free numbers and hands on what its log density sums. */
  private inParts<T>(u: Tensor, options: DensityOptions, finish: (parts: readonly DensityPart[]) => T): T {
    const given = this.dataAt(u);
    const forSampler = options.normalized === false ? this.planIn(u.dtype, given) : null;
    return this.evaluate(u, given, (run, placed) => {
      const parts: DensityPart[] = [];
      run.variables.forEach((variable, number) => {
        const entry = this.plan.variables.get(number);
        if (!entry) return;
        parts.push(this.variablePart(variable, number, given, forSampler, () => placed(number)));
        if (entry.kind === "observed") return;
        const value = plainValue(variable);
        const { logJacobian } = placed(number) as Placed;
        if (logJacobian === 0) return;
        const own = value.shape.slice(0, value.rank - variable.constraint.eventRank);
        parts.push({ kind: entry.kind, name: `Jacobian of ${entry.name}`, terms: [logJacobian], shape: own });
      });
      run.factors.forEach((factor, i) => {
        const isNumber = typeof factor === "number";
        const terms = [isNumber ? factor : new Tensor(factor.node)];
        parts.push({ kind: "factor", name: `factor ${i + 1}`, terms, shape: isNumber ? [] : factor.shape });
      });
      return finish(parts);
    });
  }

  /** What a variable adds to the log density, its Jacobian apart. */
  private variablePart(
    variable: RandomVariable,
    number: number,
    given: GivenData<unknown>,
    forSampler: Plan | null = null,
    placed: () => Placed | undefined = () => undefined,
  ): DensityPart {
    const { kind, name } = this.plan.variables.get(number) as Latent | Observed;
    const isObserved = kind === "observed";
    const value = isObserved ? (given.observed.get(name) as Tensor) : plainValue(variable);
    // A variable that nobody has used yet gets its numbers with its value.
    const { terms, shape } = termsOf(variable, value, placed(), forSampler?.tame.has(number));
    const dependent = forSampler?.dependent.get(number);
    const kept = dependent ? terms.filter((_, at) => dependent[at]) : terms;
    const open = this.plan.open.get(number);
    const inside = open ? termsInside(variable, value, { terms: kept, shape }, isObserved, open) : kept;
    return { kind, name, terms: inside, shape };
  }

  /** Values by name from free numbers [dim]: latent variables, also those without a name of yours, and deterministic ones. */
  constrain(u: Tensor): Values<R, O> {
    return this.evaluate(u, this.dataAt(u), (run) => {
      const found: Record<string, Tensor> = {};
      run.variables.forEach((variable, number) => {
        const entry = this.plan.variables.get(number);
        if (entry?.kind === "latent") found[entry.name] = plainValue(variable);
      });
      return { ...found, ...deterministicIn(run) } as Values<R, O>;
    });
  }

  /**
   * Free numbers from values of all latent variables. The way back of `constrain`; values must lie in their supports. Plain
   * numbers are of the dtype of the data unless told.
   */
  unconstrain(values: LatentValues<R, O>, options: { readonly dtype?: DType } = {}): Floats {
    checkOptions("unconstrain", options, dtypeOption);
    return this.evaluateAtValues(values, options.dtype, (run) => {
      for (const [number, { kind, name }] of this.plan.variables) {
        const variable = run.variables[number];
        if (kind === "latent") {
          speakingOf(name, () => checkInside(variable.distribution.name, variable.constraint, plainValue(variable)));
        }
      }
      return this.freeNumbersIn(run);
    });
  }

  /** Runs the function with latent variables of these values; observed ones have those of the data unless told. */
  private evaluateAtValues<T>(
    values: Readonly<Record<string, Argument>>,
    asked: DType | undefined,
    finish: (run: Run, given: GivenData<unknown>, dtype: DType) => T,
    observe?: (variable: RandomVariable, number: number, dtype: DType) => Tensor,
  ): T {
    const taken = this.latents.map(({ name }) => name);
    if (!isPlain(values)) {
      throw new ArgumentError(`posterior: ${shown(values)} stands where values of ${taken.join(", ")} do, by name.`);
    }
    // What is computed may be among them, as it is among those that `constrain` makes.
    const known = new Set([...taken, ...this.deterministics.map(({ name }) => name)]);
    const stray = Object.keys(values).find((name) => !known.has(name));
    if (stray !== undefined) {
      throw new ArgumentError(`posterior: there is no latent variable "${stray}"; it takes ${taken.join(", ")}.`);
    }
    for (const [name, value] of Object.entries(values)) {
      if (isArgument(value)) continue;
      throw new ArgumentError(`posterior: ${name} is ${shown(value)}; it is a number, a tensor or a list of these.`);
    }
    const dtype = asked ?? floatOf(Object.values(values), this.dtype);
    const device = deviceOf(Object.values(values));
    const given = this.dataIn(dtype, device);
    const like = zeros([], { dtype, device: device ?? given.tensors[0]?.device });
    const valueOfLatent = (number: number): Tensor => {
      const { name, shape } = this.plan.variables.get(number) as Latent;
      if (!(name in values)) {
        throw new ArgumentError(`posterior: no value of ${name}; it takes ${taken.join(", ")}.`);
      }
      const value = tensorOf(values[name], like);
      if (sameShape(value.shape, shape)) return value;
      throw new ShapeError(`posterior: ${name} has the shape ${formatShape(shape)}, not ${formatShape(value.shape)}.`);
    };
    const value = (variable: RandomVariable, number: number): Tensor => {
      const data = this.observedIn(given, number);
      if (data) return observe?.(variable, number, dtype) ?? data;
      return valueOfLatent(number);
    };
    return this.run(given, dtype, value, (run) => finish(run, given, dtype));
  }

  /** Runs the function at free numbers, or at values of latent variables. */
  private evaluateAt<T>(
    at: Tensor | Readonly<Record<string, Argument>>,
    finish: (run: Run, given: GivenData<unknown>, dtype: DType) => T,
  ): T {
    if (!(at instanceof Tensor)) return this.evaluateAtValues(at, undefined, finish);
    const given = this.dataAt(at);
    return this.evaluate(at, given, (run) => finish(run, given, at.dtype));
  }

  /**
   * Free numbers [dim] drawn from the prior: where particles begin. `flat` and constrained variables are known by their
   * density only, and cannot be drawn.
   */
  priorDraw(key: Key, options: { readonly dtype?: DType } = {}): Floats {
    checkKey(key, "priorDraw", "");
    checkOptions("priorDraw", options, dtypeOption);
    const dtype = options.dtype ?? this.dtype;
    const given = this.dataIn(dtype, key.device);
    const draw = (variable: RandomVariable, number: number): Tensor => {
      const { name } = this.plan.variables.get(number) ?? { name: variable.distribution.name };
      return speakingOf(name, () => drawn(variable, foldIn(key, number), batchShapeOf(variable), dtype));
    };
    return this.run(
      given,
      dtype,
      (variable, number) => this.observedIn(given, number) ?? draw(variable, number),
      (run) => this.freeNumbersIn(run),
    );
  }

  private freeNumbersIn(run: Run): Floats {
    const parts = run.variables.flatMap((variable, number) => {
      if (this.plan.variables.get(number)?.kind !== "latent") return [];
      const value = plainValue(variable);
      const standard = variable.isNoncentered ? variable.distribution.noncentered?.().inverse(value) : value;
      return [
        bijectionOf(variable)
          .inverse(standard as Tensor)
          .flatten(),
      ];
    });
    return concat(parts) as Floats;
  }

  /**
   * Observations the model would make, at free numbers [dim] or values of all latent variables: one draw of each observed
   * variable, in the shape of the data. Those that depend on other observations depend on the new ones.
   */
  posteriorPredictive(key: Key, at: Tensor | LatentValues<R, O>): { readonly [K in O]: Tensor } {
    checkKey(key, "posteriorPredictive", "");
    // Latent variables keep their values, also where the way from free numbers to them goes by data.
    const values = (at instanceof Tensor ? this.constrain(at) : at) as Readonly<Record<string, Argument>>;
    const found: Record<string, Tensor> = {};
    const observe = (variable: RandomVariable, number: number, dtype: DType): Tensor => {
      const entry = this.plan.variables.get(number) as Observed;
      found[entry.name] = drawn(variable, foldIn(key, number), this.observedBatch(variable, entry), dtype);
      return found[entry.name].cast(dtype);
    };
    const drawAll = (run: Run) => {
      for (const [number, { kind }] of this.plan.variables) if (kind === "observed") plainValue(run.variables[number]);
    };
    this.evaluateAtValues(values, undefined, drawAll, observe);
    return found as { [K in O]: Tensor };
  }

  /**
   * One draw of everything from the prior, observed variables included, which have the shape of their data. Floats have the
   * dtype of the data unless told.
   */
  priorPredictive(key: Key, options: { readonly dtype?: DType } = {}): { readonly [K in keyof R]: Tensor } {
    checkKey(key, "priorPredictive", "");
    checkOptions("priorPredictive", options, dtypeOption);
    const dtype = options.dtype ?? this.dtype;
    const given = this.dataIn(dtype, key.device);
    const batchOf = (variable: RandomVariable, number: number): Shape => {
      const entry = this.plan.variables.get(number);
      return entry?.kind === "observed" ? this.observedBatch(variable, entry) : batchShapeOf(variable);
    };
    const run: RunOn = (choose, finish) => this.run(given, dtype, choose, finish);
    return simulated(run, key, dtype, batchOf) as { [K in keyof R]: Tensor };
  }

  private observedBatch({ distribution }: RandomVariable, { shape }: Observed): Shape {
    return shape.slice(0, shape.length - distribution.eventShape.length);
  }

  private entries<K extends (Latent | Observed)["kind"]>(kind: K): readonly Extract<Latent | Observed, { kind: K }>[] {
    const all = [...this.plan.variables.values()];
    return all.filter((entry): entry is Extract<Latent | Observed, { kind: K }> => entry.kind === kind);
  }

  private dataAt(u: Tensor): GivenData<unknown> {
    this.checkFree(u);
    return this.dataIn(u.dtype, u.device);
  }

  private checkFree(u: Tensor): void {
    if (!(u instanceof Tensor)) throw new ArgumentError(`Free numbers are a tensor [${this.dim}], not ${shown(u)}.`);
    if (!isFloat(u.dtype)) throw new DTypeError(`Free numbers are floats, not ${u.dtype}.`);
    if (!sameShape(u.shape, [this.dim])) {
      throw new ShapeError(
        `The model has ${this.dim} free numbers: give a vector [${this.dim}], not ${formatShape(u.shape)}; ` +
          "vmap maps over several.",
      );
    }
  }

  private observedIn(given: GivenData<unknown>, number: number): Tensor | undefined {
    const entry = this.plan.variables.get(number);
    if (!entry) throw changed("it uses a variable that it did not use before");
    return entry.kind === "observed" ? given.observed.get(entry.name) : undefined;
  }

  /** Runs the function, which must make what it made at first. */
  private run<T>(
    given: GivenData<unknown>,
    dtype: DType,
    choose: (variable: RandomVariable, number: number) => Tensor,
    finish: (run: Run) => T,
  ): T {
    return runModel(this.fn, given.data, choose, (run) => {
      checkSame(this.plan.outline, outlineOf(run), dtype === this.dtype);
      for (const [number, { kind, name, shape }] of this.plan.variables) {
        const now = kind === "latent" ? valueShapeOf(run.variables[number]) : shape;
        if (!sameShape(now, shape)) throw changed(`${name} is ${formatShape(shape)}, and then ${formatShape(now)}`);
      }
      return finish(run);
    });
  }

  /** Runs the function with latent variables made of slices of u. */
  private evaluate<T>(
    u: Tensor,
    given: GivenData<unknown>,
    finish: (run: Run, placed: (number: number) => Placed | undefined) => T,
  ): T {
    const placed = new Map<number, Placed>();
    const value = (variable: RandomVariable, number: number): Tensor => {
      const data = this.observedIn(given, number);
      if (data) return data;
      const { name, shape, freeShape, offset } = this.plan.variables.get(number) as Latent;
      const free = u.at(`${offset}:${offset + sizeOf(freeShape)}`).reshape(freeShape);
      const found = speakingOf(name, () => placedAt(variable, free, shape));
      placed.set(number, found);
      return found.value;
    };
    return this.run(given, u.dtype, value, (run) => finish(run, (number) => placed.get(number)));
  }
}

/** What a variable or a factor adds to the log density, or the Jacobian of a variable. */
interface DensityPart {
  readonly kind: "latent" | "observed" | "factor";
  readonly name: string;
  readonly terms: readonly Term[];
  readonly shape: Shape;
}

const byName = (parts: readonly DensityPart[], like: Tensor): Record<string, Floats> =>
  Object.fromEntries(
    parts.map(({ name, terms, shape }) => [name, tensorOf(sumOfTerms(terms), like).broadcastTo(shape) as Floats]),
  );

/** The value as a plain tensor, which outlives the run. */
const plainValue = (variable: RandomVariable): Tensor => new Tensor(variable.node);

function deterministicIn(run: Run): Record<string, Tensor> {
  const plain = Object.entries(run.returned).filter(([, value]) => !(value instanceof RandomVariable));
  return Object.fromEntries(plain);
}

/** A draw of a variable from its distribution. */
function drawn(variable: RandomVariable, key: Key, shape: Shape, dtype: DType): Tensor {
  const { distribution } = variable;
  if (variable.isNarrowed) {
    throw new UnsupportedError(
      `${distribution.name}(…).constrained(…) is known by its density only and cannot be drawn from directly.`,
    );
  }
  return distribution.sample(key, shape, distribution.support.isDiscrete ? {} : { dtype });
}

/** Runs a model's function on its data. */
type RunOn = <T>(choose: (variable: RandomVariable, number: number) => Tensor, finish: (run: Run) => T) => T;

function simulated(
  runOn: RunOn,
  key: Key,
  dtype: DType,
  batchOf: (variable: RandomVariable, number: number) => Shape,
): Record<string, Tensor> {
  const draws = new Map<RandomVariable, Tensor>();
  const draw = (variable: RandomVariable, number: number): Tensor => {
    const found = drawn(variable, foldIn(key, number), batchOf(variable, number), dtype);
    draws.set(variable, found);
    return found.cast(dtype);
  };
  return runOn(draw, (run) => {
    const named = Object.entries(run.returned).map(([name, value]): [string, Tensor] =>
      speakingOf(name, () => {
        const node = value.node;
        // Counts come as whole numbers, though the model computes with them as floats.
        return [name, (value instanceof RandomVariable && draws.get(value)) || new Tensor(node)];
      }),
    );
    return Object.fromEntries(named);
  });
}

/** One draw of everything from the prior. Floats are f32 unless told, or f64 where data are. */
export function simulate<D>(
  fn: (data: D) => Returned,
  data: D,
  key: Key,
  options: { readonly dtype?: DType } = {},
): Record<string, Tensor> {
  checkKey(key, "simulate", "");
  checkOptions("simulate", options, dtypeOption);
  const dtype = options.dtype ?? widestFloat(data);
  const given = dataIn(data, {})(dtype);
  return explaining(fn, given, (own) => {
    const run: RunOn = (choose, finish) => runModel(fn, own, choose, finish);
    return simulated(run, key, dtype, batchShapeOf);
  });
}
