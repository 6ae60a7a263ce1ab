/**
 * A program that uses all of the runtime, written to go on when a step fails and to know, for every buffer, which
 * values it can then hold. A step that succeeds maps the possible values; one that throws may have happened or not; a
 * read must give one of the possible values or throw. So a stale or half-done result shows wherever it comes from.
 */
import assert from "node:assert/strict";
import { DeviceLostError, PumiceError } from "../../src/core/errors.js";
import type { DeviceBuffer, Kernel, VulkanDevice } from "../../src/vulkan/index.js";
import { glsl } from "./glsl.js";
import { spinKernel } from "./spin.js";

const increment = `#version 460
  layout(push_constant) uniform P { uint step; };
  layout(binding=0) buffer A { uint a[]; };
  void main() { a[0] += step; }`;
const addTo = `#version 460
  layout(binding=0) readonly buffer A { uint a[]; };
  layout(binding=1) buffer B { uint b[]; };
  void main() { b[0] += a[0]; }`;
const addByAddress = `#version 460
  #extension GL_EXT_buffer_reference : require
  layout(buffer_reference, std430) buffer R { uint v[]; };
  layout(push_constant) uniform P { R a; R b; };
  void main() { b.v[0] += a.v[0]; }`;
type Value = number;

interface Cell {
  readonly buffer: DeviceBuffer;
  possible: Set<Value>;
}

const map = (values: Set<Value>, f: (value: Value) => Value) => new Set([...values].map((value) => f(value) >>> 0));

export class Scenario {
  /** Every error a step threw. */
  readonly errors: Error[] = [];
  /** Values that no order of events explains. */
  readonly wrong: string[] = [];
  readonly cells: Cell[] = [];
  steps = 0;

  constructor(
    readonly device: VulkanDevice,
    /** Workgroups of the spinning kernel that take a few milliseconds. */
    private readonly spinGroups: number,
  ) {}

  // ---------------------------------------------------------------------------------------------- steps

  attempt<T>(step: () => T): T | undefined {
    this.steps++;
    try {
      return step();
    } catch (error) {
      this.errors.push(error as Error);
      return undefined;
    }
  }

  async attemptAsync<T>(step: () => Promise<T>): Promise<T | undefined> {
    this.steps++;
    try {
      return await step();
    } catch (error) {
      this.errors.push(error as Error);
      return undefined;
    }
  }

  upload(value: Value): Cell | undefined {
    const buffer = this.attempt(() => this.device.upload(new Uint32Array([value])));
    return buffer && this.keep(buffer, value);
  }

  alloc(): Cell | undefined {
    const buffer = this.attempt(() => this.device.alloc(4));
    return buffer && this.keep(buffer, 0);
  }

  write(cell: Cell | undefined, value: Value): void {
    if (cell)
      this.change(
        cell,
        () => cell.buffer.write(new Uint32Array([value])),
        () => new Set([value]),
      );
  }

  copy(from: Cell | undefined, to: Cell | undefined): void {
    if (from && to)
      this.change(
        to,
        () => to.buffer.copyFrom(from.buffer),
        () => new Set(from.possible),
      );
  }

  /** A kernel whose one buffer is pushed. */
  increment(cell: Cell | undefined, step: number): void {
    if (!cell) return;
    const run = () =>
      this.kernel("increment", increment).run({ buffers: [cell.buffer], push: new Uint32Array([step]), groups: [1] });
    this.change(cell, run, (values) => map(values, (value) => value + step));
  }

  /** A kernel whose two buffers are bound from a pool, where the driver pushes but one. */
  add(from: Cell | undefined, to: Cell | undefined): void {
    if (!from || !to) return;
    const run = () => this.kernel("add", addTo).run({ buffers: [from.buffer, to.buffer], groups: [1] });
    this.change(to, run, (values) => sums(from.possible, values));
  }

  addByAddress(from: Cell | undefined, to: Cell | undefined): void {
    if (!from || !to) return;
    const run = () => {
      const push = new BigUint64Array([from.buffer.address, to.buffer.address]);
      this.kernel("addByAddress", addByAddress).run({ push, groups: [1], reads: [from.buffer], writes: [to.buffer] });
    };
    this.change(to, run, (values) => sums(from.possible, values));
  }

  /** A few milliseconds of work, so that waits really wait. */
  spin(cell: Cell | undefined, times = 1): void {
    if (!cell) return;
    const groups = Math.min(65535, this.spinGroups * times);
    const run = () => spinKernel(this.device).run({ buffers: [cell.buffer], groups: [groups] });
    this.change(cell, run, (values) => values);
  }

  readSync(cell: Cell | undefined): void {
    if (cell)
      this.check(
        cell,
        this.attempt(() => cell.buffer.readSync()),
      );
  }

  async read(cell: Cell | undefined): Promise<void> {
    if (!cell) return;
    // What it may hold now, not what steps recorded while the read was pending made of it.
    const possible = new Set(cell.possible);
    this.check({ buffer: cell.buffer, possible }, await this.attemptAsync(() => cell.buffer.read()));
  }

  /** Both directions by memory the driver imports. */
  async throughHost(cell: Cell | undefined, value: Value): Promise<void> {
    if (!cell || this.device.plan.limits.minImportedHostPointerAlignment === 0) return;
    const host = this.attempt(() => this.device.hostBuffer(4));
    if (!host) return;
    const word = () => new DataView(host.bytes.buffer, host.bytes.byteOffset, 4);
    word().setUint32(0, value, true);
    this.change(
      cell,
      () => cell.buffer.write(host.bytes),
      () => new Set([value]),
    );
    word().setUint32(0, 0xdead, true);
    this.check(cell, await this.attemptAsync(() => cell.buffer.read(host.bytes)));
    this.attempt(() => host.dispose());
  }

  async profile(work: () => void): Promise<void> {
    const profile = await this.attemptAsync(() => this.device.profile(work));
    if (profile) for (const { duration } of profile.events) assert.ok(duration >= 0);
  }

  /** A few turns of the event loop: recorded work is submitted by itself. */
  async turn(): Promise<void> {
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Frees a cell; what held its memory next must not see it. */
  drop(cell: Cell | undefined): void {
    if (!cell) return;
    this.attempt(() => cell.buffer.dispose());
    this.cells.splice(this.cells.indexOf(cell), 1);
  }

  /** Reads everything that is left. */
  async checkAll(): Promise<void> {
    for (const cell of [...this.cells]) await this.read(cell);
  }

  // ---------------------------------------------------------------------------------------------- inside

  private kernel(name: string, source: string): Kernel {
    return this.device.kernel(glsl(source), { name });
  }

  private keep(buffer: DeviceBuffer, value: Value): Cell {
    const cell = { buffer, possible: new Set([value]) };
    this.cells.push(cell);
    return cell;
  }

  private change(cell: Cell, step: () => void, effect: (values: Set<Value>) => Set<Value>): void {
    const before = this.errors.length;
    const afterwards = effect(cell.possible);
    this.attempt(step);
    cell.possible = this.errors.length === before ? afterwards : new Set([...cell.possible, ...afterwards]);
  }

  private check(cell: Cell, bytes: Uint8Array | undefined): void {
    if (!bytes) return;
    const value = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
    if (cell.possible.has(value)) cell.possible = new Set([value]);
    else this.wrong.push(`read ${value}, possible were ${[...cell.possible].join(", ")}`);
  }
}

function sums(a: Set<Value>, b: Set<Value>): Set<Value> {
  return new Set([...a].flatMap((x) => [...b].map((y) => (x + y) >>> 0)));
}

/** More than is suballocated where blocks are small. */
const tenMiB = new Uint8Array(10 * 1024 * 1024).fill(3);

/** The standard program. Every function the runtime calls on a device is reached, most of them several times. */
export async function standardScenario(s: Scenario): Promise<void> {
  const a = s.upload(7);
  const z = s.alloc();
  s.increment(a, 1);
  s.add(a, z);
  s.addByAddress(a, z);
  s.readSync(z);
  s.write(a, 100);
  s.copy(a, z);
  await s.turn();
  s.increment(z, 1);
  s.add(z, a);
  await Promise.all([s.read(a), s.read(z)]);
  s.spin(a);
  s.readSync(a);
  s.spin(z);
  await s.read(z);
  await s.profile(() => {
    s.increment(a, 3);
    s.add(a, z);
  });
  await s.throughHost(a, 55);
  const temporary = s.upload(1234);
  s.spin(temporary);
  s.drop(temporary);
  const fresh = s.alloc();
  s.add(a, fresh);
  // Several batches; once steps fail there is nothing to learn from more of the same.
  for (let i = 0, before = s.errors.length; i < 150 && s.errors.length < before + 3; i++) s.add(a, z);
  const large = s.attempt(() => s.device.upload(tenMiB));
  const bytes = large && (await s.attemptAsync(() => large.read()));
  if (bytes && !Buffer.from(bytes.buffer).equals(tenMiB)) s.wrong.push("a large buffer has other bytes");
  if (large) s.attempt(() => large.dispose());
  s.attempt(() => s.device.trim());
  s.increment(fresh, 5);
  s.readSync(fresh);
  await s.attemptAsync(() => s.device.finish());
  await s.checkAll();
}

/** A computation on new buffers, which must be right: the runtime works. */
export async function assertWorks(device: VulkanDevice, label: string): Promise<void> {
  const s = new Scenario(device, 1);
  const [a, b] = [s.upload(20), s.alloc()];
  s.increment(a, 1);
  s.add(a, b);
  s.addByAddress(a, b);
  s.readSync(b);
  await s.read(b);
  assert.deepEqual(s.errors, [], label);
  assert.deepEqual(s.wrong, [], label);
  const value = new Uint32Array(b!.buffer.readSync().buffer)[0];
  assert.equal(value, 42, label);
}

/** Every way of using a device or what belongs to it. */
export function usesOf(device: VulkanDevice, buffer: DeviceBuffer, kernel: Kernel): [string, () => unknown][] {
  return [
    ["alloc", () => device.alloc(4)],
    ["upload", () => device.upload(new Uint8Array(4))],
    ["read", () => buffer.read()],
    ["readSync", () => buffer.readSync()],
    ["write", () => buffer.write(new Uint8Array(4))],
    ["copyFrom", () => buffer.copyFrom(buffer.device.alloc(4))],
    ["run", () => kernel.run({ buffers: [buffer], push: new Uint32Array(1), groups: [1] })],
    ["kernel", () => device.kernel(glsl(increment))],
    ["hostBuffer", () => device.hostBuffer(4)],
    ["finish", () => device.finish()],
    ["finishSync", () => device.finishSync()],
    ["profile", () => device.profile(() => {})],
  ];
}

/** The messages of an error and its causes. */
export function story(error: unknown): string {
  return error instanceof Error ? `${error.message} ${error.cause ? story(error.cause) : ""}` : String(error);
}

export const isTyped = (error: unknown): boolean => error instanceof PumiceError;
export const isLoss = (error: unknown): boolean => error instanceof DeviceLostError;
