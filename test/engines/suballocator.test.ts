/** The suballocator against a model: a plain list of what is allocated, with no idea of classes or free lists. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Chunk, giveUp, isUnshared, partOf, roundToClass, Suballocator } from "../../src/engines/suballocator.js";
import { randomFrom } from "../support/random.js";

const UNIT = 256;

interface Model {
  /** What was asked of each chunk handed out. */
  readonly live: Map<Chunk<string>, number>;
  readonly blocks: Map<string, number>;
}

function assertConsistent(allocator: Suballocator<string>, { live, blocks }: Model, label: string): void {
  let used = 0;
  const seen = new Set<Chunk<string>>();
  const ends = new Map<string, number>();
  const wasFree = new Map<string, boolean>();
  for (const chunk of allocator.chunks()) {
    seen.add(chunk);
    assert.equal(chunk.offset, ends.get(chunk.block) ?? 0, `${label}: chunks lie end to end, without gap or overlap`);
    assert.ok(chunk.size >= UNIT && chunk.size % UNIT === 0 && chunk.offset % UNIT === 0, `${label}: whole units`);
    if (chunk.isFree) assert.notEqual(wasFree.get(chunk.block), true, `${label}: free neighbours are one chunk`);
    else {
      used += chunk.size;
      assert.ok(live.has(chunk), `${label}: a used chunk is one that was handed out`);
    }
    assert.equal(chunk.before?.after ?? chunk, chunk);
    wasFree.set(chunk.block, chunk.isFree);
    ends.set(chunk.block, chunk.offset + chunk.size);
  }
  for (const [block, size] of blocks) assert.equal(ends.get(block), size, `${label}: a block is covered to its end`);
  for (const [chunk, bytes] of live) {
    assert.ok(seen.has(chunk) && !chunk.isFree, `${label}: what is live is still in its block`);
    assert.equal(chunk.size, roundToClass(Math.ceil(bytes / UNIT)) * UNIT, `${label}: sizes are those of the classes`);
  }
  assert.equal(allocator.usedBytes, used, `${label}: usedBytes is the sum of what is used`);
}

test("random allocations and frees never overlap, coalesce, and are accounted for", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = randomFrom(seed);
    const allocator = new Suballocator<string>(UNIT);
    const model: Model = { live: new Map(), blocks: new Map() };
    for (let step = 0; step < 400; step++) {
      const label = `seed ${seed}, step ${step}`;
      const choice = random.below(10);
      if (choice < 6) {
        const bytes = 1 + random.below(2 ** random.below(20));
        let chunk = allocator.allocate(bytes);
        if (!chunk) {
          const block = `block ${model.blocks.size}-${step}`;
          const size = Math.max(1 << 20, 2 ** Math.ceil(Math.log2(2 * bytes)));
          allocator.addBlock(block, size);
          model.blocks.set(block, size);
          chunk = allocator.allocate(bytes);
        }
        assert.ok(chunk, `${label}: a new block of twice the size has room`);
        assert.ok(chunk.size >= bytes, `${label}: a chunk holds what was asked`);
        assert.ok(!model.live.has(chunk), `${label}: a chunk is handed out once`);
        model.live.set(chunk, bytes);
      } else if (choice < 9) {
        const chunks = [...model.live.keys()];
        if (chunks.length === 0) continue;
        const chunk = random.pick(chunks);
        model.live.delete(chunk);
        allocator.free(chunk);
      } else {
        const occupied = new Set([...model.live.keys()].map((chunk) => chunk.block));
        const expected = [...model.blocks.keys()].filter((block) => !occupied.has(block));
        const taken = allocator.takeEmptyBlocks();
        assert.deepEqual(taken.sort(), expected.sort(), `${label}: exactly the empty blocks are taken out`);
        for (const block of taken) model.blocks.delete(block);
      }
      assertConsistent(allocator, model, label);
    }
    for (const chunk of model.live.keys()) allocator.free(chunk);
    assert.equal(allocator.usedBytes, 0);
    assert.equal(allocator.takeEmptyBlocks().length, model.blocks.size, "everything freed: every block is empty");
    assert.equal([...allocator.chunks()].length, 0);
    assert.equal(allocator.allocate(1), null, "blocks that were taken out are not allocated from");
  }
});

test("what is freed can be allocated again whole, whatever the order of the frees", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = randomFrom(seed);
    const allocator = new Suballocator<string>(UNIT);
    allocator.addBlock("b", 1 << 20);
    const chunks: Chunk<string>[] = [];
    for (let chunk = allocator.allocate(1 + random.below(30_000)); chunk; ) {
      chunks.push(chunk);
      chunk = allocator.allocate(1 + random.below(30_000));
    }
    while (chunks.length > 0) allocator.free(chunks.splice(random.below(chunks.length), 1)[0]!);
    const whole = allocator.allocate(1 << 20);
    assert.ok(whole, `seed ${seed}: one chunk again`);
    assert.equal(whole.size, 1 << 20);
  }
});

test("memory keeps the latest epoch of any part of it, through splits and merges", () => {
  // The model: the last epochs of every unit of the block, brought up to date by the uses alone.
  for (let seed = 1; seed <= 20; seed++) {
    const random = randomFrom(seed);
    const units = 512;
    const allocator = new Suballocator<string>(UNIT);
    allocator.addBlock("b", units * UNIT);
    const reads = new Array<number>(units).fill(0);
    const writes = new Array<number>(units).fill(0);
    const live: Chunk<string>[] = [];
    for (let epoch = 1; epoch <= 600; epoch++) {
      const chunk = random.below(3) > 0 ? allocator.allocate(1 + random.below(40 * UNIT)) : null;
      if (chunk) live.push(chunk);
      else if (live.length > 0) allocator.free(live.splice(random.below(live.length), 1)[0]!);
      for (const used of live) {
        const [from, to] = [used.offset / UNIT, (used.offset + used.size) / UNIT];
        assert.ok(used.readEpoch >= Math.max(...reads.slice(from, to)), `seed ${seed}: no read is forgotten`);
        assert.ok(used.writeEpoch >= Math.max(...writes.slice(from, to)), `seed ${seed}: no write is forgotten`);
      }
      const target = live.length > 0 ? random.pick(live) : null;
      if (!target) continue;
      const [from, to] = [target.offset / UNIT, (target.offset + target.size) / UNIT];
      if (random.below(2) === 0) {
        target.readEpoch = epoch;
        reads.fill(epoch, from, to);
      } else {
        target.writeEpoch = epoch;
        writes.fill(epoch, from, to);
      }
    }
  }
});

test("size classes grow by at most an eighth, and a class holds its own size exactly", () => {
  for (const units of [1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 1000, 4097, 2 ** 20 + 1, 2 ** 29 + 1, 2 ** 30]) {
    const rounded = roundToClass(units);
    assert.ok(rounded >= units && rounded <= units * 1.125 + 1, `${units} → ${rounded}`);
    assert.equal(roundToClass(rounded), rounded);
  }
  for (let units = 1; units < 5000; units++) assert.ok(roundToClass(units) <= roundToClass(units + 1), `${units}`);
});

test("a chunk of the requested class is found even when only one of that exact size is free", () => {
  for (const bytes of [1, 256, 257, 2048, 2049, 5000, 65_537, 300_000]) {
    const allocator = new Suballocator<string>(UNIT);
    allocator.addBlock("b", roundToClass(Math.ceil(bytes / UNIT)) * UNIT);
    const chunk = allocator.allocate(bytes);
    assert.ok(chunk, `${bytes} bytes fit a block of their class`);
    allocator.free(chunk);
    assert.ok(allocator.allocate(bytes), `${bytes} bytes fit again`);
  }
});

test("freeing twice is an error of the runtime and says so", () => {
  const allocator = new Suballocator<string>(UNIT);
  allocator.addBlock("b", 4096);
  const chunk = allocator.allocate(1)!;
  allocator.free(chunk);
  assert.throws(() => allocator.free(chunk), /freed twice/);
});

test("a block whose size is not whole units loses only the remainder", () => {
  const allocator = new Suballocator<string>(UNIT);
  allocator.addBlock("b", 10 * UNIT + 17);
  let count = 0;
  while (allocator.allocate(1)) count++;
  assert.equal(count, 10);
});

test("a chunk freed into a neighbour and freed again is caught, not linked twice", () => {
  const allocator = new Suballocator<string>(UNIT);
  allocator.addBlock("b", 4096);
  const [first, second] = [allocator.allocate(256)!, allocator.allocate(256)!];
  allocator.free(first);
  allocator.free(second); // absorbed into the first
  assert.throws(() => allocator.free(second), /freed twice/);
});

test("a chunk that is shared is free when the last of its holders has given up, in whatever order they do", () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = randomFrom(seed);
    const allocator = new Suballocator<string>(UNIT);
    allocator.addBlock("b", 64 * UNIT);
    const whole = allocator.allocate(10 * UNIT)!;
    whole.writeEpoch = 3;
    assert.ok(isUnshared(whole));
    const holders = [whole];
    for (let i = 0; i < 6; i++) {
      const from = random.pick(holders);
      const offset = random.below(from.size);
      const part = partOf(from, offset, 1 + random.below(from.size - offset));
      assert.equal(part.offset, from.offset + offset);
      assert.equal(part.writeEpoch, 3, "what wrote the whole wrote the part");
      assert.ok(!isUnshared(part) && !isUnshared(whole));
      part.readEpoch = 10 + i;
      holders.push(part);
    }
    while (holders.length > 0) {
      assert.ok(!whole.isFree);
      const [gone] = holders.splice(random.below(holders.length), 1);
      giveUp(gone!, allocator);
    }
    assert.equal(allocator.usedBytes, 0);
    const again = allocator.allocate(10 * UNIT)!;
    assert.deepEqual([again.readEpoch, again.writeEpoch], [15, 3], "whoever has it next waits for the last reader");
    assert.ok(isUnshared(again));
  }
});
