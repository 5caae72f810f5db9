import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorOf, failureOf } from "../../../test/support/failure-of.ts";
import { FaultyLogDisk } from "../../../test/support/faulty-log-disk.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import { ENDS_NAME, EndsFile } from "./ends-file.ts";
import { decodeStatement, encodeStatement, NO_ENDS, STATEMENT_BYTES, STATEMENT_PLACES, STATEMENT_STRIDE } from "./log-ends.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "varve-ends-"));
  folders.push(folder);
  return folder;
}

async function begun(folder = newFolder()): Promise<{ readonly folder: string; readonly disk: FaultyLogDisk; readonly ends: EndsFile }> {
  const disk = new FaultyLogDisk();
  const ends = new EndsFile(disk, folder, true);
  await ends.begin(NO_ENDS, false);
  return { folder, disk, ends };
}

/** What a start finds. */
async function found(folder: string): Promise<unknown> {
  return await new EndsFile(new FaultyLogDisk(), folder, true).read();
}

describe("a statement", () => {
  const statement = { number: 7, oldest: 3, newest: 9, end: { id: 9, bytes: 2 ** 40 + 1, check: 0xdead_beef } };
  const bytes = encodeStatement(statement);

  test("comes back as it was written", () => {
    const later = new Uint8Array(100 + STATEMENT_BYTES);
    later.set(bytes, 100);
    expect(decodeStatement(later, 100)).toEqual({ kind: "ok", statement });
  });

  test("is none with any bit flipped, or cut anywhere", () => {
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const copy = bytes.slice();
      copy[bit >> 3]! ^= 1 << (bit & 7);
      expect(decodeStatement(copy, 0)).toEqual({ kind: "none" });
    }
    for (let length = 0; length < bytes.length; length++) expect(decodeStatement(bytes.subarray(0, length), 0)).toEqual({ kind: "none" });
  });
});

describe("the file of the log's ends", () => {
  test("says what was said last, after any number of statements and starts, and never grows", async () => {
    const { folder, ends: first } = await begun();
    let ends = first;
    for (let newest = 1; newest <= 8; newest++) {
      await ends.note({ newest });
      expect(await found(folder)).toEqual({ ...NO_ENDS, newest });
      if (newest % 3 !== 0) continue;
      await ends.close();
      ends = new EndsFile(new FaultyLogDisk(), folder, true);
      await ends.begin((await ends.read()) ?? NO_ENDS, true);
    }
    await ends.close();
    expect(statSync(join(folder, ENDS_NAME)).size).toBe(STATEMENT_PLACES * STATEMENT_STRIDE);
  });

  test("keeps the statement before a torn one, also when the torn one is the first of a start on an unsynced one", async () => {
    const { folder, disk, ends } = await begun();
    for (let newest = 1; newest <= 3; newest++) await ends.note({ newest });
    disk.fail("sync", "EIO: i/o error");
    await errorOf(ends.note({ newest: 4 })); // A killed process leaves it in the page cache: the next start finds it.
    const next = new EndsFile(new FaultyLogDisk(), folder, true);
    expect(await next.read()).toEqual({ ...NO_ENDS, newest: 4 });
    const before = readFileSync(join(folder, ENDS_NAME));
    await next.begin({ ...NO_ENDS, newest: 4 }, true);
    // A power loss takes what no sync had covered: the statement of the killed process, and that of the start.
    const after = readFileSync(join(folder, ENDS_NAME));
    for (let place = 0; place < STATEMENT_PLACES; place++) {
      const at = place * STATEMENT_STRIDE;
      const isNew = !after.subarray(at, at + STATEMENT_BYTES).equals(before.subarray(at, at + STATEMENT_BYTES));
      const held = decodeStatement(after, at);
      if (isNew || (held.kind === "ok" && held.statement.newest === 4)) after.fill(0x5a, at, at + STATEMENT_BYTES);
    }
    writeFileSync(join(folder, ENDS_NAME), after);
    expect(await found(folder)).toEqual({ ...NO_ENDS, newest: 3 });
    await next.close();
    await ends.close();
  });

  test("after a failed statement says the one before it again, where the failed one stands, and does so once", async () => {
    const { folder, disk, ends } = await begun();
    await ends.note({ newest: 1 });
    disk.fail("sync", "EIO: i/o error");
    await errorOf(ends.note({ newest: 2 }));
    expect(await found(folder)).toEqual({ ...NO_ENDS, newest: 2 });
    expect(ends.ends).toEqual({ ...NO_ENDS, newest: 1 });
    await ends.settle();
    expect(await found(folder)).toEqual({ ...NO_ENDS, newest: 1 });
    const before = disk.calls.length;
    await ends.settle();
    expect(disk.calls.length).toBe(before);
    await ends.close();
  });

  test("says nothing when it is empty, cut or full of something else; a newer format is refused by name", async () => {
    const { folder, ends } = await begun();
    await ends.close();
    const path = join(folder, ENDS_NAME);
    const newer = readFileSync(path);
    newer.writeUInt32LE(2, 4);
    newer.writeUInt32LE(crc32(newer.subarray(0, STATEMENT_BYTES - 4)), STATEMENT_BYTES - 4);
    truncateSync(path, STATEMENT_BYTES - 1);
    expect(await found(folder)).toBeUndefined();
    writeFileSync(path, new Uint8Array(STATEMENT_PLACES * STATEMENT_STRIDE).fill(0x56));
    expect(await found(folder)).toBeUndefined();
    const again = new EndsFile(new FaultyLogDisk(), folder, true);
    await again.begin({ ...NO_ENDS, newest: 5 }, true);
    expect(await found(folder)).toEqual({ ...NO_ENDS, newest: 5 });
    await again.close();
    writeFileSync(path, newer);
    expect((await failureOf(found(folder))).message).toBe(
      `cannot read the log's ends ${path}: it has format version 2, which this server does not know`,
    );
  });
});
