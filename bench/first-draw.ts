/**
 * A program that samples a posterior for the first time, for the `bayes-first` rows. Arguments: the device, the posterior's
 * name. The line it prints is JSON, in milliseconds: from the posterior with its data on the open device to the first draw
 * after the warmup, on the host; and the same since the process began.
 */
import { type PosteriorName, posteriors } from "./bayes-models.js";
import { engineOf } from "./tensor-work.js";

const [, , device = "cpu", name = "schools"] = process.argv;
const posterior = posteriors[name as PosteriorName](device);
engineOf(device).finishSync();
const start = performance.now();
const fit = await posterior.sample({ chains: 4, warmup: 500, draws: 1 });
fit.summary();
const now = performance.now();
process.stdout.write(`${JSON.stringify({ draw: now - start, sinceStart: now })}\n`);
