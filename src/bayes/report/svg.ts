/**
 * The little SVG that the plots are made of: scales, ticks, paths and a frame with axes. Text in, text out; colours are
 * classes that the page's style sheet fills in, so that one picture serves light and dark.
 */

export type Domain = readonly [low: number, high: number];
export type Scale = (value: number) => number;

/** Characters that mean something in HTML and XML. */
const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function escapeText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML has no place for these
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "").replace(/[&<>"']/g, (found) => ENTITIES[found]);
}

/** Tenths of a unit are enough, and make short paths. */
export function round(value: number): number {
  return Math.round(value * 10) / 10 + 0; // no -0
}

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

/** A line through points, broken where one is not finite. */
export function linePath(points: Iterable<readonly [x: number, y: number]>): string {
  let path = "";
  let isDown = false;
  for (const [x, y] of points) {
    if (Number.isFinite(x) && Number.isFinite(y)) path += `${isDown ? "L" : "M"}${round(x)} ${round(y)}`;
    isDown = Number.isFinite(x) && Number.isFinite(y);
  }
  return path;
}

/** The area between two lines over the same x. */
export function bandPath(x: readonly number[], low: readonly number[], high: readonly number[]): string {
  if (x.length === 0) return "";
  const forth = x.map((at, i): [number, number] => [at, high[i]]);
  const back = x.map((at, i): [number, number] => [at, low[i]]).reverse();
  return `${linePath([...forth, ...back])}Z`;
}

/** Points as dots: lines of no length, which round caps make visible. */
export function dotsPath(points: Iterable<readonly [x: number, y: number]>): string {
  let path = "";
  for (const [x, y] of points) if (Number.isFinite(x) && Number.isFinite(y)) path += `M${round(x)} ${round(y)}h0`;
  return path;
}

export function pathElement(path: string, className: string): string {
  return path && `<path class="${className}" d="${path}"/>`;
}

/** A picture of which three stand side by side. */
export const SMALL = { width: 320, height: 190 } as const;

interface PlotOptions {
  /** A description of the picture, for readers who cannot see it. */
  readonly title: string;
  readonly width: number;
  readonly height: number;
  readonly x: Domain;
  readonly y: Domain;
  readonly xLabel?: string;
  /** Whether the y axis has numbers; densities need none. */
  readonly yTicks?: boolean;
  /** Draws inside the axes. */
  readonly draw: (x: Scale, y: Scale, area: PlotArea) => string;
}

interface PlotArea {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** A picture with axes. */
export function plot(options: PlotOptions): string {
  const { title, width, height, xLabel = "", yTicks = true } = options;
  const area = { left: yTicks ? 46 : 10, right: width - 10, top: 8, bottom: height - (xLabel ? 34 : 20) };
  const x = scaleTo(options.x, [area.left, area.right]);
  const y = scaleTo(options.y, [area.bottom, area.top]);
  const below = ticksIn(options.x, width / 80).map((value) => {
    return `<text class="tick" x="${round(x(value))}" y="${area.bottom + 14}">${tickText(value)}</text>`;
  });
  const beside = (yTicks ? ticksIn(options.y, height / 50) : []).map((value) => {
    const at = round(y(value));
    return (
      `<path class="grid" d="M${area.left} ${at}H${area.right}"/>` +
      `<text class="tick side" x="${area.left - 6}" y="${at + 4}">${tickText(value)}</text>`
    );
  });
  const label =
    xLabel && `<text class="label" x="${(area.left + area.right) / 2}" y="${height - 4}">${escapeText(xLabel)}</text>`;
  return svg(
    { title, width, height },
    `${beside.join("")}${options.draw(x, y, area)}<path class="axis" d="M${area.left} ${area.bottom}H${area.right}"/>` +
      `${below.join("")}${label}`,
  );
}

export function svg(
  { title, width, height }: { readonly title: string; readonly width: number; readonly height: number },
  body: string,
): string {
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">` +
    `<title>${escapeText(title)}</title>${body}</svg>`
  );
}
