/**
 * A program that samples a posterior for the first time, for the `bayes-first` rows. Arguments: the device, the posterior's
 * name. The line it prints is JSON, in milliseconds: from the posterior with its data on the open device to its first draw
 * by name on the host; the same since the process began; and how long a draw that a warmup precedes takes after that.
 */
import { type PosteriorName, posteriors } from "./bayes-models.js";
import { engineOf } from "./tensor-work.js";

const [, , device = "cpu", name = "schools"] = process.argv;
const posterior = posteriors[name as PosteriorName](device);
engineOf(device).finishSync();
const start = performance.now();
await posterior.sample({ chains: 4, warmup: 0, draws: 1, stepSize: 0.1 });
const sinceStart = performance.now();
await posterior.sample({ chains: 4, warmup: 500, draws: 1 });
const warmed = performance.now() - sinceStart;
process.stdout.write(`${JSON.stringify({ draw: sinceStart - start, sinceStart, warmed })}\n`);
