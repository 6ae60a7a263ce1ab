/**
 * Notes who touches which element of a memory, and fails where two accesses conflict: one writes, and nothing orders them.
 * Barriers order the lanes of a row; nothing orders rows. kernel-interpreter.ts has a log for each array of a row, and for
 * each buffer that the kernel writes.
 */
import assert from "node:assert/strict";
import type { Scalar } from "./kernel-operations.js";

/** The toucher of an element: a lane, or a subgroup as a whole (negative), and the barriers it has passed. */
export interface Visitor {
  readonly row: number;
  readonly who: number;
  readonly subgroup: number;
  /** Barriers of all lanes of the row, and those of the subgroup. */
  readonly epoch: number;
  readonly passed: number;
}

type How = "read" | "write" | "count";

interface Access {
  readonly visitor: Visitor;
  readonly how: How;
  readonly value: Scalar | null;
}

/** The accesses to an element since the last barrier of its row, and the rows that touched it before. */
interface Element {
  row: number;
  epoch: number;
  readonly reads: Access[];
  readonly writes: Access[];
  /** The first row that read it and the last that wrote it; null: none yet. */
  wasRead: number | null;
  wasWritten: number | null;
  written: Scalar | null;
}

export class AccessLog {
  private readonly elements: Element[] = [];

  /** `isRepeating`: several rows may write an element, if they write the same. */
  constructor(
    private readonly name: string,
    private readonly isRepeating: boolean,
  ) {}

  /** `value`: what a write leaves there; lanes may write the same at the same time. */
  note(at: number, visitor: Visitor, how: How, value: Scalar | null = null): void {
    const element = this.elementAt(at, visitor);
    const isWrite = how !== "read";
    this.meetRows(element, at, visitor, isWrite, value);
    for (const other of element.writes) this.meet(at, visitor, how, value, other);
    if (!isWrite) {
      // Two readers are enough: whoever writes meets one that it is not.
      keep(element.reads, 2, visitor, how, null);
      return;
    }
    for (const other of element.reads) this.meet(at, visitor, how, value, other);
    keep(element.writes, Number.POSITIVE_INFINITY, visitor, how, value);
  }

  private meet(at: number, visitor: Visitor, how: How, value: Scalar | null, other: Access): void {
    if (areApart(visitor, how, value, other)) return;
    assert.fail(`${this.name}, element ${at}: lane ${visitor.who} meets ${other.visitor.who} without a barrier`);
  }

  private elementAt(at: number, { row, epoch }: Visitor): Element {
    let element = this.elements[at];
    if (!element) {
      element = { row, epoch, reads: [], writes: [], wasRead: null, wasWritten: null, written: null };
      this.elements[at] = element;
    } else if (element.row !== row || element.epoch !== epoch) {
      element.row = row;
      element.epoch = epoch;
      element.reads.length = 0;
      element.writes.length = 0;
    }
    return element;
  }

  /** Rows run at the same time: what one writes, no other may touch. */
  private meetRows(element: Element, at: number, { row }: Visitor, isWrite: boolean, value: Scalar | null): void {
    const { wasRead, wasWritten } = element;
    if (wasWritten !== null && wasWritten !== row) {
      const isSame = this.isRepeating && isWrite && Object.is(element.written, value);
      if (!isSame) assert.fail(`${this.name}, element ${at}: row ${row} meets row ${wasWritten}, which wrote it`);
    }
    if (isWrite) {
      const isAlone = wasRead === null || wasRead === row;
      if (!isAlone) assert.fail(`${this.name}, element ${at}: row ${row} writes what row ${wasRead} read`);
      element.wasWritten = row;
      element.written = value;
    } else if (wasRead === null) element.wasRead = row;
  }
}

/** Adds an access to a list that has fewer than `most` of its like, unless it is there. */
function keep(list: Access[], most: number, visitor: Visitor, how: How, value: Scalar | null): void {
  let alike = 0;
  for (const other of list) {
    if (other.visitor.subgroup !== visitor.subgroup || other.visitor.passed !== visitor.passed) continue;
    if (other.visitor.who === visitor.who && Object.is(other.value, value)) return;
    alike++;
    if (alike === most) return;
  }
  list.push({ visitor, how, value });
}

/** Whether an access and an earlier one cannot disturb each other. */
function areApart(visitor: Visitor, how: How, value: Scalar | null, other: Access): boolean {
  if (other.visitor.who === visitor.who) return true;
  if (other.visitor.subgroup === visitor.subgroup && other.visitor.passed < visitor.passed) return true;
  if (how === "count" && other.how === "count") return true;
  return how === "write" && other.how === "write" && value !== null && Object.is(value, other.value);
}
