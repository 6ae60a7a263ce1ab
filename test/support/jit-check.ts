/** jit against the function itself: ten calls, each with other inputs and another number, of one program. */
import assert from "node:assert/strict";
import { VulkanDevice } from "../../src/engines/vulkan/device.js";
import { jit, type Tensor, tensor } from "../../src/index.js";
import { backendFor } from "../../src/tensor/index.js";
import type { OperationCase } from "./operation-cases.js";
import { numbersOf } from "./tensors.js";

export interface JitPlace {
  readonly device: string;
  readonly dtype: "f32" | "f64";
}

/** What a device has done so far; null on one that records nothing. */
export function workOf(device: string) {
  const backend = backendFor(device);
  const { kernels, compiled } = backend.counters;
  const replays = backend.engine instanceof VulkanDevice ? backend.engine.stream.counters.replays : null;
  return { kernels, compiled, replays };
}

/** Runs jitted work that must be one replay (where there are recordings) and no kernel by itself. */
export function replayed<T>(device: string, work: () => T): T {
  const before = workOf(device);
  const result = work();
  const after = workOf(device);
  assert.equal(after.kernels - before.kernels, 0, "kernels that were not part of a program");
  if (before.replays !== null && after.replays !== null) assert.equal(after.replays - before.replays, 1, "replays");
  return result;
}

const listOf = (result: Tensor | readonly Tensor[]): readonly Tensor[] =>
  Array.isArray(result) ? result : [result as Tensor];

function expectSame(got: readonly Tensor[], want: readonly Tensor[], tolerance: number, what: string): void {
  assert.equal(got.length, want.length);
  got.forEach((each, i) => {
    assert.deepEqual([each.shape, each.dtype], [want[i]!.shape, want[i]!.dtype], `${what}, result ${i}`);
    const [a, b] = [numbersOf(each), numbersOf(want[i]!)];
    a.forEach((x, at) => {
      const isSame = Object.is(x, b[at]) || Math.abs(x - b[at]!) <= tolerance * (1 + Math.abs(b[at]!));
      assert.ok(isSame, `${what}, result ${i}: element ${at} is ${x}, without jit ${b[at]}`);
    });
  });
}

const CALLS = 10;
const COMPARED = [0, 1, CALLS - 1];

export function checkJit({ inputs, f, isLooping = false }: OperationCase, { device, dtype }: JitPlace): void {
  const scaled = (factor: Tensor | number, ...x: Tensor[]): Tensor[] =>
    listOf(f(...x)).map((y) => (y.dtype === dtype ? (y.mul(factor as Tensor) as Tensor) : y));
  const quick = jit(scaled as (factor: Tensor, ...x: Tensor[]) => Tensor[]);
  const calls = Array.from({ length: CALLS }, (_, call) => ({
    factor: 0.3 + 0.7 * call,
    x: inputs.map((rule, i) => {
      const input = rule(100 * call + i + 1);
      const own = input.dtype === "float" ? dtype : input.dtype;
      return tensor([...input.values], { shape: input.shape, dtype: own, device });
    }),
  }));
  // Results without elements take no kernel, so there is nothing to replay.
  const isEmpty = listOf(quick(calls[0]!.factor, ...calls[0]!.x)).every(({ size }) => size === 0);
  const results = calls.map(({ factor, x }) => {
    const call = () => quick(factor, ...x);
    return isEmpty || isLooping ? call() : replayed(device, call);
  });
  assert.equal(quick.programs, 1);
  for (const call of COMPARED) {
    const { factor, x } = calls[call]!;
    expectSame(results[call]!, scaled(factor, ...x), dtype === "f64" ? 1e-13 : 1e-6, `call ${call + 1}`);
  }
}
