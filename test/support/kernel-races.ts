/**
 * Notes who touches which element of a memory, and fails where two accesses conflict: one writes, and nothing orders them.
 * Barriers order the lanes of a row; nothing orders rows. kernel-interpreter.ts has a log for each array of a row, and for
 * each buffer that the kernel writes.
 */
import assert from "node:assert/strict";
import type { Scalar } from "./kernel-operations.js";

/** Who touches an element: a lane, or a subgroup as a whole (negative), and the barriers it has passed. */
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
  readonly who: number;
  readonly subgroup: number;
  readonly passed: number;
  readonly how: How;
  readonly value: Scalar | null;
}

/** The accesses to an element since the last barrier of its row, and the rows that touched it before. */
interface Element {
  row: number;
  epoch: number;
  reads: Access[];
  writes: Access[];
  /** Null: no row yet. */
  wasRead: number | null;
  wasWritten: { readonly row: number; readonly value: Scalar | null } | null;
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
    const own: Access = { ...visitor, how, value };
    const others = isWrite ? [...element.writes, ...element.reads] : element.writes;
    for (const other of others) {
      assert.ok(
        areApart(own, other),
        `${this.name}, element ${at}: lane ${own.who} meets ${other.who} without a barrier`,
      );
    }
    const list = isWrite ? element.writes : element.reads;
    // Two readers are enough: whoever writes meets one that it is not.
    const isLike = (other: Access) => other.subgroup === own.subgroup && other.passed === own.passed;
    const alike = isWrite
      ? list.filter((other) => other.who === own.who && isLike(other) && Object.is(other.value, value))
      : list.filter(isLike);
    if (alike.length < (isWrite ? 1 : 2) && !alike.some(({ who }) => who === own.who)) list.push(own);
  }

  private elementAt(at: number, { row, epoch }: Visitor): Element {
    let element = this.elements[at];
    if (!element) {
      element = { row, epoch, reads: [], writes: [], wasRead: null, wasWritten: null };
      this.elements[at] = element;
    } else if (element.row !== row || element.epoch !== epoch) {
      element.row = row;
      element.epoch = epoch;
      if (element.reads.length > 0) element.reads = [];
      if (element.writes.length > 0) element.writes = [];
    }
    return element;
  }

  /** Rows run at the same time: what one writes, no other may touch. */
  private meetRows(element: Element, at: number, { row }: Visitor, isWrite: boolean, value: Scalar | null): void {
    const { wasRead, wasWritten } = element;
    if (wasWritten && wasWritten.row !== row) {
      const isSame = this.isRepeating && isWrite && Object.is(wasWritten.value, value);
      assert.ok(isSame, `${this.name}, element ${at}: row ${row} meets row ${wasWritten.row}, which wrote it`);
    }
    if (isWrite) {
      const isAlone = wasRead === null || wasRead === row;
      assert.ok(isAlone, `${this.name}, element ${at}: row ${row} writes what row ${wasRead} read`);
      element.wasWritten = { row, value };
    } else if (wasRead === null) element.wasRead = row;
  }
}

/** Whether two accesses cannot disturb each other. */
function areApart(own: Access, other: Access): boolean {
  if (other.who === own.who) return true;
  if (other.subgroup === own.subgroup && other.passed < own.passed) return true;
  if (own.how === "count" && other.how === "count") return true;
  return own.how === "write" && other.how === "write" && own.value !== null && Object.is(own.value, other.value);
}
