/**
 * A table as tables are: categories, numbers, and cells that are missing. A linear model needs them filled and encoded; boosted trees
 * take them as they are. Both are cross-validated. In a clone:
 *
 *     npm run example -- table
 *
 * The rents are made up, by a seed. The last line is JSON, for programs.
 */
import { random } from "pumice";
import {
  columnTransformer,
  crossValidate,
  histGradientBoostingRegressor,
  kFold,
  kNeighborsImputer,
  oneHotEncoder,
  pipeline,
  ridge,
  simpleImputer,
  standardScaler,
  table,
} from "pumice/learn";
import { settings } from "./settings.js";

const { rows, rounds, seed } = settings("table", "rents from a table with missing cells", {
  rows: [2000, "flats in the table"],
  rounds: [100, "rounds of boosting"],
  seed: [0, "the same seed makes the same flats"],
});

/** Flats in four towns: the rent grows with the area, and how much depends on the town; every tenth cell is missing. */
function flats() {
  const key = (part: number) => random.foldIn(random.key(seed), part);
  const numbers = (part: number) => Array.from(random.uniform(key(part), [rows]).dataSync() as Float32Array);
  const [places, areas, years, noise] = [numbers(0), numbers(1), numbers(2), random.normal(key(3), [rows]).dataSync()];
  const gaps = [numbers(4), numbers(5), numbers(6)] as const;
  const towns = ["Bonn", "Kiel", "Rom", "Ulm"];
  const [base, slope] = [
    [300, 200, 500, 100],
    [8, 6, 14, 7],
  ] as const;
  const town = places.map((share) => Math.floor(share * 4));
  const area = areas.map((share) => 30 + 90 * share);
  const year = years.map((share) => 1900 + Math.floor(120 * share));
  const rent = town.map((place, i) => {
    const isOld = (year[i] as number) < 1950;
    return Number(base[place]) + Number(slope[place]) * Number(area[i]) * (isOld ? 0.8 : 1) + 90 * Number(noise[i]);
  });
  const orMissing = <T>(values: readonly T[], gap: readonly number[]) =>
    values.map((value, i) => ((gap[i] as number) < 0.1 ? null : value));
  const columns = {
    town: orMissing(
      town.map((place) => towns[place] as string),
      gaps[0],
    ),
    area: orMissing(area, gaps[1]),
    year: orMissing(year, gaps[2]),
  };
  return { x: table(columns), y: rent };
}

const { x, y } = flats();
const filled = columnTransformer([
  { columns: "town", use: pipeline(simpleImputer({ strategy: "mostFrequent" }), oneHotEncoder()) },
  { columns: ["area", "year"], use: pipeline(kNeighborsImputer({ addIndicator: true }), standardScaler()) },
]);
const boosting = histGradientBoostingRegressor({ maxIter: rounds, maxLeafNodes: 15 });
const estimators = [
  ["linear", pipeline(filled, ridge())],
  ["filled, then boosting", pipeline(filled, boosting)],
  ["boosting", boosting],
] as const;
const shares: Record<string, number> = {};
for (const [name, estimator] of estimators) {
  const { scores } = await crossValidate(estimator, x, y, { splits: kFold(5, { seed }) });
  const folds = scores.score ?? [];
  const mean = folds.reduce((sum, score) => sum + score, 0) / folds.length;
  shares[name] = mean;
  console.log(`${name}: explains ${(100 * mean).toFixed(1)} % of the variance of rents that it did not see`);
}

const model = await boosting.fit(x, y);
const asked = table({ town: ["Rom", "Rom", null], area: [80, null, 80], year: [1990, 1990, 1990] });
const rents = (await model.predict(asked).array()) as number[];
const names = ["80 m² in Rome", "in Rome, of any size", "80 m² somewhere"];
for (const [i, name] of names.entries()) console.log(`${name}: ${Number(rents[i]).toFixed(0)}`);
console.log(JSON.stringify({ example: "table", rows, rounds, seed, shares, rents }));
