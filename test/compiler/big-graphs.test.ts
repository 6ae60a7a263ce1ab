/**
 * Graphs of very many nodes compile in a time that grows with their number, not with its square: four times as many take
 * about four times as long. Only the compiler's own work is timed, in seconds of the processor, which a busy machine does
 * not stretch; nothing is run.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compile } from "../../src/compiler/compile.js";
import { inPlaceOf } from "../../src/compiler/program/in-place.js";
import { overlapped } from "../../src/compiler/program/overlap.js";
import { kernelsOf } from "../../src/compiler/program/program.js";
import { cpuProfile, gpuProfile, type TargetProfile } from "../../src/compiler/target/profile.js";
import { type Node, pendingInOrder } from "../../src/graph/node.js";
import * as E from "../../src/graph/primitives/elementwise.js";
import * as L from "../../src/graph/primitives/leaf.js";
import * as M from "../../src/graph/primitives/movement.js";
import * as R from "../../src/graph/primitives/reduce.js";
import { make, stored } from "../support/nodes.js";
import { randomFrom } from "../support/random.js";
import { asKernel, codelessTarget } from "../support/targets.js";

/** Times as long that four times as many nodes may take; it would be sixteen if it grew with the square. */
const MOST = 9;
/** What takes no longer than this, in seconds, is not measured well. */
const SHORT = 0.25;

/** Each step takes two of the last values, near and far, so that most are read by several others. */
function shared(size: number): Node[] {
  const random = randomFrom(3);
  const pool = [stored(64), stored(64)];
  const last = (within: number) => pool.at(-1 - random.below(Math.min(pool.length, within)))!;
  for (let i = 0; i < size; i++) {
    pool.push(make([E.add, E.mul, E.maximum][i % 3]!, [last(50), last(2000)]));
  }
  return [pool.at(-1)!];
}

function chain(size: number): Node[] {
  let node = stored(64);
  const other = stored(64);
  for (let i = 0; i < size; i++) node = make(i % 2 ? E.add : E.mul, [node, other]);
  return [node];
}

const times = (x: Node, value: number): Node =>
  make(E.mul, [x, make(L.constant, [], { shape: [...x.shape], dtype: "f32", value })]);

function reductions(size: number): Node[] {
  const x = stored(8, 8);
  return Array.from({ length: size }, (_, i) => make(R.sum, [times(x, i)], { axes: [i % 2] }));
}

/** Reductions in a row, each of what the one before left. */
function centred(size: number): Node[] {
  let x = stored(8, 8);
  for (let i = 0; i < size; i++) {
    const kept = i % 2 ? [8, 1] : [1, 8];
    const sum = make(R.sum, [x], { axes: [i % 2 ? 1 : 0] });
    x = make(E.sub, [x, make(M.expand, [make(M.reshape, [sum], { shape: kept })], { shape: [8, 8] })]);
  }
  return [x];
}

function results(size: number): Node[] {
  const [x, y] = [stored(64), stored(64)];
  return Array.from({ length: size }, (_, i) => make(E.add, [times(x, i), y]));
}

const graphs: readonly (readonly [string, number, (size: number) => Node[]])[] = [
  ["10,000 elementwise operations with much in common", 10_000, shared],
  ["a chain of 60,000", 60_000, chain],
  ["2,000 reductions", 2000, reductions],
  ["2,000 reductions in a row", 2000, centred],
  ["16,000 results", 16_000, results],
];

/** Compiles a graph for a target as `jit` does, up to writing code. Returns seconds. */
function timeOf(roots: readonly Node[], profile: TargetProfile): number {
  const leaves = pendingInOrder(roots).filter(({ storage }) => storage !== null);
  const start = process.cpuUsage();
  const program = compile(roots, leaves, codelessTarget(profile), asKernel);
  const arranged = overlapped(program);
  const inPlace = inPlaceOf(
    arranged.program,
    leaves.map(() => 256),
  );
  const seconds = process.cpuUsage(start).user / 1e6;
  assert.ok(kernelsOf(program.steps).length > 1);
  assert.equal(inPlace.length, roots.length);
  return seconds;
}

for (const [target, profile] of Object.entries({ gpu: gpuProfile, cpu: cpuProfile })) {
  describe(`big graphs, for the ${target}`, () => {
    for (const [title, size, build] of graphs) {
      test(title, () => {
        const [few, many] = [size / 4, size].map((count) => timeOf(build(count), profile)) as [number, number];
        assert.ok(many <= MOST * Math.max(SHORT, few), `${few.toFixed(2)} s and ${many.toFixed(2)} s`);
      });
    }
  });
}
