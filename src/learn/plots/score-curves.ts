/** Scores by the number of samples and by the value of an option, as `learningCurve` and `validationCurve` compute them. */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import type { Picture } from "../../plots/picture.js";
import { padded } from "../../plots/scales.js";
import { bandPath, pathElement } from "../../plots/svg.js";
import type { CurveScores, LearningCurve, ValidationCurve } from "../selection/index.js";
import { checkPicture, framed, type PictureOptions } from "./frame.js";
import { colourOf, groupLine, groupPoints, lineEntry } from "./groups.js";
import { type AxisScale, scaleFor, type ValueAxis, valueAxis } from "./value-axis.js";

/** Options of `plots.learningCurve` and `plots.validationCurve`. */
export interface ScoreCurveOptions extends PictureOptions {
  /** The name of the score to draw: the first unless told. */
  readonly score?: string;
  /** The scale of the values: "log" where they are above 0 and span two decades, unless told. */
  readonly scale?: AxisScale;
}

interface Scores {
  readonly trainScores: CurveScores;
  readonly scores: CurveScores;
}

/** Scores by the number of samples fitted: the mean over splits, in a band of one standard deviation. */
export function learningCurve(curve: LearningCurve, options: ScoreCurveOptions = {}): Picture {
  const operation = "plots.learningCurve";
  checkCurve(operation, curve?.sizes, curve, "learningCurve(…)");
  const axis = axisOf(operation, curve.sizes, options, "linear");
  return ofScores(operation, curve, axis, options, { heading: "Learning curve", xLabel: "samples fitted" });
}

/** Scores by the value of an option: the mean over splits, in a band of one standard deviation. */
export function validationCurve(curve: ValidationCurve, options: ScoreCurveOptions = {}): Picture {
  const operation = "plots.validationCurve";
  checkCurve(operation, curve?.values, curve, "validationCurve(…)");
  const axis = axisOf(operation, curve.values, options, scaleFor(curve.values));
  return ofScores(operation, curve, axis, options, { heading: `Scores by ${curve.name}`, xLabel: curve.name });
}

function checkCurve(operation: string, along: unknown, curve: Scores | undefined, maker: string): void {
  if (Array.isArray(along) && typeof curve?.scores === "object") return;
  throw new ArgumentError(`${operation}: ${shown(curve)} stands where a curve does; give what ${maker} found.`);
}

function axisOf(
  operation: string,
  values: ValidationCurve["values"],
  options: ScoreCurveOptions,
  usual: AxisScale,
): ValueAxis {
  checkPicture(operation, options, { score: "text", scale: "text" });
  const { scale = usual } = options;
  checkChoice(operation, "the option scale", scale, ["linear", "log"]);
  if (scale === "linear" || values.every((value) => typeof value === "number" && value > 0))
    return valueAxis(values, scale);
  throw new ArgumentError(`${operation}: scale is "log", and not all values are numbers above 0: ${shown(values)}.`);
}

function ofScores(
  operation: string,
  { trainScores, scores }: Scores,
  axis: ValueAxis,
  options: ScoreCurveOptions,
  texts: { readonly heading: string; readonly xLabel: string },
): Picture {
  const { score = Object.keys(scores)[0] } = options;
  if (!Object.hasOwn(scores, score)) {
    throw new ArgumentError(
      `${operation}: there is no score ${shown(score)}; there are ${Object.keys(scores).join(", ")}.`,
    );
  }
  const lines = [trainScores[score], scores[score]].map((splits) => splits.map(spreadOf));
  const ends = lines
    .flat()
    .flatMap(({ mean, sd }) => [mean - sd, mean + sd])
    .filter(Number.isFinite);
  return framed(options, {
    width: 560,
    height: 340,
    ...texts,
    yLabel: score,
    x: axis.domain,
    xTicks: axis.ticks,
    y: padded(ends.length > 0 ? [Math.min(...ends), Math.max(...ends)] : [0, 1]),
    legend: [lineEntry("training", 0), lineEntry("test", 1)],
    draw: (toX, toY) =>
      lines
        .map((line, k) => {
          const aside = axis.isContinuous ? 0 : 14 * k - 7;
          const points = line.map(({ mean }, i) => [toX(axis.places[i]) + aside, toY(mean)] as const);
          const ends = [-1, 1].map((side) => line.map(({ mean, sd }) => toY(mean + side * sd)));
          const spread = axis.isContinuous
            ? pathElement(
                bandPath(
                  points.map(([x]) => x),
                  ends[0],
                  ends[1],
                ),
                `band of ${colourOf(k)}`,
              ) + groupLine(points, k)
            : groupLine(
                points.flatMap(
                  ([x], i) =>
                    [
                      [x, ends[0][i]],
                      [x, ends[1][i]],
                      [x, Number.NaN],
                    ] as const,
                ),
                k,
              );
          return spread + groupPoints(points, k);
        })
        .join(""),
  });
}

type Spread = { readonly mean: number; readonly sd: number };

/** The mean and the standard deviation over splits, as NumPy's. */
function spreadOf(values: readonly number[]): Spread {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { mean, sd: Math.sqrt(variance) };
}
