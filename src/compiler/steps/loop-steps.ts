/**
 * The steps of scans and while loops. A scan that goes element by element is one kernel with the loop inside; other loops
 * are kernels for every round, whose carries go back and forth between two values.
 */
import { bytesOf } from "../../core/bytes.js";
import type { Node } from "../../graph/node.js";
import type { ScanParams } from "../../graph/primitives/control/scan.js";
import type { WhileParams } from "../../graph/primitives/control/while.js";
import { lowerScan, type RewriteBody, type ScanParts } from "../lower/fused-scan.js";
import { FLAG_BYTES, MAX_ROUNDS_AHEAD, type Slot, type Step, writtenLater } from "../program/program.js";
import type { Assembly, SlotOf } from "./assembly.js";
import { flagBehindGate, raiseFlag } from "./branch-steps.js";

export function scanSteps<Code>(
  assembly: Assembly<Code>,
  node: Node,
  parts: readonly Node[],
  slotOf: SlotOf,
  inputOf: SlotOf,
  rewriteBody: RewriteBody,
): Step<Code>[] {
  const { body, constants, carries } = node.params as unknown as ScanParams;
  const indexOf = ({ params }: Node) => params.index as number;
  const last = parts.filter((each) => indexOf(each) < carries);
  // Stacked results that nobody reads are left out. The carries that each round began with count among them.
  const stacked = parts.filter((each) => indexOf(each) >= carries);
  const results = [
    ...body.results.slice(0, carries),
    ...stacked.map((each) => {
      const index = indexOf(each);
      return index < body.results.length
        ? body.results[index]
        : body.parameters[constants + index - body.results.length];
    }),
  ];
  const { profile, settings } = assembly.target;
  const fused = lowerScan(node, results, { last, stacked }, profile, settings, rewriteBody);
  if (fused) {
    const slotFor = (each: Node) => (parts.includes(each) ? slotOf(each) : inputOf(each));
    return [assembly.kernel(fused.kernel, fused.buffers.map(slotFor), writtenLater(fused.formula))];
  }
  return scanByRounds(assembly, node, results, { last, stacked }, slotOf, inputOf);
}

/** Kernels for every round: sequences and stacked results are stepped through. */
function scanByRounds<Code>(
  assembly: Assembly<Code>,
  node: Node,
  results: readonly Node[],
  parts: ScanParts,
  slotOf: SlotOf,
  inputOf: SlotOf,
): Step<Code>[] {
  const { body, constants, carries, length, isReverse } = node.params as unknown as ScanParams;
  const loop = assembly.loop();
  const inputs = node.inputs.map(inputOf);
  const pairs = body.parameters.slice(constants, constants + carries).map((carry) => pairOf(assembly, carry, loop));
  const element = (slot: Slot, value: Pick<Node, "shape" | "dtype">): Slot => {
    const bytes = bytesOf(value);
    return {
      ...slot,
      offset: (slot.offset ?? 0) + (isReverse ? (length - 1) * bytes : 0),
      moves: [...(slot.moves ?? []), { loop, bytes: isReverse ? -bytes : bytes }],
    };
  };
  const parameterSlots = body.parameters.map((parameter, i) => {
    if (i < constants) return inputs[i];
    return i < constants + carries ? pairs[i - constants].now : element(inputs[i], parameter);
  });
  const stackedSlots = parts.stacked.map((each, i) => element(slotOf(each), results[carries + i]));
  const steps = assembly.compileBody(assembly, body.parameters, results, parameterSlots, (root) =>
    root < carries ? pairs[root].next : stackedSlots[root - carries],
  );
  const first = firstCarries(assembly, pairs, inputs.slice(constants), body.parameters.slice(constants));
  const last = parts.last.map((each) => {
    const { now } = pairs[each.params.index as number];
    const index = length % 2 === 1 && now.swap ? now.swap.index : now.index;
    return assembly.copy({ from: "made", index }, slotOf(each), each);
  });
  return [...first, { kind: "loop", loop, count: length, steps }, ...last];
}

export function whileSteps<Code>(
  assembly: Assembly<Code>,
  node: Node,
  parts: readonly Node[],
  slotOf: SlotOf,
  inputOf: SlotOf,
): Step<Code>[] {
  if (assembly.isRecorded)
    throw new Error("A while loop cannot be recorded; whoever prepares a program asks hasWhileLoop.");
  const { body, test, constants, maxRounds } = node.params as unknown as WhileParams;
  const loop = assembly.loop();
  const inputs = node.inputs.map(inputOf);
  const pairs = body.parameters.slice(constants).map((carry) => pairOf(assembly, carry, loop));
  const parameterSlots = body.parameters.map((_, i) => (i < constants ? inputs[i] : pairs[i - constants].now));
  const first = firstCarries(assembly, pairs, inputs.slice(constants), body.parameters.slice(constants));
  const finish = parts.map((each) => assembly.copy(pairs[each.params.index as number].now, slotOf(each), each));
  const tests = (flag: Slot) =>
    assembly.compileBody(assembly, test.parameters, test.results, parameterSlots, () => flag);
  const rounds = () =>
    assembly.compileBody(assembly, body.parameters, body.results, parameterSlots, (root) => pairs[root].next);
  if (!assembly.target.profile.runsAhead) {
    const computed = assembly.make(test.results[0]);
    const steps = tests(computed);
    const { flag, steps: inside } = flagBehindGate(assembly, computed, "bool", false);
    const each = { kind: "while", loop, maxRounds, ahead: null, test: [...steps, ...inside], flag } as const;
    return [...first, { ...each, steps: rounds(), finish }];
  }
  // A round is behind the flag of the one before and writes its own, which decides whether it goes on.
  const ahead = assembly.loop();
  const flag = assembly.make({ shape: [MAX_ROUNDS_AHEAD + 1], dtype: "i32" });
  const before: Slot = { ...flag, moves: [{ loop: ahead, bytes: FLAG_BYTES }] };
  const own: Slot = { ...before, offset: FLAG_BYTES };
  const start = raiseFlag(assembly, flag);
  const testing = assembly.within({ flag: before, value: 1 }, () => {
    const computed = assembly.make({ shape: [], dtype: "bool" });
    return [...tests(computed), ...flagBehindGate(assembly, computed, "bool", false, own).steps];
  });
  const steps = assembly.within({ flag: own, value: 1 }, rounds);
  return [...first, start, { kind: "while", loop, maxRounds, ahead, test: testing, flag, steps, finish }];
}

/** Two values that take turns: a round reads `now` and writes `next`. */
interface CarryPair {
  readonly now: Slot;
  readonly next: Slot;
}

function pairOf<Code>(assembly: Assembly<Code>, value: Node, loop: number): CarryPair {
  const [even, odd] = [assembly.make(value), assembly.make(value)];
  return {
    now: { ...even, swap: { loop, index: odd.index } },
    next: { ...odd, swap: { loop, index: even.index } },
  };
}

/** Copies of the first carries, so that the loop writes to memory of its own. */
function firstCarries<Code>(
  assembly: Assembly<Code>,
  pairs: readonly CarryPair[],
  inputs: readonly Slot[],
  carries: readonly Node[],
): Step<Code>[] {
  return pairs.map(({ now }, i) => assembly.copy(inputs[i], { from: now.from, index: now.index }, carries[i]));
}
