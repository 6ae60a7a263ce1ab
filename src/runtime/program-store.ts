/**
 * Compiled programs on disk: found there if this graph was compiled before for such a device by this very compiler, kept
 * there if compiling took its time. Also the clock of where the time goes before a program runs.
 */
import { printKernel } from "../compiler/print/print-kernel.js";
import { kernelsOf } from "../compiler/program/program.js";
import type { LoadKernel, Target } from "../compiler/target/target.js";
import type { EncodedKernel, KernelInterface } from "../core/encoded-kernel.js";
import { debug, debugText, showsPrograms } from "../engines/debug.js";
import { compilerFingerprint } from "../engines/disk/fingerprint.js";
import type { ProgramCache } from "../engines/disk/program-cache.js";
import { sha256 } from "../engines/disk/sha256.js";
import type { Engine, LoadedKernel } from "../engines/engine.js";
import type { CompileSpan } from "../engines/profile.js";
import type { Node } from "../graph/node.js";
import { graphText } from "./graph-text.js";
import { type PlannedProgram, packProgram, unpackProgram } from "./program-file.js";

/** Milliseconds in all: looking up programs on disk, reading and compiling them, and making their code ready to run. */
export interface ProgramTimes {
  key: number;
  read: number;
  compile: number;
  load: number;
}

/** A program that is being compiled: how its kernels are loaded, and how it ends. */
interface OpenCompilation<Code> {
  readonly load: LoadKernel<Code>;
  finish(program: PlannedProgram<Code>): void;
  /** The same for a kernel that is no part of a program. */
  finishKernel(name: string): void;
}

export class ProgramStore<Code extends LoadedKernel> {
  readonly times: ProgramTimes = { key: 0, read: 0, compile: 0, load: 0 };
  /** While a profile is open: where compilations are noted. */
  watched: CompileSpan[] | null = null;

  constructor(
    private readonly engine: Pick<Engine<never, Code>, "load">,
    private readonly target: Target,
    private readonly files: ProgramCache | null,
    private readonly counters: { compiled: number; loaded: number },
  ) {}

  /** The key of a program; null where nothing is kept. `use`: what it depends on besides the graph and the device. */
  keyOf(roots: readonly Node[], leaves: readonly Node[], use: string): string | null {
    if (!this.files || showsPrograms) return null;
    const began = performance.now();
    const compiler = compilerFingerprint();
    const { identity, profile, settings } = this.target;
    const parts = [compiler, identity, JSON.stringify([profile, settings]), use, graphText(roots, leaves)];
    const key = compiler && sha256(parts.join("\n"));
    this.times.key += performance.now() - began;
    return key;
  }

  /** The program as it is on disk; null if it is not there. */
  read(key: string): PlannedProgram<Code> | null {
    const [began, loading] = [performance.now(), this.times.load];
    const bytes = this.files?.find(key);
    try {
      return bytes ? unpackProgram(bytes, (encoded, kernel) => this.load(encoded, kernel)) : null;
    } catch (error) {
      // If it is the device that fails, compiling will fail as well, and say so.
      debug(1, () => `compiled program ${key} ignored: ${(error as Error).message}`);
      return null;
    } finally {
      this.times.read += performance.now() - began - (this.times.load - loading);
    }
  }

  /** Begins to compile a program that is kept under a key, unless that is null. */
  begin(key: string | null): OpenCompilation<Code> {
    const encodings = key === null ? null : new Map<Code, EncodedKernel>();
    const [began, loading] = [performance.now(), this.times.load];
    /** Milliseconds since the beginning, without those of the engine. */
    const end = (name: string): number => {
      const now = performance.now();
      const busy = now - began - (this.times.load - loading);
      this.times.compile += busy;
      this.counters.compiled++;
      this.watched?.push({ name, by: "pumice", start: began, end: now, busy });
      return busy;
    };
    return {
      load: (encoded, kernel) => {
        debugText("loops", kernel.name, () => printKernel(kernel));
        debugText(this.target.language, kernel.name, () => this.target.disassemble(encoded.bytes));
        const code = this.load(encoded, kernel);
        encodings?.set(code, encoded);
        return code;
      },
      finishKernel: end,
      finish: (program) => {
        const kernels = kernelsOf(program.program.steps).length;
        const took = end(`program ${this.counters.compiled + 1}, ${kernels} ${kernels === 1 ? "kernel" : "kernels"}`);
        const { files } = this;
        if (files === null || key === null || took < files.worthKeepingMs) return;
        files.keep(key, () => packProgram(program, (code) => encodings?.get(code) as EncodedKernel));
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
