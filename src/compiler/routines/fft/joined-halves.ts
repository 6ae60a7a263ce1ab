/**
 * The kernel that joins the transform of pairs of real numbers to half the spectrum of all, where that takes several passes
 * (fft.ts): two numbers that lie across the middle from each other become two of the spectrum. A thread of a GPU takes one such
 * pair, one of a CPU many. The kernels of single passes do this before they write.
 */
import type { Kernel, Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { TargetProfile } from "../../target/profile.js";
import { areNeighbours, countOf, type Pass } from "./pass.js";
import { PassKernel, type Transform } from "./pass-kernel.js";

/** Pairs of a row on a CPU: enough that their number is divided rarely. */
const MANY_PAIRS = 512;

export function joinedHalvesKernel(pass: Pass, profile: TargetProfile): Kernel {
  const pairs = Math.floor(pass.length / 2) + 1;
  const perRow = profile.maxLanes > 1 ? 1 : MANY_PAIRS;
  const blocks = Math.ceil(pairs / perRow);
  const count = countOf(pass);
  const k = new KernelBuilder(pass.name, count * blocks);
  const p = new PassKernel(k, pass);
  // Neighbouring threads take neighbours in memory.
  const isAcross = areNeighbours(pass, "to");
  const [quotient, remainder] = p.divided(k.row, isAcross ? count : blocks);
  const [number, block] = isAcross ? [remainder, quotient] : [quotient, remainder];
  const transform = p.numbered(number);
  if (perRow === 1) writePair(p, transform, block);
  else {
    const first = p.mul(block, perRow);
    k.loop(perRow, [], (at) => {
      // Beyond the last pair it is written again.
      writePair(p, transform, k.binary("min", p.add(first, at), p.i(pairs - 1)));
      return [];
    });
  }
  return k.finish();
}

function writePair(p: PassKernel, transform: Transform, at: Value): void {
  const { k, pass } = p;
  const across = k.select(k.compare("eq", at, p.i(0)), at, k.binary("sub", p.i(pass.length), at));
  p.writeHalved(transform, at, p.read(transform, at), p.read(transform, across), null);
}
