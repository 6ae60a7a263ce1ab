/** Tensors through files and back; the formats themselves are tested beside this file. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { DTYPE_NAMES, type DType, isComplex } from "../../src/core/dtype.js";
import { arange, complex, FormatError, io, type Tensor, tensor } from "../../src/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";

const folder = mkdtempSync(join(tmpdir(), "pumice-io-"));
after(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);

const sample = (dtype: DType, device: string): Tensor =>
  tensor([0, 1, 2, 3, 100, isComplex(dtype) ? { re: -1, im: 0.5 } : 1], { dtype, device, shape: [2, 3] }) as Tensor;

describeOnTensorDevices("tensors in files", (device) => {
  for (const dtype of DTYPE_NAMES) {
    test(`${dtype} goes through .npy and comes back`, async () => {
      const x = sample(dtype, device);
      await io.saveNpy(at("x.npy"), x);
      const y = await io.loadNpy(at("x.npy"), { device });
      assert.equal(y.dtype, dtype);
      assert.deepEqual(y.shape, [2, 3]);
      assert.deepEqual(await y.data(), await x.data());
    });
  }

  test("computed complex tensors go through .npz and, as c64, through safetensors; c128 is none of its dtypes", async () => {
    const z = complex(tensor([[1, 2, 3]], { device }), tensor([[-1], [0.5]], { device }));
    const want = await z.permute(1, 0).mul(2).array();
    await io.saveNpz(at("z.npz"), { narrow: z.T.mul(2), wide: z.T.cast("c128").mul(2) });
    const { narrow, wide } = await io.loadNpz(at("z.npz"), { device });
    assert.deepEqual([narrow?.dtype, wide?.dtype], ["c64", "c128"]);
    assert.deepEqual([await narrow?.array(), await wide?.array()], [want, want]);
    await io.saveSafetensors(at("z.safetensors"), { z: z.T.mul(2) });
    const loaded = (await io.loadSafetensors(at("z.safetensors"), { device })).z as Tensor;
    assert.equal(loaded.dtype, "c64");
    assert.deepEqual(await loaded.array(), want);
    assert.deepEqual(await loaded.conj().real().array(), await z.T.real().mul(2).array());
    await assert.rejects(io.saveSafetensors(at("z.safetensors"), { z: z.cast("c128") }), /c128/);
  });

  test("named tensors go through .npz, views included", async () => {
    const x = arange(24, undefined, 1, { device }).reshape(2, 3, 4);
    await io.saveNpz(at("x.npz"), { whole: x, part: x.permute(2, 0, 1).at("1:3", "::-1") }, { compress: true });
    const { whole, part } = await io.loadNpz(at("x.npz"), { device });
    assert.deepEqual(await whole?.data(), await x.data());
    assert.deepEqual(part?.shape, [2, 2, 3]);
    assert.deepEqual(await part?.array(), await x.permute(2, 0, 1).at("1:3", "::-1").array());
  });

  test("a slice of a safetensors file is what slicing the tensor gives", async () => {
    const x = arange(60, undefined, 1, { device }).reshape(3, 4, 5).mul(0.5);
    await io.saveSafetensors(at("x.safetensors"), { x }, { made: "here" });
    await using file = await io.openSafetensors(at("x.safetensors"), { device });
    assert.deepEqual(file.names, ["x"]);
    assert.deepEqual(file.metadata, { made: "here" });
    assert.deepEqual(await (await file.slice("x", "1:", "::2", -1)).array(), await x.at("1:", "::2", -1).array());
    assert.deepEqual(await (await file.read("x")).data(), await x.data());
  });
});

test("a file that is not what it claims to be is a FormatError", async () => {
  await assert.rejects(io.loadNpy(new URL(import.meta.url).pathname), FormatError);
});
