/**
 * `npm run test:consumers`: the package as others use it: bundled with a program by vite and webpack, run by Bun and Deno,
 * type-checked by the oldest TypeScript that it supports. These are installed into a temporary folder: nothing else needs
 * them, and they bring a hundred packages.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { prepare, root } from "./prepare.mjs";

const TOOLS = ["vite", "webpack", "bun", "deno", "typescript@5.2"];

prepare();
const folder = mkdtempSync(join(tmpdir(), "pumice-consumers-"));
const binaries = join(folder, "node_modules/.bin");
try {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "consumers", private: true }));
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const installed = spawnSync(npm, ["install", "--no-audit", "--no-fund", ...TOOLS], {
    cwd: folder,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (installed.status !== 0) throw new Error(`Could not install ${TOOLS.join(", ")}.`);
  const { status } = spawnSync(process.execPath, ["--test", "dist/test/consumer/consumer.test.js"], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, PUMICE_CONSUMER_TOOLS: folder, PATH: `${binaries}${delimiter}${process.env.PATH}` },
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
