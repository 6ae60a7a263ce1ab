/**
 * Reads the Python literals that .npy headers are written in: dicts, tuples, lists, strings, integers, True, False and
 * None. A recursive-descent parser with a bound on nesting; anything else is a FormatError that names the place.
 * npy.ts calls this.
 */
import { TextReader } from "./text-reader.js";

export type PythonLiteral =
  | string
  | number
  | boolean
  | null
  | { readonly kind: "tuple" | "list"; readonly items: readonly PythonLiteral[] }
  | ReadonlyMap<string, PythonLiteral>;

const MAX_DEPTH = 32;

/** The value of a text that is one literal with nothing but white space around it. */
export const parsePythonLiteral = (text: string, what: string): PythonLiteral => new LiteralReader(text, what).read();

class LiteralReader extends TextReader {
  constructor(text: string, what: string) {
    super(text, what, "header", " \t\r\n\f");
  }

  read(): PythonLiteral {
    const value = this.value(0);
    this.end();
    return value;
  }

  private value(depth: number): PythonLiteral {
    if (depth > MAX_DEPTH) return this.fail(`more than ${MAX_DEPTH} nested values`);
    if (this.isNext("{")) return this.dict(depth);
    if (this.isNext("(")) return this.sequence("tuple", "(", ")", depth);
    if (this.isNext("[")) return this.sequence("list", "[", "]", depth);
    if (this.isNext("'") || this.isNext('"')) return this.string();
    return this.atom();
  }

  private dict(depth: number): PythonLiteral {
    const entries = new Map<string, PythonLiteral>();
    this.expect("{");
    while (!this.take("}")) {
      if (!this.isNext("'") && !this.isNext('"')) this.fail("expected a string as the key");
      const key = this.string();
      if (entries.has(key)) this.fail(`the key '${key}' comes twice`);
      this.expect(":");
      entries.set(key, this.value(depth + 1));
      if (!this.isNext("}")) this.expect(",");
    }
    return entries;
  }

  /** In Python (1) is 1 and only (1,) is a tuple. */
  private sequence(kind: "tuple" | "list", open: string, close: string, depth: number): PythonLiteral {
    const items: PythonLiteral[] = [];
    let commas = 0;
    this.expect(open);
    while (!this.take(close)) {
      items.push(this.value(depth + 1));
      if (this.take(",")) commas++;
      else if (!this.isNext(close)) this.fail(`expected , or ${close}`);
    }
    return kind === "tuple" && items.length === 1 && commas === 0 ? items[0] : { kind, items };
  }

  private string(): string {
    const quote = this.text[this.at++];
    let content = "";
    while (this.at < this.text.length && this.text[this.at] !== quote) {
      if (this.text[this.at] === "\n") this.fail("a string ends without its quote");
      content += this.text[this.at] === "\\" ? this.escaped() : this.text[this.at++];
    }
    if (this.at >= this.text.length) this.fail("a string ends without its quote");
    this.at++;
    return content;
  }

  private escaped(): string {
    const [whole, simple, hex2, hex4] = /^\\(?:([\\'"nrt])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))/.exec(
      this.text.slice(this.at, this.at + 6),
    ) ?? [""];
    if (whole === "") this.fail("an escape nobody knows");
    this.at += whole.length;
    if (simple) return { n: "\n", r: "\r", t: "\t" }[simple] ?? simple;
    return String.fromCharCode(Number.parseInt(hex2 ?? hex4, 16));
  }

  private atom(): PythonLiteral {
    this.skipSpace();
    const word = /^[-+\w.]+/.exec(this.text.slice(this.at, this.at + 64))?.[0] ?? "";
    if (word === "True" || word === "False" || word === "None") {
      this.at += word.length;
      return word === "None" ? null : word === "True";
    }
    // Python 2 wrote long integers with an L.
    if (!/^[-+]?\d+L?$/.test(word)) this.fail(`expected a value, not "${this.text.slice(this.at, this.at + 16)}"`);
    this.at += word.length;
    return Number(word.replace("L", ""));
  }
}
