/**
 * Loops that somebody awaits. A program with loops may take long and cannot be sent off as a whole, so `Backend` stops where it
 * comes to one, runs it here while the event loop turns, and goes on with what it has computed. Others may compute or dispose
 * of the same tensors in the meantime.
 */
import type { Program } from "../compiler/program/program.js";
import { bytesOfPack, packsOf } from "../compiler/rewrite/given-numbers.js";
import { OutOfMemoryError } from "../core/errors.js";
import type { Engine, EngineMemory, LoadedKernel } from "../engines/engine.js";
import type { Node } from "../graph/node.js";
import { executeGivingWay } from "./execute.js";
import { slicedMemory, wholeMemory } from "./leaf-memory.js";
import { type Found, resultsOf } from "./program-table.js";

/** Thrown where an evaluation comes to a program with loops and may not block. */
class Looping<K extends LoadedKernel> {
  constructor(
    readonly program: Program<K>,
    readonly found: Found<unknown>,
  ) {}
}

export class AwaitedLoops<M extends EngineMemory, K extends LoadedKernel> {
  /** Nodes that are being computed while the event loop turns. */
  private readonly underWay = new WeakMap<Node, Promise<void>>();
  private mayNotBlock = false;

  /** `evaluate`: computes a node, and calls `stopAt` with every program on the way. */
  constructor(
    private readonly engine: Engine<M, K>,
    private readonly counters: { kernels: number },
    private readonly evaluate: (node: Node) => void,
  ) {}

  /** Computes a node. Null where that needs no waiting. */
  realize(node: Node): Promise<void> | null {
    const known = this.underWay.get(node);
    // The evaluation may have been for another result, and may not have stored this one.
    if (known) return known.then(() => (node.storage === null ? (this.realize(node) ?? undefined) : undefined));
    const first = this.toNextLoop(node);
    if (!first) return null;
    const all = [node, ...resultsOf(first.found)].filter((each) => !this.underWay.has(each));
    const running = this.goOn(node, first).finally(() => {
      for (const each of all) this.underWay.delete(each);
    });
    for (const each of all) this.underWay.set(each, running);
    return running;
  }

  /** Stops an evaluation that may not block before it runs a program with loops. */
  stopAt(program: Program<K>, found: Found<unknown>): void {
    if (this.mayNotBlock && program.steps.some(({ kind }) => kind !== "kernel")) throw new Looping(program, found);
  }

  private async goOn(node: Node, first: Looping<K>): Promise<void> {
    try {
      for (let next: Looping<K> | null = first; next; next = this.toNextLoop(node)) {
        await runLooping(next, this.engine, this.counters);
      }
    } catch (error) {
      if (!(error instanceof OutOfMemoryError)) throw error;
      // The program may have stored more than was asked for. A blocking evaluation leaves that out if memory is short.
      this.evaluate(node);
    }
  }

  /** Computes a node, or returns the first program with loops on the way to it. */
  private toNextLoop(node: Node): Looping<K> | null {
    this.mayNotBlock = true;
    try {
      this.evaluate(node);
      return null;
    } catch (error) {
      if (error instanceof Looping) return error;
      throw error;
    } finally {
      this.mayNotBlock = false;
    }
  }
}

/** Runs the program and gives its roots their values. It holds the memory that it reads. */
async function runLooping<M extends EngineMemory, K extends LoadedKernel>(
  { program, found }: Looping<K>,
  engine: Engine<M, K>,
  counters: { kernels: number },
): Promise<void> {
  const { leaves, numbers, partsKey } = found;
  const { memory, starts } = partsKey === null ? wholeMemory<M>(leaves) : slicedMemory<M>(leaves);
  const leafMemory = memory.map((each) => each.part(0, each.byteLength) as M);
  try {
    for (const pack of packsOf(numbers)) leafMemory.push(engine.upload(bytesOfPack(pack)));
    realizeAll(resultsOf(found), await executeGivingWay({ engine, program, leaves: leafMemory, starts, counters }));
  } finally {
    for (const each of leafMemory) each.dispose();
  }
}

/** A root that was computed by somebody else in the meantime has memory already. */
function realizeAll(roots: readonly Node[], results: readonly EngineMemory[]): void {
  // Keeps all roots alive meanwhile: the last reader of a root may be another root.
  for (const root of roots) root.handles++;
  for (let i = 0; i < roots.length; i++) {
    if (roots[i].storage === null) roots[i].realize(results[i]);
    else results[i].dispose();
  }
  for (const root of roots) root.handles--;
}
