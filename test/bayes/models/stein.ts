/**
 * Stein's identities: under draws u of a density p, the means of ∂ᵢ log p(u) and of uᵢ ∂ᵢ log p(u) + 1 are zero. Reference
 * draws by another program thus tell whether a log density, its gradient and the way to free numbers are right together.
 */
import { scalarNames } from "../../../src/bayes/draws/draws.js";
import { mcseMean } from "../../../src/bayes/index.js";
import { type Tensor, tensor } from "../../../src/tensor/index.js";
import { jit } from "../../../src/transforms/jit.js";
import { vmap } from "../../../src/transforms/vmap.js";
import type { ReferenceDraws } from "../../support/reference-data.js";
import type { AnyPosterior } from "./reference-model.js";

/** How far each identity is off, in standard errors. `shift`: free numbers are moved by so many of their deviations. */
export async function steinScores(
  posterior: AnyPosterior,
  reference: ReferenceDraws,
  shift = 0,
): Promise<{ readonly of: string; readonly z: number }[]> {
  const [chains, draws] = [reference.length, Object.values(reference[0]!)[0]!.length];
  const freeNumbers = jit(
    vmap((values: Readonly<Record<string, Tensor>>) => posterior.unconstrain(values, { dtype: "f64" })),
  );
  const slopesAt = jit(vmap((u: Tensor) => posterior.logDensityAndGrad(u)[1]));
  const { dim } = posterior;
  const numbersOf = async (x: Tensor) => (await x.data()) as Float64Array;
  const points: Float64Array[] = [];
  for (const chain of reference) {
    const values = posterior.latents.map(({ name, shape }) => {
      const columns = scalarNames(name, shape).map((scalar) => chain[theirName(scalar)]!);
      const rows = Array.from({ length: draws }, (_, draw) => columns.map((column) => column[draw]!));
      return [name, tensor(rows.flat(), { dtype: "f64", device: "cpu", shape: [draws, ...shape] })] as const;
    });
    points.push(await numbersOf(freeNumbers(Object.fromEntries(values))));
  }
  const deviations = Array.from({ length: dim }, (_, d) => {
    const all = points.flatMap((u) => Array.from({ length: draws }, (_, i) => u[i * dim + d]!));
    const mean = all.reduce((sum, x) => sum + x, 0) / all.length;
    return Math.sqrt(all.reduce((sum, x) => sum + (x - mean) ** 2, 0) / all.length);
  });
  const terms = Array.from({ length: 2 * dim }, () => new Float64Array(chains * draws));
  for (const [c, own] of points.entries()) {
    const u = own.map((x, i) => x + shift * deviations[i % dim]!);
    const slopes = await numbersOf(slopesAt(tensor(u, { dtype: "f64", device: "cpu", shape: [draws, dim] })));
    for (let i = 0; i < draws; i++) {
      for (let d = 0; d < dim; d++) {
        terms[d]![c * draws + i] = slopes[i * dim + d]!;
        terms[dim + d]![c * draws + i] = u[i * dim + d]! * slopes[i * dim + d]! + 1;
      }
    }
  }
  return terms.map((values, t) => {
    const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
    const of = t < dim ? `slope ${t}` : `number times slope ${t - dim}`;
    return { of, z: mean / mcseMean({ values, chains, draws }) };
  });
}

const theirName = (name: string): string => name.replace(/\d+(?=[\],])/g, (index) => String(Number(index) + 1));

/** The one that is off the most; what is not a number is off more than any. */
export function worstOf<S extends { readonly z: number }>(scores: readonly S[]): S {
  const off = ({ z }: S) => (Number.isNaN(z) ? Number.POSITIVE_INFINITY : Math.abs(z));
  return scores.reduce((worst, score) => (off(score) > off(worst) ? score : worst));
}
