/** Room for spilled rows in memory, which knows what lies in it. */
import type { SpillFile, SpillSpace } from "../../src/table/spill-space.ts";

/** See the file header. */
export class MemorySpill implements SpillSpace {
  /** Files that are open. */
  open = 0;
  /** Bytes ever appended. */
  written = 0;
  /** Called before each append; throws to let it fail. */
  onAppend: () => void = () => undefined;

  create(): Promise<SpillFile> {
    this.open++;
    let isOpen = true;
    const pieces = new Map<number, Uint8Array<ArrayBuffer>>();
    let length = 0;
    return Promise.resolve({
      append: async (bytes) => {
        this.onAppend();
        const at = length;
        pieces.set(at, bytes.slice());
        length += bytes.length;
        this.written += bytes.length;
        return at;
      },
      read: async (offset, want) => {
        const piece = pieces.get(offset);
        if (!isOpen || piece?.length !== want) throw new Error("blocks are read as they were written, before their file is closed");
        return piece.slice();
      },
      close: async () => {
        if (isOpen) this.open--;
        isOpen = false;
        pieces.clear();
      },
    });
  }
}
