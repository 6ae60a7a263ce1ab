/**
 * The table of routines: it has the names of primitives, and every routine writes kernels that the validators of both targets
 * accept and that can be printed.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { rewrite } from "../../../src/compiler/compile.js";
import { emitSpirv } from "../../../src/compiler/emit/spirv/emit-kernel.js";
import { emitWasm } from "../../../src/compiler/emit/wasm/emit-kernel.js";
import type { Kernel } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { printKernel } from "../../../src/compiler/print/print-kernel.js";
import { VECTOR_LANES } from "../../../src/compiler/routines/attention/vector-tiles.js";
import { routines } from "../../../src/compiler/routines/index.js";
import { join } from "../../../src/compiler/routines/join.js";
import { sortRows } from "../../../src/compiler/routines/sort-rows.js";
import { cpuProfile, gpuProfile, type TargetProfile } from "../../../src/compiler/target/profile.js";
import type { DType } from "../../../src/core/dtype.js";
import { WebAssembly } from "../../../src/core/webassembly.js";
import { type GraphFunction, makePlaceholder } from "../../../src/graph/function.js";
import { Node, pendingInOrder } from "../../../src/graph/node.js";
import type { Primitive } from "../../../src/graph/primitive.js";
import { attention, attentionGradient } from "../../../src/graph/primitives/attention.js";
import { cumulate } from "../../../src/graph/primitives/cumulate.js";
import { buffer } from "../../../src/graph/primitives/leaf.js";
import { rowsApplied } from "../../../src/graph/primitives/linalg/householder.js";
import { luNodes } from "../../../src/graph/primitives/linalg/lu.js";
import { cholesky, solveLower } from "../../../src/graph/primitives/linalg/triangular.js";
import { argsort, argsortAt, searchSorted } from "../../../src/graph/primitives/order.js";
import { scatter } from "../../../src/graph/primitives/scatter.js";
import {
  bestSplits,
  nodeHistogram,
  nodesOfRows,
  partedRows,
  partTotals,
  rootRows,
  routeRows,
  sortedSplits,
  standingOf,
  treeLeaves,
} from "../../../src/graph/primitives/trees.js";
import { g } from "../../../src/graph/vocabulary.js";
import { fft, linalg, Tensor } from "../../../src/index.js";
import { disassemble } from "../../../src/spirv/index.js";
import { backendFor } from "../../../src/tensor/index.js";
import { assertValid, without } from "../../support/spirv-val.js";

const device = { id: "none", realize: () => {} };
const leaf = (shape: readonly number[], dtype: DType) => new Node(buffer, { shape, dtype }, [], shape, dtype, device);

function apply(primitive: Primitive, inputs: readonly Node[], params: Record<string, unknown> = {}): Node {
  const { shape, dtype } = primitive.infer(inputs, params);
  return new Node(primitive, params, inputs, shape, dtype, device);
}

const running = (shape: readonly number[], dtype: DType, op: string, more: readonly Node[] = []) =>
  apply(cumulate, [leaf(shape, dtype), ...more], { axis: 0, op, isReverse: false, isExclusive: false });

const nodes: Record<string, Node> = {
  "a running sum over many chunks": running([50000], "f32", "sum"),
  "a running product, column by column": running([3000, 5], "f32", "product"),
  "a running logsumexp": running([200], "f64", "logsumexp"),
  "a running sum by segments": running([9000], "f32", "sum", [leaf([9000], "i32")]),
  "a sort of u32": apply(argsort, [leaf([3, 100], "u32")]),
  "a sort of u64": apply(argsort, [leaf([3, 20], "u64")]),
  "a sort of f32 by its values": apply(sortRows, [leaf([3, 300], "f32")], { keyed: {}, result: "values" }),
  "ranks of u32": apply(argsortAt, [leaf([3, 100], "u32")], { ranks: [0, 50, 99] }),
  "ranks of u32 around one": apply(argsortAt, [leaf([3, 100], "u32"), leaf([1], "i32")], { ranks: "around" }),
  "a long concatenation": apply(
    join,
    Array.from({ length: 20 }, () => leaf([3, 2], "f32")),
    { axis: 1 },
  ),
  "a factor of Cholesky": apply(cholesky, [leaf([2, 9, 9], "f32")]),
  "reflections of columns": rowsApplied(g, leaf([2, 6, 9], "f32"), leaf([2, 6], "f32"), leaf([2, 9, 5], "f32")),
  "LU factors": luNodes(g, leaf([2, 9, 7], "f32"))[0].inputs[0]!,
  "equations with small LU factors": apply(
    { name: "luSubstitution", kind: "routine", infer: ([, { shape, dtype }]) => ({ shape, dtype }) } as Primitive,
    [leaf([2, 5, 5], "f32"), leaf([2, 5, 3], "f32"), leaf([2, 5], "i32")],
  ),
  "a triangular system": apply(solveLower, [leaf([2, 9, 9], "f64"), leaf([2, 9, 3], "f64")], { isUnit: false }),
  "histograms of gradients": apply(
    nodeHistogram,
    [
      leaf([2, 5000], "u32"),
      leaf([standingOf(5000, 8).size], "i32"),
      leaf([8], "i32"),
      leaf([2], "f32"),
      leaf([5000], "f32"),
      leaf([5000], "f32"),
    ],
    { slots: 4, dtype: "f64", hasHessians: true, isPrecise: true },
  ),
  "the best splits": apply(
    bestSplits,
    [
      leaf([2, 4, 3, 256], "f64"),
      leaf([2, 6], "f64"),
      leaf([4, 4], "i32"),
      leaf([2, 4, 256], "i32"),
      leaf([2, 4], "i32"),
    ],
    { minSamplesLeaf: 20, minHessian: 0.001, l2: 0, isMonotone: true },
  ),
  "rows at the root": apply(rootRows, [leaf([2, 50], "u32")]),
  "nodes of rows": apply(nodesOfRows, [leaf([standingOf(50, 8).size], "i32")], { rows: 50 }),
  "rows to children": apply(routeRows, [
    leaf([2, 50], "u32"),
    ...[leaf([standingOf(50, 4).size], "i32"), leaf([8], "i32"), leaf([4, 2], "i32"), leaf([4, 256], "u8")],
  ]),
  "exact splits of nodes": apply(
    sortedSplits,
    [
      ...[leaf([3, 90], "i32"), leaf([3, 90], "f32"), leaf([90], "i32"), leaf([4, 3], "i32"), leaf([4, 2], "i32")],
      ...[leaf([90, 1], "f64"), leaf([1, 90], "f64"), leaf([4, 7], "f64")],
    ],
    { criterion: "entropy", minSamplesLeaf: 1, isRandom: false },
  ),
  "parts of rows": apply(partedRows, [
    ...[leaf([3, 90], "f32"), leaf([90], "i32"), leaf([4, 3], "i32"), leaf([4, 5], "f64")],
  ]),
  "totals of parts": apply(
    partTotals,
    [
      ...[leaf([90], "i32"), leaf([4, 3], "i32"), leaf([4, 5], "f64")],
      ...[leaf([90, 2], "f64"), leaf([1, 90], "f64"), leaf([90], "f64")],
    ],
    { channels: 2, isByClass: false },
  ),
  "leaves of trees": apply(
    treeLeaves,
    [
      ...[leaf([50, 4], "f32"), leaf([3, 7], "i32"), leaf([3, 7], "f32"), leaf([3, 7], "i32"), leaf([3, 7], "i32")],
      ...[leaf([3, 7], "i32"), leaf([3, 7, 8], "u32")],
    ],
    { depth: 3 },
  ),
  "a search": apply(searchSorted, [leaf([30], "u32"), leaf([4, 5], "u32")], { side: "left" }),
};
/** Queries, keys and values of two heads, as the routines of attention take them. */
function attentionOf(primitive: Primitive): Node {
  const inputs = [leaf([1, 2, 20, 8], "f32"), leaf([1, 2, 24, 8], "f32"), leaf([1, 2, 24, 12], "f32")];
  const rest = [leaf([1, 2, 20, 12], "f32"), leaf([1, 2, 20], "f32"), leaf([1, 2, 20], "f32")];
  const outputs = primitive === attention ? [rest[0]!, rest[1]!] : inputs;
  return apply(primitive, primitive === attention ? inputs : [...inputs, ...rest], {
    ...{ scale: 0.5, left: Infinity, right: 0, emptyRow: 0, hasBias: false, hasMask: false, hasLength: false },
    outputs: outputs.map(({ shape, dtype }) => ({ shape, dtype })),
  });
}
nodes["a forward pass of attention"] = attentionOf(attention);
nodes["a gradient of attention"] = attentionOf(attentionGradient);

for (const op of ["add", "mul", "min", "max"]) {
  for (const dtype of ["i32", "u32", "i64", "u64", "f32", "f64"] as const) {
    const inputs = [leaf([10, 3], dtype), leaf([7], "i32"), leaf([7, 3], dtype)];
    nodes[`a scatter ${op} of ${dtype}`] = apply(scatter, inputs, { op });
  }
}

/** Decompositions and transforms as users write them: their graphs hold the remaining routines. */
const graphs: readonly ((x: Tensor) => Tensor)[] = [
  (x) => linalg.qr(x).q,
  (x) => linalg.eigh(x).eigenvalues,
  (x) => linalg.svd(x).s,
  (x) => linalg.eig(x).eigenvectors.real(),
  (x) => fft.fft(x),
];
for (const of of graphs) {
  for (const extent of [12, 300]) {
    const x = makePlaceholder({ shape: [extent, extent], dtype: "f32", device: backendFor("cpu") });
    const { roots } = rewrite([of(new Tensor(x)).node], [x], gpuProfile.tiles);
    const outer = pendingInOrder(roots);
    const inner = outer.flatMap(({ params }) =>
      pendingInOrder((params.body as GraphFunction | undefined)?.results ?? []),
    );
    for (const each of [...outer, ...inner]) {
      if (each.primitive.kind === "routine" && each.primitive.name in routines) nodes[each.primitive.name] ??= each;
    }
  }
}

function kernelsOf(node: Node, profile: TargetProfile): Kernel[] {
  const plan = routines[node.primitive.name]!(node, profile, {
    division: profile === cpuProfile ? "native" : "corrected",
  });
  return plan.steps.map(({ kernel, buffers }) => {
    assert.equal(buffers.length, kernel.buffers.length, `${kernel.name}: memory for every buffer`);
    return kernel;
  });
}

/** The names of routine primitives, read from the code: many are known to their own file alone. */
function routinePrimitives(): string[] {
  const root = new URL("../../../src/", import.meta.url);
  return ["graph/primitives/", "compiler/"].flatMap((folder) => {
    const files = readdirSync(new URL(folder, root), { recursive: true, encoding: "utf8" });
    const texts = files
      .filter((file) => file.endsWith(".js"))
      .map((file) => readFileSync(new URL(folder + file.replaceAll("\\", "/"), root), "utf8"));
    return texts.flatMap((text) => [...text.matchAll(/name: "(\w+)",\s*kind: "routine"/g)].map(([, name]) => name!));
  });
}

/** Routine primitives that are steps of a program rather than kernels: loops, branches, and parts of bundles. */
const STEPS = ["branching", "part", "scan", "whileLoop"];

test("the table has a routine for every primitive that needs one, by its name, and no other", () => {
  const names = routinePrimitives().filter((name) => !STEPS.includes(name));
  assert.deepEqual(Object.keys(routines).sort(), names.sort());
});

test("every routine of the table is among the specimens below", () => {
  const shown = new Set(Object.values(nodes).map(({ primitive }) => primitive.name));
  assert.deepEqual(
    Object.keys(routines).filter((name) => !shown.has(name)),
    [],
  );
});

describe("routines", () => {
  for (const [name, node] of Object.entries(nodes)) {
    test(`${name} is valid SPIR-V`, { skip: without("spirv-val") }, () => {
      for (const kernel of kernelsOf(node, gpuProfile)) assertValid(emitSpirv(kernel));
    });
    // The compiler chooses them where there are workgroups, and nowhere else.
    if (node.primitive === sortRows || node.primitive.name === "steppedQr") continue;
    test(`${name} is valid WebAssembly`, () => {
      for (const kernel of kernelsOf(node, cpuProfile)) {
        // A thread, or the lanes of one vector.
        assert.ok(kernel.lanes === 1 || kernel.lanes === VECTOR_LANES);
        assert.ok(WebAssembly.validate(emitWasm(kernel)), kernel.name);
      }
    });
  }

  for (const type of ["f32", "f64"] as const) {
    test(`sums of ${type} use the device's own atomics, and exchanges where it has none`, {
      skip: without("spirv-val"),
    }, () => {
      const kernel = kernelsOf(nodes[`a scatter add of ${type}`]!, gpuProfile).at(-1)!;
      const own = emitSpirv(kernel, { atomicFloats: [type] });
      assertValid(own);
      assert.match(disassemble(own), /OpAtomicFAddEXT/);
      assert.doesNotMatch(disassemble(own), /OpAtomicCompareExchange/);
      const exchanging = disassemble(emitSpirv(kernel, { atomicFloats: [] }));
      assert.match(exchanging, /OpAtomicCompareExchange/);
      assert.doesNotMatch(exchanging, /OpAtomicFAddEXT/);
    });
  }

  test("a kernel requires of the device only what it uses", () => {
    const [kernel] = kernelsOf(running([64, 5], "f32", "sum"), gpuProfile);
    const text = disassemble(emitSpirv(kernel!));
    assert.doesNotMatch(text, /OpCapability (Float64|Int64|Int8|Int16|Float16|Int64Atomics)/);
  });

  test("every statement can be printed", () => {
    const k = new KernelBuilder("specimen", 4, 32);
    const [source, target, sums] = [k.buffer("f32", false), k.buffer("f32", true), k.buffer("i32", true)];
    const x = k.load(source, k.row, "f32");
    const gate = k.compare("gt", x, k.constant("f32", 0));
    const other = k.fromLane(x, k.constant("i32", 3));
    const [last] = k.loop(5, [x], (_, [state]) => [k.binary("add", state!, other)], {
      exitWhen: ([next]) => k.compare("gt", next!, k.constant("f32", 9)),
    });
    k.store(target, k.row, k.combineLanes("add", last!), true, gate);
    k.atomic("max", sums, k.lane, k.row, gate);
    assert.equal(
      printKernel(k.finish()).replaceAll(/%\d+/g, "%"),
      [
        "kernel specimen: 4 rows × 32 lanes",
        "  b0: f32",
        "  b1: f32, written",
        "  b2: i32, written",
        "  %: f32 = load b0[row]",
        "  %: bool = gt %, 0",
        "  %: f32 = fromLane %, 3",
        "  loop % < 5 with % = %",
        "    %: f32 = add %, %",
        "    %: bool = gt %, 9",
        "    → % as %",
        "    exit if %",
        "  %: f32 = combineLanes % (add)",
        "  store b1[row] = % if %",
        "  atomic max b2[lane] = row if % (each lane)",
      ].join("\n"),
    );
  });
});
