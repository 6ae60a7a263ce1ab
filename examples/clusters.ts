/**
 * Looks at handwritten digits that nobody has labelled: UMAP places alike ones together, HDBSCAN finds the groups, and the labels, which
 * neither has seen, tell how good they are. k-means on the pixels stands beside. In a clone:
 *
 *     npm run example -- clusters               what is in each group, and a page with two pictures
 *
 * The last line is JSON, for programs.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Tensor } from "pumice";
import { hdbscan, kMeans, kNeighborsClassifier, metrics, pca, plots, trustworthiness, umap } from "pumice/learn";
import { loadDigits } from "./mnist/data.js";
import { settings } from "./settings.js";

const { limit, tests, neighbors, least, seed, page } = settings(
  "clusters",
  "groups of digits that nobody has labelled",
  {
    limit: [3000, "digits to look at"],
    tests: [500, "other digits that are placed among them"],
    neighbors: [15, "neighbours of a digit"],
    least: [50, "digits of a group at least"],
    seed: [0, "the same seed makes the same groups"],
    page: [join(tmpdir(), "pumice-clusters.html"), "where the pictures go"],
  },
);

const pixels = (bytes: Tensor): Tensor => bytes.cast("f32").div(255);
const digits = loadDigits("train", limit);
const x = pixels(digits.images);
const components = await pca({ nComponents: 40 }).fit(x);
const features = components.transform(x);

// Clusters want digits of a kind as near together as can be.
const model = await umap({ nNeighbors: neighbors, minDist: 0, seed }).fit(features);
const { embedding } = model.learned;
const groups = (await hdbscan({ minClusterSize: least }).fit(embedding)).learned.labels;
const byPixels = (await kMeans({ nClusters: 10, seed }).fit(features)).learned.labels;

const rand = async (found: Tensor) => Number(await metrics.adjustedRand(digits.labels, found).item());
const scores = { hdbscan: await rand(groups), kMeans: await rand(byPixels) };
const trust = Number(await trustworthiness(x, embedding).item());
const numbers = async (labels: Tensor) => Array.from((await labels.data()) as Int32Array);
const [found, truth] = [await numbers(groups), await numbers(digits.labels)];
const count = Math.max(...found) + 1;
const none = found.filter((group) => group < 0).length;
console.log(`${count} groups of ${limit} digits, ${none} digits in none; trustworthiness ${trust.toFixed(3)}`);
for (let group = 0; group < count; group++) {
  const of = (digit: number) => found.filter((each, i) => each === group && truth[i] === digit).length;
  const tally = Array.from({ length: 10 }, (_, digit) => of(digit));
  const size = tally.reduce((sum, each) => sum + each, 0);
  const parts = tally.map((times, digit) => ({ digit, share: times / size })).filter(({ share }) => share >= 0.02);
  const text = parts
    .sort((a, b) => b.share - a.share)
    .map(({ digit, share }) => `${digit} (${(100 * share).toFixed(0)} %)`);
  console.log(`  group ${group}, ${size} digits: ${text.join(", ")}`);
}
console.log(`adjusted Rand score ${scores.hdbscan.toFixed(3)}; of k-means on pixels ${scores.kMeans.toFixed(3)}`);

const unseen = loadDigits("test", tests);
const reader = await kNeighborsClassifier().fit(embedding, digits.labels);
const places = model.transform(components.transform(pixels(unseen.images)));
const testAccuracy = await reader.score(places, unseen.labels);
console.log(`${(100 * testAccuracy).toFixed(1)} % of ${tests} unseen digits come to lie among digits of their kind`);

const names = ["", ""];
const pictures = [
  plots.scatter(embedding, { labels: digits.labels, names, title: "What the digits are" }),
  plots.scatter(embedding, { labels: groups, noise: -1, names, title: "The groups that were found" }),
];
await plots.page(pictures, { title: `${limit} digits` }).save(page);
console.log(`pictures: ${page}`);
console.log(
  JSON.stringify({
    example: "clusters",
    limit,
    tests,
    seed,
    groups: count,
    none,
    trust,
    scores,
    testAccuracy,
    page,
  }),
);
