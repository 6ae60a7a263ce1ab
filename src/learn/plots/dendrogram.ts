/** Trees of merges: which clusters came together at which distance. */
import { checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { Picture } from "../../plots/picture.js";
import { scaleTo, ticksIn, tickText } from "../../plots/scales.js";
import { round } from "../../plots/svg.js";
import { fitText, textElement, textWidth } from "../../plots/text.js";
import type { Tensor } from "../../tensor/index.js";
import { checkedMerges, checkLinkage } from "../cluster/merge-tree.js";
import type { Label } from "../core/targets.js";
import { checkPicture, type PictureOptions } from "./frame.js";
import { colourOf } from "./groups.js";
import { groupsBelow, type MergeLayout, mergeLayout } from "./merge-layout.js";

/** Options of `plots.dendrogram`. */
export interface DendrogramOptions extends PictureOptions {
  /** Names of the samples: their numbers unless told. */
  readonly labels?: readonly Label[];
  /** Clusters below this distance have colours: 0.7 of the largest distance unless told, as in SciPy. */
  readonly distanceThreshold?: number;
  /** The number of leaves: of more samples, the last merges are drawn, and a leaf "(7)" stands for 7 samples. 60 unless told. */
  readonly most?: number;
}

/** The `linkage` that `agglomerativeClustering` learns, or one from SciPy: [samples - 1, 4]. Leaves are in SciPy's order. */
export function dendrogram(linkage: Tensor, options: DendrogramOptions = {}): Picture {
  const operation = "plots.dendrogram";
  checkPicture(operation, options, { labels: "any", distanceThreshold: "number", most: "number" });
  checkLinkage(operation, linkage);
  const merges = checkedMerges(operation, (linkage.cast("f64") as Tensor).dataSync() as Float64Array);
  if (merges.length === 0)
    throw new ArgumentError(`${operation}: the linkage has no merges; there is nothing to draw.`);
  const count = merges.length / 4 + 1;
  const { labels, title = "Dendrogram" } = options;
  if (labels !== undefined && labels.length !== count) {
    throw new ArgumentError(`${operation}: there are ${labels.length} labels and ${count} samples; name each.`);
  }
  const layout = mergeLayout(merges, checkWhole(operation, "most", options.most ?? 60, 2));
  const highest = Math.max(...layout.merges.map(({ height }) => height));
  const { distanceThreshold = 0.7 * highest } = options;
  if (!(distanceThreshold >= 0)) {
    throw new ArgumentError(
      `${operation}: distanceThreshold is ${shown(distanceThreshold)}; it is a distance, 0 or more.`,
    );
  }
  const names = layout.leaves.map(({ node, samples }) =>
    samples > 1 ? `(${samples})` : fitText(String(labels?.[node] ?? node), 110),
  );
  const groups = groupsBelow(merges, layout, distanceThreshold);
  return drawn(layout, { title, names, groups, highest, threshold: options.distanceThreshold });
}

interface Drawing {
  readonly title: string;
  readonly names: readonly string[];
  readonly groups: ReadonlyMap<number, number>;
  readonly highest: number;
  /** A dashed line stands here. */
  readonly threshold: number | undefined;
}

const [LEFT, TOP, HEIGHT] = [62, 32, 260];

function drawn(layout: MergeLayout, { title, names, groups, highest, threshold }: Drawing): Picture {
  const step = Math.max(13, Math.min(40, 560 / names.length));
  const right = LEFT + step * names.length;
  const bottom = TOP + HEIGHT;
  const toX = (leaf: number): number => LEFT + step * (leaf + 0.5);
  const toY = scaleTo([0, highest > 0 ? highest * 1.03 : 1], [bottom, TOP]);
  const longest = Math.max(...names.map(textWidth));
  const isTurned = longest > step - 3;
  const ticks = ticksIn([0, highest > 0 ? highest : 1], 5).map((value) => {
    const y = round(toY(value));
    return (
      `<path class="grid" d="M${LEFT} ${y}H${right}"/>` +
      textElement(tickText(value), { className: "tick side", x: LEFT - 6, y: y + 4 })
    );
  });
  const merges = layout.merges.map(({ node, left, right, leftHeight, rightHeight, height }) => {
    const group = groups.get(node) ?? -1;
    const path = `M${round(toX(left))} ${round(toY(leftHeight))}V${round(toY(height))}H${round(toX(right))}V${round(toY(rightHeight))}`;
    return `<path class="line of ${group < 0 ? "rest" : colourOf(group)}" d="${path}"/>`;
  });
  const leaves = names.map((name, k) =>
    isTurned
      ? textElement(name, { className: "tick side", x: toX(k) + 4, y: bottom + 8, turned: -90 })
      : textElement(name, { className: "tick", x: toX(k), y: bottom + 14 }),
  );
  const cut = threshold === undefined ? "" : `<path class="expected" d="M${LEFT} ${round(toY(threshold))}H${right}"/>`;
  const body = [
    textElement(title, { className: "heading", x: 12, y: 20 }),
    textElement("distance", { className: "label", x: 14, y: TOP + HEIGHT / 2, turned: -90 }),
    ...ticks,
    ...merges,
    cut,
    ...leaves,
  ].join("");
  const width = Math.round(Math.max(right + 12, textWidth(title) * 1.35 + 24));
  return new Picture({
    title: title || "Dendrogram",
    width,
    height: Math.ceil(bottom + (isTurned ? longest + 16 : 22)),
    body,
  });
}
