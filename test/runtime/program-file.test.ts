/** Programs as bytes: all that running one needs comes back as it was. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { compile } from "../../src/compiler/compile.js";
import type { KernelOutline } from "../../src/compiler/ir/ir.js";
import { planMemory } from "../../src/compiler/program/memory-plan.js";
import { kernelsOf, type Program } from "../../src/compiler/program/program.js";
import { makePlaceholder } from "../../src/graph/function.js";
import { concat, scan, Tensor, whileLoop } from "../../src/index.js";
import { packProgram, unpackProgram } from "../../src/runtime/program-file.js";
import { backendFor } from "../../src/tensor/index.js";
import { codelessTarget } from "../support/targets.js";

interface Code {
  readonly text: string;
}
/** Lengths that are no multiples of 4 leave the next code askew. */
const load = (_: unknown, { name, size, rows }: KernelOutline): Code => ({
  text: `${name} of ${size}`.slice(0, 5 + (rows % 7)),
});

function programOf(shapes: readonly (readonly number[])[], f: (...x: Tensor[]) => Tensor[]): Program<Code> {
  const device = backendFor("cpu");
  const leaves = shapes.map((shape) => makePlaceholder({ shape, dtype: "f32", device }));
  const roots = f(...leaves.map((leaf) => new Tensor(leaf))).map(({ node }) => node);
  return compile(roots, leaves, codelessTarget(), load);
}

const programs: Readonly<Record<string, () => Program<Code>>> = {
  "a chain and a product": () =>
    programOf(
      [
        [8, 9],
        [9, 7],
      ],
      (a, b) => [a.matmul(b).tanh(), a.exp().sum({ axis: 0 })],
    ),
  "rounds of a loop, with slots that move and swap": () =>
    programOf([[37], [5, 37]], (c, x) => {
      const [last, all] = scan((a: Tensor, b: Tensor) => [a.flip(0).add(b.sort()), a.mul(b)], c, x);
      return [last, all];
    }),
  "a loop until": () =>
    programOf([[37]], (x) => [
      whileLoop(
        (c: Tensor) => c.sum().less(100),
        (c: Tensor) => c.sort().add(c.flip(0)),
        x,
      ),
    ]),
  "kernels without rows": () =>
    programOf(
      [
        [0, 3],
        [2, 3],
      ],
      (a, b) => [a.exp(), concat([a, b]).sin()],
    ),
  "nothing to do": () => programOf([], () => []),
};

for (const [title, make] of Object.entries(programs)) {
  test(`${title}: a program comes back from bytes, its kernels in outline`, () => {
    const program = make();
    const planned = { program, plan: planMemory(program), inPlace: [0, -1], isFromDisk: false };
    const packed = packProgram(planned, ({ text }) => ({
      bytes: Buffer.from(text),
      numbers: [Buffer.byteLength(text), 0.5],
    }));
    const names: string[] = [];
    // Where the bytes lie in memory makes no difference.
    const askew = Buffer.concat([Buffer.alloc(3), packed]).subarray(3);
    const back = unpackProgram(askew, ({ bytes, numbers }, { name, buffers }): Code => {
      assert.equal(bytes.byteOffset % 4, 0);
      assert.deepEqual(numbers, [bytes.length, 0.5]);
      names.push(name);
      const same = kernelsOf(program.steps).find(({ kernel }) => kernel.name === name);
      assert.deepEqual(
        buffers,
        same?.kernel.buffers.map(({ isWritten }) => ({ isWritten })),
      );
      return { text: Buffer.from(bytes).toString() };
    });
    assert.deepEqual(back.program, outlined(program));
    assert.deepEqual(back.plan, planned.plan);
    assert.deepEqual(back.inPlace, planned.inPlace);
    assert.equal(back.isFromDisk, true);
    const running = kernelsOf(program.steps).filter(({ kernel }) => kernel.rows > 0);
    assert.equal(names.length, new Set(running.map(({ code }) => code)).size);
  });
}

/** The program as it is expected back: JSON drops what is undefined. */
function outlined(program: Program<Code>): unknown {
  const text = JSON.stringify(program.steps, (name, value) => (name === "body" ? null : value));
  return { ...program, steps: JSON.parse(text) };
}
