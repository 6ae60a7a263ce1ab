/** Switches that turn an ability of a GPU off, to compare or to get round a driver's fault. runtime/open.ts asks for them. */

/** `PUMICE_BF16=arithmetic`: numbers become bf16 by arithmetic, not by the GPU's instruction. */
export const mayConvertBrain = (): boolean => process.env.PUMICE_BF16 !== "arithmetic";
