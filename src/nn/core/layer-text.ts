/**
 * A layer as text: its kind and options, and its parts by name, one on each line, as PyTorch prints modules. `String(layer)` and
 * `console.log(layer)` show it.
 */
import { shown } from "../../core/shown.js";
import type { AnyLayer } from "./layer.js";

/** Options that say nothing beside the kind: the functions that blocks and steps are made of. */
const HIDDEN = new Set(["function", "forward"]);

/** The tree of a layer. */
export function shownLayer(layer: AnyLayer): string {
  const { kind, options, parts, modifiers } = layer;
  const own = Object.entries(options)
    .filter(([name, value]) => value !== undefined && !HIDDEN.has(name))
    .map(([name, value]) => `${name}: ${shownOption(value)}`);
  const dtypes = Object.entries(modifiers.policy).map(([name, dtype]) => `${name}: ${dtype}`);
  const suffix = `${modifiers.isFrozen ? " frozen" : ""}${dtypes.length > 0 ? ` in { ${dtypes.join(", ")} }` : ""}`;
  const inside = Object.entries(parts).map(([name, part]) => `${name}: ${shownLayer(part)}`);
  if (inside.length === 0) return `${kind}(${own.join(", ")})${suffix}`;
  const lines = [...(own.length > 0 ? [own.join(", ")] : []), ...inside].join("\n");
  return `${kind}(\n${lines.replace(/^/gm, "  ")}\n)${suffix}`;
}

/** Values of options: functions by name, objects one level deep. */
function shownOption(value: unknown): string {
  if (typeof value === "function") return value.name || "a function";
  const isPlain = typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain) return shown(value);
  const entries = Object.entries(value).map(([name, each]) => `${name}: ${shownOption(each)}`);
  return entries.length > 0 ? `{ ${entries.join(", ")} }` : "{}";
}
