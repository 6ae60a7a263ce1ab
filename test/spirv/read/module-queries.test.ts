/** Constants and sizes in a parsed module, under a specialisation, against values worked out by hand. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { FormatError } from "../../../src/core/errors.js";
import { Decoration, Op } from "../../../src/spirv/enumerants.js";
import { ModuleBuilder } from "../../../src/spirv/index.js";
import {
  bytesOfNumber,
  ConstantValues,
  decorationOf,
  memberDecorationOf,
  type Specialization,
  specIdsOf,
  TypeSizes,
  typeOf,
} from "../../../src/spirv/read/module-queries.js";
import { parseModule } from "../../../src/spirv/read/parse-module.js";

/** A size of 8 times a factor that may be specialised, an array of so many, and a struct in a buffer. */
function specimen() {
  const m = new ModuleBuilder();
  const factor = m.specConstant(m.u32, 4, 3, "factor");
  const size = m.specOp("IMul", m.u32, factor, 8);
  const shared = m.shared(m.array(m.f32, size));
  const record = m.struct([
    ["a", m.u8],
    ["b", m.f64],
    ["c", m.vec(m.f32, 3)],
  ]);
  const buffer = m.storageBuffer(record, { binding: 0 });
  m.entry("main", { localSize: [1] }, () => {
    shared.store(0, 1);
    buffer.load(0, "a");
  });
  const ids = { factor: factor.id, size: size.id };
  return { module: parseModule(m.build()), ...ids };
}
const { module, factor, size } = specimen();
const valuesUnder = (given: Specialization = new Map()) => new ConstantValues(module, given);
const idOf = (wanted: (definition: readonly number[]) => boolean) =>
  [...module.definitions].find(([, definition]) => wanted(definition))?.[0] ?? assert.fail("not there");

test("constants follow the specialisation, and operations on them", () => {
  assert.deepEqual([valuesUnder().count(factor), valuesUnder().count(size)], [3, 24]);
  assert.deepEqual(
    [5, 5n, true].map((value) => valuesUnder(new Map([[4, value]])).count(size)),
    [40, 40, 8],
  );
  assert.equal(valuesUnder(new Map([[9, 5]])).count(size), 24, "another constant's number");
  assert.equal(valuesUnder(new Map([[4, 0x20000000]])).count(size), 0, "products wrap");
  assert.deepEqual([...specIdsOf(module)], [[factor, 4]]);
});

test("what is no constant, or no count, is refused", () => {
  assert.throws(() => valuesUnder().count(99999), FormatError);
  const negative = new ModuleBuilder();
  const minus = negative.constant(negative.i32, -1);
  negative.entry("main", { localSize: [1] }, () => {});
  assert.throws(
    () => new ConstantValues(parseModule(negative.build()), new Map()).count(minus.id),
    /is -1, not a count/,
  );
});

test("sizes: by offsets and strides where they are stated, and by the constants that count", () => {
  const sizes = (given?: Specialization) => new TypeSizes(module, valuesUnder(given));
  const array = idOf(([op, , , length]) => op === Op.TypeArray && length === size);
  assert.equal(sizes().bytes(array), 4 * 24);
  assert.equal(sizes(new Map([[4, 1]])).bytes(array), 4 * 8);
  // u8 at 0, f64 at 8, three f32 at 16: the last byte is 28.
  const record = idOf(
    ([op, id]) => op === Op.TypeStruct && memberDecorationOf(module, id!, 2, Decoration.Offset) !== undefined,
  );
  assert.equal(sizes().bytes(record), 28);
  assert.equal(memberDecorationOf(module, record, 2, Decoration.Offset)?.[1], 16);
  assert.throws(() => sizes().bytes(99999), /is not defined/);
});

test("decorations and types are found, or not", () => {
  assert.equal(decorationOf(module, factor, Decoration.SpecId)?.[1], 4);
  assert.equal(decorationOf(module, factor, Decoration.Binding), undefined);
  assert.equal(typeOf(module, factor)?.[0], Op.TypeInt);
  assert.equal(typeOf(module, 99999), undefined);
});

test("numbers have 1, 2, 4 or 8 bytes", () => {
  assert.deepEqual(
    [8, 16, 32, 64].map((bits) => bytesOfNumber([Op.TypeInt, 1, bits, 0])),
    [1, 2, 4, 8],
  );
  assert.throws(() => bytesOfNumber([Op.TypeInt, 1, 24, 0]), /24 bits wide/);
});

test("a constant or a type that refers to itself is refused", () => {
  const definitions = new Map(module.definitions);
  definitions.set(size, [Op.SpecConstantOp, module.definitions.get(size)![1]!, size, Op.IAdd, size, size]);
  const looped = { ...module, definitions };
  assert.throws(() => new ConstantValues(looped, new Map()).count(size), /depends on itself/);
  definitions.set(7777, [Op.TypeStruct, 7777, 7777]);
  assert.throws(() => new TypeSizes(looped, valuesUnder()).bytes(7777), /contains itself/);
});
