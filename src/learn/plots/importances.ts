/** Importances of features as bars, the largest first. */
import { checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import type { Picture } from "../../plots/picture.js";
import { padded } from "../../plots/scales.js";
import { pathElement, round } from "../../plots/svg.js";
import type { Numbers } from "../core/targets.js";
import { checkPicture, framed, type PictureOptions } from "./frame.js";
import { rangeOf, rowsNow, vectorNow } from "./values.js";

/** Options of `plots.importances`. */
export interface ImportanceOptions extends PictureOptions {
  /** Names of the features: "feature 0" … unless told. */
  readonly names?: readonly string[] | null;
  /** How far the bar of error reaches to either side, for each feature. */
  readonly errors?: Numbers;
  /** The number of features to draw: the 20 largest unless told. */
  readonly most?: number;
}

/** Importances [features], or [features, repeats], which are drawn as means with their standard deviations. */
export function importances(values: Numbers, options: ImportanceOptions = {}): Picture {
  const operation = "plots.importances";
  checkPicture(operation, options, { names: "any", errors: "any", most: "number" });
  const rows = rowsNow(operation, values, "importances");
  const means = rows.map((row) => row.reduce((sum, value) => sum + value, 0) / row.length);
  const errors = options.errors
    ? vectorNow(operation, options.errors, "errors", rows.length)
    : rows.map((row, i) => Math.sqrt(row.reduce((sum, value) => sum + (value - means[i]) ** 2, 0) / row.length));
  const names = options.names ?? rows.map((_, i) => `feature ${i}`);
  if (names.length !== rows.length || rows.length === 0) {
    throw new ArgumentError(`${operation}: there are ${names.length} names and ${rows.length} importances; name each.`);
  }
  const most = checkWhole(operation, "most", options.most ?? 20, 1);
  const order = [...means.keys()].sort((a, b) => means[b] - means[a]).slice(0, most);
  const ends = order.flatMap((i) => [means[i] - errors[i], means[i] + errors[i]]);
  const [low, high] = padded(rangeOf([0, ...ends]));
  return framed(options, {
    width: 560,
    height: 74 + 22 * order.length,
    heading: order.length < rows.length ? `Importances, the ${order.length} largest of ${rows.length}` : "Importances",
    xLabel: "importance",
    x: [Math.min(...ends) < 0 ? low : 0, high],
    y: [order.length - 0.5, -0.5],
    yTicks: order.map((i, at) => ({ at, text: names[i] })),
    draw: (toX, toY, { top, bottom }) => {
      const zero = round(toX(0));
      const bars = order.map(
        (i, at) => `M${zero} ${round(toY(at - 0.34))}H${round(toX(means[i]))}V${round(toY(at + 0.34))}H${zero}Z`,
      );
      const whiskers = order
        .filter((i) => errors[i] > 0)
        .map((i) => {
          const [from, to] = [round(toX(means[i] - errors[i])), round(toX(means[i] + errors[i]))];
          const y = round(toY(order.indexOf(i)));
          return `M${from} ${round(y - 3)}v6M${from} ${y}H${to}M${to} ${round(y - 3)}v6`;
        });
      return `${pathElement(bars.join(""), "bar of g0")}${pathElement(whiskers.join(""), "whisker")}<path class="axis" d="M${zero} ${top}V${bottom}"/>`;
    },
  });
}
