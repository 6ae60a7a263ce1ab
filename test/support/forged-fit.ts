/** Saved fits taken apart and put together again with a right checksum: the checksum keeps nobody from changing a file. */
import { createHash } from "node:crypto";

export interface FitFile {
  /** The JSON of the header; `parts` are those below. */
  header: Record<string, unknown>;
  parts: { group: unknown; name: unknown; bytes: Uint8Array }[];
}

const FIRST_LINE = /^pumice fit \d+ [0-9a-f]{64}$/;

export function takeApart(file: Uint8Array): FitFile {
  const bytes = Buffer.from(file);
  const first = bytes.indexOf("\n");
  if (!FIRST_LINE.test(bytes.toString("latin1", 0, first))) throw new Error("not a saved fit");
  const second = bytes.indexOf("\n", first + 1);
  const header = JSON.parse(bytes.toString("utf8", first + 1, second));
  let at = second + 1;
  const parts = header.parts.map(({ group, name, bytes: length }: { group: string; name: string; bytes: number }) => {
    const part = { group, name, bytes: Uint8Array.from(bytes.subarray(at, at + length)) };
    at += length;
    return part;
  });
  return { header, parts };
}

export function putTogether({ header, parts }: FitFile): Buffer {
  const listed = parts.map(({ group, name, bytes }) => ({ group, name, bytes: bytes.byteLength }));
  return signed(
    Buffer.concat([Buffer.from(`${JSON.stringify({ ...header, parts: listed })}\n`), ...parts.map((p) => p.bytes)]),
  );
}

/** Any body under its right checksum. */
export function signed(body: Uint8Array): Buffer {
  const sum = createHash("sha256").update(body).digest("hex");
  return Buffer.concat([Buffer.from(`pumice fit 3 ${sum}\n`), body]);
}

/** A part's bytes, to be changed in place. */
export function partOf(file: FitFile, name: string): Uint8Array {
  const part = file.parts.find((each) => each.name === name);
  if (!part) throw new Error(`no part ${name}`);
  return part.bytes;
}
