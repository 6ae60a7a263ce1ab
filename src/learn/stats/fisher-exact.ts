/** Fisher's exact test of a 2 × 2 table. The probabilities of all tables with these margins are reckoned on the host, from the likeliest on. */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { type Tensor, tensor } from "../../tensor/index.js";
import { PLACE, type PlaceOptions } from "./operands.js";
import { type Alternative, alternativeOf, type TestResult } from "./results.js";
import { SAMPLE, type Sample, type SampleOptions, samplesOf } from "./samples.js";

/** Options of `fisherExact`. */
export interface FisherExactOptions extends PlaceOptions {
  /** "twoSided" unless told. "greater": the odds ratio is above 1. */
  readonly alternative?: Alternative;
}

/** Whether rows and columns are independent; the statistic is the odds ratio. Reads the counts, which are whole numbers. */
export function fisherExact(table: Sample, options: FisherExactOptions = {}): TestResult {
  const operation = "stats.fisherExact";
  checkOptions(operation, options, { ...PLACE, alternative: "text" });
  const alternative = alternativeOf(operation, options);
  const { device, dtype } = options;
  const [given] = samplesOf<SampleOptions>(operation, [table], { device, dtype }, SAMPLE) as readonly [Tensor];
  if (given.rank !== 2 || given.shape[0] !== 2 || given.shape[1] !== 2) {
    throw new ShapeError(`${operation}: the table is [2, 2], not ${formatShape(given.shape)}.`);
  }
  const counts = Array.from(given.T.dataSync() as ArrayLike<number>);
  const wrong = counts.find((count) => !(Number.isInteger(count) && count >= 0));
  if (wrong !== undefined)
    throw new ArgumentError(`${operation}: a count is ${wrong}; counts are whole numbers, zero or more.`);
  const [ratio, value] = reckoned(counts as [number, number, number, number], alternative);
  const made = (number: number): Tensor => tensor(number, { dtype: given.dtype, device: given.device }) as Tensor;
  return { statistic: made(ratio), pValue: made(value) };
}

/** Probabilities that differ by less are the same, but for rounding. */
const SLACK = 1 + 1e-12;

function reckoned([a, b, c, d]: [number, number, number, number], alternative: Alternative): [number, number] {
  const [row, column, all] = [a + b, a + c, a + b + c + d];
  if (row === 0 || column === 0 || row === all || column === all) return [Number.NaN, 1];
  const least = Math.max(0, row + column - all);
  const chances = likeliestFirst(row, column, all, least, Math.min(row, column));
  const own = chances[a - least] as number;
  let [sum, found] = [0, 0];
  chances.forEach((chance, i) => {
    sum += chance;
    const counts =
      alternative === "twoSided" ? chance <= own * SLACK : alternative === "less" ? i <= a - least : i >= a - least;
    if (counts) found += chance;
  });
  return [(a * d) / (b * c), Math.min(1, found / sum)];
}

/** Chances of first counts `least` … `most`, as shares of the largest. */
function likeliestFirst(row: number, column: number, all: number, least: number, most: number): Float64Array {
  const chances = new Float64Array(most - least + 1);
  const mode = Math.min(most, Math.max(least, Math.floor(((row + 1) * (column + 1)) / (all + 2))));
  const ratio = (k: number): number => ((row - k) * (column - k)) / ((k + 1) * (all - row - column + k + 1));
  chances[mode - least] = 1;
  for (let k = mode; k < most; k++) chances[k + 1 - least] = (chances[k - least] as number) * ratio(k);
  for (let k = mode; k > least; k--) chances[k - 1 - least] = (chances[k - least] as number) / ratio(k - 1);
  return chances;
}
