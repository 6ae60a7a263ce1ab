/**
 * Texts of pictures: how wide they are, about, so that what does not fit is cut and nothing lies over anything else. The whole text is the
 * tip of a text that was cut. All texts are escaped here or in svg.ts.
 */
import { escapeText, round } from "./svg.js";

/** The width of a text of 11 pixels, on the safe side: fonts differ. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

function characterWidth(character: string): number {
  const code = character.codePointAt(0) as number;
  if (code >= 0x2000 && code < 0x2c00) return 9;
  if (code >= 0x1100) return 11.5;
  if (/[il.,:;|!'()[\] ]/.test(character)) return 3.7;
  return /[A-Zmw%@]/.test(character) ? 8.2 : 6.3;
}

/** The text, or as much of its beginning as fits, with an ellipsis. */
export function fitText(text: string, width: number): string {
  const line = text.replace(/\s+/g, " ");
  if (textWidth(line) <= width) return line;
  const characters = [...line];
  let kept = 0;
  for (let used = 11; kept < characters.length; kept++) {
    used += characterWidth(characters[kept] as string);
    if (used > width) break;
  }
  return `${characters.slice(0, kept).join("").trimEnd()}…`;
}

interface TextPlace {
  readonly x: number;
  readonly y: number;
  /** Classes of the style sheet. */
  readonly className: string;
  /** The room for the text: what is longer is cut. Unlimited unless told. */
  readonly width?: number;
  /** Degrees to turn the text by, about its place. */
  readonly turned?: number;
}

/** A text at a place. */
export function textElement(
  text: string,
  { x, y, className, width = Number.POSITIVE_INFINITY, turned }: TextPlace,
): string {
  const shown = fitText(text, width);
  const tip = shown === text.replace(/\s+/g, " ") ? "" : `<title>${escapeText(text)}</title>`;
  const place = turned
    ? `transform="translate(${round(x)} ${round(y)}) rotate(${turned})"`
    : `x="${round(x)}" y="${round(y)}"`;
  return `<text class="${className}" ${place}>${tip}${escapeText(shown)}</text>`;
}
