/** The metric as a chain finds it in the warmup: the covariance of the draws of a window, regularised as in Stan. */
import type { Value } from "../../../compiler/inline/kernel-language.js";
import { PHASE } from "../layout.js";
import type { NutsState } from "./state.js";

/** A conditional variance below dim times this share of the variance is rounding. */
const EPSILON = { f32: 2 ** -23, f64: 2 ** -52 } as const;

/** Welford's update of mean and scatter by the present draw. */
export function countDraw(chain: NutsState): void {
  const { k, ops, type, dim, ints, options } = chain;
  const { i } = ops;
  const counted = ops.add(ints.counted.get(), i(1));
  ints.counted.set(counted);
  const share = ops.div(ops.float(type, 1), k.convert(type, counted));
  const [q, mean, scatter] = [chain.vector("qSample"), chain.vector("mean"), chain.vector("scatter")];
  if (!options.isDense) {
    ops.each(dim, (d) => {
      const value = q.load(d);
      const before = ops.sub(value, mean.load(d));
      const next = ops.add(mean.load(d), ops.mul(before, share));
      mean.store(d, next);
      scatter.store(d, ops.add(scatter.load(d), ops.mul(before, ops.sub(value, next))));
    });
    return;
  }
  // The whole matrix lies behind the metric.
  const before = chain.rhos[0];
  ops.each(dim, (d) => {
    const change = ops.sub(q.load(d), mean.load(d));
    before.store(d, change);
    mean.store(d, ops.add(mean.load(d), ops.mul(change, share)));
  });
  ops.each(dim, (d) => {
    const row = chain.column("metric", ops.add(i(dim * dim), ops.mul(d, i(dim))));
    k.loop(dim, [], (j) => {
      const after = ops.sub(q.load(j), mean.load(j));
      row.store(j, ops.add(row.load(j), ops.mul(before.load(d), after)));
      return [];
    });
  });
}

/** The metric becomes the regularised covariance of the window, and all counts start again from zero. */
export function closeWindow(chain: NutsState): void {
  const { k, ops, type, dim, ints, diagonal } = chain;
  const { i } = ops;
  const n = k.convert(type, ints.counted.get());
  const total = ops.add(n, ops.float(type, 5));
  const share = ops.div(n, ops.mul(total, k.binary("max", ops.sub(n, ops.float(type, 1)), ops.float(type, 1))));
  const floor = ops.div(ops.float(type, 5e-3), total);
  const [mean, scatter, metric] = [chain.vector("mean"), chain.vector("scatter"), chain.column("metric", i(0))];
  const zero = ops.float(type, 0);
  if (!diagonal) {
    const whole = chain.column("metric", i(dim * dim));
    k.loop(dim * dim, [], (at) => {
      const isDiagonal = k.compare("eq", k.binary("irem", at, i(dim + 1)), i(0));
      metric.store(at, ops.add(ops.mul(whole.load(at), share), k.select(isDiagonal, floor, zero)));
      whole.store(at, zero);
      return [];
    });
    ints.phase.set(i(PHASE.factor));
    ints.leaf.set(i(0));
  } else {
    ops.each(dim, (d) => {
      const variance = ops.add(ops.mul(scatter.load(d), share), floor);
      metric.store(d, variance);
      diagonal.store(d, variance);
      scatter.store(d, zero);
    });
  }
  ops.each(dim, (d) => mean.store(d, zero));
  ints.counted.set(i(0));
  ints.isSearching.set(i(1));
  ints.searchSide.set(i(0));
}

/**
 * The next column of the Cholesky factor of the metric. A round of the chain does one: all of them are more rounds of loops
 * than a software driver lets a dispatch go. Where rounding has left no factor, the metric is one of variances only.
 */
export function factorColumn(chain: NutsState): void {
  const { k, ops, type, dim, ints } = chain;
  const { i } = ops;
  const at = (row: Value, column: Value) => ops.add(ops.mul(row, i(dim)), column);
  const [metric, factor] = [chain.column("metric", i(0)), chain.column("factor", i(0))];
  const column = ints.leaf.get();
  const rest = (row: Value) => {
    const [sum] = k.loop(dim, [ops.float(type, 0)], (j, [total]) => {
      const term = ops.mul(factor.load(at(row, j)), factor.load(at(column, j)));
      return [ops.add(total, k.select(k.compare("lt", j, column), term, ops.float(type, 0)))];
    });
    return ops.sub(metric.load(at(row, column)), sum);
  };
  const square = rest(column);
  const noise = ops.mul(metric.load(at(column, column)), ops.float(type, dim * EPSILON[type]));
  const isLast = k.compare("eq", column, i(dim - 1));
  ops.when(
    ops.and(k.compare("gt", square, noise), ops.isBounded(square)),
    () => {
      const diagonal = ops.sqrt(square);
      ops.each(dim, (row) => {
        const below = k.select(k.compare("gt", row, column), ops.div(rest(row), diagonal), ops.float(type, 0));
        factor.store(at(row, column), k.select(k.compare("eq", row, column), diagonal, below));
      });
      ints.leaf.set(ops.add(column, i(1)));
      ops.when(isLast, () => ints.phase.set(i(PHASE.begin)));
    },
    () => {
      ops.each(dim * dim, (element) => {
        const isDiagonal = k.compare("eq", k.binary("irem", element, i(dim + 1)), i(0));
        const variance = k.select(isDiagonal, metric.load(element), ops.float(type, 0));
        metric.store(element, variance);
        factor.store(element, ops.sqrt(variance));
      });
      ints.phase.set(i(PHASE.begin));
    },
  );
}
