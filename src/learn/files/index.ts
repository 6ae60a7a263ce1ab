/** Models in files. */
export { type LoadOptions, load, save } from "./model-file.js";
