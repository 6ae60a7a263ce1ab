/** A small chart of numbers in one line of text, as the tour prints it. */

/** A row of bars, one per value. */
export function sparkline(values: ArrayLike<number>): string {
  const all = Array.from(values);
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const bars = "▁▂▃▄▅▆▇█";
  return all.map((value) => bars[Math.round(((value - least) / (most - least || 1)) * (bars.length - 1))]).join("");
}
