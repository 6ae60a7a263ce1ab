/**
 * Recorded programs: between two kernels of which one writes what the other touches there is a barrier, whatever the graph,
 * its loops, its arena and the arguments it writes over; and none where there is no such pair.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Slot } from "../../src/compiler/program/program.js";
import { resolveSlot, runKernels, runSteps } from "../../src/compiler/program/run-steps.js";
import { bytesOf } from "../../src/core/bytes.js";
import { makePlaceholder } from "../../src/graph/function.js";
import type { Node } from "../../src/graph/node.js";
import { concat, scan, Tensor } from "../../src/index.js";
import type { Argument, Backend, DeviceStorage } from "../../src/runtime/backend.js";
import { vulkanBackend } from "../../src/runtime/open.js";
import type { Prepared } from "../../src/runtime/prepared.js";
import { describeOnDevices, underValidation } from "../support/devices.js";
import { FaultyDriver } from "../support/fault-injection.js";
import { randomSpec } from "../support/graph-generator.js";
import { buildGraph } from "../support/graph-specs.js";

interface Touch {
  readonly memory: string;
  readonly start: number;
  readonly end: number;
  readonly isWritten: boolean;
}

/** What each dispatch touches, loops unrolled. Results stand under the name of the argument they may be written over. */
function touchesOf({ program, plan, inPlace }: Prepared): Touch[][] {
  const all: Touch[][] = [];
  const touch = (slot: Slot, index: number, offset: number, isWritten: boolean): Touch => {
    const { from, moves } = slot;
    const whole = (memory: string): Touch => ({ memory, start: 0, end: Infinity, isWritten });
    if (from === "leaf") return whole(`leaf ${index}`);
    const value = program.made[index]!;
    if (value.root >= 0) {
      const leaf = inPlace[value.root] ?? -1;
      const name = leaf >= 0 ? `leaf ${leaf}` : `root ${value.root}`;
      const part = moves?.[0] ? Math.abs(moves[0].bytes) : null;
      return part === null || leaf >= 0 ? whole(name) : { memory: name, start: offset, end: offset + part, isWritten };
    }
    const start = plan.offsets[index]!;
    return { memory: "arena", start, end: start + bytesOf(value), isWritten };
  };
  const runner = runKernels<unknown>(({ slots, kernel: { buffers } }, rounds) => {
    all.push(
      slots.map((slot, i) => {
        const { index, offset } = resolveSlot(slot, rounds);
        return touch(slot, index, offset, buffers[i]!.isWritten);
      }),
    );
  });
  runSteps(program.steps, runner);
  return all;
}

const meet = (a: Touch, b: Touch): boolean =>
  (a.isWritten || b.isWritten) && a.memory === b.memory && a.start < b.end && b.start < a.end;

describeOnDevices("recorded programs", underValidation("the driver is only listened to"), (which) => {
  /** Prepares nodes that depend on placeholders, runs them once, and compares what was recorded with what was needed. */
  async function check(
    build: (backend: Backend) => { readonly roots: readonly Node[]; readonly leaves: readonly Node[] },
    label: string,
  ): Promise<void> {
    const driver = new FaultyDriver();
    const device = await which.open({ interpose: driver.interpose });
    const backend = vulkanBackend("vulkan:own", device) as unknown as Backend;
    const { roots, leaves } = build(backend);
    const args = leaves.map((_, i): Argument<DeviceStorage> => ({ kind: "memory", isDonated: i % 2 === 0 }));
    const prepared = backend.prepare(roots, leaves, args);
    const memory = leaves.map((leaf) => backend.upload(new Uint8Array(bytesOf(leaf))));
    // Devices that copy by kernel have dispatches of their own in that.
    device.finishSync();
    const commands = new Map<string, ("dispatch" | "barrier")[]>();
    driver.onCall = (name, [buffer]) => {
      const kind = name === "vkCmdDispatch" ? "dispatch" : name === "vkCmdPipelineBarrier" ? "barrier" : null;
      if (kind) commands.set(String(buffer), [...(commands.get(String(buffer)) ?? []), kind]);
    };
    const given = leaves.map((_, i) => i % 2 === 0);
    prepared.run(memory, [], given);
    driver.onCall = null;
    const touches = touchesOf(prepared);
    const recorded = [...commands.values()].find((each) => each.filter((kind) => kind === "dispatch").length > 0) ?? [];
    assert.equal(recorded.filter((kind) => kind === "dispatch").length, touches.length, label);
    let since: Touch[] = [];
    let at = 0;
    for (const kind of recorded) {
      if (kind === "barrier") {
        assert.ok(
          touches[at]!.some((a) => since.some((b) => meet(a, b))),
          `${label}: a barrier too many before kernel ${at}`,
        );
        since = [];
        continue;
      }
      const touched = touches[at]!;
      const conflict = touched.find((a) => since.some((b) => meet(a, b)));
      assert.equal(conflict, undefined, `${label}: kernel ${at} touches ${JSON.stringify(conflict)} without a barrier`);
      since.push(...touched);
      at++;
    }
    await device.close();
  }

  test("of random graphs", async () => {
    for (let seed = 900; seed < 908; seed++) {
      const spec = randomSpec(seed, { steps: 16, maxSize: 600, extraRoots: 4 });
      await check((backend) => {
        const leaves = spec.nodes
          .filter(({ op }) => op === "buffer")
          .map(({ shape, dtype }) => makePlaceholder({ shape, dtype, device: backend }));
        const nodes = buildGraph(spec, "", () => {}, backend, leaves);
        const roots = [...new Set(spec.roots.map((root) => nodes[root]!))].filter((root) => root.isAbstract);
        return { roots, leaves };
      }, `seed ${seed}`);
    }
  });

  test("of loops round by round, with arguments written over", async () => {
    for (const reverse of [false, true]) {
      await check((backend) => {
        const leaf = (...shape: number[]) => makePlaceholder({ shape, dtype: "f32", device: backend });
        const leaves = [leaf(6), leaf(4, 6), leaf(6), leaf(3, 6)];
        const [c, xs, w, other] = leaves.map((node) => new Tensor(node)) as [Tensor, Tensor, Tensor, Tensor];
        const step = (a: Tensor, x: Tensor) =>
          [
            a
              .roll(1)
              .mul(w)
              .add(x.cumsum({ axis: 0 })),
            a.sort(),
          ] as const;
        const [last, all] = scan(step, c, xs, { reverse });
        const results = [last, all, w.add(last.sum()), concat([other, all.at(":3")]).flip(0), other.mul(2)];
        return { roots: results.map(({ node }) => node), leaves };
      }, `reverse: ${reverse}`);
    }
  });
});
