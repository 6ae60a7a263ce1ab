/** SHA-256 in hexadecimal digits: what programs and kernels are kept under on disk. */
import { createHash } from "node:crypto";

export const sha256 = (contents: string | Uint8Array): string => createHash("sha256").update(contents).digest("hex");
