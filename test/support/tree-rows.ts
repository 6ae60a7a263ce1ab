/** Rows that stand at given nodes of a growing tree: splits send them there, one node after the other. */
import { type Tensor, tensor } from "../../src/index.js";
import { routedRows, rowsAtRoot } from "../../src/tensor/index.js";
import { packedCodes } from "./tree-oracle.js";

/** The node that rows with this number come to. */
export const nodeOfPlace = (place: number): number => 2 * place + 1;

/** Rows whose numbers are given come to the nodes of these numbers (`nodeOfPlace`). */
export function rowsAt(places: readonly number[]): Tensor {
  const codes = tensor(packedCodes([places]), { shape: [1, places.length] }) as Tensor;
  let standing = rowsAtRoot(codes);
  const last = places.reduce((most, place) => Math.max(most, place), 0);
  for (let place = 0; place <= last; place++) {
    const splitOfNode = new Int32Array(2 * last + 3).fill(-1);
    splitOfNode[2 * place] = 0;
    const goesLeft = new Uint8Array(256);
    goesLeft[place] = 1;
    const split = tensor([[0, nodeOfPlace(place)]], { dtype: "i32" });
    standing = routedRows(codes, standing, tensor(splitOfNode), split, tensor(goesLeft, { shape: [1, 256] }));
  }
  return standing;
}
