/**
 * A growing run of SPIR-V words, the form in which every section of a module is built.
 *
 * An instruction is one word (word count << 16 | opcode) and its operands. Fixed-length instructions have a method per
 * length, because the assembler writes thousands of them and a rest parameter would allocate for each; the others are
 * written between `open` and `close`, which fills in the count.
 */
import { ArgumentError } from "../core/errors.js";

const encoder = new TextEncoder();

export class WordStream {
  length = 0;
  private words = new Uint32Array(32);

  /** The words written so far; a view, valid until the next write. */
  view(): Uint32Array {
    return this.words.subarray(0, this.length);
  }

  push(word: number): void {
    if (this.length === this.words.length) this.grow(1);
    this.words[this.length++] = word;
  }

  append(other: WordStream): void {
    this.grow(other.length);
    this.words.set(other.view(), this.length);
    this.length += other.length;
  }

  /** Starts an instruction of unknown length; returns the mark that `close` takes. */
  open(opcode: number): number {
    this.push(opcode);
    return this.length - 1;
  }

  close(mark: number): void {
    const count = this.length - mark;
    if (count > 0xffff) {
      throw new ArgumentError(
        `instruction ${this.words[mark]} has ${count} words; SPIR-V allows 65535. Split the operand list.`,
      );
    }
    this.words[mark] |= count << 16;
  }

  op0(opcode: number): void {
    this.push((1 << 16) | opcode);
  }

  op1(opcode: number, a: number): void {
    this.grow(2);
    this.words[this.length++] = (2 << 16) | opcode;
    this.words[this.length++] = a;
  }

  op2(opcode: number, a: number, b: number): void {
    this.grow(3);
    this.words[this.length++] = (3 << 16) | opcode;
    this.words[this.length++] = a;
    this.words[this.length++] = b;
  }

  op3(opcode: number, a: number, b: number, c: number): void {
    this.grow(4);
    this.words[this.length++] = (4 << 16) | opcode;
    this.words[this.length++] = a;
    this.words[this.length++] = b;
    this.words[this.length++] = c;
  }

  op4(opcode: number, a: number, b: number, c: number, d: number): void {
    this.grow(5);
    this.words[this.length++] = (5 << 16) | opcode;
    this.words[this.length++] = a;
    this.words[this.length++] = b;
    this.words[this.length++] = c;
    this.words[this.length++] = d;
  }

  op5(opcode: number, a: number, b: number, c: number, d: number, e: number): void {
    this.grow(6);
    this.words[this.length++] = (6 << 16) | opcode;
    this.words[this.length++] = a;
    this.words[this.length++] = b;
    this.words[this.length++] = c;
    this.words[this.length++] = d;
    this.words[this.length++] = e;
  }

  /** A string operand: UTF-8, at least one NUL, padded to a word, first character in the lowest byte. */
  string(text: string): void {
    if (text.includes("\0")) throw new ArgumentError(`a SPIR-V string cannot hold a NUL: ${JSON.stringify(text)}`);
    const bytes = encoder.encode(text);
    const count = (bytes.length >> 2) + 1;
    for (let w = 0; w < count; w++) {
      const i = w * 4;
      this.push(
        (bytes[i] ?? 0) | ((bytes[i + 1] ?? 0) << 8) | ((bytes[i + 2] ?? 0) << 16) | ((bytes[i + 3] ?? 0) << 24),
      );
    }
  }

  private grow(extra: number): void {
    const needed = this.length + extra;
    if (needed <= this.words.length) return;
    const larger = new Uint32Array(Math.max(needed, this.words.length * 2));
    larger.set(this.words.subarray(0, this.length));
    this.words = larger;
  }
}
