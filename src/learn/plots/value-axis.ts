/** An axis of values that users chose: numbers, on a scale of logarithms where they span decades, or texts in their order. */
import type { Tick } from "../../plots/axes.js";
import { type Domain, padded, ticksIn, tickText } from "../../plots/scales.js";

export interface ValueAxis {
  /** The place of each value on the axis. */
  readonly places: readonly number[];
  readonly domain: Domain;
  /** Ticks where values are no plain numbers. */
  readonly ticks: readonly Tick[] | undefined;
  /** Whether it makes sense to draw lines between values. */
  readonly isContinuous: boolean;
}

/** The scale of an axis: even steps of values, or of their logarithms. */
export type AxisScale = "linear" | "log";

/** The scale of values unless told: "log" where all are above 0 and the largest is a hundred times the smallest. */
export function scaleFor(values: readonly unknown[]): AxisScale {
  const numbers = values.filter((value) => typeof value === "number");
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  return low > 0 && high >= 100 * low ? "log" : "linear";
}

export function valueAxis(values: readonly (number | string | boolean)[], scale: AxisScale): ValueAxis {
  if (!values.every((value) => typeof value === "number")) {
    const places = [...values.keys()];
    return {
      places,
      domain: [-0.5, values.length - 0.5],
      ticks: places.map((at) => ({ at, text: String(values[at]) })),
      isContinuous: false,
    };
  }
  const places = scale === "log" ? values.map(Math.log10) : values;
  const [low, high] = [Math.min(...places), Math.max(...places)];
  const domain = padded([low, high], 0.02);
  return { places, domain, ticks: scale === "log" ? decades(domain) : undefined, isContinuous: true };
}

/** Powers of ten; the ones between, too, where there are few. */
function decades([low, high]: Domain): Tick[] {
  const powers = ticksIn([low, high], 10).filter(Number.isInteger);
  const factors = high - low < 2.2 ? [1, 2, 5] : [1];
  const all = powers.length > 0 ? [Math.floor(low), ...powers] : [Math.floor(low)];
  return [...new Set(all)]
    .flatMap((power) =>
      factors.map((factor) => ({ at: power + Math.log10(factor), value: Number(`${factor}e${power}`) })),
    )
    .filter(({ at }) => at >= low - 1e-9 && at <= high + 1e-9)
    .map(({ at, value }) => ({ at, text: tickText(value) }));
}
