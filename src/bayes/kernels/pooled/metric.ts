/**
 * One metric for all chains at the end of a window: the covariance of the draws of all of them, regularised as Stan does, its
 * factor where it is dense, and both given to every chain. Three kernels, which do nothing where no window closes.
 */
import type { Value } from "../../../compiler/ir/ir.js";
import { INTS } from "../layout.js";
import type { PooledWriter } from "./writer.js";

/** Draws of a window by each chain; 0 where none closes. All chains have counted the same ones. */
const closingOf = (p: PooledWriter): Value => p.load("pooledInts", p.pooledAt("closing"));

const isAny = (p: PooledWriter, count: Value): Value => p.k.compare("gt", count, p.w.i(0));

/** A row per element of the metric. */
export function writeCovariance(p: PooledWriter): void {
  const { k, w, options } = p;
  const closing = closingOf(p);
  w.when(isAny(p, closing), () => {
    const { isDense, chains, dim } = options;
    const [row, column] = isDense
      ? [k.binary("idiv", k.row, w.i(dim)), k.binary("irem", k.row, w.i(dim))]
      : [k.row, k.row];
    const count = k.convert(p.energy, closing);
    const centres = p.sums(2, (c) => [p.vector("mean", row, c), p.vector("mean", column, c)]);
    const [rowMean, columnMean] = centres.map((sum) => w.div(sum, p.f(chains)));
    const [own, between] = p.sums(2, (c) => [
      isDense ? ownScatter(p, row, column, c) : p.vector("scatter", row, c),
      w.mul(w.sub(p.vector("mean", row, c), rowMean), w.sub(p.vector("mean", column, c), columnMean)),
    ]);
    const scatter = w.add(own, w.mul(count, between));
    const total = w.mul(count, p.f(chains));
    const pulled = w.add(total, p.f(5));
    const isDiagonal = k.compare("eq", row, column);
    const share = w.mul(w.div(total, pulled), w.div(scatter, k.binary("max", w.sub(total, p.f(1)), p.f(1))));
    const value = w.add(share, k.select(isDiagonal, w.div(p.f(5e-3), pulled), p.f(0)));
    // One draw has no variance.
    const unit = k.select(isDiagonal, p.f(1), p.f(0));
    p.storeOnce("covariance", k.row, k.select(k.compare("lt", total, p.f(2)), unit, value));
  });
}

/** The scatter that a chain has counted, which is symmetric up to rounding. It lies behind the metric. */
function ownScatter(p: PooledWriter, row: Value, column: Value, c: Value): Value {
  const { w, options } = p;
  const { dim } = options;
  const element = (a: Value, b: Value) =>
    p.load("metric", p.at(w.add(w.i(dim * dim), w.add(w.mul(a, w.i(dim)), b)), c));
  return w.mul(w.add(element(row, column), element(column, row)), p.f(0.5));
}

/** The Cholesky factor, column by column: one row, whose lanes share a column. Where rounding has left none, of variances. */
export function writeRoot(p: PooledWriter): void {
  const { k, w, options } = p;
  const { dim } = options;
  const { i } = w;
  const at = (row: Value, column: Value) => w.add(w.mul(row, i(dim)), column);
  /** What is left of an element when the columns before are taken off. */
  const rest = (row: Value, column: Value) => {
    const [sum] = k.loop(
      dim,
      [p.f(0), i(0)],
      (j, [total, done]) => {
        const term = w.mul(p.load("root", at(row, j)), p.load("root", at(column, j)));
        return [w.add(total, k.select(k.compare("lt", j, column), term, p.f(0))), w.add(done, i(1))];
      },
      { exitWhen: ([, done]) => k.compare("ge", done, column) },
    );
    return w.sub(p.load("covariance", at(row, column)), sum);
  };
  w.when(isAny(p, closingOf(p)), () => {
    const [isPositive] = k.loop(dim, [i(1)], (column, [so]) => {
      const square = rest(column, column);
      const diagonal = w.sqrt(square);
      w.each(dim, (row) => {
        const below = k.select(k.compare("gt", row, column), w.div(rest(row, column), diagonal), p.f(0));
        p.store("root", at(row, column), k.select(k.compare("eq", row, column), diagonal, below));
      });
      k.barrier();
      return [k.select(k.compare("gt", square, p.f(0)), so, i(0))];
    });
    w.when(k.compare("eq", isPositive, i(0)), () => {
      w.each(dim * dim, (element) => {
        const isDiagonal = k.compare("eq", k.binary("irem", element, i(dim + 1)), i(0));
        const variance = k.select(isDiagonal, p.load("covariance", element), p.f(0));
        p.store("covariance", element, variance);
        p.store("root", element, w.sqrt(variance));
      });
    });
  });
}

/** A row per chain: the chain takes the metric, and counts from 0 again. */
export function writeSpread(p: PooledWriter): void {
  const { k, w, options } = p;
  const { isDense, dim } = options;
  const { i } = w;
  const c = k.row;
  w.when(isAny(p, closingOf(p)), () => {
    w.each(isDense ? dim * dim : dim, (element) => {
      p.store("metric", p.at(element, c), p.load("covariance", element));
      if (!isDense) return;
      p.store("metric", p.at(w.add(element, i(dim * dim)), c), p.f(0));
      p.store("factor", p.at(element, c), p.load("root", element));
    });
    w.each(dim, (d) => {
      p.store("vectors", p.vectorAt("mean", d, c), p.f(0));
      p.store("vectors", p.vectorAt("scatter", d, c), p.f(0));
    });
    p.store("ints", p.at(i(INTS.indexOf("counted")), c), i(0));
  });
}
