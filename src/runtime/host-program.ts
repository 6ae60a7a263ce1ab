/** A prepared program on the CPU: its kernels run one after another, on addresses that are known but for the arguments'. */

import type { MemoryPlan } from "../compiler/program/memory-plan.js";
import { type Program, rootsOf, type Slot } from "../compiler/program/program.js";
import { type LoopCounters, resolveSlot, runKernels, runSteps } from "../compiler/program/run-steps.js";
import { bytesOf } from "../core/bytes.js";
import type { HostAllocation } from "../engines/host/allocation.js";
import type { HostDevice } from "../engines/host/device.js";
import { type Argument, type Prepared, SCALAR_STRIDE, writeScalars } from "./backend.js";
import type { HostCode } from "./host-backend.js";
import type { PlannedProgram } from "./program-file.js";

export class HostProgram implements Prepared<HostAllocation> {
  readonly program: Program<HostCode>;
  readonly plan: MemoryPlan;
  readonly inPlace: readonly number[];
  readonly isFromDisk: boolean;
  private readonly arena: HostAllocation | null;
  private readonly scalars: HostAllocation | null;
  private readonly roots: readonly number[];
  private readonly memoryOf: readonly number[];

  constructor(
    private readonly device: HostDevice,
    planned: PlannedProgram<HostCode>,
    private readonly args: readonly Argument<HostAllocation>[],
    private readonly runAt: (code: HostCode, addresses: readonly number[]) => void,
  ) {
    const { program, plan } = planned;
    this.program = program;
    this.plan = plan;
    this.inPlace = planned.inPlace;
    this.isFromDisk = planned.isFromDisk;
    this.roots = rootsOf(program);
    this.arena = plan.arenaBytes > 0 ? device.allocUninitialized(plan.arenaBytes) : null;
    const scalarCount = args.filter(({ kind }) => kind === "scalar").length;
    this.scalars = scalarCount > 0 ? device.allocUninitialized(SCALAR_STRIDE * scalarCount) : null;
    let count = 0;
    this.memoryOf = args.map(({ kind }) => (kind === "memory" ? count++ : -1));
  }

  run(memory: readonly HostAllocation[], scalars: readonly number[], isDonated: readonly boolean[]): HostAllocation[] {
    const { device } = this;
    const results = this.roots.map((index, root) => {
      const given = this.inPlace[root];
      const donated = given >= 0 && isDonated[this.memoryOf[given]] ? memory[this.memoryOf[given]] : null;
      return donated ?? device.allocUninitialized(bytesOf(this.program.made[index]));
    });
    if (this.scalars) {
      const bytes = device.memory.view(this.scalars.address, this.scalars.byteLength);
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      writeScalars(view, 0, scalars, this.args);
    }
    let scalar = 0;
    const leafAddress = this.args.map((arg, i) => {
      if (arg.kind === "memory") return memory[this.memoryOf[i]].address;
      if (arg.kind === "fixed") return arg.memory.address;
      return (this.scalars as HostAllocation).address + SCALAR_STRIDE * scalar++;
    });
    const arena = this.arena?.address ?? 0;
    const addressOf = (slot: Slot, rounds: LoopCounters): number => {
      const { index, offset } = resolveSlot(slot, rounds);
      if (slot.from === "leaf") return leafAddress[index] + offset;
      const { root } = this.program.made[index];
      return (root >= 0 ? results[root].address : arena + this.plan.offsets[index]) + offset;
    };
    const runner = runKernels<HostCode>(({ code, slots }, rounds) => {
      this.runAt(
        code,
        slots.map((slot) => addressOf(slot, rounds)),
      );
    });
    runSteps(this.program.steps, runner);
    return results;
  }
}
