/**
 * The plan of a discrete Fourier transform of some length, and the table of constants that it reads. Both depend on the
 * length, the dtype and the largest butterfly of the device: the table made with the node (tensor/dft.ts) fits the kernels
 * that the device's target makes of it (compiler/routines/fft/).
 *
 * A length whose prime factors are small is one pass of butterflies over rows that fit the memory of a workgroup, or several
 * passes (Bailey's four steps: columns, twiddles, rows). Other lengths are convolutions with a chirp, of a longer length
 * (Bluestein 1970).
 */
import { productOf } from "../core/shape.js";
import { radicesFor } from "./dft-radices.js";

export type DftFloat = "f32" | "f64";

/** The kinds: complex to complex, real to half of the spectrum, and half of a spectrum to real numbers. */
export type DftKind = "complex" | "real" | "half";

/**
 * The longest row of one pass: it fits 16 KiB, the shared memory that every Vulkan device has, one part at a time.
 * @internal for tests: passes are compared with it
 */
export const longestRow = (dtype: DftFloat): number => (dtype === "f32" ? 4096 : 2048);

/** Limits of a device: numbers of a butterfly, also in f64, of one that spares columns a stage, and of a row that is one pass of several. */
export interface DftLimits {
  readonly largestRadix: number;
  readonly largestOfDoubles?: number;
  readonly largestOfColumns: number;
  readonly longestPass: number;
  /** Complex numbers of f32 in a workgroup at most. */
  readonly mostNumbers?: number;
}

/** The largest butterfly of half-length transforms, whose lanes also join numbers from both ends of the spectrum. */
const LARGEST_HALVED = 8;

/** Prime factors that butterflies have. */
const PRIMES = [2, 3, 5, 7, 11, 13];

/** The start of a transform's constants in its table; they are complex numbers, counted as such. */
interface DftTable {
  /**
   * Roots of each pass, by its length, in the order of its stages but for the first: for each operand from the second on, the
   * roots of a butterfly's remainder 0, 1 … `done` - 1, so that neighbouring lanes read neighbours.
   */
  readonly roots: ReadonlyMap<number, number>;
  /** w^0 … w^(step-1) and w^0, w^step, w^(2 step) …, for w a root of this order: between passes, and to join halves. */
  readonly fine: number;
  readonly coarse: number;
  readonly step: number;
  /** The computed length, or twice that if `isHalved`. */
  readonly order: number;
  readonly chirp: number;
  /** The transform of the chirp, divided by the length. */
  readonly filter: number;
  /**
   * Roots of twice the length, as many as half the length and one: they join a real transform of twice the length. Null where
   * there are several passes, whose coarse and fine roots make them.
   */
  readonly halves: number | null;
  readonly size: number;
}

export interface DftPlan {
  /** Elements of the complex transform: half of those of a real one if `isHalved`. */
  readonly length: number;
  /** Elements are taken in pairs as complex numbers, or given so, and one transform of half the length does. */
  readonly isHalved: boolean;
  readonly isChirp: boolean;
  /** The length of the transforms that are computed: `length`, or that of the convolution. */
  readonly computed: number;
  /** The lengths of passes; their product is `computed`. */
  readonly passes: readonly number[];
  /** The butterflies of each pass, by its length. */
  readonly radices: ReadonlyMap<number, readonly number[]>;
  readonly table: DftTable;
}

/** Whether the lines along an axis are columns: their numbers lie apart. */
export const areColumns = (shape: readonly number[], axis: number): boolean => productOf(shape.slice(axis + 1)) > 1;

/** `given`: the lengths of the passes instead of the device's usual ones (passesBehindRows). */
export function planDft(
  kind: DftKind,
  length: number,
  dtype: DftFloat,
  limits: DftLimits,
  isColumns = false,
  given?: readonly number[],
): DftPlan {
  const half = length / 2;
  const isHalved = kind !== "complex" && length % 2 === 0 && half >= 2 && isSmooth(half);
  const own = isHalved ? half : length;
  const isChirp = !isSmooth(own);
  const computed = isChirp ? smoothFrom(2 * own - 1) : own;
  const longest = Math.min(longestRow(dtype), limits.longestPass);
  const passes = given ?? passesOf(computed, longestRow(dtype), longest);
  const largest = (dtype === "f64" && limits.largestOfDoubles) || limits.largestRadix;
  const largestRadix = isHalved ? Math.min(largest, LARGEST_HALVED) : largest;
  const isWide = isColumns && !isHalved && !isChirp && passes.length === 1 && dtype === "f32";
  const radicesOf = isWide
    ? (pass: number) => columnRadices(pass, limits)
    : (pass: number) => radicesFor(pass, largestRadix);
  const radices = new Map(passes.map((pass) => [pass, radicesOf(pass)]));
  const table = layOut(own, computed, radices, passes.length > 1, isHalved, isChirp);
  return { length: own, isHalved, isChirp, computed, passes, radices, table };
}

/**
 * Rows that a workgroup transforms together, at least and at most. Eight rows of 1024 have 82 registers in a lane and sixteen
 * 146: on an H200 64 planes of 1024×1024 took 0.32 and 0.39 ms.
 */
const [FEW_ROWS, MANY_ROWS] = [4, 8];

/**
 * The passes of columns that follow a transform of real rows. The first is one butterfly across rows that a workgroup has just
 * transformed, which spares reading and writing them once (rows-and-columns.ts). Null where the lengths do not suit.
 */
export function passesBehindRows(rows: DftPlan, length: number, limits: DftLimits): readonly [number, number] | null {
  if (!rows.isHalved || rows.isChirp || rows.passes.length > 1 || length > longestRow("f32")) return null;
  const most = Math.min(limits.largestRadix, MANY_ROWS, Math.floor((limits.mostNumbers ?? 0) / rows.length));
  for (let first = most; first >= FEW_ROWS; first--) {
    const rest = length / first;
    if (length % first === 0 && rest > 1 && rest <= limits.longestPass && isSmooth(length)) return [first, rest];
  }
  return null;
}

/**
 * The butterflies of columns: two large ones where the device's usual ones take three stages and are many. A lane then has more
 * numbers and a workgroup fewer lanes, so that more columns fit one.
 */
function columnRadices(length: number, { largestRadix, largestOfColumns }: DftLimits): number[] {
  const usual = radicesFor(length, largestRadix);
  const large = radicesFor(length, largestOfColumns);
  return length > LONG_COLUMN && large.length === 2 ? large : usual;
}

/** Columns up to this length have enough neighbours in a workgroup with the usual butterflies. */
const LONG_COLUMN = 512;

function layOut(
  length: number,
  computed: number,
  radices: DftPlan["radices"],
  isSplit: boolean,
  isHalved: boolean,
  isChirp: boolean,
): DftTable {
  let size = 0;
  const section = (count: number): number => {
    size += count;
    return size - count;
  };
  const roots = new Map<number, number>();
  for (const [pass, [first = 1]] of radices) roots.set(pass, section(pass - first));
  const order = isHalved ? 2 * computed : computed;
  const step = isSplit ? 2 ** Math.ceil(Math.log2(order) / 2) : 1;
  const fine = section(isSplit ? step : 0);
  const coarse = section(isSplit ? Math.ceil(order / step) : 0);
  const chirp = section(isChirp ? length : 0);
  const filter = section(isChirp ? computed : 0);
  const halves = isHalved && !isSplit ? section(Math.floor(length / 2) + 1) : null;
  // One butterfly needs no constants; a tensor has at least one.
  return { roots, fine, coarse, step, order, chirp, filter, halves, size: Math.max(1, size) };
}

/** Whether all prime factors are small. */
function isSmooth(length: number): boolean {
  return factorsOf(length) !== null;
}

/** The prime factors, the largest first; null where one is not small. */
function factorsOf(length: number): number[] | null {
  const factors: number[] = [];
  let rest = length;
  for (const prime of PRIMES) {
    for (; rest > 1 && rest % prime === 0; rest /= prime) factors.unshift(prime);
  }
  return rest === 1 ? factors : null;
}

/** The least length from a number on that has only the factors 2, 3 and 5, of which 2 at least three times if it is long. */
function smoothFrom(least: number): number {
  let best = 2 ** Math.ceil(Math.log2(least));
  for (let fives = 1; fives < best; fives *= 5) {
    for (let threes = fives; threes < best; threes *= 3) {
      const found = threes * 2 ** Math.max(least > 64 ? 3 : 0, Math.ceil(Math.log2(least / threes)));
      if (found >= least && found < best) best = found;
    }
  }
  return best;
}

/** One pass of a length of at most `longestRow`, or factors of it that are about equal and at most `longest`. */
function passesOf(length: number, longestRow: number, longest: number): number[] {
  if (length <= longestRow) return [length];
  const factors = factorsOf(length) as number[];
  for (let count = Math.max(2, Math.ceil(Math.log(length) / Math.log(longest) - 1e-9)); ; count++) {
    const found = cut(factors, count, longest);
    if (found) return found;
  }
}

/**
 * The factors in `count` groups, each of a product as near to the fair share as greedy choice finds; null where one is too
 * long.
 */
function cut(factors: readonly number[], count: number, longest: number): number[] | null {
  const groups = new Array<number>(count).fill(1);
  for (const factor of factors) {
    const smallest = groups.indexOf(Math.min(...groups));
    groups[smallest] *= factor;
  }
  return groups.every((group) => group <= longest) ? groups.sort((a, b) => b - a) : null;
}
