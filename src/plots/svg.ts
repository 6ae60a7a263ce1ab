/**
 * The little SVG that pictures are made of: paths, texts and the element around them. Text in, text out; colours are classes that a
 * style sheet fills in (style.ts), so that one picture serves light and dark. Frames with axes are in axes.ts.
 */

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

interface SvgParts {
  readonly title: string;
  readonly width: number;
  readonly height: number;
  /** The style sheet of a picture that stands by itself, which has a size then. */
  readonly style?: string;
}

export function svg({ title, width, height, style = "" }: SvgParts, body: string): string {
  const alone = style && ` width="${width}" height="${height}" class="pumice-picture"`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img"${alone}>` +
    `<title>${escapeText(title)}</title>${style && `<style>${style}</style>`}${body}</svg>`
  );
}
