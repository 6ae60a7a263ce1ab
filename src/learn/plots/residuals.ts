/** Predicted numbers against those that were seen. */
import { checkChoice } from "../../core/arguments.js";
import type { Picture } from "../../plots/picture.js";
import { padded } from "../../plots/scales.js";
import { dotsPath, linePath, pathElement } from "../../plots/svg.js";
import { thinned } from "../../plots/thinning.js";
import type { Numbers } from "../core/targets.js";
import { checkPicture, framed, type PictureOptions } from "./frame.js";
import { rangeOf, vectorNow } from "./values.js";

/** Options of `plots.residuals`. */
export interface ResidualOptions extends PictureOptions {
  /** On the vertical axis: "residuals", seen less predicted, unless told; or "targets", the numbers that were seen. */
  readonly show?: "residuals" | "targets";
}

/** What a regression missed, by what it predicted. The dashed line is where nothing is missed. */
export function residuals(predictions: Numbers, targets: Numbers, options: ResidualOptions = {}): Picture {
  const operation = "plots.residuals";
  checkPicture(operation, options, { show: "text" });
  const { show = "residuals" } = options;
  checkChoice(operation, "the option show", show, ["residuals", "targets"]);
  const x = vectorNow(operation, predictions, "predictions");
  const seen = vectorNow(operation, targets, "targets", x.length);
  const y = show === "targets" ? seen : seen.map((value, i) => value - x[i]);
  const [right, up] = [rangeOf(x), rangeOf(y)];
  // A common scale, so that the line of what is right is the diagonal.
  const both = padded([Math.min(right[0], up[0]), Math.max(right[1], up[1])]);
  const isDiagonal = show === "targets";
  return framed(options, {
    width: isDiagonal ? 460 : 520,
    height: isDiagonal ? 420 : 340,
    heading: isDiagonal ? "Seen by predicted" : "Residuals",
    xLabel: "predicted",
    yLabel: isDiagonal ? "seen" : "seen less predicted",
    x: isDiagonal ? both : padded(right),
    y: isDiagonal ? both : padded([Math.min(up[0], 0), Math.max(up[1], 0)]),
    draw: (toX, toY, { left, right: end }) => {
      const points = Array.from(x, (at, i) => [toX(at), toY(y[i])] as const);
      const line: [number, number][] = isDiagonal
        ? both.map((end) => [toX(end), toY(end)])
        : [[left, toY(0)], [end, toY(0)]]; // biome-ignore format: two ends
      const drawn = thinned(points).map((i) => points[i]);
      return pathElement(dotsPath(drawn), "points plain") + pathElement(linePath(line), "expected");
    },
  });
}
