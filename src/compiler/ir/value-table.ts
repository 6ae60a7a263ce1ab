/**
 * A hash table of the values that a region of a kernel computes, by operation, type and operands. KernelBuilder has one per
 * region and looks up each value before it makes a new one. A long kernel has thousands of values, so the table uses open
 * addressing over small integers instead of a Map with keys of text.
 */
import type { IROp, IRType, Value } from "./ir.js";

const FIRST_SIZE = 32;

/** A number for each operation and type, assigned at first use: hashes are computed from numbers. */
const numbers = new Map<string, number>();
function numberOf(name: IROp | IRType): number {
  const known = numbers.get(name);
  if (known !== undefined) return known;
  numbers.set(name, numbers.size + 1);
  return numbers.size;
}

const words = new Int32Array(2);
const asDouble = new Float64Array(words.buffer);

const mix = (hash: number, word: number): number => Math.imul((hash << 5) ^ (hash >>> 27) ^ word, 0x9e3779b1);

/** The hash of a value. Equal values have equal hashes. */
export function hashOfValue(op: IROp, type: IRType, args: readonly Value[], attribute: Value["attribute"]): number {
  let hash = mix(numberOf(op), numberOf(type));
  for (let i = 0; i < args.length; i++) hash = mix(hash, (args[i] as Value).id);
  if (typeof attribute === "number") {
    asDouble[0] = attribute;
    hash = mix(mix(hash, words[0] as number), words[1] as number);
  } else if (typeof attribute === "bigint") hash = mix(hash, Number(BigInt.asIntN(32, attribute)));
  else if (attribute === true) hash = mix(hash, 1);
  // Mixes the high bits into the low ones, which choose the slot.
  return hash ^ (hash >>> 15);
}

export class ValueTable {
  private slots: (Value | undefined)[] = new Array(FIRST_SIZE).fill(undefined);
  private hashes = new Int32Array(FIRST_SIZE);
  private size = 0;

  find(hash: number, op: IROp, type: IRType, args: readonly Value[], attribute: Value["attribute"]): Value | undefined {
    const { slots, hashes } = this;
    const mask = slots.length - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const value = slots[at];
      if (value === undefined) return undefined;
      if (hashes[at] === hash && isSame(value, op, type, args, attribute)) return value;
    }
  }

  add(hash: number, value: Value): void {
    if (2 * (this.size + 1) > this.slots.length) this.grow();
    this.size++;
    this.put(hash, value);
  }

  private put(hash: number, value: Value): void {
    const { slots, hashes } = this;
    const mask = slots.length - 1;
    let at = hash & mask;
    while (slots[at] !== undefined) at = (at + 1) & mask;
    slots[at] = value;
    hashes[at] = hash;
  }

  private grow(): void {
    const { slots, hashes } = this;
    this.slots = new Array(2 * slots.length).fill(undefined);
    this.hashes = new Int32Array(2 * slots.length);
    for (let i = 0; i < slots.length; i++) {
      const value = slots[i];
      if (value !== undefined) this.put(hashes[i] as number, value);
    }
  }
}

function isSame(value: Value, op: IROp, type: IRType, args: readonly Value[], attribute: Value["attribute"]): boolean {
  if (value.op !== op || value.type !== type || value.args.length !== args.length) return false;
  for (let i = 0; i < args.length; i++) if (value.args[i] !== args[i]) return false;
  // -0 and 0 are different constants, and NaN equals itself.
  return Object.is(value.attribute, attribute);
}
