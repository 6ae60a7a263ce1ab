/**
 * A Gaussian process learns a curve from a few noisy points, and says where it is unsure: in the gap between points and beyond them. The
 * fit finds the length scale and the noise. In a clone:
 *
 *     npm run example -- gaussian-process
 *
 * The last line is JSON, for programs.
 */
import { linspace, random, type Tensor } from "pumice";
import { gaussianProcessRegressor, kernels } from "pumice/learn";
import { settings } from "./settings.js";

const { points, noise, seed } = settings("gaussian-process", "a curve, and how sure it is", {
  points: [40, "noisy points of the curve"],
  noise: [0.1, "standard deviation of the noise"],
  seed: [0, "the same seed makes the same points"],
});

const curve = (x: Tensor): Tensor => x.sin().mul(1.5) as Tensor;
const [places, errors] = random.split(random.key(seed), 2) as [random.Key, random.Key];
const drawn = random.uniform(places, [points], { dtype: "f64" }).mul(7) as Tensor;
// Nobody looked between 3 and 5.
const x = drawn.add(drawn.greater(3).cast("f64").mul(2)) as Tensor;
const y = curve(x).add(random.normal(errors, [points], { dtype: "f64" }).mul(noise)) as Tensor;

const kernel = kernels.sum(kernels.product(kernels.constant(1), kernels.rbf(1)), kernels.white(0.1));
const model = await gaussianProcessRegressor({ kernel, normalizeY: true, seed }).fit(x.expandDims(1), y);

const asked = linspace(0, 12, 49, { dtype: "f64" }) as Tensor;
const { mean, std } = model.predictWithStd(asked.expandDims(1));
const columns = [asked, mean, std, curve(asked)].map((values) => (values as Tensor).dataSync() as Float64Array);
const lines = Array.from(columns[0] as Float64Array, (_, i) => {
  const [at, mean, std, truth] = columns.map((values) => values[i] as number) as [number, number, number, number];
  return { at, mean, std, truth };
});

/** From -2.5 to 2.5: the band of two deviations, the true curve "o" and the mean "+". */
function drawnLine({ at, mean, std, truth }: (typeof lines)[number]): string {
  const column = (value: number): number => Math.round(Math.min(1, Math.max(0, (value + 2.5) / 5)) * 60);
  const [from, to] = [column(mean - 2 * std), column(mean + 2 * std)];
  const line = Array.from({ length: 61 }, (_, place): string => (place >= from && place <= to ? "·" : " "));
  line[column(truth)] = "o";
  line[column(mean)] = "+";
  return `${at.toFixed(2).padStart(5)} ${line.join("")}`;
}
for (const line of lines) console.log(drawnLine(line));

const average = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const between = (from: number, to: number): number =>
  average(lines.filter(({ at }) => at >= from && at <= to).map(({ std }) => std));
const covered = average(lines.map(({ mean, std, truth }) => (Math.abs(truth - mean) <= 2 * std ? 1 : 0)));
const [near, gap, beyond] = [between(0.5, 2.5), between(3.7, 4.3), between(11.5, 12)];
console.log(
  `deviation among points ${near.toFixed(2)}, in the gap ${gap.toFixed(2)}, beyond them ${beyond.toFixed(2)}`,
);
console.log(`${(100 * covered).toFixed(0)} % of the curve within two deviations`);
console.log(JSON.stringify({ example: "gaussian-process", points, noise, seed, near, gap, beyond, covered }));
