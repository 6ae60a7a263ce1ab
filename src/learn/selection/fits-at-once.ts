/**
 * Fits of many candidates to the same samples. Candidates that differ in settings alone are one program: their settings are a tensor, and
 * `vmap` maps the fit over it. The first of a batch is fitted alone, by `fit`, which looks at the values of the samples.
 */
import { TraceError, UnsupportedError } from "../../core/errors.js";
import { type Tensor, tensor } from "../../tensor/index.js";
import { jit } from "../../transforms/jit.js";
import * as tree from "../../transforms/tree.js";
import { vmap } from "../../transforms/vmap.js";
import type { AnyEstimator } from "../compose/steps.js";
import type { FitOptions } from "../core/estimator.js";
import type { Fitted } from "../core/model.js";
import { numberSamples, type Samples, withoutArrow } from "../core/samples.js";
import { codesBeside, type Label, type Labels, type Numbers, numbersBeside } from "../core/targets.js";
import { Table } from "../tables/table.js";
import { type Batch, type Candidate, withOptions } from "./candidates.js";

/** Samples to fit to, and the options of `fit`. */
interface FitData {
  readonly samples: Samples;
  readonly targets: unknown;
  readonly options: FitOptions;
}

/** Fits a batch to one part of the samples after another. */
interface BatchFitter {
  /** The fitted models, in the order of the batch. */
  fit(data: FitData): Promise<Fitted[]>;
}

/** A fitter of this batch. Where the estimator reads values while it learns, candidates are fitted one by one. */
export function batchFitter(candidates: readonly Candidate[], batch: Batch): BatchFitter {
  const own = batch.places.map((place) => candidates[place] as Candidate);
  const [first, ...others] = own as [Candidate, ...Candidate[]];
  let traces = others.length > 0;
  const many = traces ? fitsOf(first.estimator, batch) : null;
  return {
    async fit(data) {
      const one = async ({ estimator }: Candidate): Promise<Fitted> =>
        (await estimator.fit(data.samples, data.targets, data.options)) as Fitted;
      const model = await one(first);
      const inputs = traces && many ? await tensorsOf(first.estimator, model, data) : null;
      if (many && inputs) {
        try {
          return [model, ...many(inputs)];
        } catch (error) {
          if (!(error instanceof UnsupportedError || error instanceof TraceError)) throw error;
          traces = false;
        }
      }
      const found = [model];
      for (const candidate of others) {
        data.options.signal?.throwIfAborted();
        found.push(await one(candidate));
      }
      return found;
    },
  };
}

/** A fit as tensors, and what else it is told. */
interface Inputs {
  readonly x: Tensor;
  readonly y: Tensor | null;
  readonly weights: Tensor | null;
  readonly options: FitOptions;
}

/** The fits of all but the first candidate of a batch, as one program for all samples of a shape. */
function fitsOf(estimator: AnyEstimator, { paths, values }: Batch): (inputs: Inputs) => Fitted[] {
  const programs = new Map<string, (settings: Tensor[], x: Tensor, y: Tensor | null, w: Tensor | null) => unknown>();
  return ({ x, y, weights, options }) => {
    // Facts besides tensors, as the names of classes, are the same for all calls of one function.
    const facts = JSON.stringify([options.classes, options.featureNames]);
    const program =
      programs.get(facts) ??
      jit((settings: Tensor[], a: Tensor, b: Tensor | null, w: Tensor | null) =>
        vmap((each: Tensor[]) => {
          const told = Object.fromEntries(paths.map((path, i) => [path, each[i] as Tensor]));
          return withOptions(estimator, told).fitTensors(a, b, w ? { ...options, weights: w } : options);
        })(settings),
      );
    programs.set(facts, program);
    const settings = paths.map(
      (_, i) =>
        tensor(
          values.slice(1).map((each) => each[i] as number),
          { device: x.device, dtype: x.dtype },
        ) as Tensor,
    );
    const models = program(settings, x, y, weights);
    return values.slice(1).map((_, i) => tree.map((leaf) => leaf.at(i) as Tensor, models) as Fitted);
  };
}

/** Samples and targets as `fitTensors` takes them; null for samples that are no matrix of numbers. */
async function tensorsOf(
  { kind, predictsLabels }: AnyEstimator,
  { classes }: Fitted,
  { samples: given, targets, options }: FitData,
): Promise<Inputs | null> {
  const samples = withoutArrow(given);
  const isOfNumbers =
    samples instanceof Table
      ? [...samples.columns.values()].every((column) => column.kind === "number")
      : !Array.isArray(samples) || typeof samples.flat()[0] === "number" || ArrayBuffer.isView(samples[0]);
  if (!isOfNumbers) return null;
  const operation = `${kind}.fit`;
  const { device, dtype, weights, signal: _, ...rest } = options;
  const { matrix: x, features } = numberSamples.read(operation, samples, { device, dtype }, {});
  const told: FitOptions = {
    ...rest,
    ...(classes ? { classes } : {}),
    ...(features.names ? { featureNames: features.names } : {}),
  };
  const y = predictsLabels
    ? await labelTensor(operation, targets as Labels, x, classes as readonly Label[])
    : targets === undefined
      ? null
      : numbersBeside(operation, targets as Numbers, x);
  const counted = weights === undefined ? null : (numbersBeside(operation, weights as Numbers, x) as Tensor);
  return { x, y, weights: counted, options: told };
}

/** Labels as `fitTensors` takes them: numbers, or positions where classes are texts. */
async function labelTensor(operation: string, labels: Labels, x: Tensor, classes: readonly Label[]): Promise<Tensor> {
  const { codes } = await codesBeside(operation, labels, x, classes);
  if (typeof classes[0] === "string") return codes;
  const values = tensor(classes.map(Number), { device: x.device, dtype: "i32" });
  return values.take(codes) as Tensor;
}
