/**
 * Correlation matrices by their Cholesky factors, after Lewandowski, Kurowicka and Joe (Generating random correlation
 * matrices based on vines and extended onion method, 2009): density det(L·Lᵀ)^(η - 1).
 */
import { checkCount } from "../../core/arity.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { beta } from "../../random/gamma.js";
import { countingLike, type Tensor, tensor } from "../../tensor/index.js";
import type { Argument } from "../arguments/argument.js";
import { parameter } from "../arguments/parameter.js";
import { correlationCholesky, partialCorrelations } from "../constraints/matrices.js";
import { bind, type Definition } from "../definition/definition.js";
import { shareFloats } from "../numerics/float-range.js";
import { RandomVariable } from "../variables/variable.js";

/** log of the integral of det^(η - 1) over all n×n correlation matrices. */
function logVolume(eta: Tensor, n: number): Tensor {
  // Level k of the vine has n - k partial correlations, beta-distributed on (-1, 1) with both parameters b.
  const levels = countingLike(eta, n - 1)
    .add(1)
    .cast(eta.dtype);
  const size = levels.neg().add(n);
  const b = eta.expandDims(-1).add(size.sub(1).mul(0.5));
  const logBeta = b.lgamma().mul(2).sub(b.mul(2).lgamma());
  return b.mul(2).sub(1).mul(Math.LN2).add(logBeta).mul(size).sum({ axis: -1 });
}

function definitionOf(n: number): Definition<"concentration"> {
  return {
    name: "lkjCholesky",
    parameters: { concentration: parameter.positive },
    eventShape: () => [n, n],
    support: correlationCholesky,
    terms(x, { concentration }) {
      const rows = countingLike(x, n).cast(x.dtype);
      const logDiagonal = x.diagonal().log();
      // The Jacobian from factors to matrices gives n - i for row i (from 1), the density 2η - 2.
      const jacobian = logDiagonal.mul(rows.neg().add(n - 1)).sum({ axis: -1 });
      const density = logDiagonal.sum({ axis: -1 }).mul(concentration.sub(1).mul(2));
      return [jacobian, density, logVolume(concentration, n).neg()];
    },
    /** Partial correlations along the vine; the support's own map makes the matrix of them. */
    draw({ key, shape, dtype }, { concentration }) {
      // By how much the parameters of column j exceed η, row by row below the diagonal, as the map wants them.
      const halves = Array.from({ length: n - 1 }, (_, row) =>
        Array.from({ length: row + 1 }, (_, j) => (n - 2 - j) / 2),
      );
      const b = concentration.expandDims(-1).add(tensor(halves.flat(), { dtype, device: key.device }));
      const share = shareFloats(beta(key, b, b, [...shape, (n * (n - 1)) / 2], { dtype }));
      // atanh(2s - 1) is half the log-odds of s.
      const free = share.log().sub(share.neg().log1p()).mul(0.5);
      return partialCorrelations.forward(free, [...shape, n, n]).value;
    },
  };
}

/**
 * Lower Cholesky factors of n×n correlation matrices. Concentration 1 makes all matrices equally likely, more prefers
 * small correlations.
 */
export function lkjCholesky(n: number, concentration: Argument = 1): RandomVariable {
  checkCount("lkjCholesky", 2, arguments);
  if (!Number.isInteger(n) || n < 2) {
    throw new ArgumentError(`lkjCholesky: ${shown(n)} variables; correlations are between 2 or more.`);
  }
  return new RandomVariable(bind(definitionOf(n), { concentration }));
}
