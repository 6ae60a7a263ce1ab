/**
 * The energies a chain visits beside the steps it takes between them. Where the steps are much narrower, the sampler needs
 * many draws to cross the energies of the posterior (low E-BFMI).
 */
import { plot, SMALL } from "../../../plots/axes.js";
import { padded } from "../../../plots/scales.js";
import { bandPath, linePath, pathElement } from "../../../plots/svg.js";
import { chainMeans } from "../../diagnostics/chains.js";
import type { Chains } from "../../draws/draws.js";
import { shownRange } from "../chain-groups.js";
import { estimateDensity } from "../density-estimate.js";

export function energyPlot(energy: Chains): string {
  const { visited, steps } = energyDifferences(energy);
  const shown = padded(shownRange(Float64Array.of(...shownRange(visited), ...shownRange(steps))));
  const [a, b] = [estimateDensity(visited, shown), estimateDensity(steps, shown)];
  const peak = Math.max(...a.density, ...b.density);
  return plot({
    title: "Energies visited and steps between them",
    ...SMALL,
    x: shown,
    y: [0, peak > 0 ? 1.05 * peak : 1],
    yTicks: false,
    xLabel: "energy less its mean",
    draw: (toX, toY) => {
      const x = a.x.map(toX);
      const area = bandPath(
        x,
        x.map(() => toY(0)),
        a.density.map(toY),
      );
      return (
        pathElement(area, "band") + pathElement(linePath(x.map((at, i) => [at, toY(b.density[i])])), "line strong")
      );
    },
  });
}

/** Energies less the chain's mean, and the differences of neighbours. @internal for tests: numbers behind the plot */
export function energyDifferences(energy: Chains): { visited: Float64Array; steps: Float64Array } {
  const means = chainMeans(energy);
  const visited = energy.values.map((value, i) => value - means[Math.floor(i / energy.draws)]);
  const steps = energy.values.map((value, i) => value - energy.values[i - 1]).filter((_, i) => i % energy.draws > 0);
  return { visited: visited.filter(Number.isFinite), steps: steps.filter(Number.isFinite) };
}
