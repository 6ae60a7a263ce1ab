/** What the types of tensors say is what the tensors are: each line is checked by the compiler and when it runs. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  arange,
  broadcastTensors,
  concat,
  conv,
  type DType,
  einsum,
  eye,
  full,
  fullLike,
  linalg,
  matmul,
  meshgrid,
  ones,
  random,
  setDefaultDevice,
  stack,
  type Tensor,
  tensor,
  tri,
  where,
  zeros,
  zerosLike,
} from "../../src/index.js";

before(() => setDefaultDevice("cpu"));

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only when the type of the tensor names exactly this dtype; fails when the tensor has another. */
function is<D extends DType>(dtype: D) {
  return <T extends DType>(x: Tensor<T> & (Same<T, D> extends true ? unknown : never)): void =>
    assert.equal(x.dtype, dtype);
}

const f32 = is("f32");
const f64 = is("f64");
const i32 = is("i32");
const i64 = is("i64");
const u8 = is("u8");
const u32 = is("u32");
const bool = is("bool");
const c64 = is("c64");
const c128 = is("c128");

const floats = () => tensor([[1, 2], [3, 4]]); // biome-ignore format: a matrix
const doubles = () => tensor(new Float64Array([1, 2, 3, 4]), { shape: [2, 2] });
const whole = () => tensor([[0, 1], [1, 0]], { dtype: "i32" }); // biome-ignore format: a matrix
const bytes = () => tensor(new Uint8Array([1, 2]));
const mask = () => tensor([[true, false], [false, true]]); // biome-ignore format: a matrix
const waves = () => floats().cast("c64");

describe("the type of a tensor names its dtype", () => {
  test("when it is made of values", () => {
    f32(tensor(1));
    f32(tensor([1, 2]));
    f32(tensor([]));
    f32(tensor([[1], [2]] as readonly (readonly number[])[]));
    i64(tensor([1n]));
    bool(tensor([[true], [false]]));
    c64(tensor([{ re: 1, im: 2 }]));
    f64(tensor([1], { dtype: "f64" }));
    f64(tensor(new Float64Array(2)));
    f32(tensor(new Float32Array(2)));
    is("i8")(tensor(new Int8Array(2)));
    is("i16")(tensor(new Int16Array(2)));
    i32(tensor(new Int32Array(2)));
    i64(tensor(new BigInt64Array(2)));
    u8(tensor(new Uint8Array(2)));
    u8(tensor(Buffer.from([1])));
    u8(tensor(new Uint8ClampedArray(2)));
    is("u16")(tensor(new Uint16Array(2)));
    u32(tensor(new Uint32Array(2)));
    is("u64")(tensor(new BigUint64Array(2)));
    const unknown: Tensor = tensor([1, 2n] as (number | bigint)[]);
    assert.equal(unknown.dtype, "i64");
    // @ts-expect-error a list of both has no dtype the compiler knows
    i64(tensor([1, 2n] as (number | bigint)[]));
    // @ts-expect-error a tensor of any dtype is not known to be f32
    f32(tensor([1]) as Tensor);
    // @ts-expect-error strings are no values
    assert.throws(() => tensor(["1"]));
  });

  test("when it is made by a rule", () => {
    f32(zeros([2]));
    f32(ones(2));
    f64(zeros([2], { dtype: "f64" }));
    f32(full([2], 1));
    i64(full([2], 1n));
    bool(full([2], true));
    c64(full([2], { re: 0, im: 1 }));
    i32(full([2], 1, { dtype: "i32" }));
    u8(zerosLike(bytes()));
    u8(fullLike(bytes(), 3));
    f64(arange(3, { dtype: "f64" }));
    const counted: Tensor<"i32" | "f32"> = arange(3);
    assert.ok(counted.dtype === "i32" || counted.dtype === "f32");
    f64(arange(0, 3, 1, { dtype: "f64" }));
    f32(eye(2));
    i32(eye(2, { dtype: "i32" }));
    i32(tri(2, 3, { dtype: "i32" }));
    u32(random.key(0));
    f64(random.normal(random.key(0), [2], { dtype: "f64" }));
    bool(random.bernoulli(random.key(0)));
    i32(random.choice(random.key(0), 5));
    u8(random.choice(random.key(0), bytes()));
  });

  test("of elementwise operations", () => {
    f32(floats().add(1));
    f32(floats().add(0.5));
    f32(floats().mul(floats()));
    f32(floats().mul(mask()));
    f32(mask().mul(floats()));
    i32(whole().pow(2));
    f32(whole().pow(0.5));
    f32(floats().pow(2));
    i32(whole().add(1));
    f32(whole().add(0.5));
    f32(whole().div(2));
    i32(mask().add(1));
    i64(mask().add(1n));
    c64(floats().mul({ re: 0, im: 1 }));
    c128(doubles().mul({ re: 0, im: 1 }));
    f32(floats().clip(0, 1));
    f32(floats().clip(0));
    f32(floats().clip(null, 1));
    f32(floats().clip(undefined, floats()));
    i32(whole().remainder(2));
    i32(whole().floorDivide(2));
    f32(whole().hypot(2));
    f64(doubles().atan2(doubles()));
    f32(whole().erf());
    f64(doubles().lgamma());
    bool(floats().less(2));
    bool(floats().isClose(2));
    bool(floats().isNaN());
    bool(floats().logicalAnd(mask()));
    f32(waves().abs());
    f32(where(mask(), floats(), 0));
    f32(where(mask(), 1, 0));
    f64(where(mask(), 0, doubles()));
    i32(where(mask(), whole(), 0));
    i64(floats().cast("i64"));
    u32(floats().bitcast("u32"));
  });

  test("of reductions", () => {
    f32(floats().sum());
    u32(bytes().sum());
    i32(mask().sum());
    f32(whole().mean());
    f64(doubles().variance());
    f32(waves().std());
    f32(waves().norm());
    f64(doubles().median());
    i32(whole().max());
    i32(floats().argmax());
    i32(floats().countNonzero());
    f64(doubles().covariance());
    u32(bytes().cumsum());
    f32(whole().cumlogsumexp());
    f32(whole().softmax());
    i32(mask().trace());
    i32(whole().flatten().bincount());
    f32(whole().bincount({ weights: floats() }));
    f64(doubles().histogram().edges);
    i32(mask().reshape([1, 2, 2]).windowSum(1));
  });

  test("of movement and selection", () => {
    u8(bytes().reshape(2, 1).T.moveAxis(0, 1).expandDims(0).flip(0).tile(2));
    i32(
      whole()
        .at(0, "1:")
        .pad([[1, 1]]),
    );
    i32(whole().take([0]).set(0, 5).sort());
    f64(doubles().topK(1).values);
    i32(doubles().topK(1).indices);
    i32(doubles().searchSorted([[1], [2]]));
    i32(mask().nonzero()[0]!);
    f32(concat([floats(), floats()]));
    f32(stack([floats(), floats()]));
    f64(meshgrid([doubles().flatten()])[0]!);
    const [first, second] = broadcastTensors(floats(), whole());
    f32(first);
    i32(second);
    f64(bytes().oneHot(2, { dtype: "f64" }));
    i32(whole().diff());
    const mixed: Tensor = concat([floats(), doubles()] as Tensor<"f32" | "f64">[]);
    assert.equal(mixed.dtype, "f64");
  });

  test("of contractions", () => {
    f32(floats().matmul(floats()));
    f32(matmul(floats(), floats()));
    f64(doubles().dot(doubles()));
    i32(bytes().dot(bytes(), { dtype: "i32" }));
    f32(floats().kron(floats()));
    f32(einsum("ij,jk->ik", floats(), floats()));
    f32(conv(zeros([1, 1, 3]), zeros([1, 1, 2])));
    f64(linalg.cholesky(eye(2, { dtype: "f64" })));
    f64(linalg.triangularSolve(eye(2, { dtype: "f64" }), doubles()));
  });

  test("and what data() and item() give", () => {
    const data: Float64Array = doubles().dataSync();
    const big: BigInt64Array = tensor([1n]).dataSync();
    const one: bigint = tensor(1n).itemSync();
    const flag: boolean = floats().less(9).all().itemSync();
    const number: number = floats().matmul(floats()).sum().itemSync();
    assert.deepEqual([data.length, big.length, one, flag, number], [4, 1, 1n, true, 54]);
  });

  test("a bare Tensor fits where one of a certain dtype is expected, and its item may be used as a number", () => {
    const step = (x: Tensor): Tensor => x.mul(2);
    let h = zeros([2]);
    h = step(h).add(1);
    h = h.mul(step(h));
    const half: number = step(h).sum().itemSync() / 2;
    assert.equal(half, 4);
    // What is not known is not guessed: i32 and something is not i32.
    const unknown = whole().add(step(doubles()));
    assert.equal(unknown.dtype, "f64");
  });

  test("array() of a rank that is given can be indexed", async () => {
    const rows: number[][] = await floats().array({ rank: 2 });
    const number: number = floats().arraySync({ rank: 2 })[1]![0]!;
    assert.deepEqual([rows.length, typeof number], [2, "number"]);
    await assert.rejects(async () => floats().array({ rank: 1 }), /has rank 2, and \{ rank: 1 \} was asked for/);
    const scalar: bigint = tensor(1n).arraySync({ rank: 0 });
    assert.equal(scalar, 1n);
  });
});
