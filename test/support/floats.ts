/** Floats as tests look at them: typed arrays by type name, and distances in units of the last place. */
import { randomFrom } from "./random.js";

export type FloatType = "f32" | "f64";
export type FloatArray = Float32Array | Float64Array;

export const bytesPer = (type: FloatType): number => (type === "f32" ? 4 : 8);

export const floats = (type: FloatType, values: number | Iterable<number>): FloatArray => {
  if (typeof values === "number") return type === "f32" ? new Float32Array(values) : new Float64Array(values);
  return type === "f32" ? Float32Array.from(values) : Float64Array.from(values);
};

/** The bytes of a buffer as floats; copies, so that any offset will do. */
export const asFloats = (type: FloatType, bytes: Uint8Array): FloatArray => {
  const { buffer } = Uint8Array.from(bytes);
  return type === "f32" ? new Float32Array(buffer) : new Float64Array(buffer);
};

/** To the nearest value of the type. */
export const rounded = (type: FloatType, x: number): number => (type === "f32" ? Math.fround(x) : x);

export const smallestNormal = { f32: 2 ** -126, f64: 2 ** -1022 } as const;
export const smallestDenormal = { f32: 2 ** -149, f64: 2 ** -1074 } as const;
export const largest = { f32: (2 - 2 ** -23) * 2 ** 127, f64: Number.MAX_VALUE } as const;
/** Half the spacing of floats next to 1: the most a rounding is off, relative to the result. */
export const roundoff = { f32: 2 ** -24, f64: 2 ** -53 } as const;

export const isDenormal = (type: FloatType, x: number): boolean => x !== 0 && Math.abs(x) < smallestNormal[type];

/** A real number to twice the precision of a double. */
export interface Real {
  readonly high: number;
  readonly low: number;
}

/** The spacing of floats of the type around x. */
export function spacing(type: FloatType, x: number): number {
  const magnitude = Math.abs(x);
  if (magnitude < smallestNormal[type]) return smallestDenormal[type];
  // Math.log2 may be off by one next to a power of two.
  let exponent = Math.floor(Math.log2(magnitude));
  if (2 ** exponent > magnitude) exponent--;
  else if (magnitude / 2 ** exponent >= 2) exponent++;
  return 2 ** (exponent - (type === "f32" ? 23 : 52));
}

/** How far `got` is from the true value, in units of the last place. Overflow begins one unit past the largest float. */
export function ulpsFrom(type: FloatType, got: number, { high, low }: Real): number {
  if (Number.isNaN(high) || Number.isNaN(got)) return Number.isNaN(high) && Number.isNaN(got) ? 0 : Infinity;
  const unit = spacing(type, Math.min(Math.abs(high), largest[type]));
  if (Math.abs(high) <= largest[type] / 4) return Math.abs((got - high - low) / unit);
  // Halved, so that one past the end of f64 is still a number.
  const end = largest[type] / 2 + spacing(type, largest[type]) / 2;
  const halved = (x: number) => Math.max(-end, Math.min(end, x / 2));
  return Math.abs((halved(got) - halved(high) - low / 2) / (unit / 2));
}

/** Values that catch special cases. */
export function specialFloats(type: FloatType): number[] {
  const { [type]: unit } = roundoff;
  const positive = [0, smallestDenormal[type], smallestNormal[type] - smallestDenormal[type], smallestNormal[type]];
  positive.push(0.5, 1 - unit, 1, 1 + 2 * unit, 1.5, 2, 3, 2 ** 24 + 2, largest[type], Infinity);
  return [...positive, ...positive.map((x) => -x), NaN];
}

/** Random floats: any bits but NaN and infinity, or uniform between two ends. */
export function randomFloats(type: FloatType, seed: number) {
  const random = randomFrom(seed);
  const unit = () => (random.below(2 ** 26) * 2 ** 26 + random.below(2 ** 26)) / 2 ** 52;
  const between = (low: number, high: number) => rounded(type, low + (high - low) * unit());
  const any = (): number => {
    const [x] = asFloats(type, random.bytes(bytesPer(type))) as FloatArray;
    return Number.isFinite(x) ? (x as number) : any();
  };
  /** Either sign, magnitude from 2^low to 2^high evenly by exponent. */
  const scaled = (low: number, high: number) =>
    rounded(type, (random.below(2) ? 1 : -1) * 2 ** (low + (high - low) * unit()));
  return { between, any, scaled, below: random.below };
}
