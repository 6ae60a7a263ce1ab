/** Which variables make a point impossible: the words of samplers and approximations that can go no further. */
import type { Tensor } from "../../tensor/tensor.js";

/** Of a posterior, its log density at free numbers, by variable. */
interface InParts {
  breakdown(u: Tensor): Readonly<Record<string, Tensor>>;
}

/** "y[1] has log density -Infinity", for each variable and factor of that kind at free numbers [dim]. */
export async function impossibleAt(posterior: InParts, u: Tensor): Promise<string[]> {
  const culprits: string[] = [];
  for (const [name, terms] of Object.entries(posterior.breakdown(u))) {
    const numbers = Array.from((await terms.data()) as ArrayLike<number>);
    const at = numbers.findIndex((term) => !Number.isFinite(term));
    if (at >= 0) culprits.push(`${name}${numbers.length > 1 ? `[${at}]` : ""} has log density ${numbers[at]}`);
  }
  return culprits;
}
