/**
 * A compiled piece of the graph: kernels to run in order, and which memory each of them gets. It holds no node and no
 * buffer, so it serves every graph of the same form: a loop that builds the same expression again compiles it once.
 */

import { bytesOf } from "../../core/bytes.js";
import { type DType, realDType } from "../../core/dtype.js";
import { ArgumentError, UnsupportedError } from "../../core/errors.js";
import { sizeOf } from "../../core/shape.js";
import { isUnaligned, repeatsAmong } from "../../graph/contiguous-slice.js";
import type { GraphFunction } from "../../graph/function.js";
import { type Node, pendingInOrder } from "../../graph/node.js";
import { branching, part, type ScanParams, scan, type WhileParams, whileLoop } from "../../graph/primitives/control.js";
import { scatter } from "../../graph/primitives/scatter.js";
import { computeType, type ElementSettings } from "../elements/elements.js";
import { type Kernel, type KernelOutline, MAX_I32 } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";
import { lowerScan } from "../lower/fused-scan.js";
import { lowerGroup } from "../lower/lower-group.js";
import { keepValues } from "../lower/repeated-values.js";
import { bufferNames, describeGroup } from "../print/formula.js";
import { expandGraph } from "../rewrite/expand.js";
import { routines } from "../routines/index.js";
import type { RoutineBuffer } from "../routines/routine.js";
import type { Group } from "../schedule/group.js";
import { schedule } from "../schedule/schedule.js";
import { ownedInput, viewed, withoutViews } from "../schedule/views.js";
import type { TargetProfile } from "../target/profile.js";
import { lowerProduct } from "../tiles/product.js";
import { lowerTransposed } from "../tiles/transpose.js";

/**
 * Memory by role: the i-th leaf of the graph, or the i-th value the program makes. Inside loops a slot may move: by some
 * bytes in every round, or between two values in turns.
 */
export interface Slot {
  readonly from: "leaf" | "made";
  readonly index: number;
  /** Where in that memory it begins. */
  readonly offset?: number;
  /** That memory may begin between vectors of 16 bytes. */
  readonly isUnaligned?: boolean;
  /** Bytes it moves by in each round of a loop. */
  readonly moves?: readonly { readonly loop: number; readonly bytes: number }[];
  /** The value it is in odd rounds of a loop. */
  readonly swap?: { readonly loop: number; readonly index: number };
}

export interface KernelStep<Code> {
  readonly kind: "kernel";
  readonly kernel: KernelOutline;
  /** Null where the kernel has no rows: it is not run. */
  readonly code: Code;
  readonly slots: readonly Slot[];
  /** What it computes, for people (expression.ts); empty for a kernel written by hand outside the compiler. */
  readonly formula: string;
}

/** Steps repeated a known number of times. */
export interface LoopStep<Code> {
  readonly kind: "loop";
  readonly loop: number;
  readonly count: number;
  readonly steps: readonly Step<Code>[];
}

/** Steps repeated while what `test` computes is true; then, with the loop's number still known, `finish`. */
export interface WhileStep<Code> {
  readonly kind: "while";
  readonly loop: number;
  readonly maxRounds: number;
  /**
   * Null where a round begins when the one before is known to have been wanted. Else rounds are sent off together, and those
   * not wanted do nothing; this is the loop that numbers them, from 0 each time.
   */
  readonly ahead: number | null;
  readonly test: readonly Step<Code>[];
  /** A bool; of rounds sent off together several words: 1, and for each whether it was wanted. */
  readonly flag: Slot;
  readonly steps: readonly Step<Code>[];
  readonly finish: readonly Step<Code>[];
}

export type Step<Code> = KernelStep<Code> | LoopStep<Code> | WhileStep<Code>;

/** A value the program makes, and which root it is, if any. */
export interface Made {
  readonly shape: readonly number[];
  readonly dtype: DType;
  readonly byteLength: number;
  readonly root: number;
}

export interface Program<Code> {
  readonly steps: readonly Step<Code>[];
  readonly made: readonly Made[];
  /** After which step a made value is needed no more; roots live on. */
  readonly lastUse: readonly number[];
  /** By step, the made values that are needed no more after it and are not roots. */
  readonly frees: readonly (readonly number[])[];
  readonly leaves: readonly { readonly shape: readonly number[]; readonly dtype: DType }[];
}

/** Every kernel among steps, those in loops once. */
export function kernelsOf<Code>(steps: readonly Step<Code>[]): KernelStep<Code>[] {
  return steps.flatMap((step) => {
    if (step.kind === "kernel") return [step];
    if (step.kind === "loop") return kernelsOf(step.steps);
    return [...kernelsOf(step.test), ...kernelsOf(step.steps), ...kernelsOf(step.finish)];
  });
}

/** Which round each loop is in. */
export type Rounds = Map<number, number>;

/** Where a slot is in the present rounds: a value and an offset into it. */
export function placeOf(slot: Slot, rounds: Rounds): { readonly index: number; readonly offset: number } {
  const { index, offset = 0, moves, swap } = slot;
  if (!moves && !swap) return { index, offset };
  const now = swap && (rounds.get(swap.loop) ?? 0) % 2 === 1 ? swap.index : index;
  let at = offset;
  for (const { loop, bytes } of moves ?? []) at += (rounds.get(loop) ?? 0) * bytes;
  return { index: now, offset: at };
}

/** The memory of a slot, as it is when what came before is done. */
type Read = (slot: Slot) => Uint8Array;

/** For programs without loops that may end. */
const readNothing: Read = () => {
  throw new Error("runSteps: a loop that may end, and no way to read whether it does");
};

/** Runs steps in order, loops round by round. */
export function runSteps<Code>(
  steps: readonly Step<Code>[],
  visit: (step: KernelStep<Code>, rounds: Rounds) => void,
  read: Read = readNothing,
  rounds: Rounds = new Map(),
): void {
  for (const step of steps) runStep(step, visit, read, rounds);
}

const NO_ROUNDS: Rounds = new Map();

export function runStep<Code>(
  step: Step<Code>,
  visit: (step: KernelStep<Code>, rounds: Rounds) => void,
  read: Read,
  known?: Rounds,
): void {
  if (step.kind === "kernel") {
    if (step.kernel.rows > 0) visit(step, known ?? NO_ROUNDS);
    return;
  }
  const rounds = known ?? new Map<number, number>();
  if (step.kind === "while") (step.ahead === null ? runWhile : runAhead)(step, visit, read, rounds);
  else {
    for (let round = 0; round < step.count; round++) {
      rounds.set(step.loop, round);
      runSteps(step.steps, visit, read, rounds);
    }
  }
}

function runWhile<Code>(
  step: WhileStep<Code>,
  visit: (step: KernelStep<Code>, rounds: Rounds) => void,
  read: Read,
  rounds: Rounds,
): void {
  for (let round = 0; ; round++) {
    rounds.set(step.loop, round);
    runSteps(step.test, visit, read, rounds);
    if (read(step.flag)[0] === 0) break;
    if (round >= step.maxRounds) throw endless(step);
    runSteps(step.steps, visit, read, rounds);
  }
  runSteps(step.finish, visit, read, rounds);
}

/** Rounds sent off together at first, and at most. */
const [FEW_AHEAD, MOST_AHEAD] = [4, 64];

function runAhead<Code>(
  step: WhileStep<Code>,
  visit: (step: KernelStep<Code>, rounds: Rounds) => void,
  read: Read,
  rounds: Rounds,
): void {
  let done = 0;
  for (let count = FEW_AHEAD; ; count = Math.min(2 * count, MOST_AHEAD)) {
    const together = Math.min(count, step.maxRounds - done + 1);
    for (let i = 0; i < together; i++) {
      rounds.set(step.loop, done + i);
      rounds.set(step.ahead as number, i);
      runSteps(step.test, visit, read, rounds);
      runSteps(step.steps, visit, read, rounds);
    }
    const flags = read(step.flag);
    let wanted = 0;
    while (wanted < together && flags[FLAG_BYTES * (wanted + 1)] !== 0) wanted++;
    done += wanted;
    if (done > step.maxRounds) throw endless(step);
    if (wanted < together) break;
  }
  rounds.set(step.loop, done);
  runSteps(step.finish, visit, read, rounds);
}

const FLAG_BYTES = 4;

const endless = ({ maxRounds }: WhileStep<unknown>): ArgumentError =>
  new ArgumentError(
    `whileLoop: its condition still held after ${maxRounds} rounds; raise { maxRounds } if that is meant.`,
  );

export interface Target<Code> {
  readonly profile: TargetProfile;
  readonly settings: ElementSettings;
  /** `isIndirect`: which buffers' addresses the kernel finds in memory, because they change from run to run. */
  emit(kernel: Kernel, isIndirect: readonly boolean[] | null): Code;
}

/** A program to be recorded once and run many times. */
export interface Recordable {
  /** Leaves whose memory stays where it is. */
  readonly isFixedLeaf: readonly boolean[];
}

/** `given`: the leaves of the graph, and after them the constants that are to be data, see given-numbers.ts. */
export function compile<Code>(
  pending: readonly Node[],
  given: readonly Node[],
  target: Target<Code>,
  recordable: Recordable | null = null,
): Program<Code> {
  const { roots, leaves, stored } = expandGraph(pending, given, target.profile.tiles);
  const compilation = new Compilation(target, recordable);
  const repeats = repeatsAmong(given);
  const memory = given.filter((leaf) => !repeats.has(leaf));
  const slotOf = (index: number): Slot => {
    const isApart = index < memory.length && isUnaligned(memory[index], target.profile.alignment);
    return { from: "leaf", index, ...(isApart && { isUnaligned: true }) };
  };
  const slots = new Map(leaves.map((leaf, index) => [leaf, slotOf(index)]));
  const steps = compilation.graph(roots, slots, stored, (root) => compilation.make(roots[root], root));
  const { made } = compilation;
  return withSteps({ made, leaves: leaves.map(({ shape, dtype }) => ({ shape, dtype })) }, steps);
}

/** The program of these steps. */
export function withSteps<Code>(
  { made, leaves }: Pick<Program<Code>, "made" | "leaves">,
  steps: readonly Step<Code>[],
): Program<Code> {
  const lastUse = lastUseOf(steps);
  const frees = steps.map((): number[] => []);
  lastUse.forEach((position, index) => {
    if (made[index].root < 0) frees[position].push(index);
  });
  return { steps, made, lastUse, frees, leaves };
}

/** Which of the made values each root is. */
export function rootsOf({ made }: Pick<Program<unknown>, "made">): number[] {
  const roots: number[] = [];
  made.forEach(({ root }, index) => {
    if (root >= 0) roots[root] = index;
  });
  return roots;
}

/** Every slot that a step and those inside it touch. */
export function slotsIn(step: Step<unknown>): Slot[] {
  if (step.kind === "kernel") return [...step.slots];
  const inner = step.kind === "loop" ? step.steps : [...step.test, ...step.steps, ...step.finish];
  return [...inner.flatMap(slotsIn), ...(step.kind === "while" ? [step.flag] : [])];
}

function lastUseOf(steps: readonly Step<unknown>[]): number[] {
  const lastUse: number[] = [];
  steps.forEach((step, position) => {
    for (const { from, index, swap } of slotsIn(step)) {
      if (from === "made") lastUse[index] = position;
      if (swap) lastUse[swap.index] = position;
    }
  });
  return lastUse;
}

/** Where the index of a choice lies, and the index that opens the gate. */
interface Gate {
  readonly flag: Slot;
  readonly value: number;
}

type SlotOf = (node: Node) => Slot;

const isScatter = ({ primitive }: Node): boolean => primitive === scatter;

const resultsOf = ({ results }: Group): Node[] => results.map(({ node }) => node);

/** Compiles a graph and, for loops, the graphs inside it, into steps over one list of values. */
class Compilation<Code> {
  readonly made: Made[] = [];
  private readonly codes = new Map<Kernel, Map<string, Code>>();
  private loops = 0;
  /** What every kernel looks at first: in the branch of a choice, whether that is the one. */
  private gate: Gate | null = null;

  constructor(
    private readonly target: Target<Code>,
    private readonly recordable: Recordable | null,
  ) {}

  make({ shape, dtype }: Pick<Node, "shape" | "dtype">, root = -1): Slot {
    this.made.push({ shape, dtype, byteLength: bytesOf({ shape, dtype }), root });
    return { from: "made", index: this.made.length - 1 };
  }

  /** The steps that compute roots from leaves, which have slots; `rootSlot` says where a root goes. */
  graph(
    roots: readonly Node[],
    slots: Map<Node, Slot>,
    stored: ReadonlySet<Node>,
    rootSlot: (root: number) => Slot,
  ): Step<Code>[] {
    const { target } = this;
    const steps: Step<Code>[] = [];
    const wanted = withoutViews(roots);
    const rootOf = new Map(wanted.map((node, root) => [node, root]));
    const slotOf = (node: Node): Slot => {
      const known = slots.get(node);
      if (known) return known;
      const root = rootOf.get(node);
      const slot = root === undefined ? this.make(node) : rootSlot(root);
      slots.set(node, slot);
      return slot;
    };
    const tasks = schedule(wanted, target.profile, stored);
    const made = new Set(tasks.flatMap((task) => (task.kind === "routine" ? task.node : resultsOf(task.group))));
    const inputOf = (node: Node): Slot => slotOf(viewed(node, (at) => slots.has(at) || made.has(at)));
    const scattered = tasks.flatMap((task) => (task.kind === "routine" && isScatter(task.node) ? task.node : []));
    const order = scattered.length > 0 ? pendingInOrder(wanted) : [];
    // The last first: its memory is then that of all that lead up to it.
    for (const node of scattered.reverse()) {
      const source = ownedInput(node, order);
      const isFree = source && made.has(source) && !slots.has(source) && !rootOf.has(source);
      if (isFree) slots.set(source, slotOf(node));
    }
    const parts = new Map<Node, Node[]>();
    for (const task of tasks) {
      if (task.kind !== "routine" || task.node.primitive !== part) continue;
      const [bundle] = task.node.inputs;
      parts.set(bundle, [...(parts.get(bundle) ?? []), task.node]);
    }
    for (const task of tasks) {
      if (task.kind === "group") {
        const { product, transposed } = task.group;
        const lower = product ? lowerProduct : transposed ? lowerTransposed : lowerGroup;
        const { kernel, buffers } = lower(task.group, nameOfGroup(task.group), target.settings);
        const formula = describeGroup(task.group, buffers, kernel.buffers);
        steps.push(this.kernel(keepValues(kernel, target.profile.kept), buffers.map(slotOf), formula));
        continue;
      }
      const { node } = task;
      if (node.primitive === part) continue;
      if (node.primitive === scan) steps.push(...this.scan(node, parts.get(node) ?? [], slotOf, inputOf));
      else if (node.primitive === whileLoop) steps.push(...this.while(node, parts.get(node) ?? [], slotOf, inputOf));
      else if (node.primitive === branching) steps.push(...this.branches(node, parts.get(node) ?? [], slotOf, inputOf));
      else steps.push(...this.routine(node, slotOf, inputOf));
    }
    return steps;
  }

  private kernel(kernel: Kernel, own: readonly Slot[], formula: string): KernelStep<Code> {
    const { gate } = this;
    const slots = gate ? [...own, gate.flag] : own;
    const aligned = withAlignment(gate ? gated(kernel, gate.value) : kernel, slots);
    const isIndirect = this.recordable && slots.map((slot) => this.isMoving(slot));
    // Routines may run one kernel many times. One without rows is never run, and its strides may not fit a word.
    const known = this.codes.get(kernel) ?? new Map<string, Code>();
    this.codes.set(kernel, known);
    const key = `${gate?.value}|${isIndirect}|${aligned.buffers.map(({ isUnaligned = false }) => isUnaligned)}`;
    const code = known.get(key) ?? (kernel.rows > 0 ? this.target.emit(aligned, isIndirect) : (null as Code));
    known.set(key, code);
    return { kind: "kernel", kernel: aligned, code, slots, formula };
  }

  /** Whether its memory is another one in every run. */
  private isMoving({ from, index }: Slot): boolean {
    return from === "leaf" ? !this.recordable?.isFixedLeaf[index] : this.made[index].root >= 0;
  }

  private routine(node: Node, slotOf: SlotOf, inputOf: SlotOf): Step<Code>[] {
    const { profile, settings } = this.target;
    const routine = routines[node.primitive.name];
    if (!routine) throw new UnsupportedError(`There is no routine for ${node.primitive.name}.`);
    checkCountable(node);
    const plan = routine(node, profile, settings);
    const temporaries = plan.temporaries.map((value) => this.make(value));
    const place = (buffer: RoutineBuffer): Slot => {
      if (buffer.kind === "input") return inputOf(node.inputs[buffer.index]);
      if (buffer.kind === "temporary") return temporaries[buffer.index];
      const slot = slotOf(node);
      return buffer.offset ? { ...slot, offset: (slot.offset ?? 0) + buffer.offset } : slot;
    };
    const placed = plan.steps.map((step) => ({ ...step, slots: step.buffers.map(place) }));
    const needed = placed.filter(({ isCopy, slots: [from, to] }) => !isCopy || from !== to);
    return needed.map(({ kernel, slots, formula }) => this.kernel(kernel, slots, formula(bufferNames(kernel.buffers))));
  }

  // ------------------------------------------------------------------------------------------------ branches

  /** The kernels of all branches, each of which runs only if the index is that of its branch. */
  private branches(node: Node, parts: readonly Node[], slotOf: SlotOf, inputOf: SlotOf): Step<Code>[] {
    const branches = node.params.branches as readonly GraphFunction[];
    const [index, ...inputs] = node.inputs.map(inputOf);
    const { flag, steps } = this.behindGate(index, "i32", -1);
    const outer = this.gate;
    const inner = branches.flatMap(({ parameters, results }, value) => {
      this.gate = { flag, value };
      const wanted = parts.map(({ params }) => results[params.index as number]);
      return this.body(parameters, wanted, inputs, (root) => slotOf(parts[root]));
    });
    this.gate = outer;
    return [...steps, ...inner];
  }

  /** A scalar that says `otherwise` where the branch it belongs to is not taken and nobody has computed it. */
  private behindGate(
    slot: Slot,
    dtype: "bool" | "i32",
    otherwise: boolean | number,
    target?: Slot,
  ): { flag: Slot; steps: Step<Code>[] } {
    const { gate } = this;
    if (!gate) return { flag: slot, steps: [] };
    const flag = target ?? this.make({ shape: [], dtype });
    const k = new KernelBuilder("gate", 1);
    const [outer, inner] = [k.buffer("i32", false), k.buffer(dtype, false)];
    const isOpen = k.compare("eq", k.load(outer, k.row, "i32"), k.constant("i32", gate.value));
    const value = k.select(isOpen, k.load(inner, k.row, dtype), k.constant(dtype, otherwise));
    k.store(k.buffer(target ? "i32" : dtype, true), k.row, target ? k.convert("i32", value) : value);
    const formula = `out = where(a == ${gate.value}, b, ${otherwise})`;
    return { flag, steps: [this.ungated(k.finish(), [gate.flag, slot, flag], formula)] };
  }

  /** 1 in a slot of i32, but 0 in a branch not taken. */
  private truth(slot: Slot): Step<Code> {
    const { gate } = this;
    const k = new KernelBuilder("begin", 1);
    const outer = gate && k.compare("eq", k.load(k.buffer("i32", false), k.row, "i32"), k.constant("i32", gate.value));
    k.store(k.buffer("i32", true), k.row, outer ? k.convert("i32", outer) : k.constant("i32", 1));
    const formula = gate ? `out = where(a == ${gate.value}, 1, 0)` : "out = 1";
    return this.ungated(k.finish(), gate ? [gate.flag, slot] : [slot], formula);
  }

  private ungated(kernel: Kernel, slots: readonly Slot[], formula: string): KernelStep<Code> {
    const { gate } = this;
    this.gate = null;
    const step = this.kernel(kernel, slots, formula);
    this.gate = gate;
    return step;
  }

  // ------------------------------------------------------------------------------------------------ loops

  /** A kernel with the loop inside, where that will do; else kernels for every round. */
  private scan(node: Node, parts: readonly Node[], slotOf: SlotOf, inputOf: SlotOf): Step<Code>[] {
    const { body, constants, carries } = node.params as unknown as ScanParams;
    const indexOf = ({ params }: Node) => params.index as number;
    const last = parts.filter((each) => indexOf(each) < carries);
    // Stacked results that nobody reads are left out; the carries each round began with are among them.
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
    const { profile, settings } = this.target;
    const fused = lowerScan(node, results, { last, stacked }, profile, settings);
    if (fused) {
      const place = (each: Node) => (parts.includes(each) ? slotOf(each) : inputOf(each));
      return [this.kernel(fused.kernel, fused.buffers.map(place), fused.formula)];
    }
    return this.scanByRounds(node, results, { last, stacked }, slotOf, inputOf);
  }

  /** Carries go back and forth between two values; sequences and stacked results are stepped through. */
  private scanByRounds(
    node: Node,
    results: readonly Node[],
    parts: { readonly last: readonly Node[]; readonly stacked: readonly Node[] },
    slotOf: SlotOf,
    inputOf: SlotOf,
  ): Step<Code>[] {
    const { body, constants, carries, length, isReverse } = node.params as unknown as ScanParams;
    const loop = this.loops++;
    const inputs = node.inputs.map(inputOf);
    const pairs = body.parameters.slice(constants, constants + carries).map((carry) => this.pair(carry, loop));
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
    const steps = this.body(body.parameters, results, parameterSlots, (root) =>
      root < carries ? pairs[root].next : stackedSlots[root - carries],
    );
    const first = pairs.map(({ now }, i) =>
      this.copy(inputs[constants + i], { from: now.from, index: now.index }, body.parameters[constants + i]),
    );
    const last = parts.last.map((each) => {
      const { now } = pairs[each.params.index as number];
      const index = length % 2 === 1 && now.swap ? now.swap.index : now.index;
      return this.copy({ from: "made", index }, slotOf(each), each);
    });
    return [...first, { kind: "loop", loop, count: length, steps }, ...last];
  }

  private while(node: Node, parts: readonly Node[], slotOf: SlotOf, inputOf: SlotOf): Step<Code>[] {
    const { body, test, constants, maxRounds } = node.params as unknown as WhileParams;
    const loop = this.loops++;
    const inputs = node.inputs.map(inputOf);
    const pairs = body.parameters.slice(constants).map((carry) => this.pair(carry, loop));
    const parameterSlots = body.parameters.map((_, i) => (i < constants ? inputs[i] : pairs[i - constants].now));
    const first = pairs.map(({ now }, i) =>
      this.copy(inputs[constants + i], { from: now.from, index: now.index }, body.parameters[constants + i]),
    );
    const finish = parts.map((each) => this.copy(pairs[each.params.index as number].now, slotOf(each), each));
    const tests = (flag: Slot) => this.body(test.parameters, test.results, parameterSlots, () => flag);
    const rounds = () => this.body(body.parameters, body.results, parameterSlots, (root) => pairs[root].next);
    if (!this.target.profile.runsAhead) {
      const computed = this.make(test.results[0]);
      const steps = tests(computed);
      const { flag, steps: inside } = this.behindGate(computed, "bool", false);
      const each = { kind: "while", loop, maxRounds, ahead: null, test: [...steps, ...inside], flag } as const;
      return [...first, { ...each, steps: rounds(), finish }];
    }
    // A round is behind the flag of the one before and makes its own, by which it goes on or not.
    const ahead = this.loops++;
    const flag = this.make({ shape: [MOST_AHEAD + 1], dtype: "i32" });
    const before: Slot = { ...flag, moves: [{ loop: ahead, bytes: FLAG_BYTES }] };
    const own: Slot = { ...before, offset: FLAG_BYTES };
    const start = this.truth(flag);
    const outer = this.gate;
    this.gate = { flag: before, value: 1 };
    const computed = this.make({ shape: [], dtype: "bool" });
    const testing = tests(computed);
    const judging = this.behindGate(computed, "bool", false, own).steps;
    this.gate = { flag: own, value: 1 };
    const steps = rounds();
    this.gate = outer;
    return [
      ...first,
      start,
      { kind: "while", loop, maxRounds, ahead, test: [...testing, ...judging], flag, steps, finish },
    ];
  }

  /** Two values that take turns: what a round reads, and what it writes for the next. */
  private pair(value: Node, loop: number): { readonly now: Slot; readonly next: Slot } {
    const [even, odd] = [this.make(value), this.make(value)];
    return {
      now: { ...even, swap: { loop, index: odd.index } },
      next: { ...odd, swap: { loop, index: even.index } },
    };
  }

  private body(
    parameters: readonly Node[],
    results: readonly Node[],
    parameterSlots: readonly Slot[],
    rootSlot: (root: number) => Slot,
  ): Step<Code>[] {
    const { roots, leaves, stored } = expandGraph(results, parameters, this.target.profile.tiles);
    return this.graph(roots, new Map(leaves.map((leaf, i) => [leaf, parameterSlots[i]])), stored, rootSlot);
  }

  private copy(from: Slot, to: Slot, { shape, dtype }: Pick<Node, "shape" | "dtype">): KernelStep<Code> {
    const part = realDType(dtype);
    const k = new KernelBuilder(`copy[${shape.join("×")}]`, sizeOf(shape) * (part === dtype ? 1 : 2));
    const [source, target] = [k.buffer(part, false), k.buffer(part, true)];
    k.store(target, k.row, k.load(source, k.row, computeType(part)));
    return this.kernel(k.finish(), [from, to], "out[i] = a[i]");
  }
}

/** The kernel with a gate before it: one more buffer, and nothing done unless that holds the value. */
function gated(kernel: Kernel, value: number): Kernel {
  const buffers = [...kernel.buffers, { dtype: "i32", isWritten: false, isLarge: false } as const];
  return { ...kernel, buffers, gate: { buffer: kernel.buffers.length, value } };
}

/** Slots that are at other than whole vectors of 16 bytes are marked in the kernel, so that it reads no such vectors. */
function withAlignment(kernel: Kernel, slots: readonly Slot[]): Kernel {
  const isApart = slots.map(
    ({ offset = 0, moves = [], isUnaligned: is = false }) =>
      is || offset % 16 !== 0 || moves.some(({ bytes }) => bytes % 16 !== 0),
  );
  if (!isApart.includes(true)) return kernel;
  return { ...kernel, buffers: kernel.buffers.map((buffer, i) => ({ ...buffer, isUnaligned: isApart[i] })) };
}

/** Routines count in 32 bits. */
function checkCountable(node: Node): void {
  const long = [node, ...node.inputs].find(({ shape }) => shape.reduce((size, extent) => size * extent, 1) > MAX_I32);
  if (!long) return;
  throw new UnsupportedError(
    `${node.primitive.name}: a tensor of [${long.shape}] has more than ${MAX_I32} elements; do it in parts.`,
  );
}

/** The results of a group; of many the first. */
function nameOfGroup({ results }: Group): string {
  const names = results.map(({ node: { primitive, shape } }) => `${primitive.name}[${shape.join("×")}]`);
  return names.length <= 3 ? names.join(" + ") : `${names.slice(0, 2).join(" + ")} + ${names.length - 2} more`;
}
