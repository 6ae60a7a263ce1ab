/**
 * Arrow tables as they lie in memory: any object with a schema and columns by name, as `Table` of apache-arrow has, by its form alone.
 * Nothing is imported, so that any version and any other maker of such tables will do. `table` calls this, and so does every `fit`.
 */
import { ArgumentError } from "../../core/errors.js";
import type { Cell } from "./table.js";

/** A column of an Arrow table. */
interface ArrowVector {
  readonly length: number;
  get(index: number): unknown;
}

/** A column's name, and its type: of decimal fractions it says how many of their digits stand behind the point. */
interface ArrowField {
  readonly name: string;
  readonly type?: unknown;
}

/** An Arrow table, or a record batch: named fields, and a column for each. */
export interface ArrowTable {
  readonly schema: { readonly fields: readonly ArrowField[] };
  getChild(name: string): ArrowVector | null;
}

/** Whether a value has the form of an Arrow table. */
export function isArrowTable(value: unknown): value is ArrowTable {
  if (typeof value !== "object" || value === null) return false;
  const { schema, getChild } = value as Partial<ArrowTable>;
  return typeof getChild === "function" && Array.isArray(schema?.fields);
}

/** The cells of each column, by name. */
export function cellsOfArrow(arrow: ArrowTable): [string, Cell[]][] {
  return arrow.schema.fields.map(({ name, type }): [string, Cell[]] => {
    const vector = arrow.getChild(name);
    if (!vector) throw new ArgumentError(`table: the Arrow table names a column "${name}" and has none.`);
    const scale = (type as { readonly scale?: unknown } | undefined)?.scale;
    const cellOf = (value: unknown): Cell =>
      typeof scale === "number" && ArrayBuffer.isView(value) ? decimalOf(value, scale) : (value as Cell);
    return [name, Array.from({ length: vector.length }, (_, i) => cellOf(vector.get(i)))];
  });
}

/** A decimal fraction: a whole number in two's complement, the lowest byte first, over 10 to the scale. Its text is read, to round once. */
function decimalOf({ buffer, byteOffset, byteLength }: ArrayBufferView, scale: number): number {
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  const digits = bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return Number(`${BigInt.asIntN(8 * byteLength, digits)}e${-scale}`);
}
