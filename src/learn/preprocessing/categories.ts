/**
 * Categories of columns, as encoders learn them: of texts by their codes, of numbers by their values. Categories of all columns lie in one
 * table [features, most], so that the place of a value is found by a search on the device.
 */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { type Tensor, tensor, where } from "../../tensor/index.js";
import { inputNames } from "../core/feature-names.js";
import { categoryReader, type Features, type SampleReader } from "../core/samples.js";
import { type CategoryColumn, categories } from "../tables/table.js";

/** A category as users write it. */
export type Category = string | number;

/** Options of every encoder. */
export interface CategoryOptions {
  /** The categories of each column, in order; those of the samples unless told. Texts for columns of text, else numbers. */
  readonly categories?: readonly (readonly Category[])[];
}

type EncoderOptions = CategoryOptions & { readonly handleUnknown?: string };

/** The code of an unknown text: no text has it. */
const UNKNOWN = -1;

/** Columns of text as codes, others as they are. NaN is missing, and -1 an unknown text, which is refused unless it is to be handled. */
export const encoderSamples: SampleReader<EncoderOptions> = categoryReader<EncoderOptions>({
  unknown(operation, column, text, { handleUnknown = "error" }) {
    if (handleUnknown !== "error") return UNKNOWN;
    throw new ArgumentError(
      `${operation}: the column "${column}" has ${shown(text)}, which the fit did not see; give all categories by { categories }, ` +
        "or say by { handleUnknown } what becomes of others.",
    );
  },
  given(column, { categories }) {
    const list = categories?.[column];
    return list?.every((each) => typeof each === "string") ? (list as readonly string[]) : undefined;
  },
});

/** Categories of columns as numbers, codes of texts or the values themselves, and how often each stands there. */
interface CategorySets {
  /** In order; NaN at the end stands for missing ones. */
  readonly values: readonly Float64Array[];
  readonly counts: readonly Int32Array[];
}

/** The categories of columns, with their counts: those given, else all that the samples have. Reads the sorted columns. */
export async function categoriesIn(
  operation: string,
  x: Tensor,
  features: Features,
  { categories }: EncoderOptions,
): Promise<CategorySets> {
  const [samples, count] = x.shape as [number, number];
  const sorted = (await x.T.sort({ axis: 1 }).cast("f64").data()) as Float64Array;
  const found = Array.from({ length: count }, (_, j) => distinct(sorted.subarray(j * samples, (j + 1) * samples)));
  if (!categories) return { values: found.map(({ values }) => values), counts: found.map(({ counts }) => counts) };
  const values = givenValues(operation, features, categories, x.dtype);
  const counts = values.map((list, j) => {
    const { values: seen, counts: each } = found[j] as Distinct;
    const places = new Map(Array.from(seen, (value, i) => [value, i]));
    return Int32Array.from(list, (value) => each[places.get(value) ?? -1] ?? 0);
  });
  return { values, counts };
}

interface Distinct {
  readonly values: Float64Array;
  readonly counts: Int32Array;
}

/** The distinct values of a sorted column, and how often each stands there; NaN last, as one. */
function distinct(sorted: Float64Array): Distinct {
  const starts: number[] = [];
  for (let i = 0; i < sorted.length; i++) if (i === 0 || !Object.is(sorted[i], sorted[i - 1])) starts.push(i);
  return {
    values: Float64Array.from(starts, (i) => sorted[i] as number),
    counts: Int32Array.from(starts, (start, i) => (starts[i + 1] ?? sorted.length) - start),
  };
}

/** Given categories as numbers: the codes of texts are their places in the list. */
function givenValues(
  operation: string,
  features: Features,
  categories: readonly (readonly Category[])[],
  dtype: Tensor["dtype"],
): readonly Float64Array[] {
  if (categories.length !== features.count) {
    throw new ArgumentError(
      `${operation}: categories are of ${categories.length} columns, and the samples have ${features.count}.`,
    );
  }
  return categories.map((list, column) => {
    if (features.categories?.[column]) return Float64Array.from(list, (_, code) => code);
    const numbers = list.map((each) => {
      if (typeof each === "number") return dtype === "f32" ? Math.fround(each) : each;
      throw new ArgumentError(
        `${operation}: the column ${column} holds numbers, and its categories have ${shown(each)}.`,
      );
    });
    const isRising = numbers.every((each, i) => i === 0 || each > (numbers[i - 1] as number) || Number.isNaN(each));
    if (isRising) return Float64Array.from(numbers);
    throw new ArgumentError(
      `${operation}: the categories of column ${column} are ${shown(list)}; numbers are in order, each once.`,
    );
  });
}

/** Categories as a table [features, most + 1], in order by row, with infinity after the last. Missing ones are not in it. */
export function categoryTable(values: readonly Float64Array[], { device, dtype }: Tensor): Tensor {
  const present = values.map((list) => Array.from(list).filter((value) => !Number.isNaN(value)));
  const width = 1 + Math.max(...present.map(({ length }) => length));
  const rows = present.map((list) => [...list, ...Array<number>(width - list.length).fill(Number.POSITIVE_INFINITY)]);
  return tensor(rows, { device, dtype }) as Tensor;
}

/** A row for each feature of what its categories become, then missing and unknown ones: the table that `becoming` looks into. */
export function rowsOfTable(
  { values }: CategorySets,
  what: (feature: number, place: number) => number,
  missing: (feature: number) => number,
  unknown: (feature: number) => number,
): number[][] {
  const present = values.map((list) => list.filter((value) => !Number.isNaN(value)).length);
  const width = 1 + Math.max(...present);
  return present.map((count, feature) => [
    ...Array.from({ length: width }, (_, place) => (place < count ? what(feature, place) : NO_CATEGORY)),
    missing(feature),
    unknown(feature),
  ]);
}

/** Stands in tables where a feature has fewer categories than others. */
const NO_CATEGORY = -1;

/** What samples become by a table of `rowsOfTable`, [samples, features]. */
export function becoming(table: Tensor, values: Tensor, x: Tensor): Tensor {
  const wanted = x.cast(values.dtype).T as Tensor;
  const width = values.shape[1] as number;
  const place = values.searchSorted(wanted).minimum(width - 1) as Tensor;
  const isKnown = values.takeAlongAxis(place, { axis: 1 }).equal(wanted);
  const slot = where(isKnown, place, where(wanted.isNaN(), width, width + 1)).cast("i32");
  return table.takeAlongAxis(slot as Tensor, { axis: 1 }).T as Tensor;
}

/** A category as users read it: a text, or a number; NaN is missing. */
export const categoryOf = (features: Features, column: number, value: number): Category =>
  features.categories?.[column]?.[value] ?? value;

/** A column of a table from categories; null is missing. */
export function columnOfCategories(
  features: Features,
  column: number,
  cells: readonly (Category | null)[],
): readonly [string, readonly (Category | null)[] | CategoryColumn] {
  const name = inputNames(features)[column] as string;
  return [name, features.categories?.[column] ? categories(cells) : cells];
}
