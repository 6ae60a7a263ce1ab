/** Fragments as cooperative matrices: types by their use, and the operation that each statement becomes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { emitSpirv } from "../../../../src/compiler/emit/spirv/emit-kernel.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { disassemble } from "../../../../src/spirv/read/disassemble.js";

/** Loads two fragments, one of them turned, multiplies them, adds another sum, and stores the result. */
function emitted(isTurned: boolean): string {
  const k = new KernelBuilder("fragments", 1, 32, 32);
  const out = k.buffer("f32", true);
  const array = k.array("u32", 2048);
  const left = k.fragment({ use: "left", dtype: "f16", rows: 16, columns: 8 });
  const right = k.fragment({ use: "right", dtype: "f16", rows: 8, columns: 16 });
  const [sum, other] = [0, 1].map(() => k.fragment({ use: "sum", dtype: "f32", rows: 16, columns: 16 })) as [
    number,
    number,
  ];
  const at = (index: number, pitch: number, isByColumns = false) => ({
    ...{ array, index: k.constant("i32", index), pitch, isByColumns },
  });
  k.set(array, k.lane, k.bitcast("u32", k.lane));
  k.barrier();
  k.fillFragment(sum, 0);
  k.fillFragment(other, 3);
  k.loadFragment(left, at(0, 12));
  k.loadFragment(right, at(512, 20, isTurned));
  k.multiplyFragments(left, right, sum);
  k.addFragments(sum, other);
  k.barrier();
  k.storeFragment(sum, at(64, 24));
  k.barrier();
  k.store(out, k.lane, k.bitcast("f32", k.get(array, k.lane)), false);
  return disassemble(emitSpirv(k.finish(), { subgroupSize: 32 }));
}

/** The operands of each operation of a kind. */
const operandsOf = (text: string, op: string): string[][] =>
  [...text.matchAll(new RegExp(`${op} (.*)$`, "gm"))].map(([, operands]) => operands!.split(" "));

test("a type for each use and shape: rows, columns, and 0, 1 or 2 for left, right and sum", () => {
  const types = operandsOf(emitted(false), "OpTypeCooperativeMatrixKHR");
  assert.deepEqual(
    types.map(([of, _scope, ...rest]) => [of, ...rest].join(" ")),
    ["%half %uint_16 %uint_8 %uint_0", "%half %uint_8 %uint_16 %uint_1", "%float %uint_16 %uint_16 %uint_2"],
  );
});

test("places and pitches count in vectors of four words; turned fragments are read by columns", () => {
  for (const isTurned of [false, true]) {
    const text = emitted(isTurned);
    const loads = operandsOf(text, "OpCooperativeMatrixLoadKHR").map(([, , layout, stride]) => [layout, stride]);
    assert.deepEqual(loads, [
      ["%uint_0", "%uint_3"],
      [isTurned ? "%uint_1" : "%uint_0", "%uint_5"],
    ]);
    const [store] = operandsOf(text, "OpCooperativeMatrixStoreKHR");
    assert.deepEqual(store!.slice(2, 4), ["%uint_0", "%uint_6"]);
  }
});

test("a product is one multiplication with the sum as its third operand; sums are filled and added", () => {
  const text = emitted(false);
  const products = operandsOf(text, "OpCooperativeMatrixMulAddKHR");
  assert.equal(products.length, 1);
  const [type, ...operands] = products[0]!;
  const variables = operands.map((id) => new RegExp(`${id} = OpLoad \\S+ (\\S+)`).exec(text)?.[1]);
  assert.deepEqual(variables, ["%m0", "%m1", "%m2"]);
  assert.deepEqual(
    operandsOf(text, "OpConstantComposite").filter(([of]) => of === type),
    [
      [type, "%float_0"],
      [type, "%float_3"],
    ],
  );
  assert.equal(operandsOf(text, "OpFAdd").filter(([of]) => of === type).length, 1);
});

test("elements are extracted and stored one by one; a vote and a power of two are the device's own", () => {
  const k = new KernelBuilder("elements", 1, 32, 32);
  const out = k.buffer("f32", true);
  const sum = k.fragment({ use: "sum", dtype: "f32", rows: 16, columns: 16 });
  k.fillFragment(sum, 3);
  const held = k.getElements(sum);
  assert.equal(held.length, 8);
  k.setElements(
    sum,
    held.map((x) => k.exp2(x)),
  );
  const isLarge = k.anyLane(k.compare("gt", held[0]!, k.constant("f32", 2)));
  k.store(out, k.lane, k.select(isLarge, k.getElements(sum)[7]!, held[1]!), false);
  const text = disassemble(emitSpirv(k.finish(), { subgroupSize: 32 }));
  assert.deepEqual(
    operandsOf(text, "OpCompositeExtract")
      .filter(([, from]) => text.includes(`${from} = OpLoad`) && text.match(new RegExp(`${from} = OpLoad \\S+ %m0\\b`)))
      .map((operands) => Number(operands[2])),
    [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7],
  );
  assert.equal(operandsOf(text, "OpAccessChain").filter(([, of]) => of === "%m0").length, 8);
  assert.equal([...text.matchAll(/OpExtInst .* Exp2/g)].length, 8);
  assert.equal(operandsOf(text, "OpGroupNonUniformAny").length, 1);
  assert.match(text, /OpCapability GroupNonUniformVote/);
});
