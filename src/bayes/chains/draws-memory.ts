/** The memory that draws take, which grows with every draw: runs that could not end for want of it are refused at once. */
import { totalmem } from "node:os";
import { ArgumentError } from "../../core/errors.js";
import { sizeOf } from "../../core/shape.js";
import { NOTED } from "../kernels/layout.js";
import { variablesOf } from "../target/values.js";
import type { EssGoal } from "./options.js";
import type { Sampling } from "./sampling.js";
import { bytesOfType } from "./starting-state.js";

/** Of the machine, or of the container that the process is in. */
function bytesHere(): number {
  const limit = process.constrainedMemory?.() ?? 0;
  return Math.min(totalmem(), limit > 0 ? limit : Infinity);
}

/**
 * Throws where so many draws take more memory than there is. A run that ends by itself when there are enough draws says how
 * many are the most, and is not refused.
 */
export function checkDrawsFit(
  operation: string,
  { posterior, options, chains }: Sampling,
  draws: number,
  until: EssGoal | undefined,
  available = bytesHere(),
): void {
  if (until !== undefined) return;
  const scalars = Object.values(variablesOf(posterior)).reduce((sum, shape) => sum + sizeOf(shape), 0);
  const bytesOfDraw = scalars * bytesOfType(options.dtype) + NOTED.length * bytesOfType(chains.energyDType);
  const bytes = options.chains * draws * bytesOfDraw;
  if (bytes <= available) return;
  const gibibytes = (count: number) => `${(count / 2 ** 30).toFixed(1)} GiB`;
  throw new ArgumentError(
    `${operation}: ${draws} draws of ${options.chains} chains, with ${scalars} scalars and ${NOTED.length} statistics each, ` +
      `take ${gibibytes(bytes)}, and there are ${gibibytes(available)} here. Draw fewer, or say when there are enough: ` +
      "{ until: { essBulk: 400 } }.",
  );
}
