/** The table of device kinds: what it needs besides an emitter and an engine, and that names and order are what users see. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { KERNEL_LANGUAGES } from "../../src/core/encoded-kernel.js";
import { devices } from "../../src/index.js";
import { DEVICE_KINDS } from "../../src/runtime/device-kinds.js";

const foldersIn = (path: string): string[] =>
  readdirSync(fileURLToPath(new URL(`../../src/${path}`, import.meta.url)), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

test("every language of kernels has an assembler, an emitter and a kind of device", () => {
  const languages = [...KERNEL_LANGUAGES].sort();
  assert.deepEqual(foldersIn("compiler/emit").sort(), languages);
  for (const language of languages) assert.ok(foldersIn(".").includes(language), language);
  assert.deepEqual(DEVICE_KINDS.map(({ language }) => language).sort(), languages);
});

test("a device of each kind compiles to the language of its entry", () => {
  for (const kind of DEVICE_KINDS) {
    const [device] = kind.list().filter(({ refusal }) => refusal === null);
    if (!device) continue;
    const id = kind.isNumbered ? `${kind.name}:${device.index}` : kind.name;
    assert.ok(devices().includes(id), id);
    const backend = kind.open(id, device.index);
    assert.deepEqual([backend.id, backend.target.language], [id, kind.language]);
  }
});
