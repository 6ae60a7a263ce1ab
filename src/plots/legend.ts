/** Legends: a mark and a name for each group, in a column beside the picture. */
import { textElement, textWidth } from "./text.js";

export interface LegendEntry {
  readonly name: string;
  /** Draws the mark of the group, in a box of 16 by 10 pixels about a place. */
  mark(x: number, y: number): string;
}

const ROW = 17;
const MOST_WIDTH = 130;

/** The width that a legend takes beside a picture: 0 without entries. */
export function legendWidth(entries: readonly LegendEntry[]): number {
  if (entries.length === 0) return 0;
  return Math.min(Math.max(...entries.map(({ name }) => textWidth(name))), MOST_WIDTH) + 36;
}

/** The legend, from the top down as far as there is room. The last line counts the rest. */
export function legendElement(
  entries: readonly LegendEntry[],
  left: number,
  { top, bottom }: { readonly top: number; readonly bottom: number },
): string {
  const rows = Math.max(1, Math.floor((bottom - top) / ROW));
  const shown = entries.length > rows ? entries.slice(0, rows - 1) : entries;
  const rest = entries.length - shown.length;
  const lines = shown.map(({ name, mark }, k) => {
    const y = top + 8 + k * ROW;
    return mark(left + 8, y) + textElement(name, { className: "name", x: left + 22, y: y + 4, width: MOST_WIDTH });
  });
  const more = rest
    ? textElement(`and ${rest} more`, { className: "name", x: left + 22, y: top + 12 + shown.length * ROW })
    : "";
  return lines.join("") + more;
}
