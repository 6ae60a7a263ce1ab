/**
 * JSON as file headers need it, stricter than JSON.parse: a key that comes twice is an error (two readers could take
 * different ones), nesting is bounded, objects are Maps (no key can reach a prototype), text must be well-formed
 * Unicode. safetensors.ts calls this.
 */
import { FormatError } from "../core/errors.js";

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | ReadonlyMap<string, JsonValue>;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these inside strings
const PLAIN_TEXT = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:(["\\/bfnrt])|u([0-9a-fA-F]{4}))/y;
const SIMPLE_ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** The value of a JSON text. */
export function parseStrictJson(text: string, maxDepth: number, what: string): JsonValue {
  let at = 0;

  const fail = (problem: string): never => {
    throw new FormatError(`${what}: ${problem} at character ${at} of the JSON header.`);
  };
  const skipSpace = () => {
    while (at < text.length && " \t\r\n".includes(text[at])) at++;
  };
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at += found[0].length;
    return found;
  };
  const take = (token: string): boolean => {
    skipSpace();
    if (!text.startsWith(token, at)) return false;
    at += token.length;
    return true;
  };

  function value(depth: number): JsonValue {
    if (depth > maxDepth) return fail(`more than ${maxDepth} nested values`);
    if (take("{")) return object(depth);
    if (take("[")) return array(depth);
    if (take('"')) return string();
    if (take("true")) return true;
    if (take("false")) return false;
    if (take("null")) return null;
    const number = match(NUMBER);
    return number ? Number(number[0]) : fail("expected a value");
  }

  function object(depth: number): JsonValue {
    const entries = new Map<string, JsonValue>();
    if (take("}")) return entries;
    do {
      if (!take('"')) fail("expected a key");
      const key = string();
      if (entries.has(key)) fail(`the key "${key}" comes twice`);
      if (!take(":")) fail("expected :");
      entries.set(key, value(depth + 1));
    } while (take(","));
    return take("}") ? entries : fail("expected , or }");
  }

  function array(depth: number): JsonValue {
    const items: JsonValue[] = [];
    if (take("]")) return items;
    do items.push(value(depth + 1));
    while (take(","));
    return take("]") ? items : fail("expected , or ]");
  }

  /** After the opening quote. */
  function string(): string {
    let content = "";
    for (;;) {
      content += match(PLAIN_TEXT)?.[0] ?? "";
      if (text[at] === '"') break;
      const [, simple, code] = match(ESCAPE) ?? fail("a string with a bad escape or without its end");
      content += code ? String.fromCharCode(Number.parseInt(code, 16)) : (SIMPLE_ESCAPES[simple] ?? simple);
    }
    at++;
    if (/\p{Surrogate}/u.test(content)) fail("half a surrogate pair");
    return content;
  }

  const result = value(0);
  skipSpace();
  if (at < text.length) fail("something follows the value");
  return result;
}
