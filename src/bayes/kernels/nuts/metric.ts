/** The metric as a chain finds it in the warmup: the covariance of the draws of a window, regularised as in Stan. */
import type { Value } from "../../../compiler/ir/ir.js";
import { PHASE } from "../layout.js";
import type { NutsState } from "./state.js";

/** What is left of a variance when it is known by the others is rounding below this many of them, by dimension. */
const EPSILON = { f32: 2 ** -23, f64: 2 ** -52 } as const;

/** Welford's update of mean and scatter by the present draw. */
export function countDraw(chain: NutsState): void {
  const { k, w, type, dim, ints, options } = chain;
  const { i } = w;
  const counted = w.add(ints.counted.get(), i(1));
  ints.counted.set(counted);
  const share = w.div(w.float(type, 1), k.convert(type, counted));
  const [q, mean, scatter] = [chain.vector("qSample"), chain.vector("mean"), chain.vector("scatter")];
  if (!options.isDense) {
    w.each(dim, (d) => {
      const value = q.load(d);
      const before = w.sub(value, mean.load(d));
      const next = w.add(mean.load(d), w.mul(before, share));
      mean.store(d, next);
      scatter.store(d, w.add(scatter.load(d), w.mul(before, w.sub(value, next))));
    });
    return;
  }
  // The whole matrix lies behind the metric.
  const before = chain.rhos[0];
  w.each(dim, (d) => {
    const change = w.sub(q.load(d), mean.load(d));
    before.store(d, change);
    mean.store(d, w.add(mean.load(d), w.mul(change, share)));
  });
  w.each(dim, (d) => {
    const row = chain.column("metric", w.add(i(dim * dim), w.mul(d, i(dim))));
    k.loop(dim, [], (j) => {
      const after = w.sub(q.load(j), mean.load(j));
      row.store(j, w.add(row.load(j), w.mul(before.load(d), after)));
      return [];
    });
  });
}

/** The metric becomes the regularised covariance of the window, and everything starts to count anew. */
export function closeWindow(chain: NutsState): void {
  const { k, w, type, dim, ints, diagonal } = chain;
  const { i } = w;
  const n = k.convert(type, ints.counted.get());
  const total = w.add(n, w.float(type, 5));
  const share = w.div(n, w.mul(total, k.binary("max", w.sub(n, w.float(type, 1)), w.float(type, 1))));
  const floor = w.div(w.float(type, 5e-3), total);
  const [mean, scatter, metric] = [chain.vector("mean"), chain.vector("scatter"), chain.column("metric", i(0))];
  const zero = w.float(type, 0);
  if (!diagonal) {
    const whole = chain.column("metric", i(dim * dim));
    k.loop(dim * dim, [], (at) => {
      const isDiagonal = k.compare("eq", k.binary("irem", at, i(dim + 1)), i(0));
      metric.store(at, w.add(w.mul(whole.load(at), share), k.select(isDiagonal, floor, zero)));
      whole.store(at, zero);
      return [];
    });
    ints.phase.set(i(PHASE.factor));
    ints.leaf.set(i(0));
  } else {
    w.each(dim, (d) => {
      const variance = w.add(w.mul(scatter.load(d), share), floor);
      metric.store(d, variance);
      diagonal.store(d, variance);
      scatter.store(d, zero);
    });
  }
  w.each(dim, (d) => mean.store(d, zero));
  ints.counted.set(i(0));
  ints.isSearching.set(i(1));
  ints.searchSide.set(i(0));
}

/**
 * The next column of the Cholesky factor of the metric. A round of the chain does one: all of them are more rounds of loops
 * than a software driver lets a dispatch go. Where rounding has left no factor, the metric is one of variances only.
 */
export function factorColumn(chain: NutsState): void {
  const { k, w, type, dim, ints } = chain;
  const { i } = w;
  const at = (row: Value, column: Value) => w.add(w.mul(row, i(dim)), column);
  const [metric, factor] = [chain.column("metric", i(0)), chain.column("factor", i(0))];
  const column = ints.leaf.get();
  const rest = (row: Value) => {
    const [sum] = k.loop(dim, [w.float(type, 0)], (j, [total]) => {
      const term = w.mul(factor.load(at(row, j)), factor.load(at(column, j)));
      return [w.add(total, k.select(k.compare("lt", j, column), term, w.float(type, 0)))];
    });
    return w.sub(metric.load(at(row, column)), sum);
  };
  const square = rest(column);
  const noise = w.mul(metric.load(at(column, column)), w.float(type, dim * EPSILON[type]));
  const isLast = k.compare("eq", column, i(dim - 1));
  w.when(
    w.and(k.compare("gt", square, noise), w.isBounded(square)),
    () => {
      const diagonal = w.sqrt(square);
      w.each(dim, (row) => {
        const below = k.select(k.compare("gt", row, column), w.div(rest(row), diagonal), w.float(type, 0));
        factor.store(at(row, column), k.select(k.compare("eq", row, column), diagonal, below));
      });
      ints.leaf.set(w.add(column, i(1)));
      w.when(isLast, () => ints.phase.set(i(PHASE.begin)));
    },
    () => {
      w.each(dim * dim, (element) => {
        const isDiagonal = k.compare("eq", k.binary("irem", element, i(dim + 1)), i(0));
        const variance = k.select(isDiagonal, metric.load(element), w.float(type, 0));
        metric.store(element, variance);
        factor.store(element, w.sqrt(variance));
      });
      ints.phase.set(i(PHASE.begin));
    },
  );
}
