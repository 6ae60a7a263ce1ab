/**
 * Texts as counts of terms, dense: [texts, terms]. The vocabulary is the list of the model's feature names, so that files hold it. Counting is
 * of texts, and so on the host; weights and norms are computed on the device.
 */
import { checkChoice, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { type Tensor, tensor, where } from "../../tensor/index.js";
import { inputNames } from "../core/feature-names.js";
import type { Features, Placing, SampleReader } from "../core/samples.js";
import { type PlaceLearned, placeOf, transformer } from "../core/sorts.js";
import { normalizedRows } from "./row-scalers.js";
import { checkTerms, TERM_OPTIONS, type TermOptions, termsOf, textsOf } from "./tokens.js";

/** Options of `countVectorizer`. */
export interface CountVectorizerOptions extends TermOptions {
  /** Terms of fewer texts are left out: a count from 1 on (1 unless told), or a share below 1. */
  readonly minDf?: number;
  /** Terms of more texts are left out: a count above 1, or a share up to 1, which is all texts (1 unless told). */
  readonly maxDf?: number;
  /** The most frequent terms alone. */
  readonly maxFeatures?: number;
  /** The terms to count, in this order; those of the texts unless told. */
  readonly vocabulary?: readonly string[];
  /** True: 1 for a term that is there, however often. */
  readonly binary?: boolean;
}

const COUNTS = {
  ...TERM_OPTIONS,
  minDf: "number",
  maxDf: "number",
  maxFeatures: "number",
  vocabulary: "any",
  binary: "flag",
} as const satisfies OptionKinds<CountVectorizerOptions>;

/** Counts by term, of each text. */
type Counts = readonly ReadonlyMap<string, number>[];

const countsOf = (texts: readonly string[], options: TermOptions): Counts =>
  texts.map((text) => {
    const counts = new Map<string, number>();
    for (const term of termsOf(text, options)) counts.set(term, (counts.get(term) ?? 0) + 1);
    return counts;
  });

/** The terms that are counted: in order of their characters, as in scikit-learn. */
function vocabularyOf(operation: string, counts: Counts, options: CountVectorizerOptions): readonly string[] {
  const { minDf = 1, maxDf = 1, maxFeatures, vocabulary } = options;
  if (vocabulary) return vocabulary;
  const texts = new Map<string, number>();
  const totals = new Map<string, number>();
  for (const [term, count] of counts.flatMap((each) => [...each])) {
    texts.set(term, (texts.get(term) ?? 0) + 1);
    totals.set(term, (totals.get(term) ?? 0) + count);
  }
  const least = minDf < 1 ? minDf * counts.length : minDf;
  const most = maxDf <= 1 ? maxDf * counts.length : maxDf;
  let kept = [...texts].filter(([, count]) => count >= least && count <= most).map(([term]) => term);
  kept.sort(byCharacters);
  if (maxFeatures !== undefined && kept.length > maxFeatures) {
    const byTotal = [...kept].sort((a, b) => (totals.get(b) as number) - (totals.get(a) as number));
    const best = new Set(byTotal.slice(0, maxFeatures));
    kept = kept.filter((term) => best.has(term));
  }
  if (kept.length > 0) return kept;
  throw new ArgumentError(
    `${operation}: no term is left; the texts are empty, or stopWords, minDf and maxDf leave everything out.`,
  );
}

/** Order by code points; JavaScript's own is by halves of them. */
function byCharacters(a: string, b: string): number {
  const [x, y] = [[...a], [...b]];
  const place = x.findIndex((each, i) => each !== y[i]);
  if (place < 0) return x.length - y.length;
  return y[place] === undefined ? 1 : (x[place]?.codePointAt(0) as number) - (y[place]?.codePointAt(0) as number);
}

/** A matrix of counts by the places of terms; terms without one are left out. */
function matrixOf(
  counts: Counts,
  width: number,
  placeOfTerm: ReadonlyMap<string, number>,
  isBinary: boolean,
  { device, dtype = "f32" }: Placing,
): Tensor {
  const values = new Float64Array(counts.length * width);
  counts.forEach((each, row) => {
    for (const [term, count] of each) {
      const place = placeOfTerm.get(term);
      if (place !== undefined) values[row * width + place] = count;
    }
  });
  const kept = isBinary ? values.map((value) => (value === 0 ? 0 : 1)) : values;
  return tensor(kept, { device, dtype, shape: [counts.length, width] }) as Tensor;
}

function counted(counts: Counts, terms: readonly string[], options: CountVectorizerOptions, placing: Placing): Tensor {
  const places = new Map(terms.map((term, place) => [term, place]));
  return matrixOf(counts, terms.length, places, options.binary ?? false, placing);
}

/** Texts as a matrix of counts, whose columns are the terms. */
const countReader: SampleReader<CountVectorizerOptions> = {
  read(operation, samples, placing, options) {
    const counts = countsOf(textsOf(operation, samples), options);
    const names = counts.length === 0 ? [] : vocabularyOf(operation, counts, options);
    return {
      matrix: counted(counts, names, options, placing),
      features: { count: names.length, names, categories: null },
    };
  },
  readLike: (operation, samples, { names }, placing, options) =>
    counted(countsOf(textsOf(operation, samples), options), names as readonly string[], options, placing),
};

function checkCounts(kind: string, options: CountVectorizerOptions): void {
  checkTerms(kind, options);
  const { minDf = 1, maxDf = 1, maxFeatures = 1, vocabulary } = options;
  for (const [name, value] of Object.entries({ minDf, maxDf })) {
    if (value > 0 && (value < 1 || Number.isSafeInteger(value))) continue;
    throw new ArgumentError(`${kind}: ${name} is ${value}; it is a count from 1 on, or a share of the texts.`);
  }
  if (!(Number.isSafeInteger(maxFeatures) && maxFeatures >= 1)) {
    throw new ArgumentError(`${kind}: maxFeatures is ${maxFeatures}; it counts from 1 on.`);
  }
  if (!vocabulary) return;
  if (vocabulary.length > 0 && new Set(vocabulary).size === vocabulary.length) return;
  throw new ArgumentError(`${kind}: vocabulary is ${shown(vocabulary)}; it lists terms, each once.`);
}

/** How often each term stands in each text. */
export const countVectorizer = transformer<PlaceLearned, CountVectorizerOptions>({
  kind: "countVectorizer",
  options: COUNTS,
  samples: countReader,
  takesWeights: false,
  check: (options) => checkCounts("countVectorizer", options),
  learn: ({ x }) => placeOf(x),
  transform: (_, x) => x,
  featureNames: (_, features) => inputNames(features),
});

/** Options of `tfidfTransformer`. */
export interface TfidfTransformerOptions {
  /** "l2" unless told: the length to which rows are brought; null for none. */
  readonly norm?: "l1" | "l2" | null;
  /** True unless told: terms count less, the more texts have them. */
  readonly useIdf?: boolean;
  /** True unless told: as if one more text had every term. */
  readonly smoothIdf?: boolean;
  /** True: 1 + log(count) in place of the count. */
  readonly sublinearTf?: boolean;
}

const WEIGHTS = {
  norm: "any",
  useIdf: "flag",
  smoothIdf: "flag",
  sublinearTf: "flag",
} as const satisfies OptionKinds<TfidfTransformerOptions>;

/** The weight of each term, [terms]. */
export interface TfidfLearned {
  readonly idf: Tensor;
  readonly [name: string]: Tensor;
}

function idfOf(x: Tensor, { useIdf = true, smoothIdf = true }: TfidfTransformerOptions): TfidfLearned {
  const extra = smoothIdf ? 1 : 0;
  const texts = x.notEqual(0).cast(x.dtype).sum({ axis: 0 }).add(extra);
  const idf = texts
    .div((x.shape[0] as number) + extra)
    .log()
    .neg()
    .add(1);
  return { idf: (useIdf ? idf : idf.mul(0).add(1)) as Tensor };
}

function weighted({ idf }: TfidfLearned, x: Tensor, { norm = "l2", sublinearTf }: TfidfTransformerOptions): Tensor {
  const isThere = x.greater(0);
  const counts = sublinearTf ? where(isThere, where(isThere, x, 1).log().add(1), x) : x;
  // A term that no text of the fit has may have an infinite weight; where it is not there it counts nothing.
  const values = where(counts.equal(0), 0, counts.mul(idf.cast(x.dtype))) as Tensor;
  return norm === null ? values : normalizedRows(values, norm);
}

/** Throws on a length of rows that nobody knows. */
export const checkNorm = (kind: string, norm: unknown): void =>
  norm === null ? undefined : checkChoice(kind, "norm", norm, ["l1", "l2"]);

/** Counts of terms, weighted by how rare a term is, with rows of length one. */
export const tfidfTransformer = transformer<TfidfLearned, TfidfTransformerOptions>({
  kind: "tfidfTransformer",
  options: WEIGHTS,
  takesWeights: false,
  check: ({ norm }) => checkNorm("tfidfTransformer", norm),
  learn: ({ x }, options) => idfOf(x, options),
  transform: weighted,
  featureNames: (_, features) => inputNames(features),
});

/** Options of `tfidfVectorizer`. */
export interface TfidfVectorizerOptions extends CountVectorizerOptions, TfidfTransformerOptions {}

/** `countVectorizer`, then `tfidfTransformer`. */
export const tfidfVectorizer = transformer<TfidfLearned, TfidfVectorizerOptions>({
  kind: "tfidfVectorizer",
  options: { ...COUNTS, ...WEIGHTS },
  samples: countReader,
  takesWeights: false,
  check(options) {
    checkCounts("tfidfVectorizer", options);
    checkNorm("tfidfVectorizer", options.norm);
  },
  learn: ({ x }, options) => idfOf(x, options),
  transform: weighted,
  featureNames: (_, features: Features) => inputNames(features),
});
