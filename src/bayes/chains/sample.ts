/** `posterior.sample(options)` and `posterior.resume(path)`: where runs begin. */
import { checkString } from "../../core/arguments.js";
import type { SampledTarget } from "../target/target.js";
import { checkVariables } from "./checkpoints.js";
import { checkDrawsFit } from "./draws-memory.js";
import type { Fit } from "./fit.js";
import { checkedRunOptions, type ResumeOptions, type SampleOptions } from "./options.js";
import { SampleRun } from "./run.js";
import { Sampler } from "./sampler.js";
import { samplingOf } from "./sampling.js";
import { readFit } from "./saved-fit-reader.js";

/** A run that begins when somebody waits for it or watches. */
export function sample<N extends string, O extends string>(
  posterior: SampledTarget,
  options: SampleOptions,
): SampleRun<N, O> {
  const sampling = samplingOf(posterior, options);
  checkDrawsFit("sample", sampling, sampling.options.draws, sampling.options.until);
  const sampler = new Sampler(sampling);
  return new SampleRun((isWatched) => sampler.run<N, O>(isWatched));
}

/** Goes on from a file that `fit.save` or a checkpoint wrote. */
export async function resume<N extends string, O extends string>(
  posterior: SampledTarget,
  path: string,
  options: ResumeOptions,
): Promise<Fit<N, O>> {
  checkString("resume", "the path", path);
  checkedRunOptions("resume", options);
  const saved = await readFit(path, posterior.device, (variables) => checkVariables(posterior, variables));
  return new Sampler(samplingOf(posterior, { ...saved.options, ...options })).resume(saved);
}
