/**
 * The formula of a kernel, for people: `out[i] = tanh(a[i] * b[i] + c[i])`. It is written from the graph that the kernel was
 * made of, because the loops hold a tanh only as fifty additions and multiplications. compile.ts asks for it, and `explain`
 * shows it. Routines bring formulas of their own, with the names given out here.
 *
 * Buffers that are read are a, b, c …, those written out, or out0, out1 …; axes of the result are i, j, k …, and a
 * reduction counts with the letters that follow. A part that is used more than once gets a line and a name: t1, or t1[k]
 * where it differs from round to round. Text that would be too long to read is cut short.
 */

import type { DType } from "../../core/dtype.js";
import {
  type Atom,
  addConstant,
  atomsOf,
  describe,
  type IndexExpr,
  IndexSpace,
  scale,
  type Variable,
} from "../../core/index-expr.js";
import type { Node } from "../../graph/node.js";
import type { ScanParams } from "../../graph/primitives/control/scan.js";
import { constant, iota } from "../../graph/primitives/leaf.js";
import { indexKey, type PlacedReading, productAt, readingsAt, reductionAt } from "../../graph/reads.js";
import type { BufferParameter, CombineOp } from "../ir/ir.js";
import type { Group } from "../schedule/group.js";

/** Parts of a formula, lines of it, and characters in a line, at most. */
const [MAX_TERMS, MAX_LINES, MAX_COLUMNS] = [160, 12, 200];
/** A shorter part is repeated rather than named. */
const WORTH_A_NAME = 12;

/** Precedence of operators: reductions bind least. */
const [REDUCTION, COMPARISON, BITS, SUM, PRODUCT, SIGN, POWER, WHOLE] = [0, 1, 2, 3, 4, 5, 6, 7];

const INFIX: Readonly<Record<string, readonly [sign: string, binding: number]>> = {
  add: ["+", SUM],
  sub: ["-", SUM],
  mul: ["*", PRODUCT],
  div: ["/", PRODUCT],
  rem: ["%", PRODUCT],
  pow: ["**", POWER],
  and: ["&", BITS],
  or: ["|", BITS],
  xor: ["^", BITS],
  shiftLeft: ["<<", BITS],
  shiftRight: [">>", BITS],
  equal: ["==", COMPARISON],
  notEqual: ["!=", COMPARISON],
  less: ["<", COMPARISON],
  lessEqual: ["<=", COMPARISON],
  greater: [">", COMPARISON],
  greaterEqual: [">=", COMPARISON],
};

/** An update in place: `a += b`, or `a = max(a, b)` where the operation has no sign. */
export function updateText(op: CombineOp, target: string, value: string): string {
  const infix = INFIX[op];
  return infix ? `${target} ${infix[0]}= ${value}` : `${target} = ${op}(${target}, ${value})`;
}

/** Letters of axes and of buffers; t is kept for named parts. */
const AXES = "ijklmn";
const BUFFERS = "abcdefghpqrsuvwxyz";

const lettered = (letters: string, position: number): string =>
  `${letters[position % letters.length]}${position < letters.length ? "" : Math.floor(position / letters.length)}`;

/** The names that formulas have for axes: i, j, k … */
export const axisNames = (count: number): string[] => Array.from({ length: count }, (_, axis) => lettered(AXES, axis));

/** The names that formulas have for the buffers of a kernel. */
export function bufferNames(buffers: readonly Pick<BufferParameter, "isWritten">[]): string[] {
  const outputs = buffers.filter(({ isWritten }) => isWritten).length;
  let [read, written] = [0, 0];
  return buffers.map(({ isWritten }) => {
    if (isWritten) return outputs === 1 ? "out" : `out${written++}`;
    return lettered(BUFFERS, read++);
  });
}

/** A part of a formula, before it is known how often it is needed. */
interface Term {
  readonly parts: readonly Term[];
  /** Counters of reductions that it depends on. */
  readonly counters: ReadonlySet<Variable>;
  readonly binding: number;
  /** Its text, with those of its parts as this writes them. */
  write(text: (part: Term, least?: number) => string): string;
  users: number;
  /** Its name, once it has one; numbers are their own. */
  name: string | null;
}

const nothing: ReadonlySet<Variable> = new Set();

/** A load: the name of a buffer, and the index. */
interface Loaded {
  readonly name: string;
  readonly index: readonly IndexExpr[];
}

/** A value and the place it is written to: a name, and what comes before its own index. */
interface Written {
  readonly node: Node;
  readonly name: string;
  readonly before?: readonly IndexExpr[];
}

type Parameters = readonly Pick<BufferParameter, "isWritten">[];

const namesIn = (buffers: readonly Node[], parameters: Parameters) => {
  const names = bufferNames(parameters);
  return (node: Node) => names[buffers.indexOf(node)] ?? "?";
};

/** The formulas of a group: `buffers` are the nodes behind the buffers of the kernel it was lowered to. */
export function describeGroup(group: Group, buffers: readonly Node[], parameters: Parameters): string {
  const nameOf = namesIn(buffers, parameters);
  const results = new Set(group.results.map(({ node }) => node));
  const isLoaded = (node: Node) => node.storage !== null || (!results.has(node) && group.isLoaded(node));
  const formulas = new Formulas((node, index) => (isLoaded(node) ? { name: nameOf(node), index } : null));
  return shortened(formulas.of(group.results.map(({ node }) => ({ node, name: nameOf(node) }))));
}

/** The formulas of one round of a scan that is a kernel: `roots` follow from `leaves`, which stand for its inputs. */
export function describeScan(
  scan: Node,
  { roots, leaves }: { readonly roots: readonly Node[]; readonly leaves: readonly Node[] },
  parts: { readonly last: readonly Node[]; readonly stacked: readonly Node[] },
  buffers: readonly Node[],
  parameters: Parameters,
): string {
  const { constants, carries, length, isReverse } = scan.params as unknown as ScanParams;
  const nameOf = namesIn(buffers, parameters);
  const space = new IndexSpace();
  const round = space.variable("round", length);
  const position = isReverse ? addConstant(scale(round, -1), length - 1) : round;
  const carry = (i: number) => (carries === 1 ? "carry" : `carry${i}`);
  const load = (leaf: Node, index: readonly IndexExpr[]): Loaded | null => {
    const at = leaves.indexOf(leaf);
    if (at < 0) return null;
    if (at >= constants && at < constants + carries) return { name: carry(at - constants), index };
    return { name: nameOf(scan.inputs[at]), index: at < constants ? index : [position, ...index] };
  };
  const written = roots.map((node, i): Written => {
    if (i < carries) return { node, name: `next ${carry(i)}` };
    return { node, name: nameOf(parts.stacked[i - carries]), before: [position] };
  });
  const first = Array.from({ length: carries }, (_, i) => `${carry(i)} = ${nameOf(scan.inputs[constants + i])}`);
  return shortened([
    `for round < ${length}${first.length > 0 ? `, first with ${first.join(", ")}` : ""}:`,
    ...new Formulas(load, space).of(written).map((line) => `  ${line}`),
    ...parts.last.map((each) => `${nameOf(each)} = the last ${carry(each.params.index as number)}`),
  ]);
}

class Formulas {
  private readonly known = new Map<Node, Map<string, Term>>();
  private readonly variables = new Map<string, IndexExpr>();
  private readonly counters = new Set<Atom>();
  /** Indices that are elements themselves. */
  private readonly elements = new Map<Term, IndexExpr>();
  private readonly behind = new Map<Atom, Term>();
  private terms = 0;
  private readonly definitions: string[] = [];

  constructor(
    private readonly loaded: (node: Node, index: readonly IndexExpr[]) => Loaded | null,
    private readonly space = new IndexSpace(),
  ) {}

  of(results: readonly Written[]): string[] {
    const written = results.map(({ node, name, before = [] }) => {
      const index = node.shape.map((extent, axis) => this.variable(axis, extent));
      const term = this.element(node, index, node.shape.length);
      return { place: `${name}${this.indexed([...before, ...index], () => "")}`, term };
    });
    for (const { term } of written) term.users++;
    const lines = written.map(({ place, term }) => `${place} = ${this.text(term)}`);
    return [...this.definitions, ...lines];
  }

  // ------------------------------------------------------------------------------------------------ terms

  /** The same variable for the same letter and extent: reductions over one stretch are said to share its rounds. */
  private variable(position: number, extent: number): IndexExpr {
    const name = lettered(AXES, position);
    const key = `${name}<${extent}`;
    const known = this.variables.get(key) ?? this.space.variable(name, extent);
    this.variables.set(key, known);
    return known;
  }

  private term(parts: readonly Term[], binding: number, write: Term["write"], own = nothing): Term {
    for (const part of parts) part.users++;
    const counters = new Set([...own, ...parts.flatMap((part) => [...part.counters])]);
    return { parts, counters, binding, write, users: 0, name: null };
  }

  private plain(text: string): Term {
    return { ...this.term([], WHOLE, () => text), name: text };
  }

  /** `depth`: letters that stand for axes and for what is being counted around it. */
  private element(node: Node, index: readonly IndexExpr[], depth: number): Term {
    const byIndex = this.known.get(node) ?? new Map<string, Term>();
    this.known.set(node, byIndex);
    const key = indexKey(index);
    const known = byIndex.get(key);
    if (known) return known;
    const made = ++this.terms > MAX_TERMS ? this.plain("…") : this.make(node, index, depth);
    byIndex.set(key, made);
    return made;
  }

  private make(node: Node, index: readonly IndexExpr[], depth: number): Term {
    const { primitive, inputs, params } = node;
    const loaded = this.loaded(node, index);
    if (loaded) return this.load(loaded);
    switch (primitive.kind) {
      case "leaf":
        if (primitive === iota) return this.counted(index[0]);
        return this.plain(primitive === constant ? numberText(params.value, node.dtype) : primitive.name);
      case "elementwise":
        return this.operation(
          node,
          inputs.map((input) => this.element(input, index, depth)),
        );
      case "movement":
        return this.moved(node, readingsAt(this.space, node, primitive, index), depth);
      case "reduce": {
        const { extents, atEach } = reductionAt(this.space, node, primitive.op, index);
        const rounds = extents.map((extent, i) => this.counter(depth + i, extent));
        return this.reduction(primitive.op, rounds, this.element(inputs[0], atEach(rounds), depth + extents.length));
      }
      case "contraction": {
        const inner = this.counter(depth, inputs[0].shape[2]);
        const operands = productAt(node, index, inner).map((operand) =>
          this.element(operand.node, operand.index, depth + 1),
        );
        return this.reduction("sum", [inner], this.infix("*", PRODUCT, operands));
      }
      case "routine":
      case "composite":
        return this.plain(primitive.name);
    }
  }

  private load({ name, index }: Loaded): Term {
    const atoms = index.flatMap((each) => [...atomsOf(each)]);
    return this.term(
      this.termsIn(atoms),
      WHOLE,
      (text) => `${name}${this.indexed(index, text)}`,
      this.countersIn(atoms),
    );
  }

  private counted(index: IndexExpr): Term {
    const atoms = [...atomsOf(index)];
    const binding = index.terms.length + (index.constant === 0 ? 0 : 1) > 1 ? SUM : PRODUCT;
    return this.term(this.termsIn(atoms), binding, (text) => this.place(index, text), this.countersIn(atoms));
  }

  private operation({ primitive: { name }, dtype }: Node, operands: readonly Term[]): Term {
    const infix = INFIX[name];
    if (infix) return this.infix(infix[0], infix[1], operands);
    if (name === "neg") return this.term(operands, SIGN, (text) => `-${text(operands[0], SIGN)}`);
    const list = (text: (part: Term) => string) => operands.map((operand) => text(operand)).join(", ");
    if (name === "cast") return this.term(operands, WHOLE, (text) => `${dtype}(${list(text)})`);
    if (name === "bitcast") return this.term(operands, WHOLE, (text) => `bitcast(${list(text)}, ${dtype})`);
    return this.term(operands, WHOLE, (text) => `${name}(${list(text)})`);
  }

  /** Operators of a kind are read from the left; comparisons and bits are never mixed without brackets. */
  private infix(sign: string, binding: number, operands: readonly Term[]): Term {
    const [a, b] = operands;
    const isMixed = binding === COMPARISON || binding === BITS;
    const isFromRight = binding === POWER;
    const [left, right] = [isMixed ? SUM : isFromRight ? binding + 1 : binding, isMixed ? SUM : binding + 1];
    return this.term(operands, binding, (text) => `${text(a, left)} ${sign} ${text(b, right)}`);
  }

  private counter(position: number, extent: number): IndexExpr {
    const variable = this.variable(position, extent);
    for (const { atom } of variable.terms) this.counters.add(atom);
    return variable;
  }

  private reduction(op: string, rounds: readonly IndexExpr[], of: Term): Term {
    const own = new Set(rounds.flatMap(({ terms }) => terms.map(({ atom }) => atom as Variable)));
    const over = [...own].map(({ name, extent }) => `${name} < ${extent}`).join(", ");
    if (!over) return of;
    const term = this.term([of], REDUCTION, (text) => `${op} over ${over} of ${text(of)}`);
    return { ...term, counters: new Set([...of.counters].filter((counter) => !own.has(counter))) };
  }

  /** The first reading whose bounds hold; bounds that the ranges prove are not mentioned. */
  private moved(node: Node, readings: readonly PlacedReading[], depth: number): Term {
    const [reading, ...others] = readings;
    if (!reading) return this.outside(node);
    if (reading.isNever) return this.moved(node, others, depth);
    const { source, tests } = reading;
    const index = reading.index((element, at, extent) => this.elementIndex(this.element(element, at, depth), extent));
    const inside = this.element(source, index, depth);
    if (tests.length === 0) return inside;
    const otherwise = this.moved(node, others, depth);
    const atoms = tests.flatMap(({ value }) => [...atomsOf(value)]);
    const condition = (text: (part: Term) => string) =>
      tests
        .map(({ value, low, high }) => {
          const below = value.max >= high ? ` < ${high}` : "";
          return `${value.min < low ? `${low} <= ` : ""}${this.place(value, text)}${below}`;
        })
        .join(" and ");
    return this.term(
      [inside, otherwise, ...this.termsIn(atoms)],
      WHOLE,
      (text) => `where(${condition(text)}, ${text(inside)}, ${text(otherwise)})`,
      this.countersIn(atoms),
    );
  }

  private outside({ primitive, params, dtype }: Node): Term {
    return this.plain(primitive.kind === "movement" ? numberText(primitive.otherwise?.(params), dtype) : "");
  }

  private elementIndex(term: Term, extent: number): IndexExpr {
    const known = this.elements.get(term);
    if (known) return known;
    const made = this.space.computed(0, Math.max(0, extent - 1));
    this.elements.set(term, made);
    for (const { atom } of made.terms) this.behind.set(atom, term);
    return made;
  }

  private termsIn(atoms: readonly Atom[]): Term[] {
    return atoms.flatMap((atom) => this.behind.get(atom) ?? []);
  }

  private countersIn(atoms: readonly Atom[]): ReadonlySet<Variable> {
    return new Set(atoms.filter((atom): atom is Variable => atom.kind === "variable" && this.counters.has(atom)));
  }

  // ------------------------------------------------------------------------------------------------ text

  private text(term: Term, least = REDUCTION): string {
    if (term.name) return term.name;
    const text = term.write((part, bound) => this.text(part, bound));
    if (term.users > 1 && text.length > WORTH_A_NAME) {
      const counters = [...term.counters].map(({ name }) => name);
      term.name = `t${this.definitions.length + 1}${counters.length > 0 ? `[${counters.join(", ")}]` : ""}`;
      this.definitions.push(`${term.name} = ${text}`);
      return term.name;
    }
    return term.binding < least ? `(${text})` : text;
  }

  private indexed(index: readonly IndexExpr[], text: (part: Term) => string): string {
    return index.length === 0 ? "" : `[${index.map((each) => this.place(each, text)).join(", ")}]`;
  }

  private place(index: IndexExpr, text: (part: Term) => string): string {
    return describe(index, (atom) => {
      const element = this.behind.get(atom);
      return element ? text(element) : undefined;
    });
  }
}

/** An f32 has no more than eight digits to say. */
const numberText = (value: unknown, dtype: DType): string =>
  typeof value === "number" && dtype === "f32" ? String(Number(value.toPrecision(8))) : String(value);

/** Long lines are cut, and of many lines the first and the last are kept: the last say what is written. */
function shortened(lines: readonly string[]): string {
  const cut = lines.map((line) => (line.length > MAX_COLUMNS ? `${line.slice(0, MAX_COLUMNS - 1)}…` : line));
  if (cut.length <= MAX_LINES) return cut.join("\n");
  const half = MAX_LINES / 2;
  return [...cut.slice(0, half), `… ${cut.length - MAX_LINES} more lines`, ...cut.slice(-half)].join("\n");
}
