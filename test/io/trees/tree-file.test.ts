/** Trees in files: what goes in comes out, whatever the keys; files that lie are refused. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { DTYPE_NAMES, isPacked } from "../../../src/core/dtype.js";
import { ArgumentError, FormatError } from "../../../src/core/errors.js";
import { io, type Tensor, tensor } from "../../../src/index.js";
import { readTree, writeTree } from "../../../src/io/trees/tree-file.js";
import type { TensorTree } from "../../../src/io/trees/tree-form.js";
import { isTensor } from "../../../src/tensor/index.js";
import { temporaryFolders } from "../../support/temporary-folder.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

const newFolder = temporaryFolders();

/** A tree with dtype, shape and bytes in the place of tensors. */
async function plain(tree: TensorTree): Promise<unknown> {
  if (isTensor(tree)) return [tree.dtype, [...tree.shape], [...(await tree.bytes())]];
  if (Array.isArray(tree)) return Promise.all(tree.map(plain));
  if (typeof tree !== "object" || tree === null) return tree;
  return Object.fromEntries(
    await Promise.all(Object.entries(tree).map(async ([key, each]) => [key, await plain(each)])),
  );
}

describeOnTensorDevices("trees in files", (device) => {
  const at = (name: string): string => join(newFolder(), name);
  const x = (value: number): Tensor => tensor([value, value + 1], { device }) as Tensor;

  test("objects, lists, null, undefined, empty containers and every key come back", async () => {
    const tree = {
      dense0: { weights: x(1), biases: x(2) },
      list: [x(3), [], { deep: [null, x(4)] }, {}],
      none: null,
      missing: undefined,
      ["__proto__"]: { constructor: x(5) },
      "10": x(6),
      "9": [x(7)],
      "a.b": x(8),
      a: { b: x(9) },
      "": x(10),
      __metadata__: x(11),
    };
    const path = at("tree.safetensors");
    await writeTree(path, tree, { step: 3, ["__proto__"]: [null, "ä", { x: 0.1 }] });
    const found = await readTree(path, { device });
    assert.deepEqual(await plain(found.tree), await plain(tree));
    assert.deepEqual(Object.keys(found.tree as object), Object.keys(tree));
    assert.deepEqual(found.metadata, JSON.parse('{ "step": 3, "__proto__": [null, "ä", { "x": 0.1 }] }'));
    assert.equal(({} as { constructor: unknown }).constructor, Object);
    assert.equal((found.tree as { list: Tensor[] }).list[0]?.device, x(0).device);
  });

  test("every dtype comes back, also those that the format lacks, of any size", async () => {
    for (const dtype of DTYPE_NAMES) {
      const one = tensor(
        [
          [1, 0, 1],
          [1, 1, 0],
        ],
        { device },
      ).cast(dtype) as Tensor;
      const tree = { one, scalar: tensor(1, { device }).cast(dtype), empty: one.at(":0") } as TensorTree;
      const path = at("x.safetensors");
      await writeTree(path, tree);
      assert.deepEqual(await plain((await readTree(path, { device })).tree), await plain(tree), dtype);
    }
  });

  test("the names are paths with full stops, which other readers of the format see", async () => {
    const path = at("names.safetensors");
    await writeTree(path, { dense0: { weights: x(1) }, list: [x(2), x(3)] });
    assert.deepEqual(Object.keys(await io.loadSafetensors(path, { device })).sort(), [
      "dense0.weights",
      "list.0",
      "list.1",
    ]);
  });

  test("a tree of other programs is read by the names, and its metadata are texts", async () => {
    const path = at("foreign.safetensors");
    await io.saveSafetensors(path, { "fc1.weight": x(1), "fc1.bias": x(2), scale: x(3) }, { format: "pt" });
    const { tree, metadata } = await readTree(path, { device });
    assert.deepEqual(await plain(tree), await plain({ fc1: { bias: x(2), weight: x(1) }, scale: x(3) }));
    assert.deepEqual(metadata, { format: "pt" });
  });

  test("a tensor that is not computed yet, or is disposed of while it is written, is saved", async () => {
    const path = at("x.safetensors");
    const [pending, disposed] = [x(1).mul(2), x(3).realize()];
    const writing = writeTree(path, { pending, disposed });
    disposed.dispose();
    await writing;
    assert.deepEqual(
      await plain((await readTree(path, { device })).tree),
      await plain({ pending: x(1).mul(2), disposed: x(3) }),
    );
  });
});

describe("writing refuses", () => {
  const one = tensor([1], { device: "cpu" });
  const path = join(newFolder(), "x.safetensors");
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  // biome-ignore format: rows read best
  const cases: [string, unknown, unknown, RegExp][] = [
    ["a number in a tree", { a: { b: 3 } }, undefined, /^ArgumentError: writeTree: a\.b is 3; a tree holds tensors/],
    ["a class in a tree", { a: new Map() }, undefined, /a is .*; a tree holds tensors/],
    ["a tree that contains itself", loop, undefined, /more than 100 containers deep/],
    ["infinity in the metadata", { one }, { loss: [1, Infinity] }, /writeTree: the metadata\.loss\[1\] is Infinity, which JSON cannot hold/],
    ["a tensor in the metadata", { one }, { one }, /the metadata\.one is .*, which JSON cannot hold/],
    ["a function in the metadata", { one }, { f: () => 1 }, /the metadata\.f is .*, which JSON cannot hold/],
  ];
  for (const [title, tree, metadata, message] of cases) {
    test(title, async () => {
      await assert.rejects(writeTree(path, tree as TensorTree, metadata), (error) => {
        assert.ok(error instanceof ArgumentError);
        assert.match(String(error), message);
        return true;
      });
    });
  }

  test("and leaves the old file and nothing beside it", async () => {
    const folder = newFolder();
    const kept = join(folder, "kept.safetensors");
    await writeTree(kept, { one });
    const before = readFileSync(kept);
    const gone = tensor([1], { device: "cpu" }).add(1);
    gone.dispose();
    await assert.rejects(writeTree(kept, { gone }), /disposed/i);
    await assert.rejects(writeTree(kept, { one }, Number.NaN), ArgumentError);
    assert.deepEqual(readFileSync(kept), before);
    assert.deepEqual(readdirSync(folder), ["kept.safetensors"]);
  });

  test("a folder that is not there, by name", async () => {
    const deep = join(newFolder(), "no", "x.safetensors");
    await assert.rejects(
      writeTree(deep, { one }),
      /writeTree: the tensors cannot be written to .*: there is no folder .*no\./,
    );
  });
});

describe("a forged file gives a FormatError", () => {
  const start = { dtype: "U8", shape: [2], data_offsets: [0, 2] };
  const forged = (metadata: Record<string, string>, names: readonly string[] = ["a"]): Buffer => {
    const tensors = names.map((name, i) => [name, { ...start, data_offsets: [2 * i, 2 * i + 2] }]);
    const header = Buffer.from(JSON.stringify({ __metadata__: metadata, ...Object.fromEntries(tensors) }));
    const file = Buffer.alloc(8 + header.length + 2 * names.length);
    file.writeBigUInt64LE(BigInt(header.length));
    header.copy(file, 8);
    return file;
  };
  const tree = (form: string, more: Record<string, string> = {}) =>
    forged({ "pumice.tree": "1", "pumice.tree.form": form, ...more });
  const dtypes = (table: string) => tree('"a"', { "pumice.tree.dtypes": table });
  const deep = `${"[".repeat(200)}"a"${"]".repeat(200)}`;
  // biome-ignore format: rows read best
  const cases: [string, Buffer, RegExp][] = [
    ["of a later version", forged({ "pumice.tree": "2" }), /a tree of version 2; this version of Pumice reads 1/],
    ["whose form is no JSON", tree("{"), /the form of its tree: expected a key/],
    ["whose form has a number", tree("[1]"), /holds 1, which is neither/],
    ["whose form has true", tree("[true]"), /holds true, which is neither/],
    ["whose form names another tensor", tree('["a", "b"]'), /"b" is no tensor of the file/],
    ["whose form names a tensor twice", tree('["a", "a"]'), /"a" comes twice/],
    ["whose form leaves a tensor out", tree("[]"), /the tensor "a" is not in it/],
    ["whose form has a key twice", tree('{"k": "a", "k": null}'), /the key "k" comes twice/],
    ["whose form is too deep", tree(deep), /more than 101 nested values/],
    ["with metadata that are no JSON", tree('"a"', { "pumice.tree.metadata": "nope" }), /the metadata: expected a value/],
    ["with dtypes that are a list", dtypes("[]"), /no JSON object/],
    ["with the dtype of no tensor", dtypes('{"b": {"dtype": "i4", "shape": [4]}}'), /"b" is no tensor of the file/],
    ["with a dtype that is none", dtypes('{"a": {"dtype": "i5", "shape": [4]}}'), /has no dtype and shape/],
    ["with a negative extent", dtypes('{"a": {"dtype": "i4", "shape": [-4]}}'), /has no dtype and shape/],
    ["with a shape that does not fit", dtypes('{"a": {"dtype": "i4", "shape": [9]}}'), /"a" would be 5 bytes, but there are 2 of U8/],
    ["with a shape beyond counting", dtypes('{"a": {"dtype": "i4", "shape": [9007199254740991, 9007199254740991]}}'), /more bytes than can be counted/],
    ["where a tensor is a container, too", forged({}, ["a", "a.b"]), /"a" is a tensor, but "a.b" lies inside it/],
    ["where a container is a tensor, too", forged({}, ["a.b.c", "a"]), /"a" is a tensor, but "a.b.c" lies inside it/],
    ["with a name of too many parts", forged({}, [".".repeat(500)]), /a name of 501 parts/],
    ["that is cut short", tree('"a"').subarray(0, -1), /cut short/],
  ];
  for (const [title, bytes, message] of cases) {
    test(title, async () => {
      const path = join(newFolder(), "forged.safetensors");
      writeFileSync(path, bytes);
      await assert.rejects(readTree(path, { device: "cpu" }), (error) => {
        assert.ok(error instanceof FormatError, String(error));
        assert.match(error.message, message);
        assert.ok(error.message.includes(path));
        return true;
      });
    });
  }

  test("but dtypes that fit are read", async () => {
    const path = join(newFolder(), "x.safetensors");
    writeFileSync(path, dtypes('{"a": {"dtype": "i4", "shape": [3]}}'));
    const { tree: found } = await readTree(path, { device: "cpu" });
    assert.ok(isPacked((found as Tensor).dtype as never));
    assert.deepEqual(await (found as Tensor).array(), [0, 0, 0]);
  });
});
