/**
 * What a tensor needs of a device: memory, and a way to run programs. The part that is the same for every device is
 * here: programs are compiled once per form of graph and kept, intermediate values are freed after their last use.
 */

import { createHash } from "node:crypto";
import type { Kernel } from "../compiler/ir/ir.js";
import { roundsWithin } from "../compiler/ir/loop-rounds.js";
import { inPlaceOf } from "../compiler/program/in-place.js";
import { planMemory } from "../compiler/program/memory-plan.js";
import {
  compile,
  type KernelStep,
  type Program,
  placeOf,
  type Rounds,
  runStep,
  type Slot,
  type Step,
  type Target,
} from "../compiler/program/program.js";
import { bytesOfPack, packsOf } from "../compiler/rewrite/given-numbers.js";
import type { TargetProfile } from "../compiler/target/profile.js";
import { bytesOf } from "../core/bytes.js";
import { castScalar } from "../core/cast.js";
import type { DType } from "../core/dtype.js";
import { TraceError } from "../core/errors.js";
import { encodeValues } from "../core/storage.js";
import { debugInOrder, debugText } from "../engines/debug.js";
import type { Profile } from "../engines/profile.js";
import { repeatsAmong, stretchOf } from "../graph/contiguous-slice.js";
import { leftTraceOf } from "../graph/function.js";
import { type DeviceHandle, type Node, type Storage, withCompanions } from "../graph/node.js";
import { printGraph } from "../graph/print.js";
import { printProgram } from "./print-program.js";
import { type ProgramCache, programCache } from "./program-cache.js";
import type { PlannedProgram } from "./program-file.js";
import { type Coding, ProgramSource, type ProgramTimes } from "./program-source.js";
import { type Found, ProgramTable } from "./program-table.js";

/** Memory as the device's engine holds it. */
export interface DeviceStorage extends Storage {
  /** It is all of its memory and nobody else's, and may be written. */
  readonly isUnshared: boolean;
  /** Bytes that are there as long as it is. */
  readonly keptBytes: number;
  /** Some of its bytes, which share the memory. */
  part(offset: number, byteLength: number): DeviceStorage;
  /** Takes over the contents of memory of the same size. */
  copyFrom(source: DeviceStorage): void;
  dispose(): void;
}

/** An argument of a prepared program: memory given with each call, memory that stays, or one number given with each call. */
export type Argument<S> =
  | {
      readonly kind: "memory";
      /** A result may be written there, in calls that say so. */
      readonly isDonated: boolean;
    }
  | { readonly kind: "fixed"; readonly memory: S }
  | { readonly kind: "scalar"; readonly dtype: DType };

export const isOnOffer = (arg: Argument<unknown>): boolean => arg.kind === "memory" && arg.isDonated;

/** Numbers are kept this far apart: a vector's bytes. */
export const SCALAR_STRIDE = 16;

/** Writes the numbers of a call, each in the dtype of the argument it is. */
export function writeScalars(
  view: DataView,
  at: number,
  numbers: readonly number[],
  args: readonly Argument<unknown>[],
): void {
  let next = 0;
  for (const arg of args) {
    if (arg.kind !== "scalar") continue;
    const place = at + SCALAR_STRIDE * next;
    const value = numbers[next++];
    if (arg.dtype === "f32") view.setFloat32(place, value, true);
    else bytesAt(view, place).set(encodeValues([castScalar(value, "f64", arg.dtype)], arg.dtype, "jit"));
  }
}

const bytesAt = ({ buffer, byteOffset }: DataView, at: number): Uint8Array =>
  new Uint8Array(buffer, byteOffset + at, SCALAR_STRIDE);

/** A program with its memory planned, ready to run many times. */
export interface Prepared<S extends DeviceStorage = DeviceStorage> extends PlannedProgram<unknown> {
  /**
   * Runs it: memory and numbers in the order of the arguments that take them. Returns memory for each result, which is that
   * of a donated argument where the plan has it so (see `inPlace`) and `isDonated` says that nobody else needs it.
   */
  run(memory: readonly S[], scalars: readonly number[], isDonated: readonly boolean[]): S[];
}

/** A kernel that was written by hand, compiled. `W`: what its writer says about it beyond the kernel. */
export interface HandWritten<W extends { readonly kernel: Kernel }, S extends DeviceStorage = DeviceStorage> {
  readonly written: W;
  /** The SHA-256 of its code, in hexadecimal digits. */
  readonly address: string;
  /** Rounds that the loops of a thread go at most, where the device limits them; one without an end counts as one round. */
  readonly rounds: number;
  /** Runs it on memory, one for each of its buffers. Returns when the work is under way. */
  run(memory: readonly S[]): void;
}

/** What a kernel is written for. */
export type WritingContext = Pick<Target<unknown>, "profile" | "settings">;

/** A program that is run step by step, with memory as it comes. */
type PlainProgram<Code> = Pick<PlannedProgram<Code>, "program" | "isFromDisk">;
const UNPLANNED = { plan: { offsets: [], arenaBytes: 0, sumOfBytes: 0 }, inPlace: [], isFromDisk: false };

/** Nodes of a plain graph that is looked for on disk: smaller ones are compiled before they are found. */
const WORTH_LOOKING_FOR = 100;

/** Slices below the first size of memory above the second are copied, which is soon done: they would keep all of it. */
const [SMALL_SLICE, LARGE_MEMORY] = [64 * 1024, 1024 * 1024];

/** Programs kept per device, with their kernels; the oldest goes first. One takes some 50 KB. */
const MAX_PROGRAMS = 512;
/** And kernels written by hand. */
const MAX_WRITTEN = 100;

export abstract class Backend<Code = unknown, S extends DeviceStorage = DeviceStorage> implements DeviceHandle {
  private readonly programs: ProgramTable<PlainProgram<Code>>;
  private readonly written = new Map<string, HandWritten<{ readonly kernel: Kernel }, S>>();
  private readonly compiler: ProgramSource<Code>;
  private readonly target: Target<Code>;
  /** Counts for tests: kernels run, programs compiled and read from disk. */
  readonly counters = { kernels: 0, compiled: 0, loaded: 0 };
  /** For the benchmarks: where the time goes before a program runs. */
  readonly times: ProgramTimes;

  constructor(
    readonly id: string,
    private readonly coding: Coding<Code>,
    files: ProgramCache | null = programCache(),
  ) {
    this.compiler = new ProgramSource(coding, files, this.counters);
    this.target = this.compiler.target;
    this.programs = new ProgramTable(MAX_PROGRAMS, this.target.profile.alignment);
    this.times = this.compiler.times;
  }

  /** About how many processors it has that work side by side. */
  get units(): number {
    return this.target.profile.tiles.units;
  }

  /** What libraries with kernels of their own want to know of the target: see `TargetProfile`. */
  get abilities(): Pick<TargetProfile, "maxLanes" | "runsAhead"> {
    return this.target.profile;
  }

  /** Whether it computes in f64, and whether it is a driver that only plays a GPU. */
  abstract readonly hasDoubles: boolean;
  abstract readonly isSoftware: boolean;

  /** Rounds that the loops of a thread may go, all together: see compiler/rounds.ts. */
  get maxRounds(): number {
    return Infinity;
  }

  protected abstract allocate(byteLength: number): S;

  /** Memory with anything in it, for kernels written by hand. */
  reserve(byteLength: number): S {
    return this.allocate(byteLength);
  }

  /** Memory that is all zeros, which no bus has to carry. */
  abstract zeros(byteLength: number): S;

  /** Runs a kernel on memory from an offset on. */
  protected abstract dispatch(step: KernelStep<Code>, memory: readonly S[], offsets: readonly number[]): void;
  /** How the rows of a kernel are spread over the device, in words. */
  abstract mappingOf(step: KernelStep<Code>): string;
  abstract upload(bytes: Uint8Array): S;
  /** Does work with memory that holds a few bytes for the kernels that it runs, and for no others. */
  protected abstract withBytes<T>(contents: readonly Uint8Array[], work: (memory: readonly S[]) => T): T;
  abstract read(storage: S): Promise<Uint8Array>;
  abstract readSync(storage: S): Uint8Array;
  /** Runs work and times its kernels. */
  abstract profile(work: () => unknown): Promise<Profile>;

  /** Computes the nodes. Returns when the work is under way; reading waits for it. */
  realize(nodes: readonly Node[]): void {
    const roots = pendingOf(withCompanions(nodes)).filter((node) => !this.findInMemory(node));
    if (roots.length === 0) return;
    for (const root of roots) if (root.isAbstract) throw valueInTrace(root);
    const found = this.programs.find(roots);
    const { leaves, numbers, size } = found;
    if (!found.program) for (const root of roots) this.checkFits(root);
    const { program } = found.program ?? this.compileFound(roots, found, size >= WORTH_LOOKING_FOR);
    const { memory, starts } = found.partsKey === null ? wholeOf<S>(leaves) : partsOf<S>(leaves);
    const run = (given: readonly S[]) => this.execute(program, given, starts);
    const results = numbers.length === 0 ? run(memory) : this.withNumbers(numbers, memory, run);
    for (let i = 0; i < roots.length; i++) roots[i].realize(results[i]);
  }

  /** Gives a node that is a stretch of memory that memory; false if it is none. */
  private findInMemory(node: Node): boolean {
    const stretch = stretchOf(node);
    if (!stretch) return false;
    node.realize(this.stretched(stretch.source.storage as S, stretch.start, bytesOf(node)));
    return true;
  }

  /** Some bytes of memory as memory: the same where that is not wasteful and kernels can read it there, else a copy. */
  private stretched(memory: S, start: number, byteLength: number): S {
    if (byteLength === 0) return this.allocate(0);
    const part = memory.part(start, byteLength) as S;
    const isWasteful = byteLength < SMALL_SLICE && memory.keptBytes > LARGE_MEMORY;
    if (!isWasteful && start % this.target.profile.alignment === 0) return part;
    try {
      const copy = this.allocate(byteLength);
      copy.copyFrom(part);
      return copy;
    } finally {
      part.dispose();
    }
  }

  /** Runs a program that is given numbers, see compiler/given-numbers.ts. */
  private withNumbers(numbers: readonly Node[], leaves: readonly S[], run: (memory: readonly S[]) => S[]): S[] {
    return this.withBytes(packsOf(numbers).map(bytesOfPack), (memory) => run([...leaves, ...memory]));
  }

  /** Runs a program on the memory of its leaves, which begin there, or at some byte; returns that of its roots. */
  protected execute(program: Program<Code>, leaves: readonly S[], starts: readonly number[] | null = null): S[] {
    const made = new Array<S | null>(program.made.length).fill(null);
    const memoryAt = (from: Slot["from"], index: number): S => {
      if (from === "leaf") return leaves[index];
      made[index] ??= this.allocate(program.made[index].byteLength);
      return made[index] as S;
    };
    const visit = (step: KernelStep<Code>, rounds: Rounds) => {
      const { slots } = step;
      const memory = new Array<S>(slots.length);
      const offsets = new Array<number>(slots.length);
      for (let i = 0; i < slots.length; i++) {
        const { index, offset } = placeOf(slots[i], rounds);
        const { from } = slots[i];
        memory[i] = memoryAt(from, index);
        offsets[i] = starts && from === "leaf" && index < starts.length ? offset + starts[index] : offset;
      }
      this.dispatch(step, memory, offsets);
      this.counters.kernels++;
    };
    // What decides how a loop goes on is always made.
    const read = ({ from, index }: Slot) => this.readSync(memoryAt(from, index));
    const results: S[] = [];
    try {
      for (let position = 0; position < program.steps.length; position++) {
        runStep(program.steps[position], visit, read);
        for (const index of program.frees[position]) made[index]?.dispose();
      }
      // A result of no elements, or whose kernel had nothing to do, needs memory all the same.
      for (let index = 0; index < made.length; index++) {
        const { root } = program.made[index];
        if (root >= 0) results[root] = memoryAt("made", index);
      }
    } catch (error) {
      // Memory that ran out half way is needed by whoever tries again.
      for (const memory of made) memory?.dispose();
      throw error;
    }
    return results;
  }

  /** What no memory holds fails here, with figures, and not in a compiler that counts in 32 bits. */
  private checkFits(node: Node): void {
    const byteLength = bytesOf(node);
    if (byteLength >= 2 ** 31) this.allocate(byteLength).dispose();
  }

  /** The kernels the nodes would run as. */
  plan(nodes: readonly Node[]): Program<Code> {
    const roots = pendingOf(nodes);
    const found = this.programs.find(roots);
    // What a kernel from disk computes is not known, and whoever asks for a plan may want to see it.
    if (found.program && !found.program.isFromDisk) return found.program.program;
    return this.compileFound(roots, found, false).program;
  }

  /** Compiles nodes that depend on placeholders into a program that is run again and again. */
  prepare(roots: readonly Node[], leaves: readonly Node[], args: readonly Argument<S>[]): Prepared<S> {
    const uses = args.map((arg) => (arg.kind === "memory" ? `memory ${arg.isDonated}` : arg.kind));
    const wanted = { roots, leaves, use: `jit ${uses}`, isKept: true };
    const planned = this.compiler.programOf(wanted, (target) => this.planned(roots, leaves, args, target));
    return hasWhile(planned.program.steps) ? this.interpreted(planned, args) : this.prepared(planned, args);
  }

  private planned(
    roots: readonly Node[],
    leaves: readonly Node[],
    args: readonly Argument<S>[],
    target: Target<Code>,
  ): PlannedProgram<Code> {
    const recordable = { isFixedLeaf: args.map(({ kind }) => kind !== "memory") };
    const recorded = this.shown(roots, () => compile(roots, leaves, target, recordable));
    if (hasWhile(recorded.steps)) {
      // How often such a loop runs is decided on the way, so there is nothing to record.
      const program = compile(roots, leaves, target);
      return { program, plan: planMemory(program), inPlace: [], isFromDisk: false };
    }
    const { program, plan } = this.arranged(recorded);
    const onOffer = program.leaves.map((leaf, i) => (isOnOffer(args[i]) ? bytesOf(leaf) : -1));
    return { program, plan, inPlace: inPlaceOf(program, onOffer), isFromDisk: false };
  }

  /** A kernel written by hand, made once for a key: `write` is called when there is none of it yet. */
  handWritten<W extends { readonly kernel: Kernel }>(
    key: string,
    write: (context: WritingContext) => W,
  ): HandWritten<W, S> {
    const known = this.written.get(key) ?? this.compileWritten(write(this.target));
    // Last in the order of use.
    this.written.delete(key);
    this.written.set(key, known);
    if (this.written.size > MAX_WRITTEN) this.written.delete(this.written.keys().next().value as string);
    return known as HandWritten<W, S>;
  }

  private compileWritten<W extends { readonly kernel: Kernel }>(written: W): HandWritten<W, S> {
    const { kernel } = written;
    const rounds = roundsWithin(kernel, this.maxRounds);
    const code = this.target.emit(kernel, null);
    this.counters.compiled++;
    const { coding } = this;
    let address: string | null = null;
    return {
      written,
      rounds,
      get address() {
        address ??= createHash("sha256").update(coding.encode(kernel, null).bytes).digest("hex");
        return address;
      },
      run: (memory) => {
        this.dispatch(
          { kind: "kernel", kernel, code, slots: [], formula: "" },
          memory,
          memory.map(() => 0),
        );
        this.counters.kernels++;
      },
    };
  }

  private interpreted(planned: PlannedProgram<Code>, args: readonly Argument<S>[]): Prepared<S> {
    const run = (memory: readonly S[], scalars: readonly number[]) => {
      let [m, n] = [0, 0];
      const uploaded: S[] = [];
      try {
        const leaves = args.map((arg) => {
          if (arg.kind === "fixed") return arg.memory;
          if (arg.kind === "memory") return memory[m++];
          const view = new DataView(new ArrayBuffer(SCALAR_STRIDE));
          writeScalars(view, 0, [scalars[n++]], [arg]);
          uploaded.push(this.upload(new Uint8Array(view.buffer)));
          return uploaded[uploaded.length - 1];
        });
        return this.execute(planned.program, leaves);
      } finally {
        for (const scalar of uploaded) scalar.dispose();
      }
    };
    return { ...planned, run };
  }

  /** The program's steps in the order that is best here, and where its values lie. */
  protected abstract arranged(program: Program<Code>): Omit<PlannedProgram<Code>, "inPlace" | "isFromDisk">;
  protected abstract prepared(planned: PlannedProgram<Code>, args: readonly Argument<S>[]): Prepared<S>;

  /** Compiles what was looked up, and keeps it where there was none. */
  private compileFound(
    roots: readonly Node[],
    { leaves, partsKey, numbers, program: known }: Found<PlainProgram<Code>>,
    isKept: boolean,
  ): PlainProgram<Code> {
    const given = [...leaves, ...numbers];
    const use = `plain ${partsKey ?? ""}`;
    const compiled = this.compiler.programOf({ roots, leaves: given, use, isKept }, (target) => ({
      program: this.shown(roots, () => compile(roots, given, target)),
      ...UNPLANNED,
    }));
    if (!known) this.programs.add(roots, compiled, numbers);
    return compiled;
  }

  /** The program, printed where PUMICE_DEBUG asks for it. */
  private shown(roots: readonly Node[], compileRoots: () => Program<Code>): Program<Code> {
    const title = `program ${this.counters.compiled + 1} on ${this.id}`;
    return debugInOrder(() => {
      debugText("graph", title, () => printGraph(roots));
      const program = compileRoots();
      debugText("kernels", title, () => printProgram(program, (step) => this.mappingOf(step)));
      return program;
    });
  }
}

/** Those that have not run, each once. */
function pendingOf(nodes: readonly Node[]): readonly Node[] {
  if (nodes.length === 1) return nodes[0].storage === null ? nodes : [];
  return [...new Set(nodes)].filter((node) => node.storage === null);
}

/** The memory of leaves, and where in it they begin. */
interface Places<S> {
  readonly memory: readonly S[];
  readonly starts: readonly number[] | null;
}

const wholeOf = <S>(leaves: readonly Node[]): Places<S> => ({
  memory: leaves.map(({ storage }) => storage as S),
  starts: null,
});

/** Of leaves some of which are parts of memory: each once, as programs have them. */
function partsOf<S>(leaves: readonly Node[]): Places<S> {
  const repeats = repeatsAmong(leaves);
  const memory: S[] = [];
  const starts: number[] = [];
  for (const leaf of leaves) {
    if (repeats.has(leaf)) continue;
    const part = leaf.storage === null ? stretchOf(leaf) : null;
    memory.push((part ? part.source : leaf).storage as S);
    starts.push(part ? part.start : 0);
  }
  return { memory, starts };
}

const hasWhile = (steps: readonly Step<unknown>[]): boolean =>
  steps.some((step) => step.kind === "while" || (step.kind === "loop" && hasWhile(step.steps)));

/** Throws where a tensor stands for values to come. */
export function checkHasValue(node: Node): void {
  if (node.isAbstract) throw valueInTrace(node);
}

function valueInTrace(node: Node): TraceError {
  const { shape, dtype } = node;
  const tracer = leftTraceOf(node);
  if (tracer !== undefined) {
    return new TraceError(
      `The value of a tensor [${shape}] of ${dtype} was asked for, but it left the function that ${tracer} traced, and has ` +
        "none: there it stood for the values of every call. Return it from that function, and read what the call returns.",
    );
  }
  return new TraceError(
    `The value of a tensor [${shape}] of ${dtype} was asked for inside a function that jit, vmap or a loop is tracing, ` +
      "where it has none yet. Return the tensor and read it outside; for choices use where() or cond(), for loops scan(), " +
      "whileLoop() or forLoop(); pass what the program should depend on as a static argument.",
  );
}
