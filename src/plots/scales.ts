/** Scales from values to places, and round numbers for the ticks of axes. */

export type Domain = readonly [low: number, high: number];
export type Scale = (value: number) => number;

/** Maps a domain to a range, and holds what is outside at the edge. */
export function scaleTo([low, high]: Domain, [from, to]: Domain): Scale {
  return (value) => from + (to - from) * Math.min(Math.max((value - low) / (high - low), 0), 1);
}

/** The domain with room: never empty. */
export function padded([low, high]: Domain, share = 0.04): Domain {
  const room = high > low ? (high - low) * share : Math.max(Math.abs(low) * 0.1, 0.5);
  return [low - room, high + room];
}

/** Round numbers in a domain, about so many. */
export function ticksIn([low, high]: Domain, about: number): number[] {
  const rough = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  // A tick at the very edge must not be lost to rounding.
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: Math.max(count, 0) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** A tick's label: short, and as exact as the step needs. */
export function tickText(value: number): string {
  const size = Math.abs(value);
  if (value !== 0 && (size >= 1e5 || size < 1e-3)) return value.toExponential().replace(/e\+?/, "e");
  return String(Number(value.toPrecision(6)));
}
