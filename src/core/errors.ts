/**
 * The errors Pumice throws. A message names the operation, the offending values and what would work;
 * a program can react to the class.
 */
export class PumiceError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Shapes that do not fit the operation. */
export class ShapeError extends PumiceError {}

/** A dtype the operation does not take. */
export class DTypeError extends PumiceError {}

/** No device, the wrong device, or a driver call that failed for a reason no other class covers. */
export class DeviceError extends PumiceError {}

/** The driver refused memory after garbage was collected and the pool was trimmed. */
export class OutOfMemoryError extends PumiceError {}

/** The GPU stopped; every tensor on it is gone. Open the device again to go on. */
export class DeviceLostError extends PumiceError {}

/** A buffer, tensor or device was used after it was disposed. */
export class DisposedError extends PumiceError {}

/** A value was asked for where there is none yet: inside a function that a transform is tracing. */
export class TraceError extends PumiceError {}

/** A file or byte sequence that is not what it claims to be. */
export class FormatError extends PumiceError {}

/** The device or the build cannot do this. */
export class UnsupportedError extends PumiceError {}

/** Bytes that do not fit the buffer they are written to. */
export class SizeMismatchError extends PumiceError {}

/** An argument that the function does not take; the message names the limit. */
export class ArgumentError extends PumiceError {}
