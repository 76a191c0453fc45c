/**
 * A thread's `resourceLimits` count the JavaScript heap only; the parser's memory is WebAssembly memory beside it, which
 * may grow to gigabytes and never shrinks. The one way for it to grow is `WebAssembly.Memory.grow`, so that is where the
 * cap stands. It ends the thread: a refused growth would come back to the parser's callers as address 0, and they write
 * to it.
 */
interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

// The part of the standard object that is used here; Node's types leave it to the browser's.
declare const WebAssembly: { readonly Memory: { readonly prototype: WasmMemory } };

let largestBytes = 0;

/** Size of the WebAssembly memory of this thread when it last grew. */
export function wasmMemoryBytes(): number {
  return largestBytes;
}

/** Calls `onOverCap`, which must not return, when WebAssembly memory of this thread is to grow beyond the cap. */
export function capWasmMemory(maxBytes: number, onOverCap: () => never): void {
  const grow = WebAssembly.Memory.prototype.grow;
  WebAssembly.Memory.prototype.grow = function (this: WasmMemory, pages: number): number {
    const wanted = this.buffer.byteLength + pages * 65_536;
    if (wanted > maxBytes) onOverCap();
    largestBytes = Math.max(largestBytes, wanted);
    return grow.call(this, pages);
  };
}
