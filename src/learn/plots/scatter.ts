/** Samples as points in two columns: an embedding, clusters, classes. */
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import type { Picture } from "../../plots/picture.js";
import { padded } from "../../plots/scales.js";
import { dotsPath, pathElement } from "../../plots/svg.js";
import { thinned } from "../../plots/thinning.js";
import { type Label, type Labels, labelsNow, type Numbers, sortedClasses } from "../core/targets.js";
import { checkPicture, framed, type PictureOptions } from "./frame.js";
import { groupPoints, pointEntry } from "./groups.js";
import { rangeOf, rowsNow } from "./values.js";

/** Options of `plots.scatter`. */
export interface ScatterOptions extends PictureOptions {
  /** A label for each sample: its group, which has a colour and a shape. */
  readonly labels?: Labels;
  /** The label of samples that belong to no group, as -1 of `dbscan`; they are grey. */
  readonly noise?: Label;
  /** The two columns to draw: 0 and 1 unless told. */
  readonly columns?: readonly number[];
  /** The names of the axes: "column 0" and "column 1" unless told. */
  readonly names?: readonly string[];
}

/** Points [samples, columns], in colours by label. Of very many, those that lie on the same spot are drawn once. */
export function scatter(points: Numbers, options: ScatterOptions = {}): Picture {
  const operation = "plots.scatter";
  checkPicture(operation, options, { labels: "any", noise: "any", columns: "list", names: "any" });
  const rows = rowsNow(operation, points, "points");
  const columns = columnsOf(operation, rows[0]?.length ?? 0, options);
  const { groups, classes } = groupsOf(operation, rows.length, options);
  const names = options.names ?? columns.map((column) => `column ${column}`);
  const [x, y] = columns.map((column) => rows.map((row) => row[column]));
  const isLabelled = classes.length > 0;
  const entries = classes.map((label, group) => pointEntry(String(label), group));
  const noise = groups.includes(-1) ? [pointEntry(`${String(options.noise)} (none)`, -1)] : [];
  return framed(options, {
    width: 460 + (isLabelled ? 110 : 0),
    height: 400,
    heading: "Samples",
    xLabel: names[0],
    yLabel: names[1],
    x: padded(rangeOf(x)),
    y: padded(rangeOf(y)),
    legend: isLabelled ? [...entries, ...noise] : [],
    draw: (toX, toY) => {
      const places = rows.map((_, i) => [toX(x[i]), toY(y[i])] as const);
      // Points that are not finite have no place, and scales would hold them at the edge.
      const known = places.map((place, i) =>
        Number.isFinite(x[i] + y[i]) ? place : ([Number.NaN, Number.NaN] as const),
      );
      const drawn = thinned(known, undefined, groups);
      const of = (group: number) => drawn.filter((i) => groups[i] === group).map((i) => known[i]);
      if (!isLabelled) return pathElement(dotsPath(of(0)), "points plain");
      return [-1, ...classes.keys()].map((group) => groupPoints(of(group), group)).join("");
    },
  });
}

function columnsOf(operation: string, width: number, { columns = [0, 1], names }: ScatterOptions): readonly number[] {
  if (columns.length !== 2 || !columns.every((column) => Number.isInteger(column) && column >= 0)) {
    throw new ArgumentError(`${operation}: columns are ${shown(columns)}; name two, from 0 on.`);
  }
  if (names !== undefined && names.length !== 2) {
    throw new ArgumentError(`${operation}: names are ${shown(names)}; there are two axes.`);
  }
  if (Math.max(...columns) < width) return columns;
  throw new ShapeError(`${operation}: points have ${width} columns, and ${columns.join(" and ")} are to be drawn.`);
}

/** The group of each sample by the order of its label, -1 for noise, and the labels of the groups. */
function groupsOf(operation: string, samples: number, { labels, noise }: ScatterOptions) {
  if (labels === undefined) return { groups: new Int32Array(samples), classes: [] };
  const given = labelsNow(operation, labels);
  if (given.length !== samples) {
    throw new ShapeError(`${operation}: there are ${samples} points and ${given.length} labels.`);
  }
  const classes = sortedClasses(operation, given).filter((label) => label !== noise);
  const places = new Map(classes.map((label, place) => [label, place]));
  return { groups: Int32Array.from(given, (label) => places.get(label) ?? -1), classes };
}
