/** Reverse mode of loops with large products, which leave the loop, against finite differences and a loop written out. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { grad, jit, jvp, scan, type Tensor, tensor, vmap } from "../../../../src/index.js";
import { describeOnTensorDevices } from "../../../support/tensors.js";

/** The least rounds and products that leave the loop. */
const [ROUNDS, BATCH, WIDTH] = [4, 16, 64];

const numbers = (shape: readonly number[], seed: number, device: string): Tensor => {
  const length = shape.reduce((size, extent) => size * extent, 1);
  const values = Float64Array.from({ length }, (_, i) => Math.sin((i + 1) * (seed + 0.37)) / 4);
  return tensor(values, { dtype: "f64", device }).reshape([...shape]);
};

/** A gated network: two matrices that all rounds share, one of them used twice. */
const step = ([hidden, cell]: [Tensor, Tensor], x: Tensor, w: Tensor, u: Tensor): [Tensor, Tensor] => {
  const gate = x.add(hidden.matmul(w)).sigmoid();
  const next = gate.mul(cell).add(hidden.matmul(u).tanh());
  return [next.matmul(w).tanh(), next];
};

function losses(device: string, isReverse: boolean) {
  const [w, u] = [numbers([WIDTH, WIDTH], 1, device), numbers([WIDTH, WIDTH], 2, device)];
  const xs = numbers([ROUNDS, BATCH, WIDTH], 3, device);
  const start = numbers([BATCH, WIDTH], 4, device);
  const weights = numbers([ROUNDS, BATCH, WIDTH], 5, device);
  const looped = (w: Tensor, u: Tensor, xs: Tensor): Tensor => {
    const [, ys] = scan(
      (carry: [Tensor, Tensor], x: Tensor) => {
        const next = step(carry, x, w, u);
        return [next, next[0]] as const;
      },
      [start, start] as [Tensor, Tensor],
      xs,
      { reverse: isReverse },
    );
    return ys.mul(weights).sum();
  };
  const unrolled = (w: Tensor, u: Tensor, xs: Tensor): Tensor => {
    let carry: [Tensor, Tensor] = [start, start];
    let sum: Tensor | null = null;
    for (let i = 0; i < ROUNDS; i++) {
      const at = isReverse ? ROUNDS - 1 - i : i;
      carry = step(carry, xs.at(at), w, u);
      const part = carry[0].mul(weights.at(at)).sum();
      sum = sum ? sum.add(part) : part;
    }
    return sum as Tensor;
  };
  return { w, u, xs, looped, unrolled };
}

function assertClose(got: Tensor, want: Tensor): void {
  const [a, b] = [got.reshape(-1).dataSync(), want.reshape(-1).dataSync()];
  assert.equal(a.length, b.length);
  for (let i = 0; i < a.length; i++) {
    assert.ok(Math.abs(Number(a[i]) - Number(b[i])) < 1e-9, `element ${i} is ${a[i]}, not ${b[i]}`);
  }
}

describeOnTensorDevices("loops with large products", (device) => {
  for (const isReverse of [false, true]) {
    test(`gradients by matrices and by the sequence, ${isReverse ? "from the end" : "from the start"}`, () => {
      const { w, u, xs, looped, unrolled } = losses(device, isReverse);
      const all = { argument: [0, 1, 2] } as const;
      const [got, want] = [grad(looped, all)(w, u, xs), grad(unrolled, all)(w, u, xs)] as [Tensor[], Tensor[]];
      got.forEach((gradient, i) => {
        assertClose(gradient, want[i]!);
      });
    });
  }
});

describe("loops with large products, on the CPU", () => {
  const device = "cpu";

  test("the gradient goes along directions as finite differences say, and second derivatives are those of the loop written out", () => {
    const { w, u, xs, looped, unrolled } = losses(device, false);
    const along = numbers([WIDTH, WIDTH], 6, device);
    const slope = Number(grad(looped)(w, u, xs).mul(along).sum().itemSync());
    const at = (t: number) => Number(looped(w.add(along.mul(t)), u, xs).itemSync());
    assert.ok(Math.abs(slope - (at(1e-5) - at(-1e-5)) / 2e-5) < 1e-6 * Math.max(1, Math.abs(slope)));
    const second = (f: typeof looped) => jvp((v: Tensor) => grad(f)(v, u, xs), [w], [along])[1] as Tensor;
    assertClose(second(looped), second(unrolled));
  });

  test("batches of gradients", () => {
    const { w, u, xs, looped } = losses(device, false);
    const both = numbers([2, WIDTH, WIDTH], 7, device);
    const batched = vmap((v: Tensor) => grad(looped)(v, u, xs))(both) as Tensor;
    for (const i of [0, 1]) assertClose(batched.at(i), grad(looped)(both.at(i), u, xs));
    assertClose(jit(grad(looped))(w, u, xs), grad(looped)(w, u, xs));
  });
});

test("a round of the reverse loop has the two products that depend on its cotangents, and carries no matrix", () => {
  const { w, u, xs, looped } = losses("cpu", false);
  const { graph } = jit(grad(looped, { argument: [0, 1] })).lower(w, u, xs);
  const lines = graph.split("\n");
  const from = lines.findIndex((line) => line.includes("from the end"));
  const number = /%(\d+) = scan/.exec(lines[from]!)![1];
  const inside = lines.filter((line) => line.trimStart().startsWith(`%${number}.`));
  assert.equal(inside.filter((line) => line.includes("= dot")).length, 3);
  assert.deepEqual(
    inside.filter((line) => line.includes("= carry")).map((line) => line.split(" : ")[1]),
    [`f64[${BATCH}, ${WIDTH}]`, `f64[${BATCH}, ${WIDTH}]`],
  );
});
