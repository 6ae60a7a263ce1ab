/**
 * One metric for all chains at the end of a window: the covariance of the draws of all of them, regularised as Stan does, its
 * factor where it is dense, and both given to every chain. Three kernels, which do nothing where no window closes.
 */
import type { Value } from "../../../compiler/inline/kernel-language.js";
import { INTS } from "../layout.js";
import type { PooledWriter } from "./writer.js";

/** Draws of a window by each chain; 0 where none closes. All chains have counted the same ones. */
const closingOf = (p: PooledWriter): Value => p.load("pooledInts", p.pooledAt("closing"));

const isAny = (p: PooledWriter, count: Value): Value => p.k.compare("gt", count, p.ops.i(0));

/** A row per element of the metric. */
export function writeCovariance(p: PooledWriter): void {
  const { k, ops, options } = p;
  const closing = closingOf(p);
  ops.when(isAny(p, closing), () => {
    const { isDense, chains, dim } = options;
    const [row, column] = isDense
      ? [k.binary("idiv", k.row, ops.i(dim)), k.binary("irem", k.row, ops.i(dim))]
      : [k.row, k.row];
    const count = k.convert(p.energy, closing);
    const centres = p.sums(2, (c) => [p.vector("mean", row, c), p.vector("mean", column, c)]);
    const [rowMean, columnMean] = centres.map((sum) => ops.div(sum, p.f(chains)));
    const [own, between] = p.sums(2, (c) => [
      isDense ? ownScatter(p, row, column, c) : p.vector("scatter", row, c),
      ops.mul(ops.sub(p.vector("mean", row, c), rowMean), ops.sub(p.vector("mean", column, c), columnMean)),
    ]);
    const scatter = ops.add(own, ops.mul(count, between));
    const total = ops.mul(count, p.f(chains));
    const pulled = ops.add(total, p.f(5));
    const isDiagonal = k.compare("eq", row, column);
    const share = ops.mul(ops.div(total, pulled), ops.div(scatter, k.binary("max", ops.sub(total, p.f(1)), p.f(1))));
    const value = ops.add(share, k.select(isDiagonal, ops.div(p.f(5e-3), pulled), p.f(0)));
    // One draw has no variance.
    const unit = k.select(isDiagonal, p.f(1), p.f(0));
    p.storeOnce("covariance", k.row, k.select(k.compare("lt", total, p.f(2)), unit, value));
  });
}

/** The scatter that a chain has counted, which is symmetric up to rounding. It lies behind the metric. */
function ownScatter(p: PooledWriter, row: Value, column: Value, c: Value): Value {
  const { ops, options } = p;
  const { dim } = options;
  const element = (a: Value, b: Value) =>
    p.load("metric", p.at(ops.add(ops.i(dim * dim), ops.add(ops.mul(a, ops.i(dim)), b)), c));
  return ops.mul(ops.add(element(row, column), element(column, row)), p.f(0.5));
}

/** The Cholesky factor, column by column: one row, whose lanes share a column. Where rounding has left none, of variances. */
export function writeRoot(p: PooledWriter): void {
  const { k, ops, options } = p;
  const { dim } = options;
  const { i } = ops;
  const at = (row: Value, column: Value) => ops.add(ops.mul(row, i(dim)), column);
  /** An element less the contributions of the columns before. */
  const rest = (row: Value, column: Value) => {
    const [sum] = k.loop(
      dim,
      [p.f(0), i(0)],
      (j, [total, done]) => {
        const term = ops.mul(p.load("root", at(row, j)), p.load("root", at(column, j)));
        return [ops.add(total, k.select(k.compare("lt", j, column), term, p.f(0))), ops.add(done, i(1))];
      },
      { exitWhen: ([, done]) => k.compare("ge", done, column) },
    );
    return ops.sub(p.load("covariance", at(row, column)), sum);
  };
  ops.when(isAny(p, closingOf(p)), () => {
    const [isPositive] = k.loop(dim, [i(1)], (column, [so]) => {
      const square = rest(column, column);
      const diagonal = ops.sqrt(square);
      ops.each(dim, (row) => {
        const below = k.select(k.compare("gt", row, column), ops.div(rest(row, column), diagonal), p.f(0));
        p.store("root", at(row, column), k.select(k.compare("eq", row, column), diagonal, below));
      });
      k.barrier();
      return [k.select(k.compare("gt", square, p.f(0)), so, i(0))];
    });
    ops.when(k.compare("eq", isPositive, i(0)), () => {
      ops.each(dim * dim, (element) => {
        const isDiagonal = k.compare("eq", k.binary("irem", element, i(dim + 1)), i(0));
        const variance = k.select(isDiagonal, p.load("covariance", element), p.f(0));
        p.store("covariance", element, variance);
        p.store("root", element, ops.sqrt(variance));
      });
    });
  });
}

/** A row per chain: the chain takes the metric, and counts from 0 again. */
export function writeSpread(p: PooledWriter): void {
  const { k, ops, options } = p;
  const { isDense, dim } = options;
  const { i } = ops;
  const c = k.row;
  ops.when(isAny(p, closingOf(p)), () => {
    ops.each(isDense ? dim * dim : dim, (element) => {
      p.store("metric", p.at(element, c), p.load("covariance", element));
      if (!isDense) return;
      p.store("metric", p.at(ops.add(element, i(dim * dim)), c), p.f(0));
      p.store("factor", p.at(element, c), p.load("root", element));
    });
    ops.each(dim, (d) => {
      p.store("vectors", p.vectorAt("mean", d, c), p.f(0));
      p.store("vectors", p.vectorAt("scatter", d, c), p.f(0));
    });
    p.store("ints", p.at(i(INTS.indexOf("counted")), c), i(0));
  });
}
