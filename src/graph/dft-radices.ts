/** The butterflies of a pass: factors of its length, few and about equal. The plan of a transform (dft-plan.ts) asks for them. */

/** Prime factors that a length may have (dft-plan.ts), larger than radices should be. */
const LARGE_PRIMES = [13, 11, 7, 5];

/** The factors of a length, of at most `largest` unless it has a larger prime factor. */
export function radicesFor(length: number, largest: number): number[] {
  return radicesOf(length, Math.max(largest, LARGE_PRIMES.find((prime) => length % prime === 0) ?? 0));
}

/** Factors of `length` of at most `largest`, as few as can be and then with the smallest sum; the largest first. */
function radicesOf(length: number, largest: number): number[] {
  const best = search(length, largest, new Map());
  if (!best) throw new Error(`radicesOf: ${length} has a prime factor beyond ${largest}`);
  return best;
}

function search(length: number, largest: number, known: Map<string, number[] | null>): number[] | null {
  if (length === 1) return [];
  const key = `${length}/${largest}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  let best: number[] | null = null;
  for (let radix = Math.min(largest, length); radix >= 2; radix--) {
    if (length % radix !== 0) continue;
    const rest = search(length / radix, radix, known);
    const all = rest && [radix, ...rest];
    if (all && (!best || isBetter(all, best))) best = all;
  }
  known.set(key, best);
  return best;
}

const sum = (values: readonly number[]): number => values.reduce((total, each) => total + each, 0);

const isBetter = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length ? sum(a) < sum(b) : a.length < b.length;
