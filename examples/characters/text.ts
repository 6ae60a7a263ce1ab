/** The text that is learned: any file, or the King James Bible as Debian has it; its characters as numbers, in two parts. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { type Tensor, tensor } from "pumice";

export interface Text {
  /** Characters in order; a number is a place in it. */
  readonly characters: readonly string[];
  /** All but the last twentieth, and that one. [count], i32. */
  readonly training: Tensor;
  readonly heldOut: Tensor;
}

/** The share of the text, at its end, that is never trained on. */
const HELD_OUT = 1 / 20;

/** A file's text or, without a path, the Bible's. */
export function readText(path: string): string {
  if (path !== "") return readFileSync(path, "utf8");
  const { stdout, error } = spawnSync("bible", ["-f", "Genesis1:1-Revelation22:21"], {
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  if (error || stdout.length < 1e6) {
    throw new Error("There is no program `bible`; install it (apt-get install bible-kjv), or give --text and a file.");
  }
  // Each line begins with the place of the verse, as in "Ge1:1", which would be too easy to guess.
  return stdout.replace(/^\S+ /gm, "");
}

export function numbered(text: string): Text {
  const characters = [...new Set(text)].sort();
  const places = new Map(characters.map((character, i) => [character, i]));
  const numbers = Int32Array.from(text, (character) => places.get(character) as number);
  const end = Math.floor(numbers.length * (1 - HELD_OUT));
  return {
    characters,
    training: tensor(numbers.slice(0, end), { dtype: "i32" }),
    heldOut: tensor(numbers.slice(end), { dtype: "i32" }),
  };
}

/** Windows [count, context] and the characters that follow each of theirs, `stride` apart: the whole text in order. */
export function windowsOf(text: Tensor, context: number, stride: number): { readonly x: Tensor; readonly y: Tensor } {
  const count = Math.max(0, Math.floor((text.size - context - 1) / stride) + 1);
  const numbers = text.dataSync() as Int32Array;
  const cut = (from: number): Tensor => {
    const windows = new Int32Array(count * context);
    for (let i = 0; i < count; i++) windows.set(numbers.subarray(i * stride + from).subarray(0, context), i * context);
    return tensor(windows, { dtype: "i32", shape: [count, context] });
  };
  return { x: cut(0), y: cut(1) };
}
