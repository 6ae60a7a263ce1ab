/** Which variables make a point impossible: the words of samplers and approximations that can go no further. */
import type { Tensor } from "../../tensor/index.js";

/** Whether a parameter of a variable is what it must be. */
export interface ParameterAt {
  readonly variable: string;
  readonly name: string;
  /** What it must be: "a positive number". */
  readonly says: string;
  readonly isInside: Tensor;
}

/** What a posterior says of free numbers. */
export interface InParts {
  /** The log density, by variable. */
  breakdown(u: Tensor): Readonly<Record<string, Tensor>>;
  /** Those parameters that only the density looks at. */
  parametersAt(u: Tensor): readonly ParameterAt[];
}

/** How many elements are listed. */
const SHOWN = 3;

/** "y[1] has log density -Infinity", for each variable, factor and Jacobian of that kind at free numbers [dim]. */
export async function impossibleAt(posterior: InParts, u: Tensor): Promise<string[]> {
  const culprits: string[] = [];
  const parameters = posterior.parametersAt(u);
  for (const [name, terms] of Object.entries(posterior.breakdown(u))) {
    const numbers = Array.from((await terms.data()) as ArrayLike<number>);
    const places = numbers.flatMap((term, at) => (Number.isFinite(term) ? [] : [at]));
    if (places.length === 0) continue;
    const elements = places.slice(0, SHOWN).map((at) => (numbers.length > 1 ? `${name}[${at}]` : name));
    const more = places.length > SHOWN ? ` and ${places.length - SHOWN} more` : "";
    const verb = places.length > 1 ? "have" : "has";
    const why: string[] = [];
    for (const { variable, name: parameter, says, isInside } of parameters) {
      if (variable === name && !(await isInside.all().item())) why.push(`, because ${parameter} is not ${says}`);
    }
    culprits.push(`${elements.join(", ")}${more} ${verb} log density ${numbers[places[0]]}${why[0] ?? ""}`);
  }
  return culprits;
}
