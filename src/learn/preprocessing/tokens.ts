/** Texts as terms: words or characters, and stretches of several of them, by the rules of scikit-learn's vectorisers. */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isTensor } from "../../tensor/index.js";
import { type Samples, withoutArrow } from "../core/samples.js";
import { Table } from "../tables/table.js";

/** Options of everything that cuts texts into terms. */
export interface TermOptions {
  /** "word" unless told; "char": characters; "charWithin": characters of one word, with a space at its ends. */
  readonly analyzer?: "word" | "char" | "charWithin";
  /** The shortest and the longest stretch that is a term: [1, 1] unless told. */
  readonly ngramRange?: readonly [number, number];
  /** True unless told: capital letters count as small ones. */
  readonly lowercase?: boolean;
  /** Words that are left out. */
  readonly stopWords?: readonly string[];
  /** A regular expression of words: two letters or digits at least, unless told. */
  readonly tokenPattern?: string;
}

/** Letters, digits and underscores of all scripts, two at least. */
const WORDS = "[\\p{L}\\p{N}_]{2,}";

/** The kinds of the options, for tables of definitions. */
export const TERM_OPTIONS = {
  analyzer: "text",
  ngramRange: "list",
  lowercase: "flag",
  stopWords: "any",
  tokenPattern: "text",
} as const;

/** Throws on options that make no sense. */
export function checkTerms(kind: string, { analyzer, ngramRange = [1, 1], tokenPattern = WORDS }: TermOptions): void {
  checkChoice(kind, "analyzer", analyzer, ["word", "char", "charWithin"]);
  const [least, most] = ngramRange;
  if (ngramRange.length !== 2 || !ngramRange.every(Number.isSafeInteger) || least < 1 || least > most) {
    throw new ArgumentError(
      `${kind}: ngramRange is ${shown(ngramRange)}; it is two numbers from 1 on, the smaller first.`,
    );
  }
  try {
    new RegExp(tokenPattern, "gu");
  } catch (error) {
    throw new ArgumentError(`${kind}: tokenPattern is ${shown(tokenPattern)}: ${(error as Error).message}`);
  }
}

/** Texts of samples: a list, or a table with one column of text. A missing text is empty. */
export function textsOf(operation: string, given: Samples): readonly string[] {
  const samples = withoutArrow(given);
  if (samples instanceof Table) {
    const [name, ...others] = samples.names;
    if (name !== undefined && others.length === 0 && samples.column(name).kind === "category") {
      return samples.cells(name).map((cell) => (cell ?? "") as string);
    }
    throw new ArgumentError(`${operation}: takes one column of text, and the table has ${samples.names.join(", ")}.`);
  }
  const texts = samples as readonly unknown[];
  if (!isTensor(samples) && Array.isArray(texts) && texts.every((text) => typeof text === "string" || text === null)) {
    return texts.map((text) => (text ?? "") as string);
  }
  throw new ArgumentError(
    `${operation}: takes a list of texts, or a table with one column of text, not ${shown(given)}.`,
  );
}

/** The terms of a text, in their order. */
export function termsOf(text: string, options: TermOptions): readonly string[] {
  const { analyzer = "word", ngramRange = [1, 1], lowercase = true, stopWords = [], tokenPattern = WORDS } = options;
  const read = lowercase ? text.toLowerCase() : text;
  if (analyzer === "word") {
    const stopped = new Set(stopWords);
    const words = (read.match(new RegExp(tokenPattern, "gu")) ?? []).filter((word) => !stopped.has(word));
    return stretches(words, ngramRange, " ");
  }
  if (analyzer === "char") return stretches([...read.replace(/\s\s+/gu, " ")], ngramRange, "");
  return read
    .split(/\s+/u)
    .filter((word) => word !== "")
    .flatMap((word) => withinWord([" ", ...word, " "], ngramRange));
}

/** All stretches of some lengths, the short ones first. */
function stretches(parts: readonly string[], [least, most]: readonly [number, number], between: string): string[] {
  const found: string[] = [];
  for (let length = least; length <= Math.min(most, parts.length); length++) {
    for (let start = 0; start + length <= parts.length; start++) {
      found.push(length === 1 ? (parts[start] as string) : parts.slice(start, start + length).join(between));
    }
  }
  return found;
}

/** Stretches of a word. One that is shorter than a stretch counts once, as a whole. */
function withinWord(word: readonly string[], [least, most]: readonly [number, number]): string[] {
  const found: string[] = [];
  for (let length = least; length <= most; length++) {
    found.push(...stretches(word, [Math.min(length, word.length), Math.min(length, word.length)], ""));
    if (length >= word.length) break;
  }
  return found;
}
