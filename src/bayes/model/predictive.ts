/** Draws from a model: of everything from the prior, and of observations where latent variables have values. */
import type { DType } from "../../core/dtype.js";
import { UnsupportedError } from "../../core/errors.js";
import type { Shape } from "../../core/shape.js";
import { foldIn, type Key } from "../../random/key.js";
import { Tensor } from "../../tensor/index.js";
import type { Argument } from "../arguments/argument.js";
import { RandomVariable } from "../variables/variable.js";
import { dataIn, widestFloat } from "./given-data.js";
import { type GivenModel, plainValue, type Returned } from "./given-model.js";
import { explainingMissingData } from "./missing-data.js";
import { completedBy } from "./missing-values.js";
import { hasDoubles, type ModelRun, runModel } from "./model-run.js";
import { namingErrors } from "./named-errors.js";
import type { Observed } from "./plan-entries.js";
import { batchShapeOf } from "./variable-shapes.js";

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

/** Shape of the independent draws of an observed variable: that of the data. */
const observedBatch = ({ distribution }: RandomVariable, { shape }: Observed): Shape =>
  shape.slice(0, shape.length - distribution.eventShape.length);

/** Free numbers [dim] drawn from the prior. */
export function priorDrawOf(model: GivenModel, key: Key, dtype: DType): Tensor {
  const given = model.dataIn(dtype, key.device);
  const draw = (variable: RandomVariable, number: number): Tensor => {
    const { name } = model.plan.variables.get(number) ?? { name: variable.distribution.name };
    return namingErrors(name, () => drawn(variable, foldIn(key, number), batchShapeOf(variable), dtype));
  };
  const value = (variable: RandomVariable, number: number): Tensor => {
    const data = model.observedIn(given, number);
    const missing = model.missingIn(given, number);
    if (!data) return draw(variable, number);
    if (!missing) return data;
    const entry = model.plan.variables.get(number) as Observed;
    if (variable.distribution.eventShape.length > 0) {
      throw new UnsupportedError(
        `${entry.name}: elements of vectors are missing, which cannot be drawn given the others; use sample().`,
      );
    }
    const all = namingErrors(entry.name, () =>
      drawn(variable, foldIn(key, number), observedBatch(variable, entry), dtype),
    );
    return completedBy(data, all, missing);
  };
  return model.run(given, dtype, value, (run) => model.freeNumbersIn(run, given));
}

/** One draw of each observed variable, in the shape of the data, at values of all latent variables. */
export function observationsAt(
  model: GivenModel,
  key: Key,
  values: Readonly<Record<string, Argument>>,
): Record<string, Tensor> {
  const found: Record<string, Tensor> = {};
  const observe = (variable: RandomVariable, number: number, dtype: DType): Tensor => {
    const entry = model.plan.variables.get(number) as Observed;
    found[entry.name] = drawn(variable, foldIn(key, number), observedBatch(variable, entry), dtype);
    return found[entry.name].cast(dtype);
  };
  const drawAll = (run: ModelRun) => {
    for (const [number, { kind }] of model.plan.variables) if (kind === "observed") plainValue(run.variables[number]);
  };
  model.runAtValues(values, undefined, drawAll, observe);
  return found;
}

/** One draw of everything from the prior; observed variables have the shape of their data. */
export function priorPredictiveOf(model: GivenModel, key: Key, dtype: DType): Record<string, Tensor> {
  const given = model.dataIn(dtype, key.device);
  const batchOf = (variable: RandomVariable, number: number): Shape => {
    const entry = model.plan.variables.get(number);
    return entry?.kind === "observed" ? observedBatch(variable, entry) : batchShapeOf(variable);
  };
  const run: RunOnData = (choose, finish) => model.run(given, dtype, choose, finish);
  return drawnByName(run, key, dtype, batchOf);
}

/** One draw of everything from the prior of a model that has no observations. */
export function simulate<D>(fn: (data: D) => Returned, data: D, key: Key, asked: DType | undefined) {
  const dataOf = dataIn(data, {});
  const drawIn = (dtype: DType) =>
    explainingMissingData(fn, dataOf(dtype), (own) => {
      let computesInDoubles = false;
      const run: RunOnData = (choose, finish) =>
        runModel(fn, own, choose, (made) => {
          const result = finish(made);
          computesInDoubles = hasDoubles(made);
          return result;
        });
      return { drawn: drawnByName(run, key, dtype, batchShapeOf), computesInDoubles };
    });
  const first = drawIn(asked ?? widestFloat(data));
  // Tensors that the function holds by itself, and not as data, are seen in what it makes of them.
  return asked === undefined && first.computesInDoubles ? drawIn("f64").drawn : first.drawn;
}

/** Runs a model's function on its data. */
type RunOnData = <T>(choose: (variable: RandomVariable, number: number) => Tensor, finish: (run: ModelRun) => T) => T;

function drawnByName(
  runOn: RunOnData,
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
      namingErrors(name, () => {
        const node = value.node;
        // Counts come as whole numbers, though the model computes with them as floats.
        return [name, (value instanceof RandomVariable && draws.get(value)) || new Tensor(node)];
      }),
    );
    return Object.fromEntries(named);
  });
}
