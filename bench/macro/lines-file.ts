/** A file of line protocol made line by line: for shapes that `generator.ts` does not have. */
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import type { Generated } from "./generator.ts";

const CHUNK_CHARACTERS = 4 * 1024 * 1024;

/** Writes lines, each with its line feed, to `path` and syncs it. Lines are ASCII. */
export function writeLines(path: string, lines: Iterable<string>): Generated {
  const file = openSync(path, "w");
  let rows = 0;
  let bytes = 0;
  let pending: string[] = [];
  let characters = 0;
  const flush = (): void => {
    const piece = Buffer.from(pending.join(""), "latin1");
    for (let done = 0; done < piece.length; ) done += writeSync(file, piece, done);
    bytes += piece.length;
    pending = [];
    characters = 0;
  };
  try {
    for (const line of lines) {
      pending.push(line);
      characters += line.length;
      rows++;
      if (characters >= CHUNK_CHARACTERS) flush();
    }
    flush();
    fdatasyncSync(file); // Otherwise the kernel writes it back while a server under test syncs its log.
    return { path, rows, bytes };
  } finally {
    closeSync(file);
  }
}
