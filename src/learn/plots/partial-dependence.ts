/** Partial dependence: the mean prediction by the value of one feature, and those of single samples behind it. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import type { Picture } from "../../plots/picture.js";
import { type Domain, padded } from "../../plots/scales.js";
import { linePath, pathElement } from "../../plots/svg.js";
import { spread } from "../../plots/thinning.js";
import { isTensor } from "../../tensor/index.js";
import type { Numbers } from "../core/targets.js";
import { checkPicture, framed, type PictureOptions } from "./frame.js";
import { groupLine, groupPoints } from "./groups.js";
import { valueAxis } from "./value-axis.js";
import { rangeOf, rowsNow, vectorNow } from "./values.js";

/** Predictions by the value of a feature. */
export interface Dependence {
  /** The values of the feature: numbers, or categories as texts. */
  readonly values: Numbers | readonly string[];
  /** The mean prediction at each value. */
  readonly average: Numbers;
  /** The predictions of single samples, [samples, values]. */
  readonly individual?: Numbers;
}

/** Options of `plots.partialDependence`. */
export interface PartialDependenceOptions extends PictureOptions {
  /** The name of the feature: "feature" unless told. */
  readonly name?: string;
  /** The range of predictions to show, so that pictures of several features can be compared. */
  readonly range?: readonly number[];
}

/** Lines of single samples: of more, evenly spread ones are drawn. */
const MOST_LINES = 60;

/** The mean prediction by the value of a feature; thin lines are single samples. */
export function partialDependence(dependence: Dependence, options: PartialDependenceOptions = {}): Picture {
  const operation = "plots.partialDependence";
  checkPicture(operation, options, { name: "text", range: "list" });
  if (typeof dependence !== "object" || dependence === null) {
    throw new ArgumentError(`${operation}: ${shown(dependence)} stands where what partialDependence(…) found does.`);
  }
  const { name = "feature" } = options;
  const average = vectorNow(operation, dependence.average, "averages");
  const values = valuesOf(operation, dependence.values, average.length);
  const all = dependence.individual ? rowsNow(operation, dependence.individual, "predictions of samples") : [];
  const lines = spread(all, MOST_LINES);
  if (all.length > 0 && all[0].length !== average.length) {
    throw new ArgumentError(
      `${operation}: a sample has ${all[0].length} predictions, and there are ${average.length} values.`,
    );
  }
  const axis = valueAxis(values, "linear");
  return framed(options, {
    width: 420,
    height: 300,
    heading: `Partial dependence on ${name}`,
    xLabel: name,
    yLabel: "prediction",
    x: axis.domain,
    xTicks: axis.ticks,
    y: rangeFor(operation, options, padded(rangeOf([...average, ...lines.flatMap((line) => [...line])]))),
    draw: (toX, toY) => {
      const placed = (line: Float64Array) => Array.from(line, (value, i) => [toX(axis.places[i]), toY(value)] as const);
      const single = lines.map((line) => linePath(placed(line))).join("");
      const mean = placed(average);
      const behind = pathElement(single, "line faint of rest");
      return behind + (axis.isContinuous ? groupLine(mean, 0) : groupPoints(mean, 0));
    },
  });
}

function valuesOf(operation: string, given: Dependence["values"], count: number): (number | string)[] {
  const areTexts = Array.isArray(given) && typeof given[0] === "string";
  if (!areTexts) return [...vectorNow(operation, given as Numbers, "values", count)];
  if (!isTensor(given) && given.length === count) return [...(given as readonly string[])];
  throw new ArgumentError(`${operation}: there are ${given.length} values and ${count} averages.`);
}

function rangeFor(operation: string, { range }: PartialDependenceOptions, usual: Domain): Domain {
  if (range === undefined) return usual;
  if (range.length === 2 && range[0] < range[1]) return [range[0], range[1]];
  throw new ArgumentError(
    `${operation}: range is ${shown(range)}; it is the lowest and the highest prediction to show.`,
  );
}
