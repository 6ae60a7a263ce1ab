/** The plot of autocorrelations by lag, a line per chain or group. */
import { plot, SMALL } from "../../../plots/axes.js";
import { linePath, pathElement, round } from "../../../plots/svg.js";
import { meanAutocovariance } from "../../diagnostics/autocovariance.js";
import type { Chains } from "../../draws/draws.js";
import { chainGroups } from "../chain-groups.js";

const MOST_LAGS = 50;

export function autocorrelationPlot(name: string, x: Chains): string {
  const lags = Math.min(x.draws - 1, MOST_LAGS);
  // Draws that are independent stay within two standard errors of 0.
  const bound = 2 / Math.sqrt(x.draws);
  return plot({
    title: `Autocorrelation of ${name}`,
    ...SMALL,
    x: [0, Math.max(lags, 1)],
    y: [-0.35, 1],
    xLabel: "lag",
    draw: (toX, toY, { left, right }) => {
      const band = `M${left} ${round(toY(bound))}H${right}V${round(toY(-bound))}H${left}Z`;
      const lines = chainGroups(x).map(({ chains }, k) => {
        const points = correlations(chains, lags).map((value, lag): [number, number] => [toX(lag), toY(value)]);
        return pathElement(linePath(points), `line c${k}`);
      });
      return pathElement(band, "band light") + lines.join("");
    },
  });
}

/** The mean of the chains' autocovariances over that at lag 0; none of a constant. */
function correlations(x: Chains, lags: number): number[] {
  const covariance = meanAutocovariance(x);
  return Array.from({ length: lags + 1 }, (_, lag) => covariance.at(lag) / covariance.at(0));
}
