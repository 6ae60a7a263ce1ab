/**
 * Prints n-dimensional data as NumPy does: aligned columns, a common precision, "..." where there is too much. Values
 * come through an accessor, and only those shown are asked for, so a large tensor is printed from its corners. Booleans
 * read `true` and `false`. Where NumPy 1 and 2 differ (0.0001 in f32), this follows NumPy 2.
 * The tensor's inspect method and the doc examples call this.
 */
import { roundTo } from "./cast.js";
import { positionalDigits, scientificDigits, scientificPlaces } from "./decimal.js";
import { type Complex, DTYPES, type DType, realDType, type Scalar } from "./dtype.js";
import { type Shape, sizeOf, stridesOf } from "./shape.js";

interface FormatOptions {
  /** Digits after the point, at most. */
  readonly precision?: number;
  /** Beyond this many elements only the edges are shown. */
  readonly threshold?: number;
  /** The number of elements at either end of an axis that are shown then. */
  readonly edgeItems?: number;
  readonly lineWidth?: number;
  /** Text between elements; with ", " the output can be pasted into a program. */
  readonly separator?: string;
  /** Columns that the caller has written before the first line. */
  readonly indent?: number;
}

const DEFAULTS: Required<FormatOptions> = {
  precision: 8,
  threshold: 1000,
  edgeItems: 3,
  lineWidth: 75,
  separator: " ",
  indent: 0,
};

/** The indices of each axis that will be shown: all, or the edges of long axes when the array is large. */
export function shownIndices(shape: Shape, options: FormatOptions = {}): number[][] {
  const { threshold, edgeItems } = { ...DEFAULTS, ...options };
  const summarise = sizeOf(shape) > threshold;
  return shape.map((size) => {
    if (!summarise || size <= 2 * edgeItems) return range(0, size);
    return [...range(0, edgeItems), ...range(size - edgeItems, size)];
  });
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

/** The array as text. `at` is asked for each element shown, once and in order, by row-major position in `shape`. */
export function formatArray(
  at: (position: number) => Scalar,
  shape: Shape,
  dtype: DType,
  options: FormatOptions = {},
): string {
  const settings = { ...DEFAULTS, ...options };
  if (sizeOf(shape) === 0) return "[]";
  const shown = shownIndices(shape, options);
  const strides = stridesOf(shape);
  const positions = shown.reduce<number[]>(
    (starts, indices, axis) => starts.flatMap((start) => indices.map((i) => start + i * strides[axis])),
    [0],
  );
  const words = formatElements(positions.map(at), dtype, settings.precision, shape.length === 0);
  return layOut(words, shape, shown, settings);
}

/** Joins the words of the shown elements, in row-major order, into nested brackets. */
function layOut(
  words: readonly string[],
  shape: Shape,
  shown: readonly number[][],
  { lineWidth, separator, indent }: Required<FormatOptions>,
): string {
  let next = 0;
  const bare = separator.trimEnd();

  const bracket = (axis: number, hanging: string, width: number): string => {
    if (axis === shape.length) return words[next++];
    const count = shown[axis].length;
    const gap = count < shape[axis] ? count / 2 : -1;
    const isRow = axis === shape.length - 1;
    if (!isRow) {
      const between = bare + "\n".repeat(shape.length - axis - 1) + hanging;
      const parts: string[] = [];
      for (let i = 0; i < count; i++) {
        if (i === gap) parts.push("...");
        parts.push(bracket(axis + 1, `${hanging} `, width - 1));
      }
      return `[${parts.join(between)}]`;
    }
    // A row: words wrap at the width, which leaves room for the separator or the bracket that follows.
    const limit = width - Math.max(bare.length, 1);
    let lines = "";
    let line = hanging;
    const add = (word: string, isLast: boolean) => {
      if (line.length + word.length > limit && line.length > hanging.length) {
        lines += `${line.trimEnd()}\n`;
        line = hanging;
      }
      line += isLast ? word : word + separator;
    };
    for (let i = 0; i < count; i++) {
      if (i === gap) add("...", false);
      add(words[next++], i === count - 1);
    }
    return `[${(lines + line).slice(hanging.length)}]`;
  };
  return bracket(0, " ".repeat(indent + 1), lineWidth);
}

/** Every value as a word; the words of one array have one layout. */
function formatElements(values: readonly Scalar[], dtype: DType, precision: number, isScalar: boolean): string[] {
  switch (DTYPES[dtype].kind) {
    case "bool":
      return values.map((value) => (value ? (isScalar ? "true" : " true") : "false"));
    case "int":
    case "uint": {
      const words = values.map(String);
      const width = words.reduce((most, word) => Math.max(most, word.length), 0);
      return words.map((word) => word.padStart(width));
    }
    case "float":
      return formatFloats(values as number[], dtype, precision, false);
    case "complex": {
      const part = realDType(dtype);
      const numbers = values as Complex[];
      const [reals, imaginaries] = [numbers.map(({ re }) => re), numbers.map(({ im }) => im)];
      const re = formatFloats(reals, part, precision, false);
      const im = formatFloats(imaginaries, part, precision, true);
      // The j goes before the spaces that pad the imaginary part.
      return re.map((word, i) => word + im[i].replace(/ *$/, "j$&"));
    }
  }
}

function formatFloats(values: readonly number[], dtype: DType, precision: number, plus: boolean): string[] {
  const sign = (x: number) => (x < 0 || Object.is(x, -0) ? "-" : plus ? "+" : "");
  const split = wantsExponent(values, dtype) ? splitScientific : splitPositional;
  const finite = split(values.filter(Number.isFinite).map(Math.abs), dtype, precision);
  let next = 0;
  const words = values.map((x): [left: string, right: string | undefined] => {
    if (Number.isNaN(x)) return [plus ? "+nan" : "nan", undefined];
    if (!Number.isFinite(x)) return [`${sign(x)}inf`, undefined];
    const [whole, rest] = finite[next++];
    return [sign(x) + whole, rest];
  });
  // Columns align at the decimal point; NaN and infinity align with the last digit.
  const right = finite.length > 0 ? finite[0][1].length : 0;
  const left = words.reduce(
    (most, [word, rest]) => Math.max(most, rest === undefined ? word.length - right - 1 : word.length),
    0,
  );
  return words.map(([word, rest]) => {
    return rest === undefined ? word.padStart(left + 1 + right) : `${word.padStart(left)}.${rest}`;
  });
}

/** As NumPy: when numbers are large or small, or differ by more than a factor of 1000. */
function wantsExponent(values: readonly number[], dtype: DType): boolean {
  const sizes = values.filter((x) => x !== 0 && Number.isFinite(x)).map(Math.abs);
  if (sizes.length === 0) return false;
  const largest = sizes.reduce((a, b) => Math.max(a, b));
  const smallest = sizes.reduce((a, b) => Math.min(a, b));
  return largest >= 1e8 || smallest < roundTo(dtype, 0.0001) || roundTo(dtype, largest / smallest) > 1000;
}

/** Digits before and after the decimal point; the second parts have equal lengths. */
type Split = (sizes: readonly number[], dtype: DType, precision: number) => [whole: string, rest: string][];

const splitPositional: Split = (sizes, dtype, precision) => {
  const parts = sizes.map((size) => positionalDigits(size, dtype, precision));
  const width = Math.max(0, ...parts.map(({ fraction }) => fraction.length));
  return parts.map(({ whole, fraction }) => [whole, fraction.padEnd(width)]);
};

const splitScientific: Split = (sizes, dtype, precision) => {
  const places = Math.max(0, ...sizes.map((size) => scientificPlaces(size, dtype, precision)));
  const parts = sizes.map((size) => scientificDigits(size, dtype, places));
  const width = Math.max(2, ...parts.map(({ exponent }) => String(Math.abs(exponent)).length));
  return parts.map(({ whole, fraction, exponent }) => {
    const power = String(Math.abs(exponent)).padStart(width, "0");
    return [whole, `${fraction}e${exponent < 0 ? "-" : "+"}${power}`];
  });
};
