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

/** An Arrow table, or a record batch: named fields, and a column for each. */
export interface ArrowTable {
  readonly schema: { readonly fields: readonly { readonly name: string }[] };
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
  return arrow.schema.fields.map(({ name }): [string, Cell[]] => {
    const vector = arrow.getChild(name);
    if (!vector) throw new ArgumentError(`table: the Arrow table names a column "${name}" and has none.`);
    return [name, Array.from({ length: vector.length }, (_, i) => vector.get(i) as Cell)];
  });
}
