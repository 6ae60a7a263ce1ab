/** Struct layouts against a C compiler's, and the packing and reading of structs against plain DataViews. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as layouts from "../../../../src/engines/vulkan/driver/layouts.js";
import { viewOf } from "../../../../src/engines/vulkan/driver/native.js";
import { Arena, type Layout, layout } from "../../../../src/engines/vulkan/driver/structs.js";
import reference from "./struct-offsets.json" with { type: "json" };

const scalarBytes = { u8: 1, i32: 4, u32: 4, f32: 4, u64: 8 };
type Reference = { size: number; sType?: number; members: Record<string, string> };
const structs = reference.structs as unknown as Record<string, Reference>;

const exported = Object.entries(layouts).filter((entry): entry is [string, Layout] => entry[0].startsWith("Vk"));
/** Newer than the header of the machine the offsets come from; their sizes are computed by hand below. */
const TOO_NEW = ["VkCooperativeMatrixPropertiesKHR"];

function assertSame(name: string, ours: Layout, c: Reference): void {
  assert.equal(ours.size, c.size, `size of ${name}`);
  assert.equal(ours.sType, c.sType, `structure type of ${name}`);
  const expected = Object.entries(c.members);
  const fields = [...ours.fields];
  assert.equal(fields.length, expected.length, `number of members of ${name}`);
  fields.forEach(([field, { type, offset, count }], i) => {
    const [path, place] = expected[i] as [string, string];
    assert.equal(`${offset}+${count * scalarBytes[type]}`, place, `${name}.${field}, which is ${path} in C`);
    const plain = path.replace(
      /^stage\.(sType|pNext|flags)$/,
      (_, m: string) => ({ sType: "stageSType", pNext: "stageNext", flags: "stageFlags" })[m] ?? m,
    );
    assert.equal(field, plain.split(".").at(-1), `${name}: members are in the header's order`);
  });
}

for (const [name, ours] of exported) {
  if (TOO_NEW.includes(name)) continue;
  test(`${name} is laid out as C lays it out`, () => {
    const c = structs[name];
    assert.ok(c, `${name} is not in struct-offsets.json: run make-struct-offsets.mjs`);
    assertSame(name, ours, c);
  });
}

test("the feature structs of extensions are those of the header, found by their structure types", () => {
  const byType = new Map(Object.entries(structs).map(([name, c]) => [c.sType, { name, c }]));
  let compared = 0;
  for (const { extension, layout: ours } of layouts.extensionFeatures) {
    const found = byType.get(ours.sType);
    if (!found) {
      assert.ok(
        ["VK_KHR_cooperative_matrix", "VK_KHR_shader_bfloat16"].includes(extension),
        `no struct for ${extension}`,
      );
      continue;
    }
    assert.match(found.name, /^VkPhysicalDevice.*Features/);
    assertSame(found.name, ours, found.c);
    compared++;
  }
  assert.ok(compared >= 5);
});

test("structs newer than the header have the size that their members add up to", () => {
  assert.equal(layouts.VkCooperativeMatrixPropertiesKHR.size, 56); // 16 + 9 × 4, rounded to 8
  assert.equal(layouts.VkCooperativeMatrixPropertiesKHR.fields.get("MSize")?.offset, 16);
  assert.equal(layouts.VkCooperativeMatrixPropertiesKHR.fields.get("scope")?.offset, 48);
});

test("no two structs share a structure type", () => {
  const types = [...exported.map(([, ours]) => ours), ...layouts.extensionFeatures.map((f) => f.layout)]
    .map((ours) => ours.sType)
    .filter((sType) => sType !== undefined);
  assert.equal(new Set(types).size, types.length);
});

test("C's alignment rules: padding before, between and after members", () => {
  const mixed = layout(undefined, "a:u8 b:u32 c:u8[3] d:u64 e:u8");
  assert.deepEqual(
    [...mixed.fields].map(([name, { offset }]) => `${name}${offset}`),
    ["a0", "b4", "c8", "d16", "e24"],
  );
  assert.equal(mixed.size, 32);
  assert.equal(layout(undefined, "a:u8").size, 1);
  assert.equal(layout(7, "").size, 16);
});

test("a layout that cannot be read is refused", () => {
  assert.throws(() => layout(undefined, "a:u33"), /cannot read member "a:u33"/);
  assert.throws(() => layout(undefined, "a"), /cannot read member/);
});

test("what is packed is read back: every scalar type, arrays, 64-bit values beyond 2^53", () => {
  const shape = layout(42, "a:u8 b:i32 c:u32 d:f32 e:u64 f:u64 g:u32[3]");
  const arena = new Arena(4096);
  const at = arena.pack(
    shape,
    { a: 255, b: -5, c: 4294967295, d: 0.5, e: 2 ** 52 + 1, f: 0xfedcba9876543210n, g: [1, 2, 3] },
    0x1234,
  );
  assert.equal(arena.get(shape, at, "sType"), 42);
  assert.equal(arena.get(shape, at, "pNext"), 0x1234);
  assert.equal(arena.get(shape, at, "a"), 255);
  assert.equal(arena.get(shape, at, "b"), -5);
  assert.equal(arena.get(shape, at, "c"), 4294967295);
  assert.equal(arena.get(shape, at, "d"), 0.5);
  assert.equal(arena.get(shape, at, "e"), 2 ** 52 + 1);
  assert.equal(arena.get(shape, at, "f"), 0xfedcba9876543210n);
  assert.deepEqual(
    [0, 1, 2].map((i) => arena.get(shape, at, "g", i)),
    [1, 2, 3],
  );
  assert.throws(() => arena.pack(shape, { typo: 1 }), /no member typo/);
  assert.throws(() => arena.get(shape, at, "typo"), /no member typo/);
});

test("an arena's room is zeroed again after a reset, aligned to 16 bytes, and ends with an error", () => {
  const arena = new Arena(256);
  const first = arena.room(100);
  assert.equal(first % 16, 0);
  new Uint8Array(viewOf(first, 100)).fill(7);
  arena.reset();
  const again = arena.room(100);
  assert.equal(again, first);
  assert.ok(arena.bytesAt(again, 100).every((byte) => byte === 0));
  assert.equal((arena.room(1) - again) % 16, 0);
  assert.throws(() => arena.room(1000), /arena full/);
});

test("addresses are real: memory seen through them is what was packed", () => {
  const arena = new Arena(1024);
  const text = arena.cString("grüße");
  const raw = new Uint8Array(viewOf(text, 8));
  assert.deepEqual([...raw], [...Buffer.from("grüße", "utf8"), 0]);
  const list = arena.u64s([1, 2n ** 63n]);
  const view = new DataView(viewOf(list, 16));
  assert.equal(view.getBigUint64(0, true), 1n);
  assert.equal(view.getBigUint64(8, true), 2n ** 63n);
  assert.equal(arena.handle(list + 8), 2n ** 63n);
  const items = arena.packArray(layouts.VkBufferCopy, [
    { srcOffset: 1, size: 2 },
    { srcOffset: 3, size: 4 },
  ]);
  assert.equal(arena.get(layouts.VkBufferCopy, items + layouts.VkBufferCopy.size, "srcOffset"), 3);
});

test("text members end at their NUL, or fill their array", () => {
  const shape = layout(undefined, "name:u8[4]");
  const arena = new Arena(256);
  assert.equal(arena.text(shape, arena.pack(shape, { name: [65, 66, 0, 67] }), "name"), "AB");
  assert.equal(arena.text(shape, arena.pack(shape, { name: [65, 66, 67, 68] }), "name"), "ABCD");
});
