/** Addresses as kernels read them: written in two words, whatever the sum of a block's address and an offset is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { newChunk } from "../../../src/engines/suballocator.js";
import { addressWords, type Block, putAddress } from "../../../src/engines/vulkan/memory/memory-pool.js";

test("an address is the block's plus the offset, also across the boundary of 32 bits and with the highest bit set", () => {
  const view = new DataView(new ArrayBuffer(24));
  const addresses = [0n, 256n, 0xffff_ff00n, 0x1_0000_0000n, 0x7fff_ffff_ff00n, 0xffff_8000_0000_0000n];
  const offsets = [0, 256, 0xffff_ff00, 0x1_0000_0000, 40 * 2 ** 30];
  for (const address of addresses) {
    const block: Block = { memory: 1, buffer: 2, ...addressWords(address), size: 1, mapped: null, isLarge: true };
    for (const offset of offsets) {
      putAddress(view, 8, newChunk(block, offset, 1));
      assert.equal(view.getBigUint64(8, true), address + BigInt(offset), `${address} + ${offset}`);
      putAddress(view, 8, newChunk(block, offset, 1), 48);
      assert.equal(view.getBigUint64(8, true), address + BigInt(offset) + 48n, `${address} + ${offset} + 48`);
    }
  }
  assert.equal(view.getBigUint64(0, true), 0n);
  assert.equal(view.getBigUint64(16, true), 0n);
});
