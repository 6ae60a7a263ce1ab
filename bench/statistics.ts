/**
 * What a row's samples amount to. The middle and the spread are order statistics, because timings have a hard floor and
 * a long tail: one garbage collection must not move the figure. Ours and the peers' samples pass through the same code.
 */

export interface Summary {
  readonly count: number;
  readonly median: number;
  readonly p10: number;
  readonly p90: number;
  readonly min: number;
  readonly max: number;
}

/** The q-quantile by linear interpolation between order statistics, as NumPy's default. */
export function quantile(samples: readonly number[], q: number): number {
  if (samples.length === 0) throw new RangeError("quantile: there are no samples.");
  const sorted = [...samples].sort((a, b) => a - b);
  const position = q * (sorted.length - 1);
  const below = Math.floor(position);
  const low = sorted[below]!;
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!;
  return low + (high - low) * (position - below);
}

export const median = (samples: readonly number[]): number => quantile(samples, 0.5);

export function summarise(samples: readonly number[]): Summary {
  const broken = samples.find((sample) => !Number.isFinite(sample));
  if (broken !== undefined) throw new RangeError(`summarise: ${broken} among the samples.`);
  return {
    count: samples.length,
    median: median(samples),
    p10: quantile(samples, 0.1),
    p90: quantile(samples, 0.9),
    min: quantile(samples, 0),
    max: quantile(samples, 1),
  };
}
