/**
 * The part of the WebAssembly JavaScript interface that Pumice uses, typed. Node has it as a global, but only the browser's
 * type library declares it, and we want neither that library nor a global declaration in our users' programs.
 */
export interface WasmMemory {
  readonly buffer: ArrayBufferLike;
  /** Adds pages of 64 KiB and returns how many there were. */
  grow(pages: number): number;
}

export interface WasmModule {
  readonly [moduleBrand]: true;
}
declare const moduleBrand: unique symbol;

interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}

type WasmImports = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

interface WebAssemblyNamespace {
  validate(bytes: Uint8Array): boolean;
  readonly Module: {
    new (bytes: Uint8Array): WasmModule;
    exports(module: WasmModule): { readonly name: string; readonly kind: string }[];
    imports(module: WasmModule): { readonly module: string; readonly name: string; readonly kind: string }[];
  };
  readonly Instance: new (module: WasmModule, imports?: WasmImports) => WasmInstance;
  readonly Memory: new (limits: { initial: number; maximum?: number; shared?: boolean }) => WasmMemory;
  readonly CompileError: ErrorConstructor;
  readonly LinkError: ErrorConstructor;
  readonly RuntimeError: ErrorConstructor;
}

export const WebAssembly = (globalThis as unknown as { readonly WebAssembly: WebAssemblyNamespace }).WebAssembly;
