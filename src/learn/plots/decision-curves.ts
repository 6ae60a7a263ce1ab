/** Curves of decisions by a threshold, one for each model: ROC, precision by recall, calibration. They take what `metrics` computes. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { legendWidth } from "../../plots/legend.js";
import type { Picture } from "../../plots/picture.js";
import { linePath, pathElement } from "../../plots/svg.js";
import { thinnedCurve } from "../../plots/thinning.js";
import { auc, type CalibrationCurve, type PrecisionRecallCurve, type RocCurve } from "../metrics/index.js";
import { checkPicture, framed, type PictureOptions } from "./frame.js";
import { groupLine, groupPoints, lineEntry } from "./groups.js";
import { vectorNow } from "./values.js";

/** One curve, or several by name. */
export type Curves<C> = C | Readonly<Record<string, C>>;

type Point = readonly [x: number, y: number];

interface Line {
  readonly name: string;
  readonly points: readonly Point[];
}

const SIZE = { width: 430, height: 420 } as const;

/** Curves by name; a lone one has none. `key` is a part of a curve, by which it is known. */
function named<C extends object>(operation: string, given: Curves<C>, key: keyof C & string): [string, C][] {
  const isObject = typeof given === "object" && given !== null;
  const found = isObject && key in given ? [["", given as C] as [string, C]] : Object.entries(isObject ? given : {});
  if (found.length > 0 && found.every(([, curve]) => typeof curve === "object" && curve !== null && key in curve)) {
    return found as [string, C][];
  }
  throw new ArgumentError(
    `${operation}: takes a curve, as metrics.${operation.replace("plots.", "")} gives it, or several by name, not ${shown(given)}.`,
  );
}

const pairs = (x: Float64Array, y: Float64Array): Point[] => Array.from(x, (at, i) => [at, y[i]] as const);

/** The straight line between two points of the axes. */
const reference = (from: Point, to: Point): string => pathElement(linePath([from, to]), "expected");

interface Axes {
  readonly heading: string;
  readonly xLabel: string;
  readonly yLabel: string;
  /** The ends of a dashed line to compare with. */
  readonly reference: readonly [Point, Point];
  readonly hasPoints?: boolean;
}

/** Curves in the unit square. */
function inUnitSquare(options: PictureOptions, lines: readonly Line[], axes: Axes): Picture {
  const legend = lines.length > 1 ? lines.map(({ name }, k) => lineEntry(name, k)) : [];
  return framed(options, {
    ...SIZE,
    // A wider picture, so that the square stays one.
    width: SIZE.width + legendWidth(legend),
    ...axes,
    x: [0, 1],
    y: [0, 1],
    legend,
    draw: (toX, toY) => {
      const placed = lines.map(({ points }) => thinnedCurve(points.map(([x, y]) => [toX(x), toY(y)])));
      const [from, to] = axes.reference.map(([x, y]) => [toX(x), toY(y)] as const);
      const curves = placed.map((points, k) => groupLine(points, k) + (axes.hasPoints ? groupPoints(points, k) : ""));
      return reference(from, to) + curves.join("");
    },
  });
}

/** ROC curves: the share of positives that are found, by the share of negatives taken for positive. Areas stand in the legend. */
export function rocCurve(curves: Curves<RocCurve>, options: PictureOptions = {}): Picture {
  const operation = "plots.rocCurve";
  checkPicture(operation, options, {});
  const found = named(operation, curves, "falsePositiveRate").map(([name, curve]) => {
    const x = vectorNow(operation, curve.falsePositiveRate, "rates of false positives");
    const y = vectorNow(operation, curve.truePositiveRate, "rates of true positives", x.length);
    return { name, points: pairs(x, y), area: Number(auc(x, y, { dtype: "f64" }).itemSync()) };
  });
  return inUnitSquare(
    options,
    found.map(({ name, points, area }) => ({ name: `${area.toFixed(3)} ${name}`, points })),
    {
      heading: found.length > 1 ? "ROC curves and their areas" : `ROC curve, area ${found[0].area.toFixed(3)}`,
      xLabel: "false positive rate",
      yLabel: "true positive rate",
      reference: [[0, 0], [1, 1]], // biome-ignore format: two ends
    },
  );
}

/** Precision by recall. The dashed line is the share of positives, which is the precision of chance. */
export function precisionRecallCurve(curves: Curves<PrecisionRecallCurve>, options: PictureOptions = {}): Picture {
  const operation = "plots.precisionRecallCurve";
  checkPicture(operation, options, {});
  const lines = named(operation, curves, "recall").map(([name, curve]) => {
    const recall = vectorNow(operation, curve.recall, "recalls");
    const precision = vectorNow(operation, curve.precision, "precisions", recall.length);
    return { name, points: steps(recall, precision) };
  });
  // At the lowest threshold, all samples are called positive.
  const chance = lines[0].points[0]?.[1] ?? 0;
  return inUnitSquare(options, lines, {
    heading: lines.length > 1 ? "Precision-recall curves" : "Precision-recall curve",
    xLabel: "recall",
    yLabel: "precision",
    reference: [[0, chance], [1, chance]], // biome-ignore format: two ends
  });
}

/** Between thresholds, precision stays: a line through the points would promise too much. */
function steps(x: Float64Array, y: Float64Array): Point[] {
  return Array.from(x).flatMap((at, i): Point[] => (i === 0 ? [[at, y[i]]] : [[at, y[i - 1]], [at, y[i]]])); // biome-ignore format: a step
}

/** The share of positives by predicted probability. The dashed line is that of probabilities that hold. */
export function calibrationCurve(curves: Curves<CalibrationCurve>, options: PictureOptions = {}): Picture {
  const operation = "plots.calibrationCurve";
  checkPicture(operation, options, {});
  const lines = named(operation, curves, "observed").map(([name, curve]) => {
    const x = vectorNow(operation, curve.predicted, "predicted probabilities");
    return { name, points: pairs(x, vectorNow(operation, curve.observed, "shares of positives", x.length)) };
  });
  return inUnitSquare(options, lines, {
    heading: lines.length > 1 ? "Calibration curves" : "Calibration curve",
    xLabel: "mean predicted probability",
    yLabel: "share of positives",
    reference: [[0, 0], [1, 1]], // biome-ignore format: two ends
    hasPoints: true,
  });
}
