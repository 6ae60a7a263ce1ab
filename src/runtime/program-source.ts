/**
 * Where programs come from: from disk, if this graph was compiled before for such a device by this very compiler, or from
 * the compiler, and then to disk. Each device's backend has one.
 */
import { createHash } from "node:crypto";
import type { Kernel } from "../compiler/ir/ir.js";
import type { Target } from "../compiler/target/target.js";
import { debug, showsPrograms } from "../engines/debug.js";
import type { Node } from "../graph/node.js";
import { compilerFingerprint } from "./fingerprint.js";
import { graphText } from "./graph-text.js";
import type { ProgramCache } from "./program-cache.js";
import { type Encoded, type PlannedProgram, packProgram, unpackProgram } from "./program-file.js";

/** What a device makes of kernels, in two steps: bytes that can be kept on disk, and code that runs. */
export interface Coding<Code> extends Pick<Target<Code>, "profile" | "settings"> {
  /** All that `encode` depends on besides the kernel, in words. */
  readonly identity: string;
  /** `isIndirect`: which buffers' addresses the kernel finds in memory, because they change from run to run. */
  encode(kernel: Kernel, isIndirect: readonly boolean[] | null): Encoded;
  load(encoded: Encoded, name: string): Code;
}

export interface WantedProgram {
  readonly roots: readonly Node[];
  readonly leaves: readonly Node[];
  /** What the program depends on besides the graph and the device. */
  readonly use: string;
  /** Whether it is looked for on disk and, if compiling it took its time, kept there. */
  readonly isKept: boolean;
}

/** Milliseconds in all: looking up programs on disk, reading and compiling them, and making their code ready to run. */
export interface ProgramTimes {
  key: number;
  read: number;
  compile: number;
  load: number;
}

export class ProgramSource<Code> {
  readonly times: ProgramTimes = { key: 0, read: 0, compile: 0, load: 0 };
  /** For the compiler: code that is not kept. */
  readonly target: Target<Code>;

  constructor(
    private readonly coding: Coding<Code>,
    private readonly files: ProgramCache | null,
    private readonly counters: { compiled: number; loaded: number },
  ) {
    this.target = this.targetNoting(null);
  }

  /** The program as it is on disk, or as `compile` makes it. */
  programOf(
    { roots, leaves, use, isKept }: WantedProgram,
    compile: (target: Target<Code>) => PlannedProgram<Code>,
  ): PlannedProgram<Code> {
    const files = isKept && !showsPrograms ? this.files : null;
    const key = files && this.timed("key", () => this.keyOf(use, graphText(roots, leaves)));
    const known = files && key && this.timed("read", () => this.read(files, key));
    if (known) return known;
    const encodings = new Map<Code, Encoded>();
    const before = this.times.compile;
    const program = this.timed("compile", () => compile(key ? this.targetNoting(encodings) : this.target));
    this.counters.compiled++;
    if (files && key && this.times.compile - before >= files.worthKeepingMs) {
      files.keep(key, () => packProgram(program, (code) => encodings.get(code) as Encoded));
    }
    return program;
  }

  /** A hash of all that a program follows from. */
  private keyOf(use: string, graph: string): string | null {
    const compiler = compilerFingerprint();
    const { identity, profile, settings } = this.coding;
    const parts = [compiler, identity, JSON.stringify([profile, settings]), use, graph];
    return compiler && createHash("sha256").update(parts.join("\n")).digest("hex");
  }

  private read(files: ProgramCache, key: string): PlannedProgram<Code> | null {
    const bytes = files.find(key);
    if (!bytes) return null;
    try {
      const program = unpackProgram(bytes, (encoded, name) => this.load(encoded, name));
      this.counters.loaded++;
      return program;
    } catch (error) {
      // If it is the device that fails, compiling will fail as well, and say so.
      debug(1, () => `compiled program ${key} ignored: ${(error as Error).message}`);
      return null;
    }
  }

  /** With a note of what codes are made of, where they may be written to disk. */
  private targetNoting(encodings: Map<Code, Encoded> | null): Target<Code> {
    const { profile, settings } = this.coding;
    const emit: Target<Code>["emit"] = (kernel, isIndirect) => {
      const encoded = this.coding.encode(kernel, isIndirect);
      const code = this.load(encoded, kernel.name);
      encodings?.set(code, encoded);
      return code;
    };
    return { profile, settings, emit };
  }

  private load(encoded: Encoded, name: string): Code {
    const began = performance.now();
    const code = this.coding.load(encoded, name);
    this.times.load += performance.now() - began;
    return code;
  }

  /** Adds what work took to the times, without the code it made ready, which is counted apart. */
  private timed<T>(part: "key" | "read" | "compile", work: () => T): T {
    const [began, loading] = [performance.now(), this.times.load];
    const result = work();
    this.times[part] += performance.now() - began - (this.times.load - loading);
    return result;
  }
}
