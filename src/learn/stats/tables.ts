/** Tests of counts: against expected ones (χ²), and of independence in a table. */
import { checkWhole, type OptionKinds } from "../../core/arguments.js";
import { ShapeError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { fullLike, type Tensor, where } from "../../tensor/index.js";
import { PLACE, type PlaceOptions } from "./operands.js";
import type { DegreesResult } from "./results.js";
import { countOf, SAMPLE, type Sample, type SampleOptions, samplesOf, total } from "./samples.js";
import { chiSquareUpper } from "./tails.js";

/** Options of `chiSquareTest`. */
export interface ChiSquareOptions extends SampleOptions {
  /** The expected counts, which sum to the observed ones: all equal unless told. */
  readonly expected?: Sample;
  /** How many parameters of the expected counts come from the data: 0 unless told. */
  readonly fitted?: number;
}

/** Options of `contingencyTest`. */
export interface ContingencyOptions extends PlaceOptions {
  /** Yates's correction of tables with one degree of freedom, unless told false. */
  readonly correction?: boolean;
}

/** The result of a test of independence. */
export interface ContingencyResult extends DegreesResult {
  /** The counts to be expected of independent rows and columns. */
  readonly expected: Tensor;
}

const CHI_SQUARE: OptionKinds<ChiSquareOptions> = { ...SAMPLE, expected: "any", fitted: "number" };

/** Whether counts are as expected. NaN where the sums differ. */
export function chiSquareTest(observed: Sample, options: ChiSquareOptions = {}): DegreesResult {
  const operation = "stats.chiSquareTest";
  const { expected, fitted = 0 } = options;
  const given = expected === undefined ? [observed] : [observed, expected];
  const [counts, named] = samplesOf(operation, given, options, CHI_SQUARE) as readonly [Tensor, Tensor | undefined];
  if (named && !sameShape(named.shape, counts.shape)) {
    throw new ShapeError(
      `${operation}: the counts have the shape ${formatShape(counts.shape)}, and the expected ones ${formatShape(named.shape)}.`,
    );
  }
  const all = counts.sum({ axis: -1, keepDims: true }) as Tensor;
  const wanted = named ?? (counts.mul(0).add(all.div(countOf(counts))) as Tensor);
  const isSame = wanted
    .sum({ axis: -1, keepDims: true })
    .sub(all)
    .abs()
    .lessEqual(all.mul(counts.dtype === "f64" ? 1e-8 : 1e-5));
  const terms = where(isSame, counts.sub(wanted).square().div(wanted), Number.NaN) as Tensor;
  const statistic = total(terms);
  const degrees = fullLike(statistic, countOf(counts) - 1 - checkWhole(operation, "fitted", fitted, 0)) as Tensor;
  return { statistic, pValue: chiSquareUpper(statistic, degrees), degrees };
}

/** Whether rows and columns of a table of counts are independent. NaN where an expected count is zero. */
export function contingencyTest(observed: Sample, options: ContingencyOptions = {}): ContingencyResult {
  const operation = "stats.contingencyTest";
  const [table] = samplesOf(operation, [observed], options, {
    ...PLACE,
    correction: "flag",
  } as OptionKinds<ContingencyOptions>) as readonly [Tensor];
  if (table.rank !== 2) {
    throw new ShapeError(`${operation}: the table is [rows, columns], not ${formatShape(table.shape)}.`);
  }
  const counts = table.T;
  const expected = counts
    .sum({ axis: 1, keepDims: true })
    .mul(counts.sum({ axis: 0, keepDims: true }))
    .div(counts.sum()) as Tensor;
  const [rows, columns] = counts.shape as [number, number];
  const free = (rows - 1) * (columns - 1);
  const distance = counts.sub(expected).abs();
  const used = free === 1 && (options.correction ?? true) ? distance.sub(0.5).maximum(0) : distance;
  const statistic = used.square().div(expected).sum() as Tensor;
  const degrees = fullLike(statistic, free) as Tensor;
  const pValue = free === 0 ? where(statistic.isNaN(), Number.NaN, 1) : chiSquareUpper(statistic, degrees);
  return { statistic, pValue: pValue as Tensor, degrees, expected };
}
