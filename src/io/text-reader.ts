/**
 * A text that is read from left to right, token by token: the part that the parsers of file headers share
 * (python-literal.ts, strict-json.ts).
 */
import { FormatError } from "../core/errors.js";

export class TextReader {
  protected at = 0;

  /** `what`: the file, and `part`: the part of it, for error messages. `space`: the characters between tokens. */
  constructor(
    protected readonly text: string,
    private readonly what: string,
    private readonly part: string,
    private readonly space: string,
  ) {}

  protected fail(problem: string): never {
    throw new FormatError(`${this.what}: ${problem} at character ${this.at} of the ${this.part}.`);
  }

  protected skipSpace(): void {
    while (this.at < this.text.length && this.space.includes(this.text[this.at])) this.at++;
  }

  protected isNext(token: string): boolean {
    this.skipSpace();
    return this.text.startsWith(token, this.at);
  }

  /** Goes past a token; false if something else comes next. */
  protected take(token: string): boolean {
    if (!this.isNext(token)) return false;
    this.at += token.length;
    return true;
  }

  protected expect(token: string): void {
    if (!this.take(token)) this.fail(`expected ${token}`);
  }

  /** Throws if more than white space is left. */
  protected end(): void {
    this.skipSpace();
    if (this.at < this.text.length) this.fail("something follows the value");
  }
}
