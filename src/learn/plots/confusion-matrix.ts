/** Confusion matrices as a table whose cells are the darker, the more samples are in them. */
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { Picture } from "../../plots/picture.js";
import { escapeText, round } from "../../plots/svg.js";
import { fitText, textElement, textWidth } from "../../plots/text.js";
import type { Label, Numbers } from "../core/targets.js";
import { checkPicture, type PictureOptions } from "./frame.js";
import { rowsNow } from "./values.js";

/** Options of `plots.confusionMatrix`. */
export interface ConfusionPictureOptions extends PictureOptions {
  /** Names of the classes, in the order of the matrix: 0, 1 … unless told. */
  readonly labels?: readonly Label[];
}

/** Classes that a picture has room for. */
const MOST_CLASSES = 100;
/** Cells narrower than this have no numbers. */
const NARROW = 24;
const TOP = 36;

/** The matrix of `metrics.confusionMatrix`: a row for each right class, a column for each predicted one. */
export function confusionMatrix(matrix: Numbers, options: ConfusionPictureOptions = {}): Picture {
  const operation = "plots.confusionMatrix";
  checkPicture(operation, options, { labels: "any" });
  const rows = rowsNow(operation, matrix, "counts");
  const count = rows.length;
  if (count === 0 || rows[0].length !== count) {
    throw new ShapeError(`${operation}: counts are [classes, classes], not [${count}, ${rows[0]?.length ?? 0}].`);
  }
  const { labels = [...rows.keys()], title = "Confusion matrix" } = options;
  if (labels.length !== count) {
    throw new ArgumentError(`${operation}: there are ${labels.length} labels and ${count} classes; name each.`);
  }
  if (count > MOST_CLASSES) {
    throw new ArgumentError(
      `${operation}: there are ${count} classes, and a picture has room for ${MOST_CLASSES}; compute the matrix of some, by its option labels.`,
    );
  }
  const names = labels.map((label) => fitText(String(label), 110));
  const cell = Math.max(9, Math.min(64, Math.floor(400 / count)));
  const longest = Math.max(...names.map(textWidth));
  const isTurned = longest > cell - 4;
  const left = 34 + Math.ceil(longest);
  const foot = isTurned ? Math.ceil(longest * 0.75) + 16 : 20;
  const size = cell * count;
  const body = [
    textElement(title, { className: "heading", x: 12, y: 20 }),
    cells(rows, { left, cell }, names),
    `<rect class="cell" x="${left}" y="${TOP}" width="${size}" height="${size}"/>`,
    ...names.map((name, k) => named(name, k, { left, cell, size, isTurned })),
    textElement("right class", { className: "label", x: 14, y: TOP + size / 2, turned: -90 }),
    textElement("predicted class", { className: "label", x: left + size / 2, y: TOP + size + foot + 14 }),
  ];
  const width = Math.max(left + size + (isTurned ? 24 : 12), textWidth(title) * 1.35 + 24);
  return new Picture({
    title: title || "Confusion matrix",
    width: Math.round(width),
    height: TOP + size + foot + 22,
    body: body.join(""),
  });
}

interface Grid {
  readonly left: number;
  readonly cell: number;
}

function cells(rows: readonly Float64Array[], { left, cell }: Grid, names: readonly string[]): string {
  const largest = Math.max(...rows.map((row) => Math.max(...row)));
  let body = "";
  rows.forEach((row, i) => {
    row.forEach((value, j) => {
      const share = largest > 0 ? value / largest : 0;
      const [x, y] = [left + j * cell, TOP + i * cell];
      if (value > 0) {
        const tip = `${names[i]} taken for ${names[j]}: ${numberText(value)}`;
        body +=
          `<rect class="heat" x="${x}" y="${y}" width="${cell}" height="${cell}" fill-opacity="${round(10 * (0.06 + 0.94 * share)) / 10}">` +
          `<title>${escapeText(tip)}</title></rect>`;
      }
      if (cell < NARROW) return;
      const className = `value${share > 0.55 ? " light" : ""}${cell < 34 ? " small" : ""}`;
      body += textElement(numberText(value), { className, x: x + cell / 2, y: y + cell / 2 + 4 });
    });
  });
  return body;
}

/** Counts as they are, shares with two digits. */
const numberText = (value: number): string =>
  Number.isInteger(value)
    ? value >= 1e5
      ? value.toExponential(0).replace("e+", "e")
      : String(value)
    : value.toFixed(2);

/** The name of a class beside its row and below its column. Narrow rows have every so many named. */
function named(
  name: string,
  k: number,
  { left, cell, size, isTurned }: Grid & { size: number; isTurned: boolean },
): string {
  if (k % Math.ceil(11 / cell) !== 0) return "";
  const middle = (k + 0.5) * cell;
  const below = isTurned
    ? textElement(name, { className: "tick side", x: left + middle + 4, y: TOP + size + 12, turned: -45 })
    : textElement(name, { className: "tick", x: left + middle, y: TOP + size + 15 });
  return textElement(name, { className: "tick side", x: left - 6, y: TOP + middle + 4 }) + below;
}
