/**
 * A data file, all of it: the checksum of its entry over every byte, then each part by its own checksum and decoded, so that a finding says
 * which part it is. Files of older servers have no checksum in their entries; their parts cover every byte between them.
 *
 *   "PAR1" | pages: CRC, header, values | blooms: CRC | sections, indexes: CRC | blobs: CRC | tail: CRC | footer: CRC | length, "PAR1"
 *
 * Memory: the footer and page indexes, one dictionary and one page.
 */
import { corruptionOf, DbError, errorText } from "../../base/error.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import { openParquet, type ParquetFile } from "../../format/parquet/reading/file.ts";
import { verifyDictionary, verifyPage } from "../../format/parquet/reading/verify-page.ts";
import type { ByteRange } from "../../format/parquet/types.ts";
import type { FileReader, FileStore } from "../../storage/file-store/file-store.ts";
import { COLUMN_INDEX_BLOB, decodeDirectory } from "../../storage/index/directory-codec.ts";
import { unpackValueList } from "../../storage/index/value-list.ts";
import type { DataFile } from "../../storage/sst/data-file.ts";
import { entryMismatch } from "../../storage/sst/read/entry-check.ts";
import { decodeSeriesIndex, SERIES_INDEX_BLOB } from "../../storage/sst/series/series-index.ts";
import { decodeSection, decodeSections, SERIES_SECTIONS_BLOB } from "../../storage/sst/series/series-sections.ts";
import { decodeTombstones, TOMBSTONE_BLOB } from "../../storage/sst/series/tombstone-blob.ts";
import type { CheckSink } from "./finding.ts";
import { RangeMap } from "./range-map.ts";

/** Bytes that are read at once. */
const PIECE_BYTES: number = 1024 * 1024;
/** First guess of how many bytes hold footer and page indexes. */
const TAIL_BYTES: number = 64 * 1024;
const MAGIC = "PAR1";
/** Footer length and magic bytes. */
const ENDING_BYTES = 8;
/** Findings of one file that are told one by one. */
const FINDINGS_MAX = 20;

const ADVICE = "restore the file from a backup (varve restore into another directory has it), or drop or truncate the table";

/**
 * Checks the file of an entry.
 *
 * @param path as it is shown
 * @param isQuick whether the checksum of all its bytes is enough where the entry has one, and is right
 */
export async function checkDataFile(entry: DataFile, store: FileStore, path: string, isQuick: boolean, sink: CheckSink): Promise<void> {
  const told = new Told(path, sink);
  let reader: FileReader;
  try {
    reader = await store.open(entry.name);
  } catch (error) {
    sink.finding({
      file: path,
      what: `cannot be opened: ${errorText(error)}`,
      means: `the meta store names it: its ${entry.rowCount} rows cannot be read, and queries of their times fail`,
      advice: ADVICE,
    });
    return;
  }
  try {
    const isWhole = await checkSum(entry, reader, told, sink);
    if (isQuick && isWhole === true) return sink.read(reader.byteLength);
    const parquet = await told.tryTo("footer and page indexes", "no row of the file can be read", () => footerOf(entry.name, reader));
    if (parquet !== undefined) await new DataFileCheck(entry, parquet, reader, told, sink, path).run();
    else sink.read(reader.byteLength);
    if (isWhole === false && told.count === 0) {
      told.say(
        undefined,
        "it does not match the checksum of its entry, and no checksum of a part says where",
        "a byte that no part covers",
      );
    }
  } finally {
    reader.close();
  }
}

/** Whether all bytes are those that were written; undefined where nobody knows. */
async function checkSum({ byteLength, crc }: DataFile, reader: FileReader, told: Told, sink: CheckSink): Promise<boolean | undefined> {
  if (reader.byteLength !== byteLength) {
    told.say(undefined, `it has ${reader.byteLength} bytes, its entry says ${byteLength}`, "no row of the file is read");
  }
  let sum = 0;
  for (let at = 0; at < reader.byteLength; at += PIECE_BYTES) {
    const piece = await reader.read(at, Math.min(PIECE_BYTES, reader.byteLength - at));
    sum = crc32(piece, sum);
    sink.read(0); // What takes long is what follows; this says whether to go on.
  }
  return crc === undefined ? undefined : sum === crc;
}

async function footerOf(name: string, reader: FileReader): Promise<ParquetFile> {
  let byteLength = Math.min(TAIL_BYTES, reader.byteLength);
  for (;;) {
    const opened = openParquet(name, reader.byteLength, await reader.read(reader.byteLength - byteLength, byteLength));
    if (opened.kind === "file") return opened.file;
    byteLength = opened.byteLength;
  }
}

/** Findings of one file. */
class Told {
  count = 0;
  private readonly path: string;
  private readonly sink: CheckSink;

  constructor(path: string, sink: CheckSink) {
    this.path = path;
    this.sink = sink;
  }

  say(offset: number | undefined, what: string, means: string): void {
    this.count++;
    if (this.count <= FINDINGS_MAX) this.sink.finding({ file: this.path, offset, what, means, advice: ADVICE });
  }

  /** Does a step; what it throws is a finding. */
  async tryTo<T>(what: string, means: string, step: () => T | Promise<T>, offset?: number): Promise<T | undefined> {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof Error)) throw error; // An interruption is none.
      const place = error instanceof DbError ? corruptionOf(error)?.offset : undefined;
      this.say(place ?? offset, `${what}: ${error.message}`, means);
      return undefined;
    }
  }
}

/** The parts of one file whose footer could be read. */
class DataFileCheck {
  private readonly entry: DataFile;
  private readonly parquet: ParquetFile;
  private readonly reader: FileReader;
  private readonly told: Told;
  private readonly sink: CheckSink;
  private readonly path: string;
  private readonly used = new RangeMap();
  /** Bytes that were told to be read. */
  private counted = 0;

  constructor(entry: DataFile, parquet: ParquetFile, reader: FileReader, told: Told, sink: CheckSink, path: string) {
    this.entry = entry;
    this.parquet = parquet;
    this.reader = reader;
    this.told = told;
    this.sink = sink;
    this.path = path;
  }

  async run(): Promise<void> {
    const { parquet, told, entry } = this;
    const why = await told.tryTo("page indexes", "no row of the file can be read", () => entryMismatch(entry, parquet));
    if (why !== undefined) told.say(undefined, why, "the file is not the one of its entry: queries of its times fail");
    await this.checkMagic();
    for (let group = 0; group < parquet.rowGroups.length; group++) {
      for (let column = 0; column < parquet.columns.length; column++) {
        await this.checkChunk(group, column);
        await this.checkBloom(group, column);
      }
    }
    await this.checkSeries();
    await this.checkTombstones();
    await this.checkIndexes();
    await this.checkRest();
    this.sink.read(Math.max(0, parquet.fileLength - this.counted));
  }

  private async checkMagic(): Promise<void> {
    this.used.add(0, MAGIC.length);
    const bytes = await this.reader.read(0, MAGIC.length);
    if (Buffer.from(bytes).toString("latin1") !== MAGIC)
      this.told.say(0, "it does not begin with PAR1", "other readers of Parquet refuse it");
  }

  private async checkChunk(rowGroup: number, column: number): Promise<void> {
    const { parquet, told, reader } = this;
    const name = parquet.columns[column]?.name ?? "";
    const means = `values of column ${name} of these rows cannot be read: queries that need them fail`;
    const range = parquet.rowGroups[rowGroup]?.chunks[column]?.dictionary;
    const dictionary =
      range === undefined
        ? undefined
        : await told.tryTo(`dictionary of column ${name}`, means, async () =>
            verifyDictionary(parquet, rowGroup, column, await this.take(range), range.offset),
          );
    if (range !== undefined && dictionary === undefined) return; // Without it no page can be decoded.
    const pages = await told.tryTo(`page index of column ${name}`, means, () => parquet.pageIndex(rowGroup, column));
    if (pages === undefined) return;
    for (let page = 0; page < pages.pageCount; page++) {
      const [offset, length] = [pages.offsets[page] ?? 0, pages.lengths[page] ?? 0];
      this.used.add(offset, length);
      this.counted += length;
      this.sink.read(length);
      const what = `page ${page} of column ${name} in row group ${rowGroup}`;
      const verify = async (): Promise<void> =>
        verifyPage(parquet, { rowGroup, column, page }, await reader.read(offset, length), dictionary);
      await told.tryTo(what, means, verify, offset);
    }
  }

  private async checkBloom(rowGroup: number, column: number): Promise<void> {
    const range = this.parquet.rowGroups[rowGroup]?.chunks[column]?.bloom;
    if (range === undefined) return;
    const bytes = await this.take(range);
    const checksum = this.parquet.bloomChecksum(rowGroup, column);
    if (checksum === undefined) {
      // Readers do not use it without a checksum either.
      return this.sink.unused({ file: this.path, from: range.offset, to: range.offset + range.length, why: "a filter without a checksum" });
    }
    if (crc32(bytes) === checksum) return;
    const name = this.parquet.columns[column]?.name ?? "";
    this.told.say(
      range.offset,
      `the bloom filter of tag ${name} does not match its checksum`,
      "queries by that tag open more files than they need",
    );
  }

  /** The series index, whole or in sections. */
  private async checkSeries(): Promise<void> {
    const { parquet, told } = this;
    const means = "the file's rows cannot be told apart by series: queries of its times fail";
    const sections = await this.blob(SERIES_SECTIONS_BLOB, means, decodeSections);
    if (sections === undefined) {
      const index = await this.blob(SERIES_INDEX_BLOB, means, decodeSeriesIndex);
      const rows = index?.ends.at(-1) ?? 0;
      if (index !== undefined && rows !== parquet.rowCount)
        told.say(undefined, `its series have ${rows} rows of ${parquet.rowCount}`, means);
      return;
    }
    let rows = 0;
    for (const section of sections) {
      rows += section.rowCount;
      await told.tryTo("series section", means, async () => decodeSection(section, await this.take(section)), section.offset);
    }
    if (rows !== parquet.rowCount) told.say(undefined, `its series sections have ${rows} rows of ${parquet.rowCount}`, means);
  }

  private async checkTombstones(): Promise<void> {
    const means = "what the file deletes is unknown: queries of its times fail";
    const found = await this.blob(TOMBSTONE_BLOB, means, decodeTombstones);
    if (found !== undefined || this.entry.tombstones === undefined) return;
    if (this.parquet.blob(TOMBSTONE_BLOB) === undefined) this.told.say(undefined, "it has no tombstones, but its entry says so", means);
  }

  private async checkIndexes(): Promise<void> {
    const means = "the file is read without its column indexes: queries by those fields are slower";
    const entries = await this.blob(COLUMN_INDEX_BLOB, means, decodeDirectory);
    for (const { columnId, kind, pieces } of entries ?? []) {
      for (const piece of pieces) {
        if (piece.length === 0) continue;
        const verify = async (): Promise<void> => {
          const bytes = await this.take(piece);
          if (crc32(bytes) !== piece.checksum) throw new Error("it does not match its checksum");
          if (kind === "list") unpackValueList(bytes);
        };
        await this.told.tryTo(`index of column ${columnId}`, means, verify, piece.offset);
      }
    }
  }

  /** What is left: tail and footer passed their checksums when the file was opened. */
  private async checkRest(): Promise<void> {
    const { parquet, used, told, reader } = this;
    const tailStart = Number((parquet.keyValues.get("varve.parquet.tail") ?? "").split(":")[0]);
    const { fileLength } = parquet;
    used.add(tailStart, fileLength - tailStart);
    const ending = await reader.read(fileLength - ENDING_BYTES, ENDING_BYTES);
    if (ending.length !== ENDING_BYTES) told.say(fileLength, "it ends early", "no row of the file can be read");
    for (const { from, to } of used.gaps(fileLength)) {
      if (this.entry.crc === undefined) told.say(from, `${to - from} bytes belong to no part of it`, "it may be another file's");
      else this.sink.unused({ file: this.path, from, to, why: "between the parts of a data file" });
    }
  }

  private async blob<T>(name: string, means: string, decode: (bytes: Uint8Array) => T): Promise<T | undefined> {
    const { parquet, told } = this;
    const range = await told.tryTo(name, means, () => parquet.blob(name));
    if (range === undefined) return undefined;
    return await told.tryTo(name, means, async () => decode(parquet.verifyBlob(name, await this.take(range))), range.offset);
  }

  private take({ offset, length }: ByteRange): Uint8Array | Promise<Uint8Array> {
    this.used.add(offset, length);
    return this.reader.read(offset, length);
  }
}
