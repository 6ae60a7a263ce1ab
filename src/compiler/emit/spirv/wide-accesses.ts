/**
 * Merges accesses to neighbours into vector accesses: four loads of b[i], b[i + 1], b[i + 2], b[i + 3], with i known to be a
 * multiple of four, become one load of a vector, and consecutive stores likewise. A GPU moves 16 bytes as fast as 4. What is
 * left of words is merged in pairs: the parts of complex numbers, for instance. Eight bf16 are 16 bytes as well.
 *
 * Buffers begin at multiples of 256 bytes, so an aligned index is an aligned address.
 */
import { DTYPES, type DType } from "../../../core/dtype.js";
import { type Value as IRValue, innerLists, type Kernel, type Statement } from "../../ir/ir.js";

type Store = Extract<Statement, { kind: "store" }>;

/** Loads that become one, in the order of their addresses. */
type WideLoad = readonly IRValue[];

export interface WideAccesses {
  /** The vector load that a load is part of. */
  readonly loads: ReadonlyMap<IRValue, WideLoad>;
  /** The vector store that a store is part of. */
  readonly stores: ReadonlyMap<Statement, readonly Store[]>;
  /** Buffers with vector accesses, and the elements of those. */
  readonly buffers: ReadonlyMap<number, ReadonlySet<number>>;
}

/** Elements that a vector access may have, most first. */
function widthsOf(dtype: DType): readonly number[] {
  const { bytes, kind } = DTYPES[dtype];
  if (kind === "complex") return [];
  if (dtype === "bf16") return [8, 4];
  return bytes === 8 ? [2] : bytes === 4 ? [4, 2] : [4];
}

/** A sum of values times constants, and a constant. */
interface Linear {
  readonly terms: ReadonlyMap<IRValue, number>;
  readonly constant: number;
}

/** Most nested sums that are analysed. */
const MAX_DEPTH = 16;

class LinearForms {
  private readonly known = new Map<IRValue, Linear>();

  of(value: IRValue, depth = 0): Linear {
    const found = this.known.get(value);
    if (found) return found;
    const made = this.take(value, depth);
    this.known.set(value, made);
    return made;
  }

  private take(value: IRValue, depth: number): Linear {
    const { op, args, attribute } = value;
    if (op === "constant") return { terms: new Map(), constant: Number(attribute) };
    const [a, b] = args;
    if (depth < MAX_DEPTH && (op === "add" || op === "sub")) {
      return combine(this.of(a, depth + 1), this.of(b, depth + 1), op === "add" ? 1 : -1);
    }
    if (depth < MAX_DEPTH && op === "mul") {
      if (b.op === "constant") return combine(nothing, this.of(a, depth + 1), Number(b.attribute));
      if (a.op === "constant") return combine(nothing, this.of(b, depth + 1), Number(a.attribute));
    }
    return { terms: new Map([[value, 1]]), constant: 0 };
  }
}

const nothing: Linear = { terms: new Map(), constant: 0 };

function combine(x: Linear, y: Linear, factor: number): Linear {
  const terms = new Map(x.terms);
  for (const [value, times] of y.terms) {
    const total = (terms.get(value) ?? 0) + factor * times;
    if (total === 0) terms.delete(value);
    else terms.set(value, total);
  }
  return { terms, constant: x.constant + factor * y.constant };
}

/** An access as a part of a vector: accesses with the same key are parts of the same vector. */
interface VectorPart {
  readonly key: string;
  readonly part: number;
}

function vectorPartOf(
  forms: LinearForms,
  kernel: Kernel,
  buffer: number,
  index: IRValue,
  width: number,
): VectorPart | null {
  if (kernel.buffers[buffer].isUnaligned) return null;
  // If its gate is false, a load reads the first element, and the vector load reads the first vector.
  const isGated = index.op === "select" && index.args[2].op === "constant" && Number(index.args[2].attribute) === 0;
  const { terms, constant } = forms.of(isGated ? index.args[1] : index);
  if (![...terms.values()].every((factor) => factor % width === 0)) return null;
  const part = ((constant % width) + width) % width;
  const sum = [...terms].map(([{ id }, factor]) => `${factor}*${id}`).sort();
  return { key: `${buffer}|${isGated ? index.args[0].id : ""}|${sum}|${constant - part}`, part };
}

/** The vector accesses of a kernel; stores to the `excluded` buffers stay single. */
export function wideAccesses(kernel: Kernel, excluded: ReadonlySet<number>): WideAccesses {
  const forms = new LinearForms();
  const loads = new Map<IRValue, WideLoad>();
  const stores = new Map<Statement, readonly Store[]>();
  const visit = (statements: readonly Statement[]) => {
    for (const run of wideLoads(forms, kernel, statements)) for (const value of run) loads.set(value, run);
    for (const run of wideStores(forms, kernel, statements, excluded)) for (const store of run) stores.set(store, run);
    for (const statement of statements) for (const list of innerLists(statement)) visit(list);
  };
  visit(kernel.body);
  const buffers = new Map<number, Set<number>>();
  const note = (buffer: number, width: number) => buffers.set(buffer, (buffers.get(buffer) ?? new Set()).add(width));
  for (const [{ attribute }, run] of loads) note(attribute as number, run.length);
  for (const run of stores.values()) note(run[0].buffer, run.length);
  return { loads, stores, buffers };
}

function wideLoads(forms: LinearForms, kernel: Kernel, statements: readonly Statement[]): WideLoad[] {
  const loads = statements.flatMap((each) => (each.kind === "let" && each.value.op === "load" ? [each.value] : []));
  const merged = new Set<IRValue>();
  const found: WideLoad[] = [];
  for (const width of [8, 4, 2]) {
    const groups = new Map<string, IRValue[]>();
    for (const value of loads) {
      const buffer = value.attribute as number;
      if (merged.has(value) || !widthsOf(kernel.buffers[buffer].dtype).includes(width)) continue;
      const own = vectorPartOf(forms, kernel, buffer, value.args[0], width);
      if (!own) continue;
      const group = groups.get(own.key) ?? [];
      group[own.part] = value;
      groups.set(own.key, group);
    }
    for (const group of groups.values()) {
      if (group.filter(Boolean).length !== width) continue;
      found.push(group);
      for (const value of group) merged.add(value);
    }
  }
  return found;
}

function wideStores(
  forms: LinearForms,
  kernel: Kernel,
  statements: readonly Statement[],
  excluded: ReadonlySet<number>,
): Store[][] {
  const found: Store[][] = [];
  for (let i = 0; i < statements.length; i++) {
    const first = statements[i];
    if (first.kind !== "store" || first.isOnce || excluded.has(first.buffer)) continue;
    const width = widthsOf(kernel.buffers[first.buffer].dtype).find((each) =>
      isWideStore(forms, kernel, first, statements.slice(i, i + each), each),
    );
    if (width === undefined) continue;
    found.push(statements.slice(i, i + width) as Store[]);
    i += width - 1;
  }
  return found;
}

/** Whether statements store the parts of one vector, in order. */
function isWideStore(
  forms: LinearForms,
  kernel: Kernel,
  first: Store,
  run: readonly Statement[],
  width: number,
): boolean {
  const own = vectorPartOf(forms, kernel, first.buffer, first.index, width);
  if (own?.part !== 0 || run.length !== width) return false;
  return run.every((store, part) => {
    if (store.kind !== "store" || store.buffer !== first.buffer || store.gate !== first.gate) return false;
    const at = vectorPartOf(forms, kernel, store.buffer, store.index, width);
    return at?.key === own.key && at.part === part && !store.isOnce;
  });
}
