/**
 * A device as the layers above see it: it computes nodes, and their values lie in its memory. It finds the program of a graph
 * in its table or on disk, or compiles it, and lets the engine run it. One class for all engines.
 */
import type { Kernel } from "../compiler/ir/ir.js";
import { roundsWithin } from "../compiler/ir/loop-rounds.js";
import { type KernelStep, kernelsOf, type Program } from "../compiler/program/program.js";
import { bytesOfPack, packsOf } from "../compiler/rewrite/given-numbers.js";
import type { TargetProfile } from "../compiler/target/profile.js";
import type { Target } from "../compiler/target/target.js";
import { tensorBytes } from "../core/bytes.js";
import type { DType } from "../core/dtype.js";
import { OutOfMemoryError } from "../core/errors.js";
import { type ProgramCache, programCache } from "../engines/disk/program-cache.js";
import { sha256 } from "../engines/disk/sha256.js";
import type { Engine, EngineMemory, LoadedKernel, ProgramArgument } from "../engines/engine.js";
import type { CompileSpan, Profile } from "../engines/profile.js";
import { SCALAR_STRIDE, writeScalars } from "../engines/scalar-arguments.js";
import { type ContiguousSlice, contiguousSliceOf } from "../graph/contiguous-slice.js";
import { hasWhileLoop } from "../graph/loop-mask.js";
import { type DeviceHandle, type Node, withCompanions } from "../graph/node.js";
import { AwaitedLoops } from "./awaited-loops.js";
import { execute } from "./execute.js";
import { HotPrograms } from "./hot-programs.js";
import { askedAgain, expectAgain, expectWaiting, markPassed, withoutSlices } from "./kept-values.js";
import { slicedMemory, wholeMemory } from "./leaf-memory.js";
import { type Prepared, recordable } from "./prepared.js";
import { type PrintOptions, printProgram } from "./print-program.js";
import type { PlannedProgram } from "./program-file.js";
import { ProgramSource, type ProgramTimes } from "./program-source.js";
import { type Found, graphOf, ProgramTable, resultsOf, type SeenGraph } from "./program-table.js";
import { RepeatedRounds } from "./repeated-rounds.js";
import type { TimedProduct } from "./tuning/product-timer.js";
import type { Finding } from "./tuning/search.js";
import { Tuner, type TunerOptions } from "./tuning/tuner.js";
import { checkHasValue } from "./value-checks.js";

export type { Profile };
/** Memory as layers above the engines hold it. */
export type DeviceStorage = EngineMemory;
/** An argument of a prepared program. */
export type Argument<M = DeviceStorage> = ProgramArgument<M>;

/** A kernel that was written by hand, compiled. `W`: the kernel, and anything else that its writer returns. */
export interface HandWritten<W extends { readonly kernel: Kernel }, M extends EngineMemory = EngineMemory> {
  readonly written: W;
  /** The SHA-256 of its code, in hexadecimal digits. */
  readonly address: string;
  /** Most loop rounds of a thread, for devices that limit them. A loop without a known end counts as one round. */
  readonly rounds: number;
  /** Runs it on memory, one for each of its buffers. Returns when the work is under way. */
  run(memory: readonly M[]): void;
}

/** The device a kernel is written for. */
export type WritingContext = Pick<Target, "profile" | "settings">;

/** Graphs with fewer nodes are not looked for on disk: compiling them is faster. */
const WORTH_LOOKING_FOR = 100;

/** A slice below the first size, of memory above the second, is copied: a view would keep all of that memory alive. */
const [SMALL_SLICE, LARGE_MEMORY] = [64 * 1024, 1024 * 1024];

/** A value that nobody asked to store is not stored if it takes more than this share of the device's memory. */
const MAX_KEPT_SHARE = 1 / 8;

/** Programs kept per device, with their kernels; the oldest goes first. One takes some 50 KB. */
const MAX_PROGRAMS = 512;
/** Hand-written kernels kept per device. */
const MAX_WRITTEN = 100;

export class Backend<K extends LoadedKernel = LoadedKernel, M extends EngineMemory = EngineMemory>
  implements DeviceHandle
{
  /** Counts for tests: kernels run, programs compiled and read from disk. */
  readonly counters = { kernels: 0, compiled: 0, loaded: 0 };
  private readonly programs: ProgramTable<PlannedProgram<K>>;
  private readonly written = new Map<string, HandWritten<{ readonly kernel: Kernel }, M>>();
  private readonly source: ProgramSource<K>;
  private readonly maxKeptBytes: number;
  private readonly awaited: AwaitedLoops<M, K>;
  private readonly tuner: Tuner<M, K>;
  private readonly hot: HotPrograms<M, K>;
  private readonly rounds: RepeatedRounds;

  constructor(
    readonly id: string,
    readonly engine: Engine<M, K>,
    readonly target: Target,
    files: ProgramCache | null = programCache(),
    tuning: TunerOptions = { store: null, isAsked: false },
  ) {
    this.tuner = new Tuner(engine, target, tuning);
    this.awaited = new AwaitedLoops(engine, this.counters, (node) => this.realize([node], true));
    this.source = new ProgramSource(id, engine, target, files, this.counters, this.tuner);
    this.hot = new HotPrograms(engine, target, this.counters);
    this.programs = new ProgramTable(MAX_PROGRAMS, target.profile.alignment);
    this.maxKeptBytes = engine.memoryBytes * MAX_KEPT_SHARE;
    this.rounds = new RepeatedRounds(this.maxKeptBytes);
  }

  /** For the benchmarks: where the time goes before a program runs. */
  get times(): ProgramTimes {
    return this.source.times;
  }

  /** About how many processors it has that work side by side. */
  get units(): number {
    return this.target.profile.tiles.units;
  }

  /** Properties of the target for libraries with kernels of their own: see `TargetProfile`. */
  get abilities(): Pick<TargetProfile, "maxLanes" | "runsAhead" | "hasSlowBarriers" | "hasNativeDivision"> {
    return this.target.profile;
  }

  /** Whether it computes in f64. */
  get hasDoubles(): boolean {
    return this.engine.hasDoubles;
  }

  /** Rounds that the loops of a thread may go, all together: see compiler/ir/loop-rounds.ts. */
  get maxLoopRounds(): number {
    return this.target.maxLoopRounds;
  }

  // ------------------------------------------------------------------------------------------------ memory

  /** Uninitialised memory, for kernels written by hand. */
  reserve(byteLength: number): M {
    return this.engine.allocUninitialized(byteLength);
  }

  /** Memory of zeros, made on the device: nothing is uploaded. */
  zeros(byteLength: number): M {
    return this.engine.alloc(byteLength);
  }

  upload(bytes: Uint8Array): M {
    return this.engine.upload(bytes);
  }

  /** Memory that holds one number. */
  uploadNumber(value: number, dtype: DType): M {
    const view = new DataView(new ArrayBuffer(SCALAR_STRIDE));
    writeScalars(view, 0, [value], [{ kind: "scalar", dtype }]);
    return this.engine.upload(new Uint8Array(view.buffer, 0, tensorBytes({ shape: [], dtype })));
  }

  read(storage: M): Promise<Uint8Array> {
    return storage.read();
  }

  /** The contents of a node that `realizeGivingWay` has computed. */
  readComputed(node: Node): Promise<Uint8Array> {
    return this.withContents(node, (memory) => this.read(memory));
  }

  /** The same, blocking. Of a node that `realize` has computed to be read. */
  readComputedSync(node: Node): Uint8Array {
    return this.withContents(node, (memory) => this.readSync(memory));
  }

  /** Reads the memory of a computed node, or the part of other memory that it is. */
  private withContents<T>(node: Node, read: (memory: M) => T): T {
    if (node.storage) return read(node.storage as unknown as M);
    const { source, start } = contiguousSliceOf(node) as ContiguousSlice;
    const part = (source.storage as unknown as M).part(start, tensorBytes(node)) as M;
    try {
      return read(part);
    } finally {
      part.dispose();
    }
  }

  /** The same without waiting, into an array of that size. False if they are not here yet: nothing was copied. */
  readNow(node: Node, into: Uint8Array): boolean {
    if (node.storage) return (node.storage as unknown as M).readNow(0, into);
    const { source, start } = contiguousSliceOf(node) as ContiguousSlice;
    return (source.storage as unknown as M).readNow(start, into);
  }

  readSync(storage: M): Uint8Array {
    return storage.readSync();
  }

  /** Runs work and times its kernels, and what compiling them takes. */
  async profile(work: () => unknown): Promise<Profile> {
    const compiled: CompileSpan[] = [];
    // The engine refuses a second profile at a time.
    const profile = await this.engine.profile(async () => {
      this.source.watched = compiled;
      try {
        await work();
      } finally {
        this.source.watched = null;
      }
    });
    return profile.with(compiled);
  }

  // ------------------------------------------------------------------------------------------------ values

  /**
   * Computes the nodes. Returns when the work is under way; reading waits for it. While loops block until they end.
   * `isToRead`: contiguous parts of other values that are stored need no memory of their own.
   */
  realize(nodes: readonly Node[], isToRead = false): void {
    const all = withCompanions(nodes);
    try {
      this.compute(all, isToRead);
    } catch (error) {
      // Memory may suffice for what was asked for.
      if (!(error instanceof OutOfMemoryError) || all.length <= nodes.length) throw error;
      this.compute(nodes, isToRead);
    }
  }

  /** Computes the nodes, and what is expected to be asked for later. */
  private compute(nodes: readonly Node[], isToRead: boolean): void {
    const roots = pendingOf(nodes).filter((node) => !this.findInMemory(node, isToRead));
    if (roots.length === 0) return;
    for (const root of roots) checkHasValue(root);
    const order = graphOf(roots);
    const again = askedAgain(roots, order, this.maxKeptBytes);
    const areKept = again.length > 0 && this.tryStore(withoutSlices(again));
    const seen = this.programs.see(roots, areKept ? graphOf(roots) : order);
    if (this.storeRounds(seen)) {
      this.compute(nodes, isToRead);
      return;
    }
    const graph = this.programs.look(seen);
    const isNewForm = graph.form.entries.length === 0;
    if (areKept || isNewForm) expectAgain(graph, areKept ? again : NONE, isNewForm);
    if (isNewForm) expectWaiting(graph, this.maxKeptBytes);
    markPassed(graph);
    const found = this.programs.choose(graph, true);
    if (found.kept === 0) this.evaluate(found);
    else if (!this.tryEvaluate(found)) this.evaluate(this.programs.choose(graph, false));
    // These roots are slices of values that were stored.
    else for (const root of roots) if (root.storage === null) this.findInMemory(root, isToRead);
  }

  /** Computes a node that is read next: the event loop turns while loops run. Null if there is nothing to wait for. */
  realizeGivingWay(node: Node): Promise<void> | null {
    return this.awaited.realize(node);
  }

  /** Computes and stores values that nobody asked to store, round by round if they repeat; false if memory is short. */
  private tryStore(values: readonly Node[]): boolean {
    const seen = this.programs.see(values);
    const found = this.storeRounds(seen)
      ? this.programs.find(pendingOf(values))
      : this.programs.choose(this.programs.look(seen), false);
    return found.results.length === 0 || this.tryEvaluate(found);
  }

  /** Stores the values between the rounds of a graph that has no program and repeats; false if there is nothing to store. */
  private storeRounds(graph: SeenGraph<PlannedProgram<K>>): boolean {
    if (graph.known) return false;
    const cuts = this.rounds.cutsOf(graph);
    for (const cut of cuts) {
      const values = withoutSlices(pendingOf(cut));
      if (values.length > 0 && !this.tryEvaluate(this.programs.find(values))) return false;
    }
    return cuts.length > 0;
  }

  /** The same, all at once. */
  private tryEvaluate(found: Found<PlannedProgram<K>>): boolean {
    try {
      this.evaluate(found);
      return true;
    } catch (error) {
      if (error instanceof OutOfMemoryError) return false;
      throw error;
    }
  }

  /** Computes the results of a graph that was looked up. */
  private evaluate(found: Found<PlannedProgram<K>>): void {
    const roots = resultsOf(found);
    if (!found.program) for (const root of roots) this.checkFits(root);
    const { program } = found.program ?? this.addProgram(found, isWorthLookingFor(found));
    this.awaited.stopAt(program, found);
    const results = this.run(program, found);
    if (roots.length === 1) {
      roots[0].realize(results[0]);
      return;
    }
    // Keeps all roots alive meanwhile: the last reader of a root may be another root.
    for (const root of roots) root.handles++;
    for (let i = 0; i < roots.length; i++) roots[i].realize(results[i]);
    for (const root of roots) root.handles--;
  }

  /** Runs a program that was found for a graph on the memory of its leaves. */
  private run(program: Program<K>, { leaves, numbers, partsKey }: Found<unknown>): M[] {
    const { engine, counters } = this;
    const { memory, starts } = partsKey === null ? wholeMemory<M>(leaves) : slicedMemory<M>(leaves);
    const runOn = (all: readonly M[]) =>
      (starts === null ? this.hot.run(program, all) : null) ??
      execute({ engine, program, leaves: all, starts, counters });
    if (numbers.length === 0) return runOn(memory);
    return engine.withBytes(packsOf(numbers).map(bytesOfPack), (packs) => runOn([...memory, ...packs]));
  }

  /** A node that is a contiguous slice of existing memory gets that memory. False if it is no such slice. */
  private findInMemory(node: Node, isToRead: boolean): boolean {
    const slice = contiguousSliceOf(node);
    if (!slice) return false;
    // A node that waits keeps all of the memory, as a view would.
    if (isToRead && (slice.source.storage as unknown as M).keptBytes <= LARGE_MEMORY) return true;
    node.realize(this.sliced(slice.source.storage as unknown as M, slice.start, tensorBytes(node)));
    return true;
  }

  /** A part of memory as memory: a view if kernels can read it there and it wastes no memory, else a copy. */
  private sliced(memory: M, start: number, byteLength: number): M {
    if (byteLength === 0) return this.engine.allocUninitialized(0);
    const part = memory.part(start, byteLength) as M;
    const isWasteful = byteLength < SMALL_SLICE && memory.keptBytes > LARGE_MEMORY;
    if (!isWasteful && start % this.target.profile.alignment === 0) return part;
    try {
      const copy = this.engine.allocUninitialized(byteLength);
      copy.copyFrom(part);
      return copy;
    } finally {
      part.dispose();
    }
  }

  /** Fails with the sizes if a value is too large for any memory. The compiler counts in 32 bits and would fail later. */
  private checkFits(node: Node): void {
    const byteLength = tensorBytes(node);
    if (byteLength >= 2 ** 31) this.engine.allocUninitialized(byteLength).dispose();
  }

  // ------------------------------------------------------------------------------------------------ programs

  /** The kernels the nodes would run as. */
  plan(nodes: readonly Node[]): Program<K> {
    const roots = pendingOf(nodes);
    const found = this.programs.find(roots);
    // A kernel from disk has no loops to show, and `explain` may ask for them.
    if (found.program && !found.program.isFromDisk) return found.program.program;
    return this.addProgram(found, false).program;
  }

  /** Compiles nodes that depend on placeholders into a program that is run again and again. */
  prepare(roots: readonly Node[], leaves: readonly Node[], args: readonly Argument<M>[]): Prepared<M> {
    const { engine } = this;
    const uses = args.map((arg) => (arg.kind === "memory" ? `memory ${arg.isDonated}` : arg.kind));
    const wanted = { roots, given: leaves, use: `jit ${uses}` };
    if (hasWhileLoop(roots)) return { ...this.source.programOf({ ...wanted, run: "stepped" }), run: cannotReplay };
    const isFixedLeaf = args.map(({ kind }) => kind !== "memory");
    const isOnOffer = args.map((arg) => arg.kind === "memory" && arg.isDonated);
    const planned = this.source.programOf({ ...wanted, run: { isFixedLeaf, isOnOffer } });
    const recorded = engine.record(recordable(planned, args));
    return { ...planned, run: (memory, scalars, isDonated) => recorded.run(memory, scalars, isDonated) };
  }

  /**
   * The program of a graph that was looked up. `isOnDisk`: looks on disk before compiling. A new program goes into the table.
   */
  private addProgram(found: Found<PlannedProgram<K>>, isOnDisk: boolean): PlannedProgram<K> {
    const { leaves, partsKey, numbers } = found;
    const use = isOnDisk ? `plain ${partsKey ?? ""}` : null;
    const given = [...leaves, ...numbers];
    const program = this.source.programOf({ roots: resultsOf(found), given, use, run: "once" });
    if (!found.program) this.programs.add(found, program);
    return program;
  }

  /** The kernels the nodes would run as, in words, and how many they are. */
  explain(nodes: readonly Node[], options: PrintOptions = {}): { readonly kernels: number; readonly text: string } {
    const program = this.plan(nodes);
    return {
      kernels: kernelsOf(program.steps).length,
      text: printProgram(program, (step) => this.mappingOf(step), options),
    };
  }

  /** Measures the tilings of a product and keeps the best; null where there is nothing to choose. Blocks meanwhile. */
  tune(product: TimedProduct): Finding | null {
    return this.tuner.tune(product);
  }

  /** The mapping of a kernel's rows to the device, in words. */
  mappingOf(step: KernelStep<K>): string {
    return this.source.mappingOf(step);
  }

  // ------------------------------------------------------------------------------------------------ kernels

  /** The hand-written kernel of a key. `write` is called if there is none yet. */
  handWritten<W extends { readonly kernel: Kernel }>(
    key: string,
    write: (context: WritingContext) => W,
  ): HandWritten<W, M> {
    const known = this.written.get(key) ?? this.compileWritten(write(this.target));
    // To the end: the map is in the order of use.
    this.written.delete(key);
    this.written.set(key, known);
    if (this.written.size > MAX_WRITTEN) this.written.delete(this.written.keys().next().value as string);
    return known as HandWritten<W, M>;
  }

  private compileWritten<W extends { readonly kernel: Kernel }>(written: W): HandWritten<W, M> {
    const { kernel } = written;
    const { engine, target } = this;
    const rounds = roundsWithin(kernel, target.maxLoopRounds);
    const code = this.source.kernelOf(kernel);
    let address: string | null = null;
    return {
      written,
      rounds,
      get address() {
        address ??= sha256(target.encode(kernel, null).bytes);
        return address;
      },
      run: (memory) => {
        engine.dispatch(
          code,
          memory,
          memory.map(() => 0),
        );
        this.counters.kernels++;
      },
    };
  }
}

const NONE: readonly Node[] = [];

/** The bodies of loops are not among the nodes of a graph. */
const isWorthLookingFor = ({ order, roots }: Found<unknown>): boolean =>
  order.length >= WORTH_LOOKING_FOR || hasWhileLoop(roots);

/** A while loop decides its rounds as it runs, so there is nothing to record; such a program can only be shown. */
const cannotReplay = (): never => {
  throw new Error("prepare: a program with while loops is not replayed; compute its graph.");
};

/** The nodes that have not run, each once. */
function pendingOf(nodes: readonly Node[]): readonly Node[] {
  if (nodes.length === 1) return nodes[0].storage === null ? nodes : [];
  return [...new Set(nodes)].filter((node) => node.storage === null);
}
