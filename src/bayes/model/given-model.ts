/**
 * A model's function joined with its data: runs it at free numbers or at values by name, and holds every run against the plan.
 * `Posterior` is made of this; log densities and predictions are functions of it.
 */
import { type DType, isFloat } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { formatShape, sameShape, sizeOf } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { concat, defaultDevice, Tensor, zeros } from "../../tensor/index.js";
import { type Argument, deviceOf, floatOf, isArgument, tensorOf } from "../arguments/argument.js";
import type { RandomVariable } from "../variables/variable.js";
import { type DataIn, dataIn, type GivenData, isPlain, type Observation, widestFloat } from "./given-data.js";
import { freeNumbersBehind, type LatentValue, latentAt } from "./latent-value.js";
import { completedWith, freeBehindMissing, imputedAt, type Missing } from "./missing-values.js";
import { type ModelRun, runModel } from "./model-run.js";
import { namingErrors } from "./named-errors.js";
import { changed, checkSame, outlineOf } from "./outline.js";
import { planOf } from "./plan.js";
import type { Latent, Observed, Plan } from "./plan-entries.js";
import { valueShapeOf } from "./variable-shapes.js";

/** The results of a model's function: random variables, and tensors made of them. */
export type Returned = Readonly<Record<string, Tensor>>;

/** The value as a plain tensor, which outlives the run. */
export const plainValue = (variable: RandomVariable): Tensor => new Tensor(variable.node);

type Choose = (variable: RandomVariable, number: number) => Tensor;

export class GivenModel {
  readonly plan: Plan;
  private otherPlan: { readonly dtype: DType; readonly plan: Plan } | null = null;
  readonly dataIn: DataIn<unknown>;
  /** f64 where data are, else f32. */
  readonly dtype: "f32" | "f64";

  constructor(
    private readonly fn: (data: unknown) => Returned,
    observed: Readonly<Record<string, Observation>>,
    data: unknown,
  ) {
    if (!isPlain(observed)) {
      throw new ArgumentError(
        `given: ${shown(observed)} stands where observations do, by name: given({ y: [1, 2, 3] }), or given({}).`,
      );
    }
    this.dataIn = dataIn(data, observed);
    this.dtype = widestFloat([data, observed]);
    this.plan = planOf(this.fn, this.dataIn(this.dtype), this.dtype);
  }

  /** The device of the data. */
  get device(): string {
    return this.dataIn(this.dtype).tensors[0]?.device ?? defaultDevice();
  }

  /** The plan in another dtype, in which densities may have other terms. */
  planIn(dtype: DType, given: GivenData<unknown>): Plan {
    if (dtype === this.dtype) return this.plan;
    if (this.otherPlan?.dtype !== dtype) this.otherPlan = { dtype, plan: planOf(this.fn, given, dtype) };
    return this.otherPlan.plan;
  }

  entries<K extends (Latent | Observed)["kind"]>(kind: K): readonly Extract<Latent | Observed, { kind: K }>[] {
    const { variables, imputed } = this.plan;
    const all = [...variables].flatMap(([number, entry]) => [entry, imputed.get(number) ?? []].flat());
    return all.filter((entry): entry is Extract<Latent | Observed, { kind: K }> => entry.kind === kind);
  }

  /** The data in the dtype and on the device of free numbers. */
  dataAt(u: Tensor): GivenData<unknown> {
    this.checkFree(u);
    return this.dataIn(u.dtype, u.device);
  }

  checkFree(u: Tensor): void {
    const { dim } = this.plan;
    if (!(u instanceof Tensor)) throw new ArgumentError(`Free numbers are a tensor [${dim}], not ${shown(u)}.`);
    if (!isFloat(u.dtype)) throw new DTypeError(`Free numbers are floats, not ${u.dtype}.`);
    if (!sameShape(u.shape, [dim])) {
      throw new ShapeError(
        `The model has ${dim} free numbers: give a vector [${dim}], not ${formatShape(u.shape)}; ` +
          "vmap maps over several.",
      );
    }
  }

  // ------------------------------------------------------------------------------------------------ runs

  /** Runs the function, which must make what it made at first. */
  run<T>(given: GivenData<unknown>, dtype: DType, choose: Choose, finish: (run: ModelRun) => T): T {
    return runModel(this.fn, given.data, choose, (run) => {
      checkSame(this.plan.outline, outlineOf(run), dtype === this.dtype);
      for (const [number, { kind, name, shape }] of this.plan.variables) {
        const now = kind === "latent" ? valueShapeOf(run.variables[number]) : shape;
        if (!sameShape(now, shape)) throw changed(`${name} is ${formatShape(shape)}, and then ${formatShape(now)}`);
      }
      return finish(run);
    });
  }

  /** The data of a variable; undefined where it is latent. */
  observedIn(given: GivenData<unknown>, number: number): Tensor | undefined {
    const entry = this.plan.variables.get(number);
    if (!entry) throw changed("it uses a variable that it did not use before");
    return entry.kind === "observed" ? given.observed.get(entry.name) : undefined;
  }

  /** The missing elements of a variable's data, if any are missing. */
  missingIn(given: GivenData<unknown>, number: number): Missing | undefined {
    const entry = this.plan.variables.get(number);
    return entry?.kind === "observed" ? given.missing.get(entry.name) : undefined;
  }

  /** Data, with values by name for those that are missing. */
  private completedData(
    given: GivenData<unknown>,
    number: number,
    data: Tensor,
    values: Readonly<Record<string, Argument>>,
    like: Tensor,
  ): Tensor {
    const missing = this.missingIn(given, number);
    if (!missing) return data;
    return completedWith(data, this.valueOfLatent(values, this.plan.imputed.get(number) as Latent, like), missing);
  }

  /** Runs the function with latent variables made of slices of u. */
  runAtFree<T>(
    u: Tensor,
    given: GivenData<unknown>,
    finish: (run: ModelRun, latent: (number: number) => LatentValue | undefined) => T,
  ): T {
    const latents = new Map<number, LatentValue>();
    const value = (variable: RandomVariable, number: number): Tensor => {
      const data = this.observedIn(given, number);
      const missing = this.missingIn(given, number);
      if (data && !missing) return data;
      const entry = this.plan.imputed.get(number) ?? (this.plan.variables.get(number) as Latent);
      const { name, shape, freeShape, offset } = entry;
      const free = u.at(`${offset}:${offset + sizeOf(freeShape)}`).reshape(freeShape);
      const found = namingErrors(name, () =>
        data && missing ? imputedAt(variable, free, data, missing) : latentAt(variable, free, shape),
      );
      latents.set(number, found);
      return found.value;
    };
    return this.run(given, u.dtype, value, (run) => finish(run, (number) => latents.get(number)));
  }

  /** Runs the function with latent variables of these values; observed ones have those of the data unless told. */
  runAtValues<T>(
    values: Readonly<Record<string, Argument>>,
    asked: DType | undefined,
    finish: (run: ModelRun, given: GivenData<unknown>, dtype: DType) => T,
    observe?: (variable: RandomVariable, number: number, dtype: DType) => Tensor,
  ): T {
    this.checkValues(values);
    const dtype = asked ?? floatOf(Object.values(values), this.dtype);
    const device = deviceOf(Object.values(values));
    const given = this.dataIn(dtype, device);
    const like = zeros([], { dtype, device: device ?? given.tensors[0]?.device });
    const value = (variable: RandomVariable, number: number): Tensor => {
      const data = this.observedIn(given, number);
      if (data) return observe?.(variable, number, dtype) ?? this.completedData(given, number, data, values, like);
      return this.valueOfLatent(values, this.plan.variables.get(number) as Latent, like);
    };
    return this.run(given, dtype, value, (run) => finish(run, given, dtype));
  }

  /** Throws on what is no value, or a value of no variable. */
  private checkValues(values: Readonly<Record<string, Argument>>): void {
    const { deterministic } = this.plan;
    const latents = this.latentNames;
    if (!isPlain(values)) {
      throw new ArgumentError(`posterior: ${shown(values)} stands where values of ${latents.join(", ")} do, by name.`);
    }
    // Computed tensors may be among them: `constrain` returns them, too.
    const known = new Set([...latents, ...deterministic.map(({ name }) => name)]);
    const stray = Object.keys(values).find((name) => !known.has(name));
    if (stray !== undefined) {
      throw new ArgumentError(`posterior: there is no latent variable "${stray}"; it takes ${latents.join(", ")}.`);
    }
    for (const [name, value] of Object.entries(values)) {
      if (isArgument(value)) continue;
      throw new ArgumentError(`posterior: ${name} is ${shown(value)}; it is a number, a tensor or a list of these.`);
    }
  }

  private get latentNames(): readonly string[] {
    return this.entries("latent").map(({ name }) => name);
  }

  private valueOfLatent(values: Readonly<Record<string, Argument>>, { name, shape }: Latent, like: Tensor): Tensor {
    if (!(name in values)) {
      throw new ArgumentError(`posterior: no value of ${name}; it takes ${this.latentNames.join(", ")}.`);
    }
    const value = tensorOf(values[name], like);
    if (sameShape(value.shape, shape)) return value;
    throw new ShapeError(`posterior: ${name} has the shape ${formatShape(shape)}, not ${formatShape(value.shape)}.`);
  }

  /** The free numbers [dim] behind the values of a run. */
  freeNumbersIn(run: ModelRun, given: GivenData<unknown>): Tensor {
    return concat(
      run.variables.flatMap((variable, number) => {
        const missing = this.missingIn(given, number);
        if (missing) return [freeBehindMissing(variable, plainValue(variable), missing)];
        const isLatent = this.plan.variables.get(number)?.kind === "latent";
        return isLatent ? [freeNumbersBehind(variable, plainValue(variable))] : [];
      }),
    );
  }
}
