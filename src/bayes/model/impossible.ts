/** Which variables make a point impossible: the words of samplers and approximations that can go no further. */
import type { Tensor } from "../../tensor/tensor.js";

/** Of a posterior, its log density at free numbers, by variable. */
interface InParts {
  breakdown(u: Tensor): Readonly<Record<string, Tensor>>;
}

/** How many elements are listed. */
const SHOWN = 3;

/** "y[1] has log density -Infinity", for each variable, factor and Jacobian of that kind at free numbers [dim]. */
export async function impossibleAt(posterior: InParts, u: Tensor): Promise<string[]> {
  const culprits: string[] = [];
  for (const [name, terms] of Object.entries(posterior.breakdown(u))) {
    const numbers = Array.from((await terms.data()) as ArrayLike<number>);
    const places = numbers.flatMap((term, at) => (Number.isFinite(term) ? [] : [at]));
    if (places.length === 0) continue;
    const elements = places.slice(0, SHOWN).map((at) => (numbers.length > 1 ? `${name}[${at}]` : name));
    const more = places.length > SHOWN ? ` and ${places.length - SHOWN} more` : "";
    const verb = places.length > 1 ? "have" : "has";
    culprits.push(`${elements.join(", ")}${more} ${verb} log density ${numbers[places[0]]}`);
  }
  return culprits;
}
