/**
 * A radix sort of doubles, for the numbers whose ranks cannot be guessed (see sort.ts): its time does not depend on what the
 * numbers are.
 */

/** The index of the high half of a double among its two words. */
const HIGH = new Uint8Array(new Uint16Array([1]).buffer)[0];
const DIGITS = [0, 11, 22] as const;

/** The positions of values other than NaN in ascending order; -0 and 0 are equal, and equal values keep their order. */
export function radixOrder(x: Float64Array): Uint32Array {
  const byLow = sortByWords(sortableWords(x, "low"), Uint32Array.from(x.keys()));
  const high = sortableWords(x, "high");
  return sortByWords(
    byLow.map((position) => high[position]),
    byLow,
  );
}

/** Unsigned words that compare as the doubles do: the high ones first, then the low ones. */
function sortableWords(x: Float64Array, half: "high" | "low"): Uint32Array {
  const words = new Uint32Array(x.buffer, x.byteOffset, 2 * x.length);
  const first = half === "high" ? HIGH : 1 - HIGH;
  const sign = half === "high" ? 0x80000000 : 0;
  const result = new Uint32Array(x.length);
  // -0 is not negative here, and its sign bit is set as that of 0 will be.
  for (let i = 0; i < x.length; i++) result[i] = x[i] < 0 ? ~words[2 * i + first] : words[2 * i + first] | sign;
  return result;
}

/** The order sorted by the keys that go with it, stably: by three digits, the last first. */
function sortByWords(keys: Uint32Array, order: Uint32Array): Uint32Array {
  let [keysFrom, orderFrom] = [keys, order];
  for (const shift of DIGITS) {
    const next = new Uint32Array(2049);
    for (let i = 0; i < keys.length; i++) next[((keys[i] >>> shift) & 2047) + 1]++;
    if (next.includes(keys.length)) continue; // they all share this digit
    for (let digit = 1; digit < 2048; digit++) next[digit] += next[digit - 1];
    const keysTo = new Uint32Array(keys.length);
    const orderTo = new Uint32Array(keys.length);
    for (let i = 0; i < keys.length; i++) {
      const key = keysFrom[i];
      const to = next[(key >>> shift) & 2047]++;
      keysTo[to] = key;
      orderTo[to] = orderFrom[i];
    }
    [keysFrom, orderFrom] = [keysTo, orderTo];
  }
  return orderFrom;
}
