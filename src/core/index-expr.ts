/**
 * Index expressions: integer expressions over loop variables, kept in a normal form that simplifies them.
 *
 * Movement operations (reshape, transpose, slice, flip, pad, broadcast) never move data; they rewrite the index at which
 * their input is read. An expression is a constant plus a sum of atoms times coefficients, where an atom is a loop
 * variable, or the quotient or remainder of an expression by a constant. Ranges are tracked, so that splitting and
 * joining axes cancels: reshaping (6, 4) to (24) and back reads `i`, not `(4·i + j) / 4`.
 *
 * Division and remainder are by positive constants and floor towards minus infinity; indices are never negative where
 * they are used to read, but slices and pads make them so on the way.
 */

/** A loop variable: whole numbers from 0 to extent - 1. */
export interface Variable {
  readonly kind: "variable";
  readonly id: number;
  readonly name: string;
  readonly extent: number;
}

interface Quotient {
  readonly kind: "quotient" | "remainder";
  readonly id: number;
  readonly of: IndexExpr;
  readonly by: number;
}

/** An integer computed elsewhere, such as an index read from memory. Its maker guarantees the range. */
interface Computed {
  readonly kind: "computed";
  readonly id: number;
  readonly min: number;
  readonly max: number;
}

export type Atom = Variable | Quotient | Computed;

interface Term {
  readonly atom: Atom;
  readonly factor: number;
}

export interface IndexExpr {
  /** Sorted by atom id; no factor is zero. */
  readonly terms: readonly Term[];
  readonly constant: number;
  readonly min: number;
  readonly max: number;
}

/** Makes atoms; quotients of equal expressions are the same atom, so that they cancel too. */
export class IndexSpace {
  private nextId = 0;
  private readonly quotients = new Map<string, Quotient>();

  variable(name: string, extent: number): IndexExpr {
    if (extent === 1) return constantExpr(0);
    return atomExpr({ kind: "variable", id: this.nextId++, name, extent });
  }

  computed(min: number, max: number): IndexExpr {
    return atomExpr({ kind: "computed", id: this.nextId++, min, max });
  }

  /** ⌊x / by⌋ */
  quotient(x: IndexExpr, by: number): IndexExpr {
    if (by === 1) return x;
    const { whole, rest } = split(x, by);
    // x = by·whole + rest, so the quotient is whole plus the quotient of the rest
    const low = Math.floor(rest.min / by);
    if (low === Math.floor(rest.max / by)) return add(whole, constantExpr(low));
    const inner = nestedQuotient(rest, by);
    if (inner) return add(whole, this.quotient(inner.of, inner.by));
    const reduced = withoutCommonFactor(rest, by);
    if (reduced) return add(whole, this.quotient(reduced.of, by / reduced.factor));
    return add(whole, atomExpr(this.quotientAtom("quotient", rest, by)));
  }

  /** x mod by, in 0 … by - 1 */
  remainder(x: IndexExpr, by: number): IndexExpr {
    if (by === 1) return constantExpr(0);
    const { rest } = split(x, by);
    const low = Math.floor(rest.min / by);
    if (low === Math.floor(rest.max / by)) return add(rest, constantExpr(-low * by));
    const reduced = withoutCommonFactor(rest, by);
    if (reduced) {
      const { of, factor, over } = reduced;
      return add(scale(this.remainder(of, by / factor), factor), over);
    }
    return atomExpr(this.quotientAtom("remainder", rest, by));
  }

  private quotientAtom(kind: "quotient" | "remainder", of: IndexExpr, by: number): Quotient {
    const key = `${kind}:${by}:${keyOf(of)}`;
    let atom = this.quotients.get(key);
    if (!atom) {
      atom = { kind, id: this.nextId++, of, by };
      this.quotients.set(key, atom);
    }
    return atom;
  }
}

export const constantExpr = (constant: number): IndexExpr => ({ terms: [], constant, min: constant, max: constant });

/** Two expressions are equal when their keys are. */
export const keyOf = (x: IndexExpr): string =>
  `${x.constant}${x.terms.map(({ atom, factor }) => `+${factor}*${atom.id}`).join("")}`;

function atomRange(atom: Atom): [number, number] {
  switch (atom.kind) {
    case "variable":
      return [0, Math.max(0, atom.extent - 1)];
    case "computed":
      return [atom.min, atom.max];
    case "quotient":
      return [Math.floor(atom.of.min / atom.by), Math.floor(atom.of.max / atom.by)];
    case "remainder":
      return [0, atom.by - 1];
  }
}

const atomExpr = (atom: Atom): IndexExpr => fromTerms([{ atom, factor: 1 }], 0);

function fromTerms(terms: readonly Term[], constant: number): IndexExpr {
  let min = constant;
  let max = constant;
  for (const { atom, factor } of terms) {
    const [low, high] = atomRange(atom);
    min += factor > 0 ? factor * low : factor * high;
    max += factor > 0 ? factor * high : factor * low;
  }
  return { terms, constant, min, max };
}

export function add(x: IndexExpr, y: IndexExpr): IndexExpr {
  if (y.terms.length === 0 && y.constant === 0) return x;
  if (x.terms.length === 0 && x.constant === 0) return y;
  const terms: Term[] = [];
  let i = 0;
  let j = 0;
  while (i < x.terms.length || j < y.terms.length) {
    const a = x.terms[i];
    const b = y.terms[j];
    if (a && (!b || a.atom.id < b.atom.id)) {
      terms.push(a);
      i++;
    } else if (b && (!a || b.atom.id < a.atom.id)) {
      terms.push(b);
      j++;
    } else if (a && b) {
      const factor = a.factor + b.factor;
      if (factor !== 0) terms.push({ atom: a.atom, factor });
      i++;
      j++;
    }
  }
  return rejoined(terms, x.constant + y.constant);
}

/** Simplifies by·(x quotient by) + (x remainder by) to x: a reshape and its inverse leave such sums. */
function rejoined(terms: readonly Term[], constant: number): IndexExpr {
  for (const { atom, factor } of terms) {
    if (atom.kind !== "remainder") continue;
    // Quotients of quotients are stored as one division: look for (x / a) / b as x / (a·b).
    const { of, by } = nestedQuotient(atom.of, atom.by) ?? atom;
    const whole = terms.find(
      (term) =>
        term.atom.kind === "quotient" &&
        term.atom.by === by &&
        term.factor === factor * atom.by &&
        keyOf(term.atom.of) === keyOf(of),
    );
    if (!whole) continue;
    const others = terms.filter((term) => term.atom !== atom && term !== whole);
    return add(fromTerms(others, constant), scale(atom.of, factor));
  }
  return fromTerms(terms, constant);
}

export function scale(x: IndexExpr, factor: number): IndexExpr {
  if (factor === 1) return x;
  if (factor === 0) return constantExpr(0);
  const terms = x.terms.map((term) => ({ atom: term.atom, factor: term.factor * factor }));
  return fromTerms(terms, x.constant * factor);
}

export const addConstant = (x: IndexExpr, constant: number): IndexExpr => add(x, constantExpr(constant));

/** x = by·whole + rest, with every multiple of `by` in whole: 4·i by 3 is 3·i, and i is left. */
function split(x: IndexExpr, by: number): { whole: IndexExpr; rest: IndexExpr } {
  const whole: Term[] = [];
  const rest: Term[] = [];
  for (const { atom, factor } of x.terms) {
    const left = factor % by;
    // Choose the remainder of smaller magnitude: -2·i by 3 is -3·i and i.
    const over = left < 0 && left + by < -left ? left + by : left;
    if (over !== factor) whole.push({ atom, factor: (factor - over) / by });
    if (over !== 0) rest.push({ atom, factor: over });
  }
  const constant = Math.floor(x.constant / by);
  return { whole: fromTerms(whole, constant), rest: fromTerms(rest, x.constant - constant * by) };
}

/**
 * x = factor·of + over with 0 ≤ over < factor, where the factor divides `by`, too: then x / by is of / (by / factor), and
 * x mod by is factor·(of mod (by / factor)) + over. Neighbouring indices stay neighbours.
 */
function withoutCommonFactor(x: IndexExpr, by: number): { of: IndexExpr; factor: number; over: IndexExpr } | null {
  const common = (factor: number, term: Term) => greatestCommonDivisor(factor, term.factor);
  const factors = new Set([...x.terms.map((term) => common(by, term)), x.terms.reduce(common, by)]);
  for (const factor of [...factors].sort((a, b) => b - a)) {
    if (factor === 1) continue;
    const whole = Math.floor(x.constant / factor);
    const over = fromTerms(
      x.terms.filter((term) => term.factor % factor !== 0),
      x.constant - factor * whole,
    );
    if (over.min < 0 || over.max >= factor) continue;
    const multiples = x.terms.filter((term) => term.factor % factor === 0);
    const terms = multiples.map((term) => ({ atom: term.atom, factor: term.factor / factor }));
    return { of: fromTerms(terms, whole), factor, over };
  }
  return null;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? Math.abs(a) : greatestCommonDivisor(b, a % b);
}

/** (x / a + c) / b is (x + a·c) / (a·b). */
function nestedQuotient(x: IndexExpr, by: number): { of: IndexExpr; by: number } | null {
  const [only] = x.terms;
  if (x.terms.length !== 1 || !only || only.factor !== 1 || only.atom.kind !== "quotient") return null;
  return { of: addConstant(only.atom.of, only.atom.by * x.constant), by: only.atom.by * by };
}

/** low ≤ value < high. */
export interface Bound {
  readonly value: IndexExpr;
  readonly low: number;
  readonly high: number;
}

/** A bound in its cheapest form: constants moved to the limits, divisions removed where possible. */
export function bound(value: IndexExpr, low: number, high: number): Bound {
  const plain = { value: addConstant(value, -value.constant), low: low - value.constant, high: high - value.constant };
  return withoutQuotient(plain) ?? withoutNeighbours(plain) ?? plain;
}

/** Rewrites low ≤ y + x / by < high as by·low ≤ by·y + x < by·high, unless that makes more terms. */
function withoutQuotient({ value, low, high }: Bound): Bound | null {
  for (const term of value.terms) {
    const { atom, factor } = term;
    if (atom.kind !== "quotient" || factor !== 1) continue;
    const others = value.terms.filter((other) => other !== term);
    const whole = add(scale(fromTerms(others, 0), atom.by), atom.of);
    if (whole.terms.length <= value.terms.length) return bound(whole, low * atom.by, high * atom.by);
  }
  return null;
}

/** Rewrites low ≤ by·y + x < high as low / by ≤ y < high / by, where 0 ≤ x < by and the limits that matter divide by `by`. */
function withoutNeighbours({ value, low, high }: Bound): Bound | null {
  const [isLow, isHigh] = [value.min < low, value.max >= high];
  for (const { factor } of value.terms) {
    const by = Math.abs(factor);
    const isEven = (limit: number) => limit % by === 0;
    if (by === 1 || (isLow && !isEven(low)) || (isHigh && !isEven(high))) continue;
    const { whole, rest } = split(value, by);
    const over = Math.floor(rest.min / by);
    if (rest.terms.length === 0 || over !== Math.floor(rest.max / by)) continue;
    const y = addConstant(whole, over);
    return bound(y, isLow ? low / by : y.min, isHigh ? high / by : y.max + 1);
  }
  return null;
}

/** Joins indices along axes into one row-major index. */
export function ravel(indices: readonly IndexExpr[], shape: readonly number[]): IndexExpr {
  let flat = constantExpr(0);
  let stride = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    flat = add(flat, scale(indices[axis] as IndexExpr, stride));
    stride *= shape[axis] as number;
  }
  return flat;
}

/** Splits a row-major index into indices along axes. */
export function unravel(space: IndexSpace, flat: IndexExpr, shape: readonly number[]): IndexExpr[] {
  const indices: IndexExpr[] = new Array(shape.length);
  let rest = flat;
  for (let axis = shape.length - 1; axis > 0; axis--) {
    const extent = Math.max(1, shape[axis] as number);
    indices[axis] = space.remainder(rest, extent);
    rest = space.quotient(rest, extent);
  }
  if (shape.length > 0) indices[0] = rest;
  return indices;
}

/** Every variable and computed atom an expression depends on. */
export function atomsOf(x: IndexExpr, into = new Set<Atom>()): Set<Atom> {
  for (const { atom } of x.terms) {
    if (atom.kind === "quotient" || atom.kind === "remainder") atomsOf(atom.of, into);
    else into.add(atom);
  }
  return into;
}

/** The value for given values of the variables. */
export function evaluate(x: IndexExpr, valueFor: (atom: Atom) => number): number {
  let total = x.constant;
  for (const { atom, factor } of x.terms) {
    if (atom.kind === "quotient") total += factor * Math.floor(evaluate(atom.of, valueFor) / atom.by);
    else if (atom.kind === "remainder") {
      const inner = evaluate(atom.of, valueFor);
      total += factor * (inner - atom.by * Math.floor(inner / atom.by));
    } else total += factor * valueFor(atom);
  }
  return total;
}

/** For people: `4*i + j / 3`. `nameOf` may give variables and computed atoms other names. */
export function describe(x: IndexExpr, nameOf: (atom: Atom) => string | undefined = () => undefined): string {
  const nameFor = (atom: Atom): string => {
    if (atom.kind === "variable") return nameOf(atom) ?? atom.name;
    if (atom.kind === "computed") return nameOf(atom) ?? `#${atom.id}`;
    const { of, by, kind } = atom;
    const inner = describe(of, nameOf);
    const isSum = of.terms.length + (of.constant === 0 ? 0 : 1) > 1;
    return `(${isSum ? `(${inner})` : inner} ${kind === "quotient" ? "/" : "%"} ${by})`;
  };
  const parts = x.terms.map(({ atom, factor }) => ({
    isNegative: factor < 0,
    text: Math.abs(factor) === 1 ? nameFor(atom) : `${Math.abs(factor)}*${nameFor(atom)}`,
  }));
  const rest = { isNegative: x.constant < 0, text: String(Math.abs(x.constant)) };
  // A positive constant goes before a negative term: 9 - i.
  if (x.constant > 0 && parts[0]?.isNegative) parts.unshift(rest);
  else if (x.constant !== 0 || parts.length === 0) parts.push(rest);
  return parts
    .map(({ isNegative, text }, i) =>
      i === 0 ? `${isNegative ? "-" : ""}${text}` : `${isNegative ? "-" : "+"} ${text}`,
    )
    .join(" ");
}
