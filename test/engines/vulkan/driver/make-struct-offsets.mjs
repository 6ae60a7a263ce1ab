/**
 * Asks a C compiler for the sizes and offsets of the Vulkan structs that src/engines/vulkan/driver/layouts.ts describes, and
 * writes them to struct-offsets.json. Run by hand when a layout is added (needs gcc and the Vulkan headers, Debian:
 * libvulkan-dev): node test/engines/vulkan/driver/make-struct-offsets.mjs
 *
 * The members come from the header's own text, not from our table. Nested structs are laid out flat, as `a.b`; arrays
 * of structs are one entry. Structs newer than the installed header are left out.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const HEADER = process.env.VULKAN_HEADER ?? "/usr/include/vulkan/vulkan_core.h";
const layouts = readFileSync(new URL("../../../../src/engines/vulkan/driver/layouts.ts", import.meta.url), "utf8");
const header = readFileSync(HEADER, "utf8");

/** @type {Map<string, { type: string, name: string, isArray: boolean }[]>} */
const structs = new Map();
for (const [, name, body] of header.matchAll(/typedef struct (Vk\w+) \{([^}]*)\}/g)) {
  const members = [...body.matchAll(/^\s*(.+?)\s*(\w+)((?:\[\w+\])*);/gm)].map(([, type, member, array]) => ({
    type,
    name: member,
    isArray: array !== "",
  }));
  structs.set(name, members);
}

/**
 * @param {string} struct
 * @param {string} prefix
 * @returns {string[]} the paths of all scalar members, in order
 */
function leaves(struct, prefix = "") {
  return (structs.get(struct) ?? []).flatMap(({ type, name, isArray }) =>
    structs.has(type) && !isArray ? leaves(type, `${prefix}${name}.`) : [prefix + name],
  );
}

const named = new Set([...layouts.matchAll(/export const (Vk\w+)/g)].map(([, name]) => name));
// Feature structs of extensions stand in a table without names; their structure types are found out by the compiler.
const numbers = new Set([...layouts.matchAll(/features\(\s*(\d+)/g)].map(([, number]) => number));

/** @param {string} text @returns {string} what the C program prints */
function runC(text) {
  const folder = mkdtempSync(join(tmpdir(), "pumice-structs-"));
  try {
    writeFileSync(join(folder, "a.c"), text);
    execFileSync("gcc", ["-o", join(folder, "a"), join(folder, "a.c")], { stdio: "inherit" });
    return execFileSync(join(folder, "a"), { encoding: "utf8", maxBuffer: 2 ** 26 });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const types = new Set([...header.matchAll(/^ +(VK_STRUCTURE_TYPE_\w+) =/gm)].map(([, name]) => name));
/** @param {string} struct VkFooBar2KHR → VK_STRUCTURE_TYPE_FOO_BAR_2_KHR */
function structureType(struct) {
  const plain = (/** @type {string} */ text) => text.replaceAll("_", "").toUpperCase();
  return [...types].find((type) => plain(type) === plain(`VK_STRUCTURE_TYPE_${struct.slice(2)}`));
}

const candidates = [...structs.keys()].filter((name) => named.has(name) || /^VkPhysicalDevice.*Features/.test(name));
const lines = candidates.flatMap((struct) => {
  const sType = structs.get(struct)?.[0]?.name === "sType" ? structureType(struct) : undefined;
  return [
    `printf("${struct} %zu %d\\n", sizeof(${struct}), ${sType ?? -1});`,
    ...leaves(struct).map(
      (path) => `printf(" ${path} %zu %zu\\n", offsetof(${struct}, ${path}), sizeof(x_${struct}.${path}));`,
    ),
  ];
});
const printed = runC(`#include <stdio.h>
#include <stddef.h>
#include "${HEADER}"
${candidates.map((struct) => `static ${struct} x_${struct};`).join("\n")}
int main(void) {
${lines.join("\n")}
}`);

/** @type {Record<string, { size: number, sType?: number, members: Record<string, string> }>} */
const result = {};
let current = "";
for (const line of printed.trimEnd().split("\n")) {
  const [name, a, b] = line.trim().split(" ");
  if (line.startsWith(" ")) {
    if (result[current]) result[current].members[name] = `${a}+${b}`;
    continue;
  }
  current = name;
  if (named.has(name) || numbers.has(b)) {
    result[name] = { size: Number(a), ...(b === "-1" ? {} : { sType: Number(b) }), members: {} };
  }
}
const version = /VK_HEADER_VERSION (\d+)/.exec(header)?.[1];
const output = { header: `Vulkan-Headers 1.3.${version}`, structs: result };
writeFileSync(new URL("struct-offsets.json", import.meta.url), `${JSON.stringify(output, null, 2)}\n`);
console.log(`${Object.keys(result).length} structs, header version ${version}`);
for (const name of named) if (!result[name]) console.log(`not in this header: ${name}`);
