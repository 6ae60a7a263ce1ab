/** Results of one loop or choice that are read one after another come from one run, as if all had been asked for at once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { cond, forLoop, scan, type Tensor, tensor, where, whileLoop, zeros } from "../../src/index.js";
import { backendFor } from "../../src/tensor/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";

describeOnTensorDevices("one after another", (device) => {
  const { counters } = backendFor(device);
  const matrix = (): Tensor => tensor([[0.5, 0.25], [-0.25, 0.5]], { device }).realize() as Tensor; // biome-ignore format: a matrix
  const start = (): Tensor => tensor([[1, 2], [3, 4]], { device }).realize() as Tensor; // biome-ignore format: a matrix

  /** Reads each result by itself; only the first may take kernels. Returns all numbers. */
  async function readOneByOne(results: readonly Tensor[]): Promise<number[]> {
    const [first, ...others] = results;
    const values = [...(await first!.flatten().data())].map(Number);
    const before = counters.kernels;
    for (const each of others) values.push(...[...(await each.data())].map(Number));
    assert.equal(counters.kernels, before, "the others were computed with the first");
    return values;
  }

  test("the last carries of forLoop", async () => {
    const a = matrix();
    const round = (_: Tensor, { x, total }: { x: Tensor; total: Tensor }) => {
      const next = x.matmul(a) as Tensor;
      return { x: next, total: total.add(next) as Tensor };
    };
    const { x, total } = forLoop(0, 3, round, { x: start(), total: start() });
    // x (A + A² + A³) and x A³, in exact binary fractions.
    const by = (m: number[][], n: number[][]) =>
      m.map((row) => n[0]!.map((_, j) => row.reduce((s, v, k) => s + v * n[k]![j]!, 0)));
    const A = [[0.5, 0.25], [-0.25, 0.5]]; // biome-ignore format: a matrix
    let [now, sum] = [[[1, 2], [3, 4]], [1, 2, 3, 4]]; // biome-ignore format: a matrix
    for (let i = 0; i < 3; i++) {
      now = by(now, A);
      sum = sum.map((s, k) => s + now.flat()[k]!);
    }
    assert.deepEqual(await readOneByOne([x, total]), [...now.flat(), ...sum]);
  });

  test("the last carry of scan and what it stacked", async () => {
    const xs = tensor([1, 2, 3, 4], { device }).realize();
    const [last, sums] = scan(
      (sum: Tensor, x: Tensor) => [sum.add(x), sum.mul(2)] as [Tensor, Tensor],
      tensor(10, { device }) as Tensor,
      xs as Tensor,
    );
    assert.deepEqual(await readOneByOne([last, sums]), [20, 20, 22, 26, 32]);
  });

  test("the carries of whileLoop", async () => {
    const init = {
      n: tensor(27, { device, dtype: "i32" }) as Tensor,
      steps: tensor(0, { device, dtype: "i32" }) as Tensor,
    };
    const { n, steps } = whileLoop(
      (carry) => carry.n.greater(1),
      (carry) => ({
        n: where(carry.n.remainder(2).equal(0), carry.n.floorDivide(2), carry.n.mul(3).add(1)) as Tensor,
        steps: carry.steps.add(1) as Tensor,
      }),
      init,
    );
    assert.deepEqual(await readOneByOne([n, steps]), [1, 111]);
  });

  test("the results of cond", async () => {
    const a = matrix();
    const grown = (x: Tensor) => ({ once: x.matmul(a) as Tensor, twice: x.matmul(a).matmul(a) as Tensor });
    const same = (x: Tensor) => ({ once: x, twice: x });
    const { once, twice } = cond(tensor(true, { device }) as Tensor, grown, same, start());
    assert.deepEqual(await readOneByOne([once, twice]), [0, 1.25, 0.5, 2.75, -0.3125, 0.625, -0.4375, 1.5]);
  });

  test("stacked results of many bytes are computed when they are asked for", async () => {
    const round = (sum: Tensor): [Tensor, Tensor] => [sum.add(1) as Tensor, sum];
    const [last, sums] = scan(round, zeros([2 ** 20], { device }) as Tensor, null as unknown as Tensor, { length: 17 });
    assert.equal(await last.at(0).item(), 17);
    assert.equal(sums.node.storage, null);
    assert.equal(await sums.at(16, 5).item(), 16);
  });

  test("what nobody holds any more is not computed with the others", async () => {
    const a = matrix();
    const round = (_: Tensor, { x, other }: { x: Tensor; other: Tensor }) => ({
      x: x.matmul(a) as Tensor,
      other: other.sub(x) as Tensor,
    });
    const kernelsOf = async (drops: boolean) => {
      const { x, other } = forLoop(0, 8, round, { x: start(), other: start() });
      if (drops) other.dispose();
      const before = counters.kernels;
      await x.data();
      return counters.kernels - before;
    };
    await kernelsOf(true);
    await kernelsOf(false);
    assert.ok((await kernelsOf(true)) <= (await kernelsOf(false)));
  });
});
