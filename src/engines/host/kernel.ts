/**
 * A compiled kernel of the host engine.
 *
 * The contract: a WebAssembly module that imports `env.memory` and exports `run(args, start, end)`, three i32. `args` is the
 * address of a block of words: the addresses of the run's buffers, then the caller's arguments. It computes the rows from
 * `start` up to `end`. Threads share the rows, so any partition of them must give the same result, in any order and at the
 * same time.
 */
import { createHash } from "node:crypto";
import { ArgumentError, FormatError, UnsupportedError } from "../../core/errors.js";
import { chunkOf } from "../../core/threads.js";
import { type WasmMemory, type WasmModule, WebAssembly } from "../../core/webassembly.js";
import { asBytes, type ByteSource } from "../byte-source.js";
import { KernelCache } from "../kernel-cache.js";
import type { CompileSpan } from "../profile.js";
import { HostAllocation } from "./allocation.js";
import { type Background, runInSlices } from "./background.js";
import type { Crew } from "./crew.js";
import type { HostDevice } from "./device.js";
import type { RunFunction } from "./job-board.js";
import { ARGUMENTS } from "./memory.js";
import { failed, type SharedKernel } from "./thread-pool.js";

export interface HostKernelOptions {
  /** Name for errors and profiles. */
  readonly name?: string;
  /** The exported function; "run" unless told. */
  readonly entry?: string;
}

interface HostRunOptions {
  /** Their addresses open the argument block. */
  readonly buffers?: readonly HostAllocation[];
  /** The rest of the argument block: scalars, and addresses written out. A whole number of words. */
  readonly args?: ByteSource;
  /** Rows to compute, below 2^31. */
  readonly length: number;
  /** The fewest rows worth a thread; chunks are multiples of it. */
  readonly grain?: number;
}

/** The default grain: about 20 µs of simple arithmetic. */
const DEFAULT_GRAIN = 16384;
const none: readonly HostAllocation[] = [];

export class HostKernel {
  /** @internal Use `device.kernel`. */
  constructor(
    readonly device: HostDevice,
    private readonly compiled: SharedKernel,
  ) {}

  get name(): string {
    return this.compiled.name;
  }

  /** Computes all rows before it returns. */
  run({ buffers = none, args, length, grain = DEFAULT_GRAIN }: HostRunOptions): void {
    const { device } = this;
    device.assertUsable("run");
    device.queue.drain();
    if (!(Number.isInteger(length) && length >= 0 && length < 2 ** 31)) {
      throw new ArgumentError(`${this.name}: length ${length}; it is a whole number below 2^31.`);
    }
    if (!(grain >= 1)) throw new ArgumentError(`${this.name}: grain ${grain}; it is at least 1.`);
    this.writeArguments(buffers, args);
    if (length === 0) return;
    this.dispatch(length, grain, { threads: device.threads, wakes: true });
  }

  /** @internal The same with the words of the argument block, for buffers that the caller keeps, on so many threads. */
  runAt(words: readonly number[], length: number, grain: number, crew: Crew): void {
    this.writeWords(words);
    this.dispatch(length, grain, crew);
  }

  /**
   * @internal Begins it on so many threads, and returns what goes on in the background, if anything does. `takesPart`: this
   * thread computes rows as well, and only leaves those that workers are late with. Else workers compute all, or, where there
   * are none, this thread when it has nothing else to do.
   */
  startAt(words: readonly number[], length: number, grain: number, crew: Crew, takesPart: boolean): Background | null {
    const { device, compiled } = this;
    const { clock, pool } = device;
    const { threads } = crew;
    const chunk = chunkOf(length, grain, threads);
    if (takesPart && chunk === null) {
      this.runAt(words, length, grain, crew);
      return null;
    }
    this.writeWords(words);
    device.counters.dispatches++;
    const start = performance.now();
    const note = () => clock?.push({ name: this.name, start, end: performance.now() });
    const from = chunk !== null && takesPart ? this.begin(length, chunk, crew) : 0;
    const job = { kernel: compiled, args: ARGUMENTS.address, from, length, chunk: chunk ?? length };
    if (from === length) {
      note();
      return null;
    }
    if (chunk !== null) device.counters.threaded++;
    const background = takesPart ? pool.share(job, crew) : threads > 1 ? pool.start(job, threads) : null;
    const left = background ?? (takesPart ? null : this.inSlices(length));
    if (!left) note();
    else if (clock) void left.over.then(note);
    return left;
  }

  private inSlices(length: number): Background {
    return runInSlices(this.compiled.run, ARGUMENTS.address, length, (error) => failed(this.name, error));
  }

  private writeWords(words: readonly number[]): void {
    const block = this.device.words;
    for (let i = 0; i < words.length; i++) block[i] = words[i];
  }

  private dispatch(length: number, grain: number, crew: Crew): void {
    const { clock } = this.device;
    if (!clock) {
      this.runRows(length, grain, crew);
      return;
    }
    const start = performance.now();
    this.runRows(length, grain, crew);
    clock.push({ name: this.name, start, end: performance.now() });
  }

  private runRows(length: number, grain: number, crew: Crew): void {
    const { device, compiled } = this;
    device.counters.dispatches++;
    const chunk = chunkOf(length, grain, crew.threads);
    if (chunk === null) {
      this.compute(0, length);
      return;
    }
    const from = this.begin(length, chunk, crew);
    if (from === length) return;
    device.counters.threaded++;
    device.pool.run({ kernel: compiled, args: ARGUMENTS.address, from, length, chunk }, crew);
  }

  /**
   * Where this thread begins by itself: computes a chunk, then again and again as many rows as are done, until the others are called or
   * all is done. Returns the first row that is left.
   */
  private begin(length: number, chunk: number, { calls }: Crew): number {
    if (!calls) return 0;
    let done = 0;
    for (let end = chunk; ; end *= 2) {
      this.compute(done, Math.min(end, length));
      if (end >= length) return length;
      if (calls(end / length)) return end;
      done = end;
    }
  }

  private compute(from: number, end: number): void {
    try {
      this.compiled.run(ARGUMENTS.address, from, end);
    } catch (error) {
      throw failed(this.name, error as Error);
    }
  }

  private writeArguments(buffers: readonly HostAllocation[], args: ByteSource | undefined): void {
    const { words } = this.device;
    const count = buffers.length;
    if (4 * count > ARGUMENTS.bytes) {
      throw new ArgumentError(`${this.name}: ${count} buffers; the argument block holds ${ARGUMENTS.bytes / 4} words.`);
    }
    for (let i = 0; i < count; i++) words[i] = this.addressOf(buffers[i] as HostAllocation, i);
    if (args === undefined) return;
    if (args instanceof Uint32Array && args.length <= 32 && count + args.length <= words.length) {
      // Faster than `set` for the few words most kernels take.
      for (let i = 0; i < args.length; i++) words[count + i] = args[i] as number;
      return;
    }
    const bytes = asBytes(args);
    if (bytes.byteLength % 4 !== 0 || 4 * count + bytes.byteLength > ARGUMENTS.bytes) {
      throw new ArgumentError(
        `${this.name}: ${bytes.byteLength} bytes of arguments after ${count} buffers; ` +
          `they are whole words, ${ARGUMENTS.bytes} bytes in all.`,
      );
    }
    this.device.memory.view(ARGUMENTS.address + 4 * count, bytes.byteLength).set(bytes);
  }

  private addressOf(buffer: HostAllocation, index: number): number {
    if (!(buffer instanceof HostAllocation)) {
      throw new ArgumentError(`${this.name}: buffers[${index}] is not a buffer made by device.alloc or device.upload.`);
    }
    if (buffer.device !== this.device) {
      throw new ArgumentError(`${this.name}: buffers[${index}] is on another host device, opened apart.`);
    }
    return buffer.contents("run");
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `HostKernel { ${this.name} }`;
  }
}

/**
 * Compiles and links modules, each once per SHA-256 of its bytes and entry function. A kernel lives as long as someone holds
 * it.
 */
export class HostKernelCompiler {
  private readonly known = new KernelCache<HostKernel, SharedKernel>((kernel) => this.giveUp(kernel));
  /** Kernels that workers should drop. Sent in groups, because a message costs more than a kernel. */
  private readonly givenUp: SharedKernel[] = [];

  /** While a profile is open: where compilations are noted. V8 may compile a function only when it first runs. */
  watched: CompileSpan[] | null = null;

  constructor(private readonly device: HostDevice) {}

  get size(): number {
    return this.known.size;
  }

  compile(bytes: Uint8Array, { name, entry = "run" }: HostKernelOptions): HostKernel {
    const hash = createHash("sha256").update(bytes).digest("hex");
    const key = `${hash}:${entry}:${name ?? ""}`;
    const known = this.known.find(key);
    if (known) return known;
    const label = name ?? `${entry}@${hash.slice(0, 8)}`;
    const { memory } = this.device.memory;
    const start = performance.now();
    const module = compileModule(bytes, label);
    const compiled: SharedKernel = { name: label, module, memory, entry, run: link(module, memory, entry, label) };
    this.watched?.push({ name: label, by: "engine", start, end: performance.now() });
    const made = new HostKernel(this.device, compiled);
    this.known.add(key, made, compiled);
    return made;
  }

  /** Gives up kernels that nobody holds. */
  sweep(): void {
    this.known.sweep();
  }

  close(): void {
    this.device.pool.forget(this.known.resources);
    this.known.close();
  }

  private giveUp(kernel: SharedKernel): void {
    const { givenUp } = this;
    givenUp.push(kernel);
    if (givenUp.length === 1) queueMicrotask(() => this.device.pool.forget(givenUp.splice(0)));
  }
}

function compileModule(bytes: Uint8Array, name: string): WasmModule {
  try {
    return new WebAssembly.Module(bytes);
  } catch (error) {
    throw new FormatError(`${name}: not a valid WebAssembly module: ${(error as Error).message}`, { cause: error });
  }
}

function link(module: WasmModule, memory: WasmMemory, entry: string, name: string): RunFunction {
  const foreign = WebAssembly.Module.imports(module).find((i) => i.module !== "env" || i.name !== "memory");
  if (foreign) {
    throw new UnsupportedError(
      `${name}: imports ${foreign.module}.${foreign.name}; a kernel may import env.memory and nothing else.`,
    );
  }
  let exports: Readonly<Record<string, unknown>>;
  try {
    ({ exports } = new WebAssembly.Instance(module, { env: { memory } }));
  } catch (error) {
    throw new UnsupportedError(`${name}: ${(error as Error).message}`, { cause: error });
  }
  const run = exports[entry];
  if (typeof run !== "function") {
    const others = Object.keys(exports).join(", ") || "nothing";
    throw new ArgumentError(`${name}: the module has no function "${entry}"; it exports ${others}.`);
  }
  if (run.length !== 3) {
    throw new ArgumentError(`${name}: ${entry} takes ${run.length} parameters; a kernel takes (args, start, end).`);
  }
  return run as RunFunction;
}
