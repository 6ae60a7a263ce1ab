/** Classes as nodes of trees: an entry belongs to one class, and a wrong one says what is missing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentError } from "../../src/core/errors.js";
import { registerClass, registeredAs, type TreeClass } from "../../src/core/tree-class.js";

class Pair {
  constructor(
    readonly first: unknown,
    readonly second: unknown,
  ) {}
}
class Special extends Pair {}
const entry: TreeClass<Pair> = {
  name: "Pair",
  children: ({ first, second }) => ({ first, second }),
  rebuild: ({ first, second }) => new Pair(first, second),
};

test("instances of a class are found by their own class, not by one it extends", () => {
  assert.equal(registeredAs(new Pair(1, 2)), undefined);
  registerClass(Pair, entry);
  assert.equal(registeredAs(new Pair(1, 2))?.name, "Pair");
  assert.equal(registeredAs(new Special(1, 2)), undefined);
  for (const other of [null, undefined, 1, "Pair", Pair, {}, []]) assert.equal(registeredAs(other), undefined);
});

test("the same entry twice is fine, another one is not", () => {
  registerClass(Pair, { ...entry });
  assert.throws(() => registerClass(Pair, { ...entry, children: () => ({}) }), /registered already, in another way/);
});

test("classes of one name have keys of their own", () => {
  const make = () => class Same {};
  const [A, B] = [make(), make()];
  for (const each of [A, B]) registerClass(each, { name: "Same", children: () => ({}), rebuild: () => new each() });
  assert.notEqual(registeredAs(new A())!.id, registeredAs(new B())!.id);
});

test("entries that cannot work are refused", () => {
  class Fresh {}
  const wrong = (treeClass: unknown, own: unknown, message: RegExp) =>
    assert.throws(
      () => registerClass(treeClass as typeof Fresh, own as TreeClass<Fresh>),
      (error: Error) => error instanceof ArgumentError && message.test(error.message),
    );
  wrong({}, entry, /takes a class/);
  wrong(Array, entry, /Array cannot be registered/);
  wrong(Fresh, null, /say how it is taken apart/);
  wrong(Fresh, { ...entry, name: 3 }, /the name/);
  wrong(Fresh, { ...entry, rebuild: 3 }, /rebuild/);
  wrong(Fresh, { ...entry, data: 3 }, /data/);
  wrong(Fresh, { ...entry, parts: () => ({}) }, /parts/);
  assert.equal(registeredAs(new Fresh()), undefined);
});
