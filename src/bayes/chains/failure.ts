/** Why a chain found no point to start from, or no step size that would do, in terms of the model: an error's message. */
import { DTYPES } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import { sizeOf } from "../../core/shape.js";
import { type Tensor, tensor } from "../../tensor/index.js";
import { impossibleAt } from "../target/impossible.js";
import type { FloatDType, SampledTarget } from "../target/target.js";
import type { ChainStatus } from "./chain-memory.js";
import type { Sampling } from "./sampling.js";

const numbersIn = async (x: Tensor): Promise<number[]> => Array.from((await x.data()) as ArrayLike<number>);

/** The log density and its gradient at free numbers. */
async function densityAt(posterior: SampledTarget, u: Tensor) {
  const [value, slopes] = posterior.logDensityAndGrad(u);
  return { density: (await value.item()) as number, gradient: await numbersIn(slopes) };
}

/** The density or gradients that are not finite at a point, in words; empty where all are. */
async function notFiniteAt(posterior: SampledTarget, u: Tensor): Promise<string> {
  const { density, gradient } = await densityAt(posterior, u);
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

/** The most variables that a message lists, and the most elements of each. */
const SHOWN = { variables: 6, elements: 3 } as const;

/** Numbers in words: "1.5", or "[1.5, 2, …]". */
function listed(values: readonly number[]): string {
  const texts = values.slice(0, SHOWN.elements).map((value) => `${Number(value.toPrecision(4))}`);
  if (values.length === 1) return texts[0];
  return `[${texts.join(", ")}${values.length > SHOWN.elements ? ", …" : ""}]`;
}

/** "at mu = 0.5, tau = 2 the log density is -1e80, and its gradient 3e81 by mu, 2e79 by tau (of free numbers)". */
async function standingAt(posterior: SampledTarget, u: Tensor): Promise<string> {
  const { density, gradient } = await densityAt(posterior, u);
  const values = posterior.constrain(u);
  const shown = posterior.latents.slice(0, SHOWN.variables);
  const point = await Promise.all(shown.map(async ({ name }) => `${name} = ${listed(await numbersIn(values[name]))}`));
  const slopes = shown.map(
    ({ name, offset, freeShape }) => `${listed(gradient.slice(offset, offset + sizeOf(freeShape)))} by ${name}`,
  );
  const rest = posterior.latents.length > shown.length ? ", …" : "";
  return (
    `at ${point.join(", ")}${rest} the log density is ${listed([density])}, and its gradient, by free numbers, is ` +
    `${slopes.join(", ")}${rest}`
  );
}

/** A point as close by as floats allow: where steps would lead that rounding undoes. */
const besides = (point: readonly number[], dtype: FloatDType): number[] =>
  point.map((value) => value + Math.max(DTYPES[dtype].tiny, Math.abs(value) * 2 * DTYPES[dtype].epsilon));

export async function failureOf(
  { posterior, options, density, chains }: Sampling,
  chain: number,
  { draws, stepSizes }: ChainStatus,
): Promise<ArgumentError> {
  const { dim, dtype, backend } = density;
  const pointOf = async (name: "q" | "qSample"): Promise<number[]> =>
    Array.from((await chains.memory.vector(name)).subarray(chain * dim, (chain + 1) * dim));
  const freeNumbers = (values: readonly number[]) => tensor(values as number[], { dtype, device: backend.id });
  const [here, there] = [await pointOf("qSample"), await pointOf("q")];
  const hasStarted = await chains.memory.hasStarted(chain);
  const isUndone = hasStarted && there.every((value, i) => value === here[i]);
  const why = await notFiniteAt(posterior, freeNumbers(isUndone ? besides(here, dtype) : there));
  if (hasStarted) {
    const standing = await standingAt(posterior, freeNumbers(here));
    if (why === "") return noStepSize(chain, stepSizes[chain], standing);
    return new ArgumentError(
      `sample: chain ${chain} was lost in the warmup, after ${draws[chain]} draws: ${standing}, but where its steps lead, ` +
        `however small they are, ${why}. Give { dtype: "f64" } if it is f32, or look for a density that breaks off.`,
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

const noStepSize = (chain: number, stepSize: number, standing: string): ArgumentError =>
  new ArgumentError(
    `sample: no step size suits chain ${chain}: ${standing}; ` +
      (stepSize > 1
        ? "from there the density does not fall off within millions, as if it were improper. Give every variable a prior, " +
          "or data that determine it; of numbers as large as that, another unit."
        : `from there the density falls off within steps of ${Number(stepSize.toPrecision(2))}, which hardly lead anywhere. ` +
          "Give { inits } at a more likely point, or look for a density that breaks off."),
  );
