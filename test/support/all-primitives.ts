/** Every primitive of the graph, found by reading the folder: laws about all of them cannot miss a new file. */
import { readdirSync } from "node:fs";
import type { Primitive } from "../../src/graph/primitive.js";

const folder = new URL("../../src/graph/primitives/", import.meta.url);

const isPrimitive = (value: unknown): value is Primitive =>
  typeof value === "object" && value !== null && "infer" in value && "kind" in value;

export async function allPrimitives(): Promise<ReadonlySet<Primitive>> {
  const files = readdirSync(folder).filter((name) => name.endsWith(".js"));
  const modules = await Promise.all(files.map((name) => import(new URL(name, folder).href) as Promise<object>));
  // Reductions are also exported as one table.
  const values = modules.flatMap((module) => Object.values(module));
  return new Set(values.filter(isPrimitive));
}
