/**
 * Reads the Vulkan registry for the functions in src/engines/vulkan/driver/api.ts: their signatures, and the error codes each
 * may return. Writes error-codes.json. Run by hand when a function is added (Debian: libvulkan-dev has the registry):
 * node test/engines/vulkan/driver/make-error-codes.mjs
 */
import { readFileSync, writeFileSync } from "node:fs";

const REGISTRY = process.env.VULKAN_REGISTRY ?? "/usr/share/vulkan/registry/vk.xml";
const registry = readFileSync(REGISTRY, "utf8");
const api = readFileSync(new URL("../../../../src/engines/vulkan/driver/api.ts", import.meta.url), "utf8");
const names = [...api.matchAll(/^ {2}(vk\w+): "/gm)].map(([, name]) => name);

/** @type {Map<string, number>} */
const codes = new Map();
const core = /<enums name="VkResult"[\s\S]*?<\/enums>/.exec(registry)?.[0] ?? "";
for (const [, value, name] of core.matchAll(/<enum +value="(-?\d+)" +name="(\w+)"/g)) codes.set(name, Number(value));
for (const [, number, body] of registry.matchAll(/<extension name="\w+" number="(\d+)"([\s\S]*?)<\/extension>/g)) {
  for (const [tag] of body.matchAll(/<enum [^>]*extends="VkResult"[^>]*>/g))
    codes.set(...extended(tag, Number(number)));
}
for (const [tag] of registry.matchAll(/<enum [^>]*extends="VkResult"[^>]*extnumber="\d+"[^>]*>/g)) {
  codes.set(...extended(tag, Number(attribute(tag, "extnumber"))));
}

// Names that an extension's code had before it became core.
for (const [tag] of registry.matchAll(/<enum [^>]*extends="VkResult"[^>]*alias="\w+"[^>]*>/g)) {
  codes.set(attribute(tag, "name"), codes.get(attribute(tag, "alias")) ?? 0);
}

/** @param {string} tag @param {string} name */
function attribute(tag, name) {
  return new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? "";
}

/** @param {string} tag @param {number} extension @returns {[string, number]} */
function extended(tag, extension) {
  const own = Number(attribute(tag, "extnumber") || extension);
  const value = 1_000_000_000 + (own - 1) * 1000 + Number(attribute(tag, "offset"));
  return [attribute(tag, "name"), attribute(tag, "dir") === "-" ? -value : value];
}

/** Handles and pointers are 64 bits wide; flags and enumerations 32. @param {string} text */
function widthOf(text) {
  if (text.includes("*")) return "u64";
  const type = /<type>(\w+)<\/type>/.exec(text)?.[1] ?? "void";
  if (type === "void" || type === "VkResult") return type === "void" ? "void" : "i32";
  if (["uint64_t", "size_t", "VkDeviceSize", "VkDeviceAddress", "PFN_vkVoidFunction"].includes(type)) return "u64";
  const isHandle = new RegExp(`<type[^>]*category="handle"[^>]*>.*?<name>${type}</name>`).test(registry);
  return isHandle ? "u64" : "u32";
}

/** @param {string} name @returns {string | undefined} the command's element, aliases resolved */
function command(name) {
  const alias = new RegExp(`<command name="${name}" alias="(\\w+)"`).exec(registry)?.[1];
  const text = new RegExp(`<command[^>]*>\\s*<proto>[^\\n]*<name>${alias ?? name}</name></proto>[\\s\\S]*?</command>`);
  return text.exec(registry)?.[0];
}

/** @type {Record<string, { signature: string, errors: Record<string, number> }>} */
const functions = {};
for (const name of names) {
  const text = command(name);
  if (!text) {
    console.log(`not in this registry: ${name}`);
    continue;
  }
  const proto = /<proto>(.*?)<\/proto>/.exec(text)?.[1] ?? "";
  // Implicit external synchronisation is listed in elements of the same name inside the command; keep direct ones.
  const params = [...text.matchAll(/^ {12}<param[^>]*>(.*?)<\/param>/gm)].map(([, param]) => widthOf(param));
  const errors = (/errorcodes="([^"]*)"/.exec(text)?.[1] ?? "").split(",").filter(Boolean);
  functions[name] = {
    signature: `${widthOf(proto)}: ${params.join(" ")}`,
    errors: Object.fromEntries(errors.map((error) => [error, codes.get(error) ?? 0])),
  };
}
const version = /VK_HEADER_VERSION<\/name> (\d+)/.exec(registry)?.[1];
const output = { registry: `vk.xml of header version ${version}`, functions };
writeFileSync(new URL("error-codes.json", import.meta.url), `${JSON.stringify(output, null, 2)}\n`);
console.log(`${Object.keys(functions).length} functions`);
