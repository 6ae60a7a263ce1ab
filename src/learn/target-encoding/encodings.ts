/**
 * What the targets of each category are like, drawn to the mean of all targets where a category is rare: by a number of samples that stand
 * for that mean, or by how much targets vary within the category and between all (empirical Bayes; Micci-Barreca 2001). Plain numbers.
 */

/** Codes of a column, from 0 on, and how many codes there are. */
export interface CodedColumn {
  readonly codes: Int32Array;
  readonly count: number;
}

/** The encoding of each code, from the samples at these places. */
export function encodingsOf(
  { codes, count }: CodedColumn,
  targets: Float64Array,
  places: ArrayLike<number>,
  smooth: number | "auto",
): { readonly values: Float64Array; readonly mean: number } {
  const [sums, counts] = [new Float64Array(count), new Float64Array(count)];
  let all = 0;
  for (let at = 0; at < places.length; at++) {
    const i = places[at] as number;
    const [code, target] = [codes[i] as number, targets[i] as number];
    sums[code] = (sums[code] as number) + target;
    counts[code] = (counts[code] as number) + 1;
    all += target;
  }
  const mean = all / places.length;
  if (smooth !== "auto") {
    const values = sums.map((sum, code) => {
      const weight = (counts[code] as number) + smooth;
      return weight === 0 ? mean : (sum + smooth * mean) / weight;
    });
    return { values, mean };
  }
  const means = sums.map((sum, code) => sum / (counts[code] as number));
  const within = new Float64Array(count);
  let variance = 0;
  for (let at = 0; at < places.length; at++) {
    const i = places[at] as number;
    const [code, target] = [codes[i] as number, targets[i] as number];
    within[code] = (within[code] as number) + (target - (means[code] as number)) ** 2;
    variance += (target - mean) ** 2 / places.length;
  }
  const values = means.map((own, code) => {
    const samples = counts[code] as number;
    const known = variance * samples;
    const share = known / (known + (within[code] as number) / samples);
    // No sample, or targets that are all the same.
    return Number.isNaN(share) ? mean : share * own + (1 - share) * mean;
  });
  return { values, mean };
}
