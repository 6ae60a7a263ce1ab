/** NumPy itself reads what Pumice writes, where it happens to be installed; the fixtures are read everywhere. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { tensorBytes } from "../../src/core/bytes.js";
import { DTYPE_NAMES, DTYPES, isPacked } from "../../src/core/dtype.js";
import { unpackIntegers } from "../../src/core/packed.js";
import { sizeOf } from "../../src/core/shape.js";
import { viewBytes } from "../../src/core/storage.js";
import { encodeNpy } from "../../src/io/npy.js";
import { encodeNpz } from "../../src/io/npz.js";
import type { RawTensor } from "../../src/io/raw-tensor.js";
import { randomFrom } from "../support/random.js";

const python = (program: string, ...args: string[]) =>
  spawnSync("python3", ["-c", program, ...args], { encoding: "utf8" });
const skip = python("import numpy").status !== 0 && "NumPy is not installed here";

const folder = mkdtempSync(join(tmpdir(), "pumice-"));
after(() => rmSync(folder, { recursive: true }));

const random = randomFrom(3);
// NumPy reads <f1, f8e5m2, only where ml_dtypes is imported.
const tensors = new Map<string, RawTensor>(
  DTYPE_NAMES.filter((dtype) => dtype !== "f8e5m2").flatMap((dtype) =>
    [[2, 3], [], [0, 4], [5]].map((shape): [string, RawTensor] => {
      const size = shape.reduce((product, length) => product * length, 1);
      const bytes =
        dtype === "bool" ? random.bytes(size).map((byte) => byte & 1) : random.bytes(tensorBytes({ shape, dtype }));
      return [`${dtype}-${shape.join("x")}`, { dtype, shape, bytes }];
    }),
  ),
);

/** What NumPy found: type string, shape and bytes of every array. */
const SHOW = `
import json, sys, numpy as np
show = lambda a: [a.dtype.str, list(a.shape), a.tobytes().hex()]
path = sys.argv[1]
loaded = np.load(path)
print(json.dumps({key: show(loaded[key]) for key in loaded.files} if path.endswith("npz") else show(loaded)))
`;

function expected({ dtype, shape, bytes }: RawTensor) {
  const { numpy } = DTYPES[dtype];
  const elements = isPacked(dtype) ? viewBytes(unpackIntegers(bytes, dtype, sizeOf(shape))) : bytes;
  return [numpy.replace("<V", "|V"), shape, Buffer.from(elements).toString("hex")];
}

test("npy", { skip }, () => {
  for (const name of ["f32-2x3", "c128-", "bf16-5", "i64-0x4", "f8e4m3-2x3", "i4-5"]) {
    const path = join(folder, `${name}.npy`);
    const tensor = tensors.get(name) as RawTensor;
    writeFileSync(path, encodeNpy(tensor));
    const { stdout, stderr } = python(SHOW, path);
    assert.deepEqual(JSON.parse(stdout || "null"), expected(tensor), stderr);
  }
});

for (const compress of [false, true]) {
  for (const zip64 of ["auto", "always"] as const) {
    test(`npz, ${compress ? "deflated" : "stored"}, zip64 ${zip64}`, { skip }, () => {
      const path = join(folder, `${compress}-${zip64}.npz`);
      writeFileSync(path, encodeNpz(tensors, { compress, zip64 }));
      const { stdout, stderr } = python(SHOW, path);
      const entries = [...tensors].map(([name, tensor]) => [name, expected(tensor)]);
      assert.deepEqual(JSON.parse(stdout || "null"), Object.fromEntries(entries), stderr);
    });
  }
}
