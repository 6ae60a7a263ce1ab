/** The fingerprint of the compiler: programs that another compiler made are not read. */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { KERNEL_LANGUAGES } from "../../../src/core/encoded-kernel.js";
import { hashFiles } from "../../../src/engines/disk/fingerprint.js";

const root = mkdtempSync(join(tmpdir(), "pumice-fingerprint-"));
after(() => rmSync(root, { recursive: true }));
let folders = 0;
const newFolder = (): string => join(root, String(folders++));

test("another compiler has another fingerprint; one that changed while it ran, or was bundled, has none", () => {
  const copy = newFolder();
  const sources = fileURLToPath(new URL("../../../src", import.meta.url));
  for (const folder of ["core", "graph", ...KERNEL_LANGUAGES, "compiler", "runtime", "engines"]) {
    cpSync(join(sources, folder), join(copy, folder), { recursive: true });
  }
  const own = pathToFileURL(join(copy, "engines", "disk", "fingerprint.js")).href;
  const later = Date.now() + 10_000;
  const first = hashFiles(own, later);
  assert.match(String(first), /^[0-9a-f]{64}$/);
  assert.equal(hashFiles(own, later), first);
  assert.equal(
    hashFiles(new URL("../../../src/engines/disk/fingerprint.js", import.meta.url).href, later),
    first,
    "wherever it lies",
  );
  const changed = join(copy, "compiler", "math", "power.js");
  writeFileSync(changed, `${readFileSync(changed, "utf8")}\n`);
  const second = hashFiles(own, later);
  assert.notEqual(second, first);
  writeFileSync(join(copy, "graph", "new.js"), "");
  assert.notEqual(hashFiles(own, later), second);
  assert.equal(hashFiles(own, statSync(changed).ctimeMs - 1000), null);
  assert.equal(hashFiles(pathToFileURL(join(copy, "bundle.js")).href, later), null);
  rmSync(join(copy, "graph"), { recursive: true });
  assert.equal(hashFiles(own, later), null);
});
