/**
 * JSON as file headers need it, stricter than JSON.parse: a key that comes twice is an error (two readers could take
 * different ones), nesting is bounded, objects are Maps (no key can reach a prototype), text must be well-formed
 * Unicode. safetensors.ts calls this.
 */
import { TextReader } from "./text-reader.js";

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | ReadonlyMap<string, JsonValue>;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these inside strings
const PLAIN_TEXT = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:(["\\/bfnrt])|u([0-9a-fA-F]{4}))/y;
const SIMPLE_ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** The value of a JSON text. */
export const parseStrictJson = (text: string, maxDepth: number, what: string): JsonValue =>
  new JsonReader(text, what, maxDepth).read();

class JsonReader extends TextReader {
  constructor(
    text: string,
    what: string,
    private readonly maxDepth: number,
  ) {
    super(text, what, "JSON header", " \t\r\n");
  }

  read(): JsonValue {
    const value = this.value(0);
    this.end();
    return value;
  }

  private match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found) this.at += found[0].length;
    return found;
  }

  private value(depth: number): JsonValue {
    if (depth > this.maxDepth) return this.fail(`more than ${this.maxDepth} nested values`);
    if (this.take("{")) return this.object(depth);
    if (this.take("[")) return this.array(depth);
    if (this.take('"')) return this.string();
    if (this.take("true")) return true;
    if (this.take("false")) return false;
    if (this.take("null")) return null;
    const number = this.match(NUMBER);
    return number ? Number(number[0]) : this.fail("expected a value");
  }

  private object(depth: number): JsonValue {
    const entries = new Map<string, JsonValue>();
    if (this.take("}")) return entries;
    do {
      if (!this.take('"')) this.fail("expected a key");
      const key = this.string();
      if (entries.has(key)) this.fail(`the key "${key}" comes twice`);
      if (!this.take(":")) this.fail("expected :");
      entries.set(key, this.value(depth + 1));
    } while (this.take(","));
    return this.take("}") ? entries : this.fail("expected , or }");
  }

  private array(depth: number): JsonValue {
    const items: JsonValue[] = [];
    if (this.take("]")) return items;
    do items.push(this.value(depth + 1));
    while (this.take(","));
    return this.take("]") ? items : this.fail("expected , or ]");
  }

  /** After the opening quote. */
  private string(): string {
    let content = "";
    for (;;) {
      content += this.match(PLAIN_TEXT)?.[0] ?? "";
      if (this.text[this.at] === '"') break;
      const [, simple, code] = this.match(ESCAPE) ?? this.fail("a string with a bad escape or without its end");
      content += code ? String.fromCharCode(Number.parseInt(code, 16)) : (SIMPLE_ESCAPES[simple] ?? simple);
    }
    this.at++;
    if (/\p{Surrogate}/u.test(content)) this.fail("half a surrogate pair");
    return content;
  }
}
