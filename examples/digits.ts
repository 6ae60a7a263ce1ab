/**
 * Reads handwritten digits without a network: principal components and the vote of nearest neighbours. A grid search over a part of the
 * digits chooses how many of each, then the best pipeline learns from all. In a clone:
 *
 *     npm run example -- digits               97.6 % of the test digits by 60,000 known ones
 *
 * The last line is JSON, for programs.
 */
import type { Tensor } from "pumice";
import { gridSearch, kNeighborsClassifier, pca, pipeline } from "pumice/learn";
import { loadDigits } from "./mnist/data.js";
import { settings } from "./settings.js";

const { limit, searched, tests } = settings("digits", "digits by components and neighbours", {
  limit: [60000, "digits to learn from"],
  searched: [3000, "digits among which the search looks for the best options"],
  tests: [10000, "digits to test on"],
});

const pixels = (bytes: Tensor): Tensor => bytes.cast("f32").div(255);
const digits = loadDigits("train", limit);
const [x, y] = [pixels(digits.images), digits.labels];

const reader = pipeline(pca({ nComponents: 40 }), kNeighborsClassifier({ nNeighbors: 5, weights: "distance" }));
const search = gridSearch(reader, { "0.nComponents": [20, 30, 40, 60], "1.nNeighbors": [3, 4, 6] }, { splits: 3 });
const { best, results } = await search.fit(x.at(`:${searched}`), y.at(`:${searched}`));
for (const { options, scores } of results) {
  console.log(`${JSON.stringify(options)}: ${(100 * (scores.score?.mean ?? Number.NaN)).toFixed(2)} %`);
}

const [components, neighbours] = [Number(best.options["0.nComponents"]), Number(best.options["1.nNeighbors"])];
const model = await reader.with({ 0: { nComponents: components }, 1: { nNeighbors: neighbours } }).fit(x, y);
const unseen = loadDigits("test", tests);
const testAccuracy = await model.score(pixels(unseen.images), unseen.labels);
console.log(
  `${(100 * testAccuracy).toFixed(2)} % of unseen digits, by ${neighbours} neighbours in ${components} dimensions`,
);
console.log(JSON.stringify({ example: "digits", limit, searched, tests, components, neighbours, testAccuracy }));
