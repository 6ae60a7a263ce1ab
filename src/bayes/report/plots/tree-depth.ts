/** The plot of tree depths: a bar per depth, with its share of the transitions. */
import { plot, SMALL } from "../../../plots/axes.js";
import { pathElement, round } from "../../../plots/svg.js";

export function treeDepthPlot(depths: Float64Array): string {
  const finite = depths.filter(Number.isFinite);
  const deepest = Math.max(
    finite.reduce((most, depth) => Math.max(most, depth), 0),
    5,
  );
  const shares = new Array<number>(Math.floor(deepest) + 1).fill(0);
  for (const depth of finite) shares[Math.floor(depth)] += 1 / finite.length;
  return plot({
    title: "Tree depths",
    ...SMALL,
    x: [-0.6, shares.length - 0.4],
    y: [0, 1],
    xLabel: "tree depth",
    draw: (toX, toY) => {
      const bars = shares.map((share, depth) => {
        const [left, right] = [round(toX(depth - 0.4)), round(toX(depth + 0.4))];
        return share > 0 ? `M${left} ${round(toY(0))}V${round(toY(share))}H${right}V${round(toY(0))}Z` : "";
      });
      return pathElement(bars.join(""), "bar c0");
    },
  });
}
