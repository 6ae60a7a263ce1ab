/** The public surface of `pumice`. */
export {
  ArgumentError,
  DeviceError,
  DeviceLostError,
  DisposedError,
  DTypeError,
  FormatError,
  OutOfMemoryError,
  PumiceError,
  ShapeError,
  SizeMismatchError,
  UnsupportedError,
} from "./core/errors.js";
export { version } from "./core/version.js";
