/**
 * Data files as objects `<root>/<name>` of an S3-compatible store. An object is there once its upload is complete: a file is whole or not
 * there at all. Names are used once (file ids are never given out twice): an upload demands that there is no such object.
 *
 * Writers gather a file in a local folder, since `write` cannot wait for a network, and memory would not hold it; `finish` uploads it.
 */
import { join } from "node:path";
import { assert } from "../../../base/assert.ts";
import { crc32 } from "../../../base/bytes/hash.ts";
import { corrupted, DbError, errorText } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { MemoryCounter } from "../../../base/memory/server-memory.ts";
import type { FileReader, FileWriter } from "../file-store.ts";
import { localFileStore } from "../local-file-store.ts";
import type { FetchBegin, RemoteFileStore } from "../remote-file-store.ts";
import { RANGE_BYTES } from "./limits.ts";
import { ObjectRequests, type ObjectPlace, type RequestTimes } from "./object-requests.ts";
import { crcText, each, eachRange, type ObjectFacts, type ObjectGone, Objects } from "./objects.ts";

/**
 * See the file header.
 *
 * @param scratch a local folder for files that are being written; nobody else uses it
 * @param memory counts what is held of files on their way
 */
export function s3FileStore(
  place: ObjectPlace,
  scratch: string,
  times?: RequestTimes,
  memory: MemoryCounter = new MemoryCounter(),
): RemoteFileStore {
  const requests = new ObjectRequests(place, times, memory);
  const objects = new Objects(requests);
  const local = localFileStore(scratch);
  const before = place.root === "" ? "" : `${place.root}/`;
  const keyOf = (name: string): string => before + name;
  let written = 0;
  const store: RemoteFileStore = {
    async create(name) {
      const draft = `draft-${++written}`;
      return new S3FileWriter(await local.create(draft), {
        finish: (byteLength) => store.putFile(name, join(scratch, draft), byteLength),
        end: () => local.delete(draft),
      });
    },
    async open(name) {
      const facts = await named(`open file ${name}`, () => objects.look(keyOf(name)));
      if (facts === undefined) throw missing(`open file ${name}`, name, requests.textOf(keyOf(name)));
      return new S3FileReader(name, keyOf(name), requests.textOf(keyOf(name)), facts, objects);
    },
    sizeOf: (name) => named(`look at file ${name}`, async () => (await objects.look(keyOf(name)))?.byteLength),
    delete: (name) => named(`delete file ${name}`, () => objects.delete(keyOf(name))),
    async list(folder) {
      await store.abortUnfinished(folder);
      return [...(await store.lengths(folder)).keys()];
    },
    deleteFolder: (folder) =>
      named(`delete folder ${folder}`, async () => {
        for await (const page of objects.list(keyOf(`${folder}/`))) await each(page, ({ key }) => objects.delete(key));
      }),
    putFile: (name, path, byteLength) => named(`upload file ${name}`, () => objects.putFile(keyOf(name), path, byteLength)),
    fetchFile: (name, begin) => named(`fetch file ${name}`, () => fetchObject(objects, name, keyOf(name), begin, memory)),
    abortUnfinished: (folder) => named(`list folder ${folder}`, () => objects.abortUploads(keyOf(`${folder}/`))),
    lengths: (folder) =>
      named(`list folder ${folder}`, async () => {
        const found = new Map<string, number>();
        for await (const page of objects.list(keyOf(`${folder}/`)))
          for (const { key, size } of page) found.set(key.slice(before.length), size);
        return found;
      }),
  };
  return store;
}

async function fetchObject(objects: Objects, name: string, key: string, begin: FetchBegin, memory: MemoryCounter): Promise<void> {
  const first = await objects.range(key, 0, RANGE_BYTES, undefined);
  if (typeof first === "string") throw lost(`fetch file ${name}`, name, key, first);
  const use = await begin(first.total);
  if (use === undefined) return;
  let crc = 0;
  const gone = await eachRange(objects, key, first, memory, (bytes) => {
    crc = crc32(bytes, crc);
    use(bytes);
  });
  if (gone !== undefined) throw lost(`fetch file ${name}`, name, key, gone);
  const { crc: want } = first.facts;
  if (want === undefined || want === crcText(crc)) return;
  const what = `cannot fetch file ${name}: its bytes have the sum ${crcText(crc)} instead of ${want}`;
  throw corrupted(what, { file: name, offset: undefined, kind: "checksum" });
}

/** What is done once a local draft is there, and with it at the end. */
interface Draft {
  finish(byteLength: number): Promise<void>;
  end(): Promise<void>;
}

class S3FileWriter implements FileWriter {
  private readonly local: FileWriter;
  private readonly draft: Draft;
  private isOpen = true;

  constructor(local: FileWriter, draft: Draft) {
    this.local = local;
    this.draft = draft;
  }

  write(bytes: Uint8Array): void {
    this.local.write(bytes);
  }

  async finish(): Promise<number> {
    assert(this.isOpen, "a file is finished once");
    this.isOpen = false;
    const byteLength = await this.local.finish();
    try {
      await this.draft.finish(byteLength);
      return byteLength;
    } finally {
      await this.draft.end();
    }
  }

  async abort(): Promise<void> {
    if (this.isOpen) await this.local.abort();
    this.isOpen = false;
  }
}

class S3FileReader implements FileReader {
  readonly byteLength: number;
  private readonly name: string;
  private readonly key: string;
  private readonly text: string;
  private readonly etag: string;
  private readonly objects: Objects;
  private isOpen = true;

  constructor(name: string, key: string, text: string, facts: ObjectFacts, objects: Objects) {
    this.name = name;
    this.key = key;
    this.text = text;
    this.etag = facts.etag;
    this.byteLength = facts.byteLength;
    this.objects = objects;
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    assert(this.isOpen, `file ${this.name} is open`);
    const { byteLength, name } = this;
    const what = `read ${length} bytes at ${offset} of file ${name}`;
    if (offset + length > byteLength)
      throw corrupted(`cannot ${what}: it ends at byte ${byteLength}`, { file: name, offset: byteLength, kind: "length" });
    const bytes = new Uint8Array(length);
    const starts = Array.from({ length: Math.ceil(length / RANGE_BYTES) }, (_, i) => i * RANGE_BYTES);
    await named(what, () =>
      each(starts, async (start) => {
        const count = Math.min(RANGE_BYTES, length - start);
        const range = await this.objects.range(this.key, offset + start, count, this.etag);
        if (typeof range === "string") throw lost(what, name, this.text, range);
        bytes.set(range.bytes, start);
      }),
    );
    return bytes;
  }

  close(): void {
    this.isOpen = false;
  }
}

function missing(what: string, file: string, text: string): DbError {
  return corrupted(`cannot ${what}: there is no ${text}`, { file, offset: undefined, kind: "missing" });
}

function lost(what: string, file: string, text: string, gone: ObjectGone): DbError {
  if (gone === "gone") return missing(what, file, text);
  return new DbError(StatusCode.StorageUnavailable, `cannot ${what}: ${text} is another object than before`);
}

/** Runs `work` and names the file in its errors. */
async function named<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DbError) throw error;
    throw new DbError(StatusCode.StorageUnavailable, `cannot ${what}: ${errorText(error)}`, { cause: error });
  }
}
