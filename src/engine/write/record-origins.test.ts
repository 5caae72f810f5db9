/** What records say of themselves: a writer a log and process, numbers without holes but where the log failed, the catalogue's version. */
import { describe, expect, spyOn, test } from "bun:test";
import { deleteKey, put, read, refusal } from "../../../test/engine/lines.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { ByteWriter } from "../../base/bytes/byte-writer.ts";
import type { RecordOrigin } from "../../storage/memtable/record-origin.ts";
import { decodeWriteRecord } from "../../storage/memtable/write-record.ts";

/** What the records of a thread's log say, after which it takes no more of them; their segments are those of the log. */
async function originsOf(machine: Machine, thread = 0): Promise<RecordOrigin[]> {
  const found: RecordOrigin[] = [];
  await machine
    .logOf(thread)
    .crash()
    .recover(({ segment, sequence, payload }) => {
      const { origin } = decodeWriteRecord(sequence, payload);
      expect(origin?.segment).toBe(segment);
      if (origin !== undefined) found.push(origin);
    });
  return found;
}

function numbersOf(origins: readonly RecordOrigin[]): (readonly [number: number, segment: number])[] {
  return origins.map(({ number, segment }) => [number, segment]);
}

test("writes and deletes of a process are of one writer, numbered as they are logged", async () => {
  const machine = await Machine.start();
  await put(machine.engine, "cpu,host=a v=1i 1");
  await deleteKey(machine.engine, "a", 1n);
  await put(machine.engine, "cpu,host=a v=2i 2\nmem,host=a v=2i 2"); // One record, two tables.
  const origins = await originsOf(machine);
  expect(numbersOf(origins)).toEqual([1, 2, 3].map((number) => [number, 1]));
  expect(new Set(origins.map(({ writer }) => writer)).size).toBe(1);
});

test("each process and each thread is a writer of its own, which counts from 1", async () => {
  const machine = await Machine.start({ threads: 2 });
  const all: RecordOrigin[] = [];
  for (let life = 0; life < 2; life++) {
    for (const thread of [0, 1, 2]) await put(machine.writer(thread), `cpu,host=h${thread} v=1i ${life}`);
    for (const thread of [0, 1, 2]) all.push(...(await originsOf(machine, thread)).filter((one) => !all.some(isWriterOf(one))));
    await machine.crash();
  }
  expect(new Set(all.map(({ writer }) => writer)).size).toBe(6);
  expect(all.map(({ number }) => number)).toEqual([1, 1, 1, 1, 1, 1]);
  expect((await read(machine.engine, "cpu")).length).toBe(6);
});

test("the catalogue's version is that with which the record's tables are there", async () => {
  for (const thread of [0, 1]) {
    const machine = await Machine.start({ threads: 1 });
    await put(machine.writer(thread), "cpu,host=a v=1i 1");
    await put(machine.writer(thread), "cpu,host=a v=2i 2");
    await put(machine.writer(thread), "cpu,host=a,rack=r v=3i,w=3i 3");
    const [made = 0, same = 0, extended = 0] = (await originsOf(machine, thread)).map(({ catalogVersion }) => catalogVersion);
    expect(made).toBeGreaterThan(0);
    expect(same).toBe(made);
    expect(extended).toBeGreaterThan(made);
  }
});

test("a record that could not be built leaves no hole in its segment", async () => {
  for (const thread of [0, 1]) {
    const machine = await Machine.start({ threads: 1 });
    await put(machine.writer(thread), "cpu,host=a v=1i 1");
    const encode = spyOn(ByteWriter.prototype, "patchU32").mockImplementationOnce(() => {
      throw new RangeError("out of memory");
    });
    const failure = await put(machine.writer(thread), "cpu,host=b v=2i 2").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RangeError);
    encode.mockRestore();
    await put(machine.writer(thread), "cpu,host=b v=3i 3");
    expect(numbersOf(await originsOf(machine, thread))).toEqual([
      [1, 1],
      [2, 1],
    ]);
  }
});

describe.each([0, 1])("a record that the log of thread %d failed to write", (thread) => {
  test("leaves its number without one; the next begins a segment, and counts at a start", async () => {
    const machine = await Machine.start({ threads: 1 });
    const writer = machine.writer(thread);
    await put(writer, "cpu,host=a v=1i 1");
    machine.logOf(thread).failNextWrite("no space left");
    const failed = [put(writer, "cpu,host=x v=8i 8"), put(writer, "cpu,host=y v=9i 9")];
    for (const write of failed) await refusal(write);
    await put(writer, "cpu,host=b v=2i 2");
    await put(writer, "cpu,host=b v=3i 3");
    const origins = await originsOf(machine, thread);
    expect(numbersOf(origins)).toEqual([
      [1, 1],
      [4, 2],
      [5, 2],
    ]);
    await machine.crash();
    expect(await read(machine.engine, "cpu")).toEqual(["'a'|1|1", "'b'|2|2", "'b'|3|3"]);
  });

  test("leaves one of a later segment alone that waited behind it", async () => {
    const machine = await Machine.start({ threads: 1, segmentBytes: 1 });
    const writer = machine.writer(thread);
    await put(writer, "cpu,host=a v=1i 1");
    machine.logOf(thread).failNextWrite("no space left");
    const failed = put(writer, "cpu,host=b v=8i 8");
    const later = put(writer, "cpu,host=b v=2i 2");
    await refusal(failed);
    await later;
    expect(await read(machine.engine, "cpu")).toEqual(["'a'|1|1", "'b'|2|2"]);
    const origins = await originsOf(machine, thread);
    expect(numbersOf(origins)).toEqual([
      [1, 1],
      [3, 3],
    ]);
    await machine.crash();
    expect(await read(machine.engine, "cpu")).toEqual(["'a'|1|1", "'b'|2|2"]);
  });
});

function isWriterOf({ writer }: RecordOrigin): (other: RecordOrigin) => boolean {
  return (other) => other.writer === writer;
}
