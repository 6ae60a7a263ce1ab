/** The marginal distribution: a curve per chain or group and one of all, with the middle nine tenths shaded. */
import { plot, SMALL } from "../../../plots/axes.js";
import { type Domain, padded } from "../../../plots/scales.js";
import { bandPath, linePath, pathElement } from "../../../plots/svg.js";
import { quantileOf } from "../../diagnostics/ranks.js";
import type { Chains } from "../../draws/draws.js";
import { chainGroups, shownRange } from "../chain-groups.js";
import { estimateDensity } from "../density-estimate.js";

export function densityPlot(name: string, x: Chains): string {
  const finite = x.values.filter(Number.isFinite);
  const range = shownRange(finite);
  const isPoint = range[0] === range[1];
  const shown: Domain = isPoint ? padded(range) : range;
  const all = estimateDensity(finite, shown);
  const groups = chainGroups(x).map(({ chains }) => estimateDensity(chains.values.filter(Number.isFinite), shown));
  const peak = Math.max(...all.density, ...groups.flatMap(({ density }) => density));
  const sorted = finite.slice().sort();
  const [low, high] = [quantileOf(sorted, 0.05), quantileOf(sorted, 0.95)];
  return plot({
    title: `Density of ${name}`,
    ...SMALL,
    x: padded(shown, 0.02),
    y: [0, peak > 0 ? 1.05 * peak : 1],
    yTicks: false,
    xLabel: name,
    draw: (toX, toY) => {
      const middle = all.x.map((at, i) => [at, all.density[i]] as const).filter(([at]) => at >= low && at <= high);
      const band = bandPath(
        middle.map(([at]) => toX(at)),
        middle.map(() => toY(0)),
        middle.map(([, density]) => toY(density)),
      );
      const curves = groups.map(({ density }, k) =>
        pathElement(linePath(all.x.map((at, i) => [toX(at), toY(density[i])])), `line thin c${k}`),
      );
      const whole = linePath(all.x.map((at, i) => [toX(at), toY(all.density[i])]));
      return pathElement(band, "band") + curves.join("") + pathElement(whole, "line strong");
    },
  });
}
