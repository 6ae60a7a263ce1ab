/**
 * Writes tensors as a safetensors file, piece by piece: what is in memory besides the tensors themselves is one piece, so that a
 * model of many gigabytes is saved with little. `saveSafetensors` of the io namespace and the files of pumice/nn call this.
 */
import { DTYPES, type DType } from "../core/dtype.js";
import { writeNamed } from "../files/named-file.js";
import { arange, type Tensor, tensor } from "../tensor/index.js";
import { layoutSafetensors, type TensorToWrite } from "./safetensors.js";
import { SEAL_BYTES, sealed } from "./seal.js";

/** The size of a piece. Reads of this size cost little more than one read of everything. */
const PIECE_BYTES = 32 * 2 ** 20;

interface WriteOptions {
  /** Whether to return only when the disk has the file. */
  readonly isDurable?: boolean;
  /** A tensor of this name is the last of the file, and a checksum of all before it (seal.ts). */
  readonly sealName?: string;
  /** Whether the file that is replaced is kept beside it (src/files/replace-file.ts). */
  readonly keepsPrevious?: boolean;
  readonly pieceBytes?: number;
}

/** A tensor, and how the header describes its bytes: as what they are, or as u8 for dtypes that the format lacks. */
export interface NamedTensor extends TensorToWrite {
  readonly x: Tensor;
}

/** Writes a whole file, or leaves the old one as it was. */
export async function writeSafetensors(
  operation: string,
  path: string,
  tensors: readonly NamedTensor[],
  metadata: Readonly<Record<string, string>>,
  { isDurable, sealName, keepsPrevious, pieceBytes = PIECE_BYTES }: WriteOptions = {},
): Promise<void> {
  // Handles of our own: others may dispose of theirs while we write.
  const held = tensors.map((each) => ({ ...each, x: each.x.to(each.x.device) }));
  try {
    const seal = sealName === undefined ? null : ({ name: sealName, dtype: "u8", shape: [SEAL_BYTES] } as const);
    const { start, order } = layoutSafetensors(held, metadata, seal);
    for (const { x } of held) x.realize();
    const contents = async function* (): AsyncGenerator<Uint8Array, void> {
      yield start;
      for (const { x } of order) yield* piecesOf(x, pieceBytes);
    };
    const whole = seal ? sealed(contents()) : contents();
    await writeNamed(`${operation}: the tensors`, path, whole, { isDurable, keepsPrevious });
  } finally {
    for (const { x } of held) x.dispose();
  }
}

/** The bytes of a tensor in pieces. Each is copied on the device and read by itself. */
async function* piecesOf(x: Tensor, pieceBytes: number): AsyncGenerator<Uint8Array, void> {
  const { bits } = DTYPES[x.dtype as DType];
  // A multiple of 8 elements fills whole bytes, whatever the dtype.
  const count = Math.max(8, Math.floor((pieceBytes * 8) / bits / 8) * 8);
  if (x.size <= count) {
    if (x.size > 0) yield await x.bytes();
    return;
  }
  const { device } = x;
  using flat = x.reshape([x.size]);
  const dtype = x.size < 2 ** 31 ? "i32" : "i64";
  for (let start = 0; start < x.size; start += count) {
    // The position is a tensor, not a constant: all pieces of a length are copied by one program.
    using from = tensor(start, { dtype, device });
    using places = arange(Math.min(count, x.size - start), undefined, 1, { dtype, device }).add(from);
    using piece = flat.take(places);
    yield await piece.bytes();
  }
}
