/**
 * The header before a page of any writer.
 *
 * Source: Apache Parquet, parquet.thrift, struct PageHeader.
 */
import { ThriftReader } from "../../../format/parquet/thrift/thrift-compact.ts";

/** Fields of all kinds of pages. */
interface PageSizes {
  readonly byteLength: number;
  readonly storedByteLength: number;
}

/** A page's header. Lengths are bytes, counts entries; encodings are numbers of parquet.thrift. */
export type PageHeader =
  | (PageSizes & { readonly kind: "dictionary"; readonly valueCount: number; readonly encoding: number })
  | (PageSizes & {
      readonly kind: "data-1";
      readonly entryCount: number;
      readonly encoding: number;
      readonly definitionEncoding: number;
      readonly repetitionEncoding: number;
    })
  | (PageSizes & {
      readonly kind: "data-2";
      readonly entryCount: number;
      readonly encoding: number;
      readonly definitionByteLength: number;
      readonly repetitionByteLength: number;
      readonly isCompressed: boolean;
    })
  | (PageSizes & { readonly kind: "other" });

const DATA_1 = 0;
const DICTIONARY = 2;
const DATA_2 = 3;

/** Reads the header at the start of `bytes`. @throws DbError StorageUnavailable, also when the bytes end within it */
export function readPageHeader(bytes: Uint8Array, fileName: string, offset: number): { header: PageHeader; length: number } {
  const reader = new ThriftReader(bytes, 0, fileName, offset);
  let type = -1;
  let byteLength = -1;
  let storedByteLength = -1;
  let inner: ReadonlyMap<number, number> | undefined;
  reader.open();
  for (let id = reader.field(); id !== 0; id = reader.field()) {
    if (id === 1) type = reader.int();
    else if (id === 2) byteLength = reader.size();
    else if (id === 3) storedByteLength = reader.size();
    else if (id === 5 || id === 7 || id === 8) inner = readInner(reader, id);
    else reader.skip();
  }
  if (byteLength < 0 || storedByteLength < 0) reader.fail("a page header without sizes");
  const sizes = { byteLength, storedByteLength };
  return { header: headerOf(reader, type, sizes, inner), length: reader.offset };
}

function headerOf(reader: ThriftReader, type: number, sizes: PageSizes, inner: ReadonlyMap<number, number> | undefined): PageHeader {
  if (type !== DATA_1 && type !== DICTIONARY && type !== DATA_2) return { kind: "other", ...sizes };
  const field = (id: number): number => inner?.get(id) ?? reader.fail(`a page header without field ${id}`);
  const entryCount = field(1);
  switch (type) {
    case DICTIONARY:
      return { kind: "dictionary", ...sizes, valueCount: entryCount, encoding: field(2) };
    case DATA_1:
      return { kind: "data-1", ...sizes, entryCount, encoding: field(2), definitionEncoding: field(3), repetitionEncoding: field(4) };
    default:
      return {
        kind: "data-2",
        ...sizes,
        entryCount,
        encoding: field(4),
        definitionByteLength: field(5),
        repetitionByteLength: field(6),
        isCompressed: inner?.get(7) !== 0,
      };
  }
}

/** Numbers of the header of one kind by field; field 7 of data pages of version 2 is a flag, every 5th and 8th else are statistics. */
function readInner(reader: ThriftReader, kind: number): ReadonlyMap<number, number> {
  const fields = new Map<number, number>();
  const last = kind === 8 ? 6 : kind === 5 ? 4 : 2;
  reader.open();
  for (let id = reader.field(); id !== 0; id = reader.field()) {
    if (kind === 8 && id === 7) fields.set(id, reader.bool() ? 1 : 0);
    else if (id <= last) fields.set(id, reader.size());
    else reader.skip();
  }
  return fields;
}
