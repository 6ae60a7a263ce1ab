/** Complex numbers of elements: parts, conjugates and phases, and rules of functions that are not holomorphic. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "../../../../src/graph/node.js";
import * as E from "../../../../src/graph/primitives/elementwise/complex.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { checkDerivatives, given, input, numbers } from "../../../support/node-rules.js";
import { results } from "./entry-rules.js";

test("the phase of a negative number is pi", () => {
  assert.deepEqual(results(E.phase, "f64", [[2], [-2]]), [0, Math.PI]);
});

const [re, im] = [input([4]), input([4], [0.5, -2, 1, 3])];
/** Functions of a complex number, as functions of its parts. */
const ofParts = (entry: typeof E.conj) => (a: Node, b: Node) => {
  const made = g.move(entry, [g.complex(a, b)], {});
  return made.dtype === "c128" ? [g.real(made), g.imag(made)] : [made];
};

test("parts, the conjugate and the phase", () => {
  const z = () => g.complex(given(re), given(im));
  assert.equal(z().dtype, "c128");
  assert.deepEqual(numbers(g.real(z())), re.values);
  assert.deepEqual(numbers(g.imag(z())), im.values);
  assert.deepEqual(
    numbers(g.imag(g.conj(z()))),
    im.values.map((y) => -y),
  );
  numbers(g.move(E.phase, [z()], {})).forEach((angle, i) => {
    assert.ok(Math.abs(angle - Math.atan2(im.values[i]!, re.values[i]!)) < 1e-15);
  });
});

test("derivatives with respect to both parts", () => {
  for (const entry of [E.real, E.imag, E.conj, E.phase]) checkDerivatives(ofParts(entry), [re, im]);
});
