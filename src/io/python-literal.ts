/**
 * Reads the Python literals that .npy headers are written in: dicts, tuples, lists, strings, integers, True, False and
 * None. A recursive-descent parser with a bound on nesting; anything else is a FormatError that names the place.
 * npy.ts calls this.
 */
import { FormatError } from "../core/errors.js";

export type PythonLiteral =
  | string
  | number
  | boolean
  | null
  | { readonly kind: "tuple" | "list"; readonly items: readonly PythonLiteral[] }
  | ReadonlyMap<string, PythonLiteral>;

const MAX_DEPTH = 32;

/** The value of a text that is one literal with nothing but white space around it. */
export function parsePythonLiteral(text: string, what: string): PythonLiteral {
  let at = 0;

  const fail = (problem: string): never => {
    throw new FormatError(`${what}: ${problem} at character ${at} of the header.`);
  };
  const skipSpace = () => {
    while (at < text.length && " \t\r\n\f".includes(text[at])) at++;
  };
  const isNext = (token: string): boolean => {
    skipSpace();
    return text.startsWith(token, at);
  };
  const take = (token: string): boolean => {
    if (!isNext(token)) return false;
    at += token.length;
    return true;
  };
  const expect = (token: string) => {
    if (!take(token)) fail(`expected ${token}`);
  };

  function value(depth: number): PythonLiteral {
    if (depth > MAX_DEPTH) return fail(`more than ${MAX_DEPTH} nested values`);
    if (isNext("{")) return dict(depth);
    if (isNext("(")) return sequence("tuple", "(", ")", depth);
    if (isNext("[")) return sequence("list", "[", "]", depth);
    if (isNext("'") || isNext('"')) return string();
    return atom();
  }

  function dict(depth: number): PythonLiteral {
    const entries = new Map<string, PythonLiteral>();
    expect("{");
    while (!take("}")) {
      if (!isNext("'") && !isNext('"')) fail("expected a string as the key");
      const key = string();
      if (entries.has(key)) fail(`the key '${key}' comes twice`);
      expect(":");
      entries.set(key, value(depth + 1));
      if (!isNext("}")) expect(",");
    }
    return entries;
  }

  /** In Python (1) is 1 and only (1,) is a tuple. */
  function sequence(kind: "tuple" | "list", open: string, close: string, depth: number): PythonLiteral {
    const items: PythonLiteral[] = [];
    let commas = 0;
    expect(open);
    while (!take(close)) {
      items.push(value(depth + 1));
      if (take(",")) commas++;
      else if (!isNext(close)) fail(`expected , or ${close}`);
    }
    return kind === "tuple" && items.length === 1 && commas === 0 ? items[0] : { kind, items };
  }

  function string(): string {
    const quote = text[at++];
    let content = "";
    while (at < text.length && text[at] !== quote) {
      if (text[at] === "\n") fail("a string ends without its quote");
      content += text[at] === "\\" ? escaped() : text[at++];
    }
    if (at >= text.length) fail("a string ends without its quote");
    at++;
    return content;
  }

  function escaped(): string {
    const [whole, simple, hex2, hex4] = /^\\(?:([\\'"nrt])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))/.exec(
      text.slice(at, at + 6),
    ) ?? [""];
    if (whole === "") fail("an escape nobody knows");
    at += whole.length;
    if (simple) return { n: "\n", r: "\r", t: "\t" }[simple] ?? simple;
    return String.fromCharCode(Number.parseInt(hex2 ?? hex4, 16));
  }

  function atom(): PythonLiteral {
    skipSpace();
    const word = /^[-+\w.]+/.exec(text.slice(at, at + 64))?.[0] ?? "";
    if (word === "True" || word === "False" || word === "None") {
      at += word.length;
      return word === "None" ? null : word === "True";
    }
    // Python 2 wrote long integers with an L.
    if (!/^[-+]?\d+L?$/.test(word)) fail(`expected a value, not "${text.slice(at, at + 16)}"`);
    at += word.length;
    return Number(word.replace("L", ""));
  }

  const result = value(0);
  skipSpace();
  if (at < text.length) fail("something follows the value");
  return result;
}
