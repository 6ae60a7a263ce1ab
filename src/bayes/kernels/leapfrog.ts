/**
 * Leapfrog steps of many chains as one kernel, which keeps positions, momenta, gradients and log densities after each step. It is
 * the smallest example of a kernel around a density; chains/leapfrog.ts runs it.
 */
import {
  arrayPlace,
  columnPlace,
  computeType,
  type Kernel,
  roundsWithin,
  type Value,
} from "../../compiler/inline/kernel-language.js";
import type { WritingContext } from "../../runtime/backend.js";
import { ChainBuilder, type ChainDensity, type ScratchBuffer } from "./density.js";

export interface WrittenLeapfrog {
  readonly kernel: Kernel;
  /** Of a dispatch: fewer than were asked for where the device limits the rounds of loops. */
  readonly steps: number;
  readonly scratch: readonly ScratchBuffer[];
}

/** As many of the steps as the loops of a thread may take. */
export function writeLeapfrog(
  density: ChainDensity,
  chains: number,
  steps: number,
  context: WritingContext,
): WrittenLeapfrog {
  const { maxLoopRounds } = density.backend;
  let written = writeSteps(density, chains, steps, context);
  while (written.steps > 1 && roundsWithin(written.kernel, maxLoopRounds) > maxLoopRounds) {
    written = writeSteps(density, chains, Math.ceil(written.steps / 2), context);
  }
  return written;
}

/** Buffers behind the data: q and p to start from, the step size, inverse masses; then q, p, gradient and log density. */
function writeSteps(density: ChainDensity, chains: number, steps: number, context: WritingContext): WrittenLeapfrog {
  const { dim, dtype } = density;
  const builder = new ChainBuilder(`leapfrog[${chains}×${steps}]`, density, chains, 1, context);
  const { k } = builder;
  const type = computeType(dtype);
  const i = (value: number) => k.constant("i32", value);
  const from = [0, 1].map(() => k.buffer(dtype, false));
  const [epsBuffer, massBuffer] = [0, 1].map(() => k.buffer(dtype, false));
  const to = [0, 1, 2, 3].map(() => k.buffer(dtype, true));
  const [q, p, g] = [0, 1, 2].map(() => arrayPlace(k, type, dim));
  const each = (body: (d: Value) => void) => {
    k.loop(dim, [], (d) => {
      body(d);
      return [];
    });
  };
  const first = (d: Value) => k.binary("add", k.binary("mul", d, i(chains)), k.row);
  each((d) => {
    q.store(d, k.load(from[0], first(d), type));
    p.store(d, k.load(from[1], first(d), type));
  });
  const eps = k.load(epsBuffer, i(0), type);
  const zero = k.constant(type, 0);
  each((d) => g.store(d, zero));
  // The first round stands still: it finds the gradient to start with, so that the density is written once.
  k.loop(steps + 1, [], (round) => {
    const isMoving = k.compare("gt", round, i(0));
    const move = k.select(isMoving, eps, zero);
    const half = k.binary("mul", move, k.constant(type, 0.5));
    const kick = (d: Value) => k.binary("add", p.load(d), k.binary("mul", half, g.load(d)));
    each((d) => {
      const moved = kick(d);
      p.store(d, moved);
      const velocity = k.binary("mul", k.load(massBuffer, d, type), moved);
      q.store(d, k.binary("add", q.load(d), k.binary("mul", move, velocity)));
    });
    const logp = builder.evaluate(q, g);
    k.when(isMoving, () => {
      const before = k.binary("sub", round, i(1));
      const results = to.map((buffer, r) =>
        columnPlace(k, buffer, type, k.binary("mul", before, i(r === 3 ? 1 : dim))),
      );
      each((d) => {
        p.store(d, kick(d));
        [q, p, g].forEach((place, r) => {
          results[r].store(d, place.load(d));
        });
      });
      results[3].store(i(0), logp);
      return [];
    });
    return [];
  });
  return { kernel: k.finish(), steps, scratch: builder.scratch.buffers };
}
