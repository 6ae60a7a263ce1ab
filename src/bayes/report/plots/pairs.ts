/**
 * Every pair of a few variables as a scatter, their densities on the diagonal. Divergent draws stand out: where they gather
 * is where the sampler cannot follow the density.
 */
import { type Domain, padded, scaleTo, ticksIn, tickText } from "../../../plots/scales.js";
import { dotsPath, escapeText, linePath, pathElement, svg } from "../../../plots/svg.js";
import { spread } from "../../../plots/thinning.js";
import type { Draws } from "../../draws/draws.js";
import { shownRange } from "../chain-groups.js";
import { estimateDensity } from "../density-estimate.js";

const CELL = 170;
const GAP = 8;
const MARGIN = { left: 56, bottom: 36 };
/** Dots in a scatter, and divergences marked in it. */
const [MOST_DOTS, MOST_MARKS] = [700, 300];

/** The width of the grid for a number of variables. */
export function pairsWidth(count: number): number {
  return MARGIN.left + count * (CELL + GAP);
}

export function pairsPlot(draws: Draws, names: readonly string[]): string {
  const columns = names.map((name) => draws.scalar(name).values);
  const domains = columns.map((values) => padded(shownRange(values)));
  const divergent = draws.stat("divergent")?.values;
  const all = Array.from({ length: columns[0]?.length ?? 0 }, (_, i) => i);
  const dots = spread(divergent ? all.filter((i) => !divergent[i]) : all, MOST_DOTS);
  const marks = spread(divergent ? all.filter((i) => divergent[i]) : [], MOST_MARKS);

  let body = "";
  names.forEach((name, row) => {
    const top = row * (CELL + GAP);
    const toY = scaleTo(domains[row], [top + CELL, top]);
    if (row > 0) body += sideTicks(domains[row], toY);
    body += `<text class="label" transform="translate(12 ${top + CELL / 2}) rotate(-90)">${escapeText(name)}</text>`;
    for (let column = 0; column <= row; column++) {
      const left = MARGIN.left + column * (CELL + GAP);
      const toX = scaleTo(domains[column], [left, left + CELL]);
      body += `<rect class="cell" x="${left}" y="${top}" width="${CELL}" height="${CELL}"/>`;
      if (column === row) body += diagonal(columns[row], domains[row], toX, top);
      else {
        const points = (draw: number): [number, number] => [toX(columns[column][draw]), toY(columns[row][draw])];
        body +=
          pathElement(dotsPath(dots.map(points)), "dots") + pathElement(dotsPath(marks.map(points)), "dots diverged");
      }
    }
  });
  const size = names.length * (CELL + GAP) - GAP;
  names.forEach((name, column) => {
    const left = MARGIN.left + column * (CELL + GAP);
    const toX = scaleTo(domains[column], [left, left + CELL]);
    body += ticksIn(domains[column], 3)
      .map((value) => `<text class="tick" x="${Math.round(toX(value))}" y="${size + 14}">${tickText(value)}</text>`)
      .join("");
    body += `<text class="label" x="${left + CELL / 2}" y="${size + 32}">${escapeText(name)}</text>`;
  });
  return svg(
    { title: `Pairs of ${names.join(", ")}`, width: pairsWidth(names.length), height: size + MARGIN.bottom },
    body,
  );
}

function sideTicks(domain: Domain, toY: (value: number) => number): string {
  return ticksIn(domain, 3)
    .map(
      (value) =>
        `<text class="tick side" x="${MARGIN.left - 5}" y="${Math.round(toY(value)) + 4}">${tickText(value)}</text>`,
    )
    .join("");
}

function diagonal(values: Float64Array, domain: Domain, toX: (value: number) => number, top: number): string {
  const { x, density } = estimateDensity(values.filter(Number.isFinite), domain);
  const peak = Math.max(...density) || 1;
  const points = x.map((at, i): [number, number] => [toX(at), top + CELL - (density[i] / peak) * (CELL - 12)]);
  return pathElement(linePath(points), "line strong");
}
