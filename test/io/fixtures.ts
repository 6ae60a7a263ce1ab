/** The files that NumPy wrote (make-fixtures.py) and what they hold. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { DType } from "../../src/core/dtype.js";
import type { RawTensor } from "../../src/io/raw-tensor.js";

interface Described {
  readonly dtype: DType;
  readonly shape: number[];
  /** Base64. */
  readonly bytes: string;
}

export interface NpyFixture extends Described {
  readonly fortranOrder: boolean;
  /** Written as Pumice would write it. */
  readonly canonical?: boolean;
}

const folder = new URL("../../../test/io/fixtures/", import.meta.url);

export function fixturePath(name: string): string {
  return fileURLToPath(new URL(name, folder));
}

export function fixture(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(name, folder)));
}

const expected: Record<string, NpyFixture & { members?: Record<string, Described> }> = JSON.parse(
  readFileSync(new URL("expected.json", folder), "utf8"),
);

/** The .npy files, by name. */
export const npyFixtures: [name: string, what: NpyFixture][] = Object.entries(expected).filter(([name]) =>
  name.endsWith(".npy"),
);

export function rawTensor({ dtype, shape, bytes }: Described): RawTensor {
  return { dtype, shape, bytes: new Uint8Array(Buffer.from(bytes, "base64")) };
}

/** What an archive holds, by name. */
export function membersOf(name: string): Map<string, RawTensor> {
  return new Map(Object.entries(expected[name].members ?? {}).map(([key, value]) => [key, rawTensor(value)]));
}

/** Only what a RawTensor has, with the bytes in an array of their own, for comparison. */
export function plain({ dtype, shape, bytes }: RawTensor): RawTensor {
  return { dtype, shape: [...shape], bytes: new Uint8Array(bytes) };
}
