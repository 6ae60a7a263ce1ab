/** Why a chain found no point to start from, or no step size that would do, in terms of the model: an error's message. */
import { ArgumentError } from "../../core/errors.js";
import { sizeOf } from "../../core/shape.js";
import { type Tensor, tensor } from "../../tensor/index.js";
import { impossibleAt } from "../target/impossible.js";
import type { SampledTarget } from "../target/target.js";
import type { ChainStatus } from "./chain-memory.js";
import type { Sampling } from "./sampling.js";

/** The density or gradients that are not finite at a point, in words; empty where all are. */
async function notFiniteAt(posterior: SampledTarget, u: Tensor): Promise<string> {
  const [value, slopes] = posterior.logDensityAndGrad(u);
  const density = (await value.item()) as number;
  const gradient = Array.from((await slopes.data()) as ArrayLike<number>);
  const bad = posterior.latents.filter(({ offset, freeShape }) =>
    gradient.slice(offset, offset + sizeOf(freeShape)).some((slope) => !Number.isFinite(slope)),
  );
  const why: string[] = [];
  if (!Number.isFinite(density)) {
    const culprits = await impossibleAt(posterior, u);
    why.push(`the log density is ${density}${culprits.length > 0 ? `: ${culprits.join(", ")}` : ""}`);
  }
  if (bad.length > 0) why.push(`the gradient by ${bad.map(({ name }) => name).join(", ")} is not finite`);
  return why.join("; ");
}

export async function failureOf(
  { posterior, options, density, chains }: Sampling,
  chain: number,
  { draws, stepSizes }: ChainStatus,
): Promise<ArgumentError> {
  const { dim, dtype, backend } = density;
  const [all, hasStarted] = [await chains.memory.vector("q"), await chains.memory.hasStarted(chain)];
  const u = tensor(Array.from(all.subarray(chain * dim, (chain + 1) * dim)), { dtype, device: backend.id });
  const why = await notFiniteAt(posterior, u);
  if (why === "") return noStepSize(chain, stepSizes[chain]);
  if (hasStarted) {
    return new ArgumentError(
      `sample: chain ${chain} was lost in the warmup, after ${draws[chain]} draws: where its steps lead, however small they are, ` +
        `${why}. Give { dtype: "f64" } if it is f32, or look for a density that breaks off.`,
    );
  }
  if (options.inits) {
    return new ArgumentError(
      `sample: chain ${chain} cannot start where inits[${chain}] is: ${why}. Give free numbers at which the ` +
        "density is finite, as posterior.unconstrain({ … }) makes them of values, or leave inits out.",
    );
  }
  return new ArgumentError(
    `sample: chain ${chain} found no point to start from in 100 tries: ${why}. ` +
      "Give { inits } inside the support, or look for a likelihood that is 0 everywhere.",
  );
}

const noStepSize = (chain: number, stepSize: number): ArgumentError =>
  new ArgumentError(
    `sample: no step size suits chain ${chain}: ` +
      (stepSize > 1
        ? "the density does not fall off within millions, as if it were improper. Give every variable a prior, or data " +
          "that determine it; of numbers as large as that, another unit."
        : "the density falls off within the smallest of steps. Give numbers as small as that another unit, or look for " +
          "a density that breaks off."),
  );
