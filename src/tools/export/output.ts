/** Where an export goes: a file that is there when it is whole, or standard output. */
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { ToolIo } from "../tool.ts";

/** Takes bytes. */
export interface Output {
  write(bytes: Uint8Array): Promise<void>;
  /** All is there. */
  finish(): Promise<void>;
  /** It failed: nothing is left. */
  abort(): Promise<void>;
}

/** Standard output for `-`, else a file, which is written under another name beside it and renamed once the disk has it. */
export async function outputTo(path: string, io: ToolIo): Promise<Output> {
  if (path === "-") return { write: (bytes) => io.out(bytes), finish: async () => undefined, abort: async () => undefined };
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.part`;
  const file = await open(draft, "w");
  return {
    write: (bytes) => writeAll(file, bytes),
    finish: async () => {
      await file.sync();
      await file.close();
      await rename(draft, path);
    },
    abort: async () => {
      await file.close();
      await rm(draft, { force: true });
    },
  };
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
}
