/** The metric as a chain finds it in the warmup: the covariance of the draws of a window, regularised as in Stan. */
import type { Value } from "../../../compiler/ir.js";
import type { Place } from "../../../compiler/place.js";
import type { NutsState } from "./state.js";

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
    factorize(chain);
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

/** The Cholesky factor of the metric, column by column. */
function factorize(chain: NutsState): void {
  const { k, w, type, dim } = chain;
  const { i } = w;
  const at = (place: Place, row: Value, column: Value) => place.load(w.add(w.mul(row, i(dim)), column));
  const [metric, factor] = [chain.column("metric", i(0)), chain.column("factor", i(0))];
  const rest = (row: Value, column: Value) => {
    const [sum] = k.loop(dim, [w.float(type, 0)], (j, [total]) => {
      const term = w.mul(at(factor, row, j), at(factor, column, j));
      return [w.add(total, k.select(k.compare("lt", j, column), term, w.float(type, 0)))];
    });
    return w.sub(at(metric, row, column), sum);
  };
  k.loop(dim, [], (column) => {
    const diagonal = w.sqrt(rest(column, column));
    k.loop(dim, [], (row) => {
      const below = w.div(rest(row, column), diagonal);
      const isBelow = k.compare("gt", row, column);
      const value = k.select(k.compare("eq", row, column), diagonal, k.select(isBelow, below, w.float(type, 0)));
      factor.store(w.add(w.mul(row, i(dim)), column), value);
      return [];
    });
    return [];
  });
}
