/**
 * Exact distributions of rank statistics when nothing is going on: probabilities by recurrences whose terms are all positive, in doubles
 * on the host, so that small tails keep their digits. Exact tests read them at one place.
 */

/** Probabilities of 0 … m·n for the Mann–Whitney statistic of m and n observations. */
export function mannWhitneyChances(m: number, n: number): Float64Array {
  // Rows are numbers of the first sample; the last observation in order is of the first sample with the chance i / (i + j).
  let rows: Float64Array[] = Array.from({ length: m + 1 }, () => Float64Array.of(1));
  for (let j = 1; j <= n; j++) {
    const next: Float64Array[] = [Float64Array.of(1)];
    for (let i = 1; i <= m; i++) {
      const [own, other] = [rows[i] as Float64Array, next[i - 1] as Float64Array];
      const chances = new Float64Array(i * j + 1);
      const share = i / (i + j);
      // Without the last one, that of the first sample, which is above all j; or without one of the second.
      other.forEach((chance, k) => {
        chances[k + j] = (chances[k + j] as number) + share * chance;
      });
      own.forEach((chance, k) => {
        chances[k] = (chances[k] as number) + (1 - share) * chance;
      });
      next.push(chances);
    }
    rows = next;
  }
  return rows[m] as Float64Array;
}

/** Probabilities of 0 … n (n + 1) / 2 for the sum of the ranks with a positive sign. */
export function signedRankChances(n: number): Float64Array {
  let chances = Float64Array.of(1);
  for (let rank = 1; rank <= n; rank++) {
    const next = new Float64Array(chances.length + rank);
    chances.forEach((chance, k) => {
      next[k] = (next[k] as number) + chance / 2;
      next[k + rank] = (next[k + rank] as number) + chance / 2;
    });
    chances = next;
  }
  return chances;
}

/** Probabilities of 0 … most inversions of a random order of n things. */
export function inversionChances(n: number, most: number): Float64Array {
  let chances = new Float64Array(most + 1);
  chances[0] = 1;
  for (let size = 2; size <= n; size++) {
    const next = new Float64Array(most + 1);
    for (let k = 0; k <= most; k++) {
      let sum = 0;
      for (let i = Math.max(0, k - size + 1); i <= k; i++) sum += chances[i] as number;
      next[k] = sum / size;
    }
    chances = next;
  }
  return chances;
}

/** The p value of a place in a distribution that is symmetric about its middle. */
export function exactValue(chances: Float64Array, place: number, alternative: "twoSided" | "less" | "greater"): number {
  const below = chances.subarray(0, place + 1).reduce((sum, chance) => sum + chance, 0);
  const above = chances.subarray(place).reduce((sum, chance) => sum + chance, 0);
  if (alternative === "twoSided") return Math.min(1, 2 * Math.min(below, above));
  return Math.min(1, alternative === "less" ? below : above);
}
