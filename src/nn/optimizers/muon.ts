/**
 * Muon (Jordan et al. 2024): momentum whose matrices are made orthogonal by Newton–Schulz rounds, so that every direction of a
 * matrix learns at the same pace. Parameters that are no matrices go to Adam.
 */
import { checkFunction, checkOptions, checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import type { Tensor } from "../../tensor/index.js";
import { type AdamWOptions, adamw } from "./adam.js";
import { leafwise, zerosFor } from "./leafwise.js";
import type { Optimizer } from "./optimizer.js";
import { checkShare } from "./options.js";
import { partition } from "./partition.js";
import { negated, type Rate, times } from "./rate.js";

/** Options of `muon`. */
export interface MuonOptions {
  /** The share of the average of gradients that is kept; 0.95. */
  readonly momentum?: number;
  /** The gradient counts once more; true. */
  readonly nesterov?: boolean;
  /** Newton–Schulz rounds; 5. */
  readonly rounds?: number;
  /** Matrices shrink by this share of the rate; 0.1. */
  readonly weightDecay?: number;
  /** Matrices that are treated so; all parameters with two axes. Leave out embeddings and the last layer. */
  readonly matrices?: (path: string, param: Tensor) => boolean;
  /** The rate of Adam for the rest; 3e-4. */
  readonly otherRate?: Rate;
  /** Options of `adamw` for the rest; its weightDecay is 0 unless told. */
  readonly others?: AdamWOptions;
}

/** Coefficients of the rounds: they raise small singular values fast, and leave them between 0.7 and 1.2. */
const [A, B, C] = [3.4445, -4.775, 2.0315];

/** Muon on matrices, Adam on the rest: `muon(0.02, { otherRate: 3e-4 })`. */
export function muon(rate: Rate = 1e-3, options: MuonOptions = {}): Optimizer {
  checkOptions("muon", options, {
    momentum: "number",
    nesterov: "flag",
    rounds: "number",
    weightDecay: "number",
    matrices: "function",
    otherRate: "any",
    others: "any",
  });
  const { momentum = 0.95, nesterov = true, rounds = 5, weightDecay = 0.1 } = options;
  const { matrices = (_: string, param: Tensor) => param.rank === 2, otherRate = 3e-4, others = {} } = options;
  checkShare("muon", "momentum", momentum);
  checkWhole("muon", "the number of rounds", rounds, 1);
  checkFunction("muon", matrices, "matrices");
  const ofMatrices = leafwise("muon", {
    rate,
    options,
    slots: { mean: zerosFor },
    shared: ({ rate }) => ({ down: negated(rate), shrink: times(rate, -weightDecay) }),
    rule(g, slots, { down, shrink }, { param }) {
      const mean = slots.mean.mul(momentum).add(g.mul(1 - momentum));
      const direction = nesterov ? g.mul(1 - momentum).add(mean.mul(momentum)) : mean;
      const [rows, columns] = param.shape as [number, number];
      const step = times(down, Math.sqrt(Math.max(1, rows / columns)));
      const update = orthogonalized(direction, rounds).mul(step);
      return [weightDecay === 0 ? update : update.add(param.mul(shrink)), { mean }];
    },
  });
  const label = (path: string, param: Tensor): string => {
    if (!matrices(path, param)) return "others";
    if (param.rank === 2) return "matrices";
    throw new ArgumentError(`muon: the parameter ${path} has ${param.rank} axes; matrices have two.`);
  };
  return partition(label, { matrices: ofMatrices, others: adamw(otherRate, { weightDecay: 0, ...others }) });
}

/** A matrix with about the same singular vectors, and singular values about 1. */
function orthogonalized(matrix: Tensor, rounds: number): Tensor {
  const [rows, columns] = matrix.shape as [number, number];
  // The smaller side is the inner one: the products are cheaper.
  let x = rows > columns ? matrix.T : matrix;
  x = x.div(x.square().sum().sqrt().maximum(1e-7));
  for (let i = 0; i < rounds; i++) {
    const gram = x.matmul(x.T);
    const mixed = gram.mul(B).add(gram.matmul(gram).mul(C));
    x = x.mul(A).add(mixed.matmul(x));
  }
  return rows > columns ? x.T : x;
}
