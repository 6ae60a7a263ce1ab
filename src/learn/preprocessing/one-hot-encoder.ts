/** Categories as columns of zeros and ones: of texts and of numbers, with rare ones put together. */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { type Tensor, tensor, where } from "../../tensor/index.js";
import type { Data } from "../core/estimator.js";
import { inputNames } from "../core/feature-names.js";
import type { Fitted } from "../core/model.js";
import type { Features } from "../core/samples.js";
import { transformer } from "../core/sorts.js";
import { columnsTable, type Table } from "../tables/table.js";
import {
  becoming,
  type Category,
  type CategoryOptions,
  categoriesIn,
  categoryOf,
  categoryTable,
  columnOfCategories,
  encoderSamples,
  rowsOfTable,
} from "./categories.js";
import { type CodeColumns, codeColumns, columnsOf, ofCodes } from "./one-of-columns.js";

/** Options of `oneHotEncoder`. */
export interface OneHotEncoderOptions extends CategoryOptions {
  /** Leaves a column out for each feature: the first, that of features with two, or those of these categories. None unless told. */
  readonly drop?: "first" | "ifBinary" | readonly Category[];
  /** "error" unless told: others than the categories of the fit are refused; they may also become zeros, or count as rare. */
  readonly handleUnknown?: "error" | "ignore" | "infrequentIfExist";
  /** Categories that are rarer are put together: a count from 1 on, or a share below 1. */
  readonly minFrequency?: number;
  /** Columns for each feature, at most: the rarest categories are put together. */
  readonly maxCategories?: number;
}

/** Categories by feature, and the column of each. */
export interface OneHotEncoderLearned {
  /** Categories in order, [features, most + 1], infinity after the last: places of texts, or numbers. */
  readonly values: Tensor;
  /** The code of each category, then of missing and of unknown ones, [features, most + 3]: -1 for zeros, -2 for what is refused. */
  readonly codes: Tensor;
  /** The code of rare categories of each feature; -1 where none is rare. */
  readonly rare: Tensor;
  /** The columns that come out. */
  readonly columns: CodeColumns;
  readonly [name: string]: Tensor | CodeColumns;
}

const NONE = -1;
const REFUSED = -2;

/** Which categories of a feature are rare, by scikit-learn's rule. */
function rareOf(counts: Int32Array, samples: number, { minFrequency, maxCategories }: OneHotEncoderOptions): boolean[] {
  const least = minFrequency === undefined ? 0 : minFrequency < 1 ? minFrequency * samples : minFrequency;
  const isRare = Array.from(counts, (count) => count < least);
  const columns = isRare.filter((rare) => !rare).length + 1;
  if (maxCategories === undefined || maxCategories >= columns) return isRare;
  const byCount = [...counts.keys()].sort((a, b) => (counts[a] as number) - (counts[b] as number) || a - b);
  for (const place of byCount.slice(0, counts.length - maxCategories + 1)) isRare[place] = true;
  return isRare;
}

/** The code of each category of a feature, in order; rare ones share the last. */
interface Coded {
  readonly codes: readonly number[];
  readonly rare: number;
  readonly dropped: number | null;
  readonly count: number;
}

function codedFeature(isRare: readonly boolean[]): Omit<Coded, "dropped"> {
  let next = 0;
  const own = isRare.map((rare) => (rare ? NONE : next++));
  const rare = isRare.includes(true) ? next++ : NONE;
  return { codes: own.map((code) => (code === NONE ? rare : code)), rare, count: next };
}

/** The code whose column is left out; null for none. */
function droppedCode(
  { drop }: OneHotEncoderOptions,
  list: readonly Category[],
  { codes, rare, count }: Omit<Coded, "dropped">,
  column: number,
): number | null {
  if (drop === undefined) return null;
  if (drop === "first") return 0;
  if (drop === "ifBinary") return count === 2 ? 0 : null;
  const wanted = drop[column];
  const code = codes[list.findIndex((each) => Object.is(each, wanted))];
  if (code !== undefined && code !== rare) return code;
  throw new ArgumentError(
    `oneHotEncoder.fit: drop names ${shown(wanted)} for column ${column}, whose categories are ${shown(list)}` +
      `${code === undefined ? "" : ", and that one is rare"}.`,
  );
}

async function learn({ x, facts }: Data, options: OneHotEncoderOptions): Promise<OneHotEncoderLearned> {
  const { device } = x;
  const { features } = facts;
  const { drop, handleUnknown = "error" } = options;
  if (Array.isArray(drop) && drop.length !== features.count) {
    throw new ArgumentError(
      `oneHotEncoder.fit: drop names ${drop.length} categories, and the samples have ${features.count} features.`,
    );
  }
  const sets = await categoriesIn("oneHotEncoder.fit", x, features, options);
  const all = sets.values.map((values, j): Coded => {
    const list = Array.from(values, (value) => categoryOf(features, j, value));
    const coded = codedFeature(rareOf(sets.counts[j] as Int32Array, x.shape[0] as number, options));
    return { ...coded, dropped: droppedCode(options, list, coded, j) };
  });
  const unknown = (j: number): number =>
    handleUnknown === "error" ? REFUSED : handleUnknown === "ignore" ? NONE : (all[j] as Coded).rare;
  const missing = (j: number): number => {
    const place = (sets.values[j] as Float64Array).findIndex(Number.isNaN);
    return place < 0 ? unknown(j) : ((all[j] as Coded).codes[place] as number);
  };
  const codes = rowsOfTable(sets, (j, place) => (all[j] as Coded).codes[place] as number, missing, unknown);
  const columns = all.flatMap(({ count, dropped }, feature) =>
    Array.from({ length: count }, (_, code) => [feature, code] as const).filter(([, code]) => code !== dropped),
  );
  if (columns.length === 0) throw new ArgumentError("oneHotEncoder.fit: drop leaves no column.");
  return {
    values: categoryTable(sets.values, x),
    codes: tensor(codes, { device, dtype: "i32" }) as Tensor,
    rare: tensor(
      Int32Array.from(all, ({ rare }) => rare),
      { device },
    ) as Tensor,
    columns: codeColumns(columns, device),
  };
}

/** The category of each code of each feature; "infrequent" for rare ones. Reads what was learned. */
function categoriesByCode({ values, codes, rare }: OneHotEncoderLearned, features: Features): Map<number, Category>[] {
  const known = values.cast("f64").dataSync() as Float64Array;
  const list = codes.dataSync() as Int32Array;
  const rareCodes = rare.dataSync() as Int32Array;
  const width = values.shape[1] as number;
  return Array.from({ length: features.count }, (_, j) => {
    const byCode = new Map<number, Category>();
    for (let slot = 0; slot <= width; slot++) {
      const code = list[j * (width + 2) + slot] as number;
      if (code < 0) continue;
      const value = slot === width ? Number.NaN : (known[j * width + slot] as number);
      byCode.set(code, code === rareCodes[j] ? "infrequent" : categoryOf(features, j, value));
    }
    return byCode;
  });
}

const methods = {
  /** The categories of each row of columns, as a table. A row of zeros is the category that was left out, else missing. */
  async inverseTransform(model: Fitted<OneHotEncoderLearned, OneHotEncoderOptions>, encoded: Tensor): Promise<Table> {
    const { learned, features } = model;
    const rows = (await encoded.array()) as number[][];
    const columns = columnsOf(learned.columns);
    const byCode = categoriesByCode(learned, features);
    const cells = byCode.map((known, j) => {
      const own = columns.flatMap(([feature, code], place) => (feature === j ? [{ code, place }] : []));
      const dropped = [...known.keys()].find((code) => own.every((each) => each.code !== code));
      return rows.map((row) => {
        const code = own.find(({ place }) => row[place] === 1)?.code ?? dropped;
        const category = code === undefined ? Number.NaN : (known.get(code) as Category);
        return Number.isNaN(category) ? null : category;
      });
    });
    return columnsTable(cells.map((each, j) => columnOfCategories(features, j, each)));
  },
};

/** A column of zeros and ones for each category of each column. */
export const oneHotEncoder = transformer<OneHotEncoderLearned, OneHotEncoderOptions, typeof methods>({
  kind: "oneHotEncoder",
  options: { categories: "any", drop: "any", handleUnknown: "text", minFrequency: "number", maxCategories: "number" },
  samples: encoderSamples,
  allowsMissing: true,
  takesWeights: false,
  check({ drop, handleUnknown, minFrequency = 1, maxCategories = 1 }) {
    checkChoice("oneHotEncoder", "handleUnknown", handleUnknown, ["error", "ignore", "infrequentIfExist"]);
    if (!Array.isArray(drop)) checkChoice("oneHotEncoder", "drop", drop, ["first", "ifBinary"]);
    if (!(minFrequency > 0 && (minFrequency < 1 || Number.isSafeInteger(minFrequency)))) {
      throw new ArgumentError(
        `oneHotEncoder: minFrequency is ${minFrequency}; it is a count from 1 on, or a share between 0 and 1.`,
      );
    }
    if (!(Number.isSafeInteger(maxCategories) && maxCategories >= 1)) {
      throw new ArgumentError(`oneHotEncoder: maxCategories is ${maxCategories}; it counts from 1 on.`);
    }
  },
  learn: (data, options) => () => learn(data, options),
  transform({ values, codes, columns }, x, { handleUnknown = "error" }) {
    const found = becoming(codes, values, x);
    const encoded = ofCodes(found, columns, x.dtype);
    if (handleUnknown !== "error") return encoded;
    return where(found.take(columns.feature, { axis: 1 }).equal(REFUSED), Number.NaN, encoded) as Tensor;
  },
  featureNames(learned, features) {
    const names = inputNames(features);
    const byCode = categoriesByCode(learned, features);
    const text = (category: Category | undefined): string => (Number.isNaN(category) ? "nan" : String(category));
    return columnsOf(learned.columns).map(([j, code]) => `${names[j]}_${text(byCode[j]?.get(code))}`);
  },
  methods,
});
