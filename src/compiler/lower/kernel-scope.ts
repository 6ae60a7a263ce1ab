/**
 * A kernel while it is being written: loop variables and their values, open loops, and the elements computed so far. An element
 * that was computed inside a loop is forgotten when the loop ends. `Lowering` computes elements in it.
 */
import { type Atom, type IndexExpr, IndexSpace } from "../../core/index-expr.js";
import type { Node } from "../../graph/node.js";
import { type Element, inBranch } from "../elements/elements.js";
import { indexValue } from "../ir/index-value.js";
import type { Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";
import type { Batch } from "./lane-walk.js";

/** The value of a key, made where there is none yet. */
export function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

export class KernelScope {
  readonly space = new IndexSpace();
  private readonly atoms = new Map<Atom, Value>();
  private readonly known = new Map<Node, Map<string, Element>>();
  /** Elements in the order they were computed, so that those of a loop can be forgotten when it ends. */
  private readonly history: { readonly node: Node; readonly key: string; readonly element: Element }[] = [];
  /** While speculating: the condition under which the values computed now are wrong. */
  private rare: { readonly conditions: Set<Value>; readonly depth: number } | null = null;
  private isSlow = false;

  constructor(protected readonly k: KernelBuilder) {}

  // ------------------------------------------------------------------------------------------------ indices

  /** A loop variable whose value is known already. */
  bind(name: string, extent: number, value: Value): IndexExpr {
    const variable = this.variable(name, extent);
    this.assign(variable, value);
    return variable;
  }

  variable(name: string, extent: number): IndexExpr {
    return this.space.variable(name, extent);
  }

  protected assign(variable: IndexExpr, value: Value): void {
    for (const { atom } of variable.terms) this.atoms.set(atom, value);
  }

  /** An index that is computed, and below the extent wherever it matters. */
  index(value: Value, extent: number): IndexExpr {
    const index = this.space.computed(0, extent - 1);
    this.assign(index, value);
    return index;
  }

  /** An index expression as a value: an i32 where its range allows, else an i64. Parts of an i32 may wrap around. */
  indexValue(x: IndexExpr): Value {
    return indexValue(this.k, this.atoms, x);
  }

  isBelow(index: IndexExpr, limit: number): Value {
    const at = this.indexValue(index);
    return this.k.compare("lt", at, this.k.constant(at.type, limit));
  }

  /** Both conditions; a condition that is part of the other is not tested twice. */
  both(a: Value | null, b: Value): Value {
    const isTested = a === null || a === b || (b.op === "and" && b.args.includes(a));
    return isTested ? b : this.k.binary("and", a, b);
  }

  // ------------------------------------------------------------------------------------------------ elements computed so far

  protected recall(node: Node, key: string): Element | undefined {
    return this.known.get(node)?.get(key);
  }

  protected remember(node: Node, key: string, element: Element): Element {
    entryOf(this.known, node, () => new Map<string, Element>()).set(key, element);
    this.history.push({ node, key, element });
    return element;
  }

  private forgetSince(mark: number, isKept: (element: Element) => boolean): void {
    const kept = this.history.splice(mark).filter(({ node, key, element }) => {
      if (isKept(element)) return true;
      this.known.get(node)?.delete(key);
      return false;
    });
    this.history.push(...kept);
  }

  /** Forgets the elements that some work computes: they are valid only inside it. */
  protected forgetting<T>(work: () => T): T {
    const mark = this.history.length;
    const result = work();
    this.forgetSince(mark, () => false);
    return result;
  }

  // ------------------------------------------------------------------------------------------------ loops

  /** A loop over a variable, unless it has one round. What was computed inside it is forgotten afterwards. */
  loop(
    variable: IndexExpr,
    extent: number,
    initial: readonly Value[],
    body: (accumulators: readonly Value[]) => readonly Value[],
    options: Pick<NonNullable<Parameters<KernelBuilder["loop"]>[3]>, "exitWhen" | "merge"> = {},
  ): readonly Value[] {
    if (extent === 1) return body(initial);
    const mark = this.history.length;
    const results = this.k.loop(
      extent,
      initial,
      (i, accumulators) => {
        this.assign(variable, i);
        return body(accumulators);
      },
      options,
    );
    this.forgetSince(mark, ({ value }) => value.depth <= this.k.depth);
    return results;
  }

  /** A loop over a batch. */
  overBatch(
    { count, at }: Batch,
    initial: readonly Value[],
    body: (position: IndexExpr, accumulators: readonly Value[]) => readonly Value[],
  ): readonly Value[] {
    const i = this.variable("i", count);
    return this.loop(i, count, initial, (accumulators) => body(at(i), accumulators));
  }

  /** Does something for every index of several axes, in loops inside loops. */
  overAxes(extents: readonly number[], body: (positions: readonly IndexExpr[]) => void): void {
    const open = (positions: readonly IndexExpr[]): readonly Value[] => {
      if (positions.length === extents.length) body(positions);
      else {
        const extent = extents[positions.length];
        const position = this.variable("position", extent);
        this.loop(position, extent, [], () => open([...positions, position]));
      }
      return [];
    };
    open([]);
  }

  // ------------------------------------------------------------------------------------------------ speculation

  /**
   * Computes something as if nothing rare happened, and finishes with it; where something rare does happen, does it the
   * slow way instead. So there is one branch for a whole batch, and the slow way is written once, as a loop.
   */
  speculate<T>(
    compute: () => T,
    finish: (computed: T) => readonly Value[],
    slowly: () => readonly Value[],
  ): readonly Value[] {
    const { k } = this;
    const mark = this.history.length;
    const outer = this.rare;
    const conditions = new Set<Value>();
    this.rare = { conditions, depth: k.depth };
    const computed = compute();
    this.rare = outer;
    if (conditions.size === 0) return finish(computed);
    const isRare = [...conditions].reduce((any, condition) => k.binary("or", any, condition));
    // Values computed speculatively hold only if nothing rare happens.
    this.forgetSince(mark, () => false);
    const wasSlow = this.isSlow;
    this.isSlow = true;
    const results = k.when(
      isRare,
      () => slowly(),
      () => finish(computed),
    );
    this.isSlow = wasSlow;
    this.forgetSince(mark, () => false);
    return results;
  }

  /** Whether a rare correction of a value is one of those that `speculate` gathers. */
  protected isSpeculative(value: Value): boolean {
    return !this.isSlow && this.rare !== null && value.depth <= this.rare.depth;
  }

  /** The way in which elements compute rare corrections: see `speculate`. */
  protected readonly rarely = (condition: Value, usual: Value, compute: () => Value): Value => {
    const { k, rare } = this;
    if (this.isSlow) return k.select(condition, compute(), usual);
    if (!rare || condition.depth > rare.depth) return inBranch(k)(condition, usual, compute);
    rare.conditions.add(condition);
    return usual;
  };
}
