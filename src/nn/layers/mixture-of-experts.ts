/**
 * A mixture of experts (Shazeer et al. 2017): a router sends each token to a few of many feed-forward networks. Without a capacity all experts
 * compute all tokens in two large products, and the result is exact. With one each expert takes so many tokens, in one batched product for all,
 * and tokens that come too late are dropped, as in GShard (Lepikhin et al. 2021) and Switch (Fedus et al. 2022).
 */
import { checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import { isFloat } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { sizeOf } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { arange, concat, type Tensor, where, zeros as zerosOf } from "../../tensor/index.js";
import { logSumExp, softmax } from "../activations/rows.js";
import type { Initializer } from "../core/initializer.js";
import { type Layer, layer } from "../core/layer.js";
import type { Scope } from "../core/scope.js";
import { zeros } from "../initializers/constants.js";
import { glorotUniform } from "../initializers/random.js";
import { activationOf, type FeedForwardActivation } from "./feed-forward.js";

/** Options of `mixtureOfExperts`. */
export interface MixtureOfExpertsOptions {
  /** Hidden features of each expert. */
  readonly hidden: number;
  /** Experts for each token; 2. */
  readonly top?: number;
  /** Tokens that an expert takes, over tokens · top / experts. No limit unless told: then nothing is dropped. */
  readonly capacityFactor?: number;
  /** "gelu" unless told. */
  readonly activation?: FeedForwardActivation;
  /** Whether the weights of a token's experts add up to 1; true where there are several. */
  readonly normalize?: boolean;
  /** The factor of the load-balancing loss; 0.01. */
  readonly balance?: number;
  /** The factor of the router's z-loss (Zoph et al. 2022); 0.001. */
  readonly routerZ?: number;
  readonly useBias?: boolean;
  /** First values of the experts' matrices. */
  readonly weights?: Initializer;
}

// biome-ignore format: a row for each kind
const KINDS: OptionKinds<MixtureOfExpertsOptions> = {
  hidden: "number", top: "number", capacityFactor: "number", activation: "text", normalize: "flag", balance: "number", routerZ: "number",
  useBias: "flag", weights: "function",
};

/**
 * Experts that each token [..., features] is routed to: `mixtureOfExperts(8, { hidden: 2048, top: 2 })`. A run that trains leaves two losses in
 * the state, already multiplied by their factors: `auxiliaryLoss(state)` is their sum, which `train` adds to its loss.
 */
export function mixtureOfExperts(experts: number, options: MixtureOfExpertsOptions): Layer {
  const name = "mixtureOfExperts";
  checkWhole(name, "the number of experts", experts, 1);
  checkOptions(name, options, KINDS);
  checkWhole(name, "the option hidden", options.hidden, 1);
  const top = checkWhole(name, "the option top", options.top ?? Math.min(2, experts), 1);
  activationOf(name, options.activation);
  if (top > experts) throw new ArgumentError(`${name}: top ${top} of ${experts} experts.`);
  const { capacityFactor = Infinity } = options;
  if (!(capacityFactor > 0)) {
    throw new ArgumentError(`${name}: the option capacityFactor is a positive number, not ${shown(capacityFactor)}.`);
  }
  return layer(name, { experts, ...options }, (scope, x: Tensor) => {
    if (!isFloat(x.dtype))
      throw new DTypeError(`${name} takes floating-point numbers, not ${x.dtype}; cast the input.`);
    if (x.rank === 0) throw new ShapeError(`${name} takes tokens [..., features], but the input is a scalar.`);
    const features = x.shape[x.rank - 1] as number;
    const rows = x.reshape([sizeOf(x.shape) / Math.max(1, features), features]);
    const routes = routesOf(scope, rows, experts, top, options);
    const matrices = matricesOf(scope, experts, features, options);
    const tokens = rows.shape[0] as number;
    const room = Math.ceil(((tokens * top) / experts) * capacityFactor);
    const run = room < tokens ? withCapacity : withoutLimit;
    return run(scope, rows, routes, matrices, room).reshape(x.shape);
  });
}

/** The experts of each token. */
interface Routes {
  /** [tokens, top], best first. */
  readonly experts: Tensor;
  /** [tokens, top], in f32 at least. */
  readonly shares: Tensor;
  readonly count: number;
}

/** The router computes in f32 at least: its choices decide, and rounding would change them. */
function routesOf(scope: Scope, x: Tensor, count: number, top: number, options: MixtureOfExpertsOptions): Routes {
  const { normalize = top > 1, balance = 0.01, routerZ = 0.001 } = options;
  const [tokens, features] = x.shape as [number, number];
  const dtype = x.dtype === "f64" ? "f64" : "f32";
  const router = scope.parameter("router", [features, count], glorotUniform, { fanIn: features, fanOut: count, dtype });
  scope.countMultiplyAdds(tokens * features * count);
  const scores = x.cast(dtype).matmul(router) as Tensor;
  const shares = softmax(scores);
  const { values, indices } = shares.topK(top);
  if (scope.isTraining || scope.isInitializing) {
    const chosen = oneHot(indices, count).cast(dtype).sum({ axis: 1 }).mean({ axis: 0 }).div(top);
    const balanced = chosen
      .mul(shares.mean({ axis: 0 }))
      .sum()
      .mul(count * balance);
    scope.setLoss("balance", balanced as Tensor);
    scope.setLoss("routerZ", logSumExp(scores).square().mean().mul(routerZ) as Tensor);
  }
  const own = normalize ? values.div(values.sum({ axis: -1, keepDims: true })) : values;
  return { experts: indices as Tensor, shares: own as Tensor, count };
}

/** Bools [..., count], true at the index. */
const oneHot = (indices: Tensor, count: number): Tensor =>
  indices.expandDims(-1).equal(arange(count, { dtype: "i32", device: indices.device })) as Tensor;

/** The experts' matrices, one behind the other along the first axis. */
interface Matrices {
  readonly up: Tensor;
  readonly gate: Tensor | undefined;
  readonly down: Tensor;
  readonly upBiases: Tensor | undefined;
  readonly downBiases: Tensor | undefined;
  readonly curve: (x: Tensor) => Tensor;
}

function matricesOf(scope: Scope, count: number, features: number, options: MixtureOfExpertsOptions): Matrices {
  const { hidden, useBias = true, weights = glorotUniform } = options;
  const { curve, isGated } = activationOf("mixtureOfExperts", options.activation);
  const matrix = (name: string, from: number, to: number) =>
    scope.parameter(name, [count, from, to], weights, { fanIn: from, fanOut: to });
  const vector = (name: string, size: number) => (useBias ? scope.parameter(name, [count, size], zeros) : undefined);
  return {
    up: matrix("up", features, hidden),
    gate: isGated ? matrix("gate", features, hidden) : undefined,
    down: matrix("down", hidden, features),
    upBiases: vector("upBiases", hidden),
    downBiases: vector("downBiases", features),
    curve,
  };
}

/** The work of the experts for so many tokens. */
function countWork(scope: Scope, tokens: number, { up, gate }: Matrices): void {
  const [, features, hidden] = up.shape as [number, number, number];
  scope.countMultiplyAdds(tokens * features * hidden * (gate ? 3 : 2));
}

/** All experts on all tokens: their hidden features side by side, weighted, and the sum over experts is part of the last product. */
function withoutLimit(scope: Scope, x: Tensor, { experts, shares, count }: Routes, m: Matrices): Tensor {
  const [tokens, features] = x.shape as [number, number];
  const hidden = m.up.shape[2] as number;
  countWork(scope, tokens * count, m);
  const besides = (matrix: Tensor): Tensor => x.matmul(matrix.moveAxis(0, 1).reshape([features, count * hidden]));
  const up = m.upBiases ? besides(m.up).add(m.upBiases.reshape([-1])) : besides(m.up);
  const between = m.gate ? m.curve(besides(m.gate)).mul(up) : m.curve(up);
  const share = oneHot(experts, count)
    .cast(shares.dtype)
    .mul(shares.expandDims(-1))
    .sum({ axis: 1 })
    .cast(x.dtype) as Tensor;
  const weighted = between
    .reshape([tokens, count, hidden])
    .mul(share.expandDims(-1))
    .reshape([tokens, count * hidden]);
  const result = weighted.matmul(m.down.reshape([count * hidden, features]));
  return m.downBiases ? result.add(share.matmul(m.downBiases)) : result;
}

/** Tokens at places of their experts, `room` for each; first choices come before second ones, earlier tokens before later ones. */
function withCapacity(scope: Scope, x: Tensor, { experts, shares, count }: Routes, m: Matrices, room: number): Tensor {
  const [tokens, features] = x.shape as [number, number];
  const top = experts.shape[1] as number;
  countWork(scope, count * room, m);
  const chosen = experts.T.reshape([top * tokens]);
  const isOf = oneHot(chosen, count).cast("i32");
  const rank = isOf.cumsum({ axis: 0 }).mul(isOf).sum({ axis: 1 }).sub(1);
  const fits = rank.less(room);
  // A place behind the last one is left out by scatter.
  const place = where(fits, chosen.mul(room).add(rank), count * room).cast("i32") as Tensor;
  const repeated = concat(new Array<Tensor>(top).fill(x), { axis: 0 });
  const given = zerosOf([count * room, features], { dtype: x.dtype, device: x.device })
    .scatter(place, repeated, { axis: 0 })
    .reshape([count, room, features]);
  const up = m.upBiases ? given.matmul(m.up).add(m.upBiases.expandDims(1)) : given.matmul(m.up);
  const between = m.gate ? m.curve(given.matmul(m.gate)).mul(up) : m.curve(up);
  const product = between.matmul(m.down);
  const results = (m.downBiases ? product.add(m.downBiases.expandDims(1)) : product).reshape([count * room, features]);
  const weight = where(fits, shares.T.reshape([top * tokens]), 0)
    .cast(x.dtype)
    .expandDims(1);
  const back = results.take(where(fits, place, 0).cast("i32") as Tensor, { axis: 0 }).mul(weight);
  return back.reshape([top, tokens, features]).sum({ axis: 0 }) as Tensor;
}
