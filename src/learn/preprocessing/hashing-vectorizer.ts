/**
 * Texts as counts of hashed terms, dense: [texts, nFeatures]. Terms are not learned, so any text can be transformed, and what the columns stand
 * for is not known. Terms that meet in a column mostly cancel, since half of them count negative (Weinberger et al. 2009).
 */
import { checkWhole } from "../../core/arguments.js";
import { type Tensor, tensor } from "../../tensor/index.js";
import type { Placing, SampleReader, Samples } from "../core/samples.js";
import { type PlaceLearned, placeOf, transformer } from "../core/sorts.js";
import { murmurHash } from "./murmur-hash.js";
import { normalizedRows } from "./row-scalers.js";
import { checkTerms, TERM_OPTIONS, type TermOptions, termsOf, textsOf } from "./tokens.js";
import { checkNorm } from "./vectorizers.js";

/** Options of `hashingVectorizer`. */
export interface HashingVectorizerOptions extends TermOptions {
  /** The number of columns: 4096 unless told. scikit-learn, whose matrices are sparse, has 2²⁰. */
  readonly nFeatures?: number;
  /** True unless told: half of the terms count negative, by their hash. */
  readonly alternateSign?: boolean;
  /** True: 1 where a term is there, however often. */
  readonly binary?: boolean;
  /** "l2" unless told: the length to which rows are brought; null for none. */
  readonly norm?: "l1" | "l2" | null;
}

/** Counts of the columns of terms. */
function hashed(
  texts: readonly string[],
  options: HashingVectorizerOptions,
  { device, dtype = "f32" }: Placing,
): Tensor {
  const { nFeatures = 4096, alternateSign = true, binary = false } = options;
  const values = new Float64Array(texts.length * nFeatures);
  texts.forEach((text, row) => {
    for (const term of termsOf(text, options)) {
      const hash = murmurHash(term);
      const place = row * nFeatures + (Math.abs(hash) % nFeatures);
      if (binary) values[place] = 1;
      else values[place] = (values[place] as number) + (alternateSign && hash < 0 ? -1 : 1);
    }
  });
  return tensor(values, { device, dtype, shape: [texts.length, nFeatures] }) as Tensor;
}

const hashReader: SampleReader<HashingVectorizerOptions> = {
  read: (operation, samples: Samples, placing, options) => ({
    matrix: hashed(textsOf(operation, samples), options, placing),
    features: { count: options.nFeatures ?? 4096, names: null, categories: null },
  }),
  readLike: (operation, samples, _, placing, options) => hashed(textsOf(operation, samples), options, placing),
};

/** How often terms of each hash stand in each text. */
export const hashingVectorizer = transformer<PlaceLearned, HashingVectorizerOptions>({
  kind: "hashingVectorizer",
  options: { ...TERM_OPTIONS, nFeatures: "number", alternateSign: "flag", binary: "flag", norm: "any" },
  samples: hashReader,
  takesWeights: false,
  check(options) {
    checkTerms("hashingVectorizer", options);
    checkWhole("hashingVectorizer", "nFeatures", options.nFeatures ?? 4096, 1);
    checkNorm("hashingVectorizer", options.norm);
  },
  learn: ({ x }) => placeOf(x),
  transform: (_, x, { norm = "l2" }) => (norm === null ? x : normalizedRows(x, norm)),
});
