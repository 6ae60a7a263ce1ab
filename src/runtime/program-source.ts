/**
 * The source of programs: the disk, if this graph was compiled before for such a device by this very compiler, else the
 * compiler. A program that took long to compile is kept on disk. Also the clock of where the time goes before a program runs.
 * `Backend` asks for programs that its table in memory lacks.
 */
import { compile, planProgram } from "../compiler/compile.js";
import type { Kernel } from "../compiler/ir/ir.js";
import { printKernel } from "../compiler/print/print-kernel.js";
import { planMemory } from "../compiler/program/memory-plan.js";
import { type KernelStep, kernelsOf, type Program } from "../compiler/program/program.js";
import { SharedKernels } from "../compiler/steps/shared-kernels.js";
import type { LoadKernel, Target } from "../compiler/target/target.js";
import { bytesOf } from "../core/bytes.js";
import type { EncodedKernel, KernelInterface } from "../core/encoded-kernel.js";
import { debug, debugText, holdTexts, showsPrograms } from "../engines/debug.js";
import { compilerFingerprint } from "../engines/disk/fingerprint.js";
import type { ProgramCache } from "../engines/disk/program-cache.js";
import { sha256 } from "../engines/disk/sha256.js";
import type { Engine, LoadedKernel } from "../engines/engine.js";
import type { CompileSpan } from "../engines/profile.js";
import type { Node } from "../graph/node.js";
import { printGraph } from "../graph/print.js";
import { graphText } from "./graph-text.js";
import { printProgram } from "./print-program.js";
import { type PlannedProgram, packProgram, unpackProgram } from "./program-file.js";
import type { Tuner } from "./tuning/tuner.js";

/** Milliseconds in all: looking up programs on disk, reading and compiling them, and making their code ready to run. */
export interface ProgramTimes {
  key: number;
  read: number;
  compile: number;
  load: number;
}

/** A program that is asked for. */
interface WantedProgram {
  readonly roots: readonly Node[];
  /** Leaves, then the constants that are data of the program. */
  readonly given: readonly Node[];
  /** Everything that it depends on besides the graph and the device, as text; null: it is not looked for on disk. */
  readonly use: string | null;
  /** The way it runs: once with memory as it comes, many times step by step with planned memory, or recorded. */
  readonly run: "once" | "stepped" | RecordedRun;
}

/** A program that is recorded. By leaf: whether its memory stays where it is, and whether a result may overwrite it. */
interface RecordedRun {
  readonly isFixedLeaf: readonly boolean[];
  readonly isOnOffer: readonly boolean[];
}

/** A program that is run once, with memory as it comes, has no plan. */
const UNPLANNED = { plan: { offsets: [], arenaBytes: 0, sumOfBytes: 0 }, inPlace: [] };

/** A compilation that has begun: how its kernels are loaded, and how it ends. */
interface OpenCompilation<Code> {
  readonly load: LoadKernel<Code>;
  /** Notes it under a name. Returns the milliseconds it took, without those of the engine. */
  finish(name: string): number;
}

export class ProgramSource<Code extends LoadedKernel> {
  readonly times: ProgramTimes = { key: 0, read: 0, compile: 0, load: 0 };
  /** The list of the open profile, to which each compilation is added; null without one. */
  watched: CompileSpan[] | null = null;
  private readonly shared = new SharedKernels<Code>();
  /**
   * The encoding of each loaded kernel, if programs are cached on disk: each program that uses the kernel is written with it.
   */
  private readonly encodings = new WeakMap<Code, EncodedKernel>();

  /** `id`: the device's name. */
  constructor(
    private readonly id: string,
    private readonly engine: Pick<Engine<never, Code>, "load">,
    private readonly target: Target,
    private readonly files: ProgramCache | null,
    private readonly counters: { compiled: number; loaded: number },
    private readonly tuner: Pick<Tuner<never, Code>, "prepare"> | null = null,
  ) {}

  /** The program from disk, or compiled. */
  programOf(wanted: WantedProgram): PlannedProgram<Code> {
    const { roots, given, run } = wanted;
    // First: what it finds is part of the key.
    this.tuner?.prepare(roots, given, typeof run === "string" ? null : run);
    const key = this.keyOf(wanted);
    const known = key === null ? null : this.read(key);
    if (known) return known;
    const { target } = this;
    const number = this.counters.compiled + 1;
    const title = `program ${number} on ${this.id}`;
    // A printed program is whole: nothing of it is shared.
    const shared = showsPrograms ? new SharedKernels<Code>() : this.shared;
    const compilation = this.begin();
    const printTexts = holdTexts();
    try {
      debugText("graph", title, () => printGraph(roots));
      const program = compile(roots, given, target, compilation.load, typeof run === "string" ? null : run, shared);
      debugText("kernels", title, () => printProgram(program, (step) => this.mappingOf(step)));
      const planned = { ...planOf(program, run, target), isFromDisk: false };
      const kernels = kernelsOf(planned.program.steps).length;
      const took = compilation.finish(`program ${number}, ${kernels} ${kernels === 1 ? "kernel" : "kernels"}`);
      if (key !== null) this.keep(key, planned, took);
      return planned;
    } finally {
      printTexts();
    }
  }

  /** A kernel written by hand, ready to run. */
  kernelOf(kernel: Kernel): Code {
    const compilation = this.begin();
    const code = compilation.load(this.target.encode(kernel, null), kernel);
    compilation.finish(kernel.name);
    return code;
  }

  /** The mapping of a kernel's rows to the device, in words. */
  mappingOf({ kernel, code }: KernelStep<Code>): string {
    return this.target.mappingOf(kernel, code.numbers);
  }

  /** The key of a program on disk; null where it is not looked for. */
  private keyOf({ roots, given, use }: WantedProgram): string | null {
    if (!this.files || use === null || showsPrograms) return null;
    const began = performance.now();
    const compiler = compilerFingerprint();
    const { identity, profile, settings } = this.target;
    const parts = [compiler, identity, JSON.stringify([profile, settings]), use, graphText(roots, given)];
    const key = compiler && sha256(parts.join("\n"));
    this.times.key += performance.now() - began;
    return key;
  }

  /** The program as it is on disk; null if it is not there. */
  private read(key: string): PlannedProgram<Code> | null {
    const [began, loading] = [performance.now(), this.times.load];
    const bytes = this.files?.find(key);
    try {
      if (!bytes) return null;
      const program = unpackProgram(bytes, (encoded, kernel) => this.load(encoded, kernel));
      this.counters.loaded++;
      return program;
    } catch (error) {
      // If the device itself fails, compiling fails too and reports it.
      debug(1, () => `compiled program ${key} ignored: ${(error as Error).message}`);
      return null;
    } finally {
      this.times.read += performance.now() - began - (this.times.load - loading);
    }
  }

  /** Keeps a program on disk if compiling it took long enough to be worth it. */
  private keep(key: string, program: PlannedProgram<Code>, took: number): void {
    const { files } = this;
    if (files === null || took < files.worthKeepingMs) return;
    files.keep(key, () => packProgram(program, (code) => this.encodings.get(code) as EncodedKernel));
  }

  /** Begins to compile. */
  private begin(): OpenCompilation<Code> {
    const [began, loading] = [performance.now(), this.times.load];
    return {
      load: (encoded, kernel) => {
        debugText("loops", kernel.name, () => printKernel(kernel));
        debugText(this.target.language, kernel.name, () => this.target.disassemble(encoded.bytes));
        const code = this.load(encoded, kernel);
        if (this.files) this.encodings.set(code, encoded);
        return code;
      },
      finish: (name) => {
        const now = performance.now();
        const busy = now - began - (this.times.load - loading);
        this.times.compile += busy;
        this.counters.compiled++;
        this.watched?.push({ name, by: "pumice", start: began, end: now, busy });
        return busy;
      },
    };
  }

  /** Makes a kernel ready to run. */
  private load(encoded: EncodedKernel, kernel: KernelInterface): Code {
    const began = performance.now();
    const code = this.engine.load(encoded, kernel);
    this.times.load += performance.now() - began;
    return code;
  }
}

/** The program with its memory plan, which is empty for a program that runs once. */
function planOf<Code>(program: Program<Code>, run: WantedProgram["run"], target: Target) {
  if (run === "once") return { program, ...UNPLANNED };
  if (run === "stepped") return { program, plan: planMemory(program), inPlace: [] };
  const onOffer = program.leaves.map((leaf, i) => (run.isOnOffer[i] ? bytesOf(leaf) : -1));
  return planProgram(program, target, onOffer);
}
