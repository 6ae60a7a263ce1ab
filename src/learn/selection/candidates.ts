/**
 * Candidates of a search: options by their path, as in { "1.alpha": 10 } for the step 1 of a pipeline. Grids list the values of each
 * option; draws take some of the combinations, or numbers of a range, by a seed. Pure.
 */
import { ArgumentError } from "../../core/errors.js";
import { below, bitsFrom } from "../../core/seeded-order.js";
import { shown } from "../../core/shown.js";
import { isPlainObject } from "../../io/trees/json.js";
import type { AnyEstimator } from "../compose/steps.js";

/** Options by path. Options of steps and of inner estimators stand behind a full stop: "1.alpha", "estimator.alpha". */
export type CandidateOptions = Readonly<Record<string, unknown>>;

/** The values of each option, by path. */
export type Grid = Readonly<Record<string, readonly unknown[]>>;

/** Numbers of a range, each as likely; or each order of magnitude as likely where `log` is true. `whole`: whole numbers, `high` too. */
export interface NumberRange {
  readonly low: number;
  readonly high: number;
  readonly log?: boolean;
  readonly whole?: boolean;
}

/** The values of each option, or a range to draw them from, by path. */
export type Draws = Readonly<Record<string, readonly unknown[] | NumberRange>>;

/** A way to fit: the options that are changed, and the estimator with them. */
export interface Candidate {
  readonly options: CandidateOptions;
  readonly estimator: AnyEstimator;
}

/** All combinations of a grid, or of several; the values of the last option change first. */
export function combinations(operation: string, grids: Grid | readonly Grid[]): CandidateOptions[] {
  return (Array.isArray(grids) ? (grids as readonly Grid[]) : [grids as Grid]).flatMap((grid) => {
    checkLists(operation, grid);
    return Object.entries(grid).reduce<CandidateOptions[]>(
      (found, [path, values]) => found.flatMap((options) => values.map((value) => ({ ...options, [path]: value }))),
      [{}],
    );
  });
}

function checkLists(operation: string, grid: unknown): void {
  if (!isPlainObject(grid) || Object.keys(grid).length === 0) {
    throw new ArgumentError(
      `${operation}: a grid is an object of lists, as in { alpha: [0.1, 1] }, not ${shown(grid)}.`,
    );
  }
  for (const [path, values] of Object.entries(grid)) {
    if (Array.isArray(values) && values.length > 0) continue;
    throw new ArgumentError(
      `${operation}: the values of ${path} are ${shown(values)}; they are a list of one or more.`,
    );
  }
}

/** So many candidates. Where all values are lists, no combination stands twice, and there are at most as many as there are of them. */
export function drawn(operation: string, draws: Draws, count: number, seed: number): CandidateOptions[] {
  const entries = Object.entries(draws);
  if (entries.length > 0 && entries.every(([, values]) => Array.isArray(values))) {
    return someCombinations(operation, draws as Grid, count, seed);
  }
  checkLists(
    operation,
    Object.fromEntries(entries.map(([path, values]) => [path, Array.isArray(values) ? values : [0]])),
  );
  for (const [path, values] of entries) if (!Array.isArray(values)) checkRange(operation, path, values as NumberRange);
  const bits = bitsFrom([0, seed >>> 0]);
  return Array.from({ length: count }, () =>
    Object.fromEntries(
      entries.map(([path, values]) => [
        path,
        Array.isArray(values) ? values[below(values.length, bits)] : inRange(values as NumberRange, bits),
      ]),
    ),
  );
}

/** Combinations by their number, without listing all of them: there may be very many. */
function someCombinations(operation: string, grid: Grid, count: number, seed: number): CandidateOptions[] {
  checkLists(operation, grid);
  const entries = Object.entries(grid);
  const total = entries.reduce((product, [, values]) => product * values.length, 1);
  if (total <= count) return combinations(operation, grid);
  const bits = bitsFrom([0, seed >>> 0]);
  const chosen = new Set<string>();
  while (chosen.size < count) chosen.add(entries.map(([, values]) => below(values.length, bits)).join());
  return [...chosen].map((key) => {
    const places = key.split(",").map(Number);
    return Object.fromEntries(entries.map(([path, values], i) => [path, values[places[i] as number]]));
  });
}

function checkRange(operation: string, path: string, range: NumberRange): void {
  const { low, high, log = false, whole = false } = isPlainObject(range) ? (range as NumberRange) : ({} as NumberRange);
  const areBounds = Number.isFinite(low) && Number.isFinite(high) && low < high;
  if (areBounds && !(log && low <= 0) && !(whole && !(Number.isInteger(low) && Number.isInteger(high)))) return;
  const want = `{ low, high }${log ? " above zero" : ""}${whole ? " of whole numbers" : ""}, the lower one first`;
  throw new ArgumentError(
    `${operation}: the values of ${path} are ${shown(range)}; they are a list, or a range ${want}.`,
  );
}

function inRange({ low, high, log = false, whole = false }: NumberRange, bits: () => number): number {
  const share = ((bits() >>> 5) * 2 ** 26 + (bits() >>> 6)) / 2 ** 53;
  const end = whole ? high + 1 : high;
  const value = log ? low * (end / low) ** share : low + (end - low) * share;
  return whole ? Math.min(high, Math.floor(value)) : value;
}

/** An estimator with these options. Estimators that stand in place of others come before the options that they are given. */
export function withOptions(estimator: AnyEstimator, options: CandidateOptions): AnyEstimator {
  const byDepth = new Map<number, object>();
  for (const [path, value] of Object.entries(options)) {
    const steps = path.split(".");
    byDepth.set(steps.length, merged(byDepth.get(steps.length) ?? {}, steps, value));
  }
  return [...byDepth]
    .sort(([a], [b]) => a - b)
    .reduce<AnyEstimator>((changed, [, nested]) => changed.with(nested), estimator);
}

function merged(tree: object, [name, ...rest]: readonly string[], value: unknown): object {
  const known = (tree as Record<string, object | undefined>)[name as string] ?? {};
  return { ...tree, [name as string]: rest.length > 0 ? merged(known, rest, value) : value };
}

/** Candidates that are fitted at once: they differ in settings alone, whose values each has in the order of `paths`. */
export interface Batch {
  /** Positions among the candidates. */
  readonly places: readonly number[];
  readonly paths: readonly string[];
  readonly values: readonly (readonly number[])[];
}

/** Fits of one program, at most: what each learns lies in memory at once. */
const BATCH = 64;

/** Candidates in batches, in the order of their first. */
export function batchesOf(candidates: readonly Candidate[]): Batch[] {
  const batches: { places: number[]; paths: readonly string[]; values: number[][]; rest: CandidateOptions }[] = [];
  for (const [place, { options, estimator }] of candidates.entries()) {
    // Zero may take another way than a number near it, as in a ridge without penalty.
    const isSetting = ([path, value]: [string, unknown]): boolean =>
      typeof value === "number" && value !== 0 && (estimator.settings?.includes(path) ?? false);
    const settings = Object.entries(options).filter(isSetting);
    const rest = Object.fromEntries(Object.entries(options).filter((each) => !isSetting(each)));
    const paths = settings.map(([path]) => path);
    const values = settings.map(([, value]) => value as number);
    const open = batches.find(
      (batch) =>
        batch.places.length < BATCH && paths.length > 0 && isSame(batch.paths, paths) && areEqual(batch.rest, rest),
    );
    if (open) {
      open.places.push(place);
      open.values.push(values);
    } else batches.push({ places: [place], paths, values: [values], rest });
  }
  return batches;
}

const isSame = (a: readonly string[], b: readonly string[]): boolean => a.join("\n") === b.join("\n");

/** Equal values, or the same objects. */
const areEqual = (a: CandidateOptions, b: CandidateOptions): boolean =>
  Object.keys(a).length === Object.keys(b).length &&
  Object.entries(a).every(([path, value]) => Object.is(b[path], value));
