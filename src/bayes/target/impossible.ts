/**
 * The variables that make a point impossible. Samplers and approximations that find no point to go on from put this into their
 * error messages.
 */
import type { Tensor } from "../../tensor/index.js";
import type { DensityBreakdown } from "./target.js";

/** The most elements that a message lists. */
const SHOWN = 3;

/** "y[1] has log density -Infinity", for each variable, factor and Jacobian of that kind at free numbers [dim]. */
export async function impossibleAt(posterior: DensityBreakdown, u: Tensor): Promise<string[]> {
  const culprits: string[] = [];
  const parameters = posterior.parametersAt(u);
  for (const [name, terms] of Object.entries(posterior.breakdown(u))) {
    const numbers = Array.from((await terms.data()) as ArrayLike<number>);
    const bad = numbers.flatMap((term, at) => (Number.isFinite(term) ? [] : [at]));
    if (bad.length === 0) continue;
    const elements = bad.slice(0, SHOWN).map((at) => (numbers.length > 1 ? `${name}[${at}]` : name));
    const more = bad.length > SHOWN ? ` and ${bad.length - SHOWN} more` : "";
    const verb = bad.length > 1 ? "have" : "has";
    const why: string[] = [];
    for (const { variable, name: parameter, says, isInside } of parameters) {
      if (variable === name && !(await isInside.all().item())) why.push(`, because ${parameter} is not ${says}`);
    }
    culprits.push(`${elements.join(", ")}${more} ${verb} log density ${numbers[bad[0]]}${why[0] ?? ""}`);
  }
  return culprits;
}
