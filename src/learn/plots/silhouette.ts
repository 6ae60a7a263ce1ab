/** Silhouettes of samples, by cluster and by size: how well each sample sits in its cluster. */
import { ShapeError } from "../../core/errors.js";
import type { Picture } from "../../plots/picture.js";
import { pathElement, round } from "../../plots/svg.js";
import { type Labels, labelsNow, type Numbers, sortedClasses } from "../core/targets.js";
import { checkPicture, framed, type PictureOptions } from "./frame.js";
import { colourOf } from "./groups.js";
import { vectorNow } from "./values.js";

/** Rows of samples in all clusters together: of more samples, evenly spread ones are drawn. */
const MOST_ROWS = 600;

/** The values of `metrics.silhouetteSamples`, with the cluster of each sample. The dashed line is their mean. */
export function silhouette(values: Numbers, clusters: Labels, options: PictureOptions = {}): Picture {
  const operation = "plots.silhouette";
  checkPicture(operation, options, {});
  const widths = vectorNow(operation, values, "silhouettes");
  const labels = labelsNow(operation, clusters);
  if (labels.length !== widths.length || widths.length === 0) {
    throw new ShapeError(
      `${operation}: there are ${widths.length} silhouettes and ${labels.length} clusters; give one for each sample.`,
    );
  }
  const mean = widths.reduce((sum, value) => sum + value, 0) / widths.length;
  const classes = sortedClasses(operation, labels);
  // Largest on top, as SVG draws from there on; a gap between clusters.
  const gap = widths.length / 40;
  let top = 0;
  const bands = classes.map((label) => {
    const sorted = widths
      .filter((_, i) => labels[i] === label)
      .sort()
      .reverse();
    const band = { label, sorted, top };
    top += sorted.length + gap;
    return band;
  });
  return framed(options, {
    width: 520,
    height: Math.min(640, 260 + 22 * classes.length),
    heading: `Silhouettes, mean ${mean.toFixed(3)}`,
    xLabel: "silhouette",
    yLabel: "cluster",
    x: [Math.min(0, ...widths.map((value) => value * 1.05)), 1],
    y: [top, -gap],
    yTicks: bands.map(({ label, sorted, top }) => ({ at: top + sorted.length / 2, text: String(label) })),
    draw: (toX, toY, { top: above, bottom }) => {
      const areas = bands.map(({ sorted, top }, k) => {
        return pathElement(
          areaPath(sorted, top, Math.ceil(widths.length / MOST_ROWS), toX, toY),
          `bar of ${colourOf(k)}`,
        );
      });
      const [zero, middle] = [round(toX(0)), round(toX(mean))];
      return `${areas.join("")}<path class="axis" d="M${zero} ${above}V${bottom}"/><path class="expected" d="M${middle} ${above}V${bottom}"/>`;
    },
  });
}

type Scale = (value: number) => number;

/** The outline of the bars of a cluster: a step for every so many samples. */
function areaPath(sorted: Float64Array, top: number, step: number, toX: Scale, toY: Scale): string {
  const zero = round(toX(0));
  let path = `M${zero} ${round(toY(top))}`;
  for (let i = 0; i < sorted.length; i += step) {
    path += `H${round(toX(sorted[i]))}V${round(toY(top + Math.min(i + step, sorted.length)))}`;
  }
  return `${path}H${zero}Z`;
}
