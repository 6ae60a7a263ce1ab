/**
 * Marks of groups: each has a colour, and a dash or a shape besides, so that no group is known by its colour alone. Eight colours and four
 * dashes or shapes make 32 marks.
 */
import { GROUP_COLOURS } from "../../plots/colours.js";
import type { LegendEntry } from "../../plots/legend.js";
import { dotsPath, linePath, pathElement, round } from "../../plots/svg.js";

type Point = readonly [x: number, y: number];

/** The class of the colour of a group. */
export const colourOf = (group: number): string => `g${group % GROUP_COLOURS}`;

/** One of four, other for a group that shares its colour. */
const variantOf = (group: number): number => (group + Math.floor(group / GROUP_COLOURS)) % 4;

/** A line in the colour and dash of a group. */
export const groupLine = (points: Iterable<Point>, group: number): string =>
  pathElement(linePath(points), `line strong of d${variantOf(group)} ${colourOf(group)}`);

/** Points in the colour and shape of a group. A group below 0 is what belongs to none. */
export function groupPoints(points: readonly Point[], group: number): string {
  if (group < 0) return pathElement(dotsPath(points), "points rest");
  const colour = colourOf(group);
  const shaped = (shape: string): string => points.map(([x, y]) => `M${round(x)} ${round(y)}${shape}`).join("");
  switch (variantOf(group)) {
    case 0:
      return pathElement(dotsPath(points), `points ${colour}`);
    case 1:
      return pathElement(shaped("m0-3.2l3 5.2h-6z"), `shape ${colour}`);
    case 2:
      return pathElement(dotsPath(points), `points square ${colour}`);
    default:
      return pathElement(shaped("m0-3.4l3.4 3.4-3.4 3.4-3.4-3.4z"), `shape ${colour}`);
  }
}

/** The entry of a line in a legend. */
export const lineEntry = (name: string, group: number): LegendEntry => ({
  name,
  mark: (x, y) => groupLine([[x - 10, y], [x + 9, y]], group), // biome-ignore format: two ends
});

/** The entry of points in a legend. */
export const pointEntry = (name: string, group: number): LegendEntry => ({
  name,
  mark: (x, y) => groupPoints([[x, y]], group),
});
