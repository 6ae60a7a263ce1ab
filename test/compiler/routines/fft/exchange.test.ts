/** Exchanges: every number has a place of its own, the next stage finds it there, and lanes meet in few banks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Exchange, layoutOf, origin } from "../../../../src/compiler/routines/fft/exchange.js";
import type { Stage } from "../../../../src/compiler/routines/fft/pass.js";
import { radicesFor } from "../../../../src/graph/dft-radices.js";

const stagesOf = (length: number): Stage[] => {
  let done = 1;
  return radicesFor(length, 16).map((radix) => {
    done *= radix;
    return { radix, done: done / radix, sign: -1, factor: null, roots: 0 };
  });
};

function exchangesOf(length: number, columns: number, from: boolean, to: boolean): Exchange[] {
  const stages = stagesOf(length);
  const lanes = (stage: Stage, isAcross: boolean) => ({ columns, isAcross, perTransform: length / stage.radix });
  return stages.slice(0, -1).map((stage, i) => ({
    length,
    stage,
    next: stages[i + 1]!,
    from: lanes(stage, from),
    to: lanes(stages[i + 1]!, i + 2 === stages.length ? to : from),
    bytes: 4,
  }));
}

test("the operands of the next stage lie where the results of this one were put", () => {
  for (const length of [32, 60, 100, 256, 1000, 1024, 4096]) {
    for (const exchange of exchangesOf(length, 1, false, false)) {
      const { stage, next } = exchange;
      const { plane, pitch } = layoutOf(exchange);
      const places = new Map<number, number>();
      for (let b = 0; b < length / stage.radix; b++) {
        for (let m = 0; m < stage.radix; m++) {
          // Result m of butterfly b is this number of the transform (Stockham).
          const within = b % stage.done;
          const number = (b - within) * stage.radix + within + m * stage.done;
          const place = m * plane + b;
          assert.ok(place < pitch && !places.has(place));
          places.set(place, number);
        }
      }
      const apart = length / next!.radix;
      for (let b = 0; b < apart; b++) {
        const { result, butterfly } = origin(b, stage);
        for (let j = 0; j < next!.radix; j++) {
          const place = result * plane + butterfly + (j * apart) / stage.radix;
          assert.equal(places.get(place), b + j * apart, `${length}: operand ${j} of butterfly ${b}`);
        }
      }
    }
  }
});

/** The most lanes of a group of 32 that access one bank at different places. */
function mostInBank(exchange: Exchange, side: "from" | "to"): number {
  const { plane, pitch } = layoutOf(exchange);
  const { columns, isAcross, perTransform } = exchange[side];
  let most = 0;
  for (let start = 0; start < columns * perTransform; start += 32) {
    const banks = Array.from({ length: 32 }, () => new Set<number>());
    for (let lane = start; lane < Math.min(start + 32, columns * perTransform); lane++) {
      const column = isAcross ? lane % columns : Math.floor(lane / perTransform);
      const b = isAcross ? Math.floor(lane / columns) : lane % perTransform;
      const { result, butterfly } = origin(b, exchange.stage);
      const place = column * pitch + (side === "from" ? b : result * plane + butterfly);
      banks[place % 32]!.add(place);
    }
    most = Math.max(most, ...banks.map(({ size }) => size));
  }
  return most;
}

test("lanes meet in no bank where lengths are powers of two", () => {
  for (const [length, columns, isAcross] of [
    [1024, 1, false],
    [4096, 1, false],
    [256, 4, false],
    [256, 16, true],
    [1024, 8, true],
  ] as const) {
    // biome-ignore format: a list
    for (const exchange of exchangesOf(length, columns, isAcross, isAcross)) {
      assert.equal(mostInBank(exchange, "from"), 1, `put, ${length} × ${columns}`);
      assert.equal(mostInBank(exchange, "to"), 1, `taken, ${length} × ${columns}`);
    }
  }
});

test("at most three meet where lengths have other factors", () => {
  for (const length of [60, 100, 600, 1000, 3000]) {
    for (const exchange of exchangesOf(length, 1, false, false)) {
      assert.ok(Math.max(mostInBank(exchange, "from"), mostInBank(exchange, "to")) <= 3, String(length));
    }
  }
});
