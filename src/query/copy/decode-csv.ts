/** CSV files → rows of texts. */
import type { Pace } from "../../base/scheduler/pace.ts";
import type { Scalar } from "../../column/vector.ts";
import { STRING } from "../../column/data-type.ts";
import { CsvError, CsvReader, type CsvRecord } from "../../format/csv/csv-reader.ts";
import type { OpenFile } from "../../table/file-access.ts";
import type { CopyOptions } from "./copy-options.ts";
import { badFile, bytesOf, type FileRows, type FoundColumn } from "./file-rows.ts";
import { type TypeGuess, typeOfGuess, wider } from "./infer-type.ts";

/**
 * The rows of a CSV file. Without a header its columns are those asked for, in their order.
 *
 * @param names the columns wanted
 * @throws DbError InvalidArguments with the line
 */
export async function* csvRows(file: OpenFile, names: readonly string[], options: CopyOptions, pace: Pace): AsyncGenerator<FileRows> {
  let header: readonly string[] | undefined = options.hasHeader ? undefined : names;
  for await (const records of recordsOf(file, options, pace, header?.length === 1)) {
    let from = 0;
    if (header === undefined) {
      const [first] = records;
      if (first === undefined) continue;
      header = headerOf(file, first, names, options);
      from = 1;
    }
    const rows = rowsOf(file, header, names, from === 0 ? records : records.slice(from), options);
    if (rows.rowCount > 0) yield rows;
  }
}

function headerOf(file: OpenFile, { fields }: CsvRecord, names: readonly string[], options: CopyOptions): readonly string[] {
  const header = fields.map((field) => field ?? "");
  const twice = header.find((name, i) => header.indexOf(name) !== i);
  if (twice !== undefined) throw badFile(file.location, `its header names column '${twice.slice(0, 80)}' twice`);
  if (!options.strictHeaders) return header;
  const missing = names.find((name) => !header.includes(name));
  if (missing !== undefined) throw badFile(file.location, `its header lacks column '${missing}' (strict_headers is on)`);
  const extra = header.find((name) => !names.includes(name));
  if (extra !== undefined)
    throw badFile(file.location, `its header names '${extra.slice(0, 80)}', which the table lacks (strict_headers is on)`);
  return header;
}

function rowsOf(
  file: OpenFile,
  header: readonly string[],
  names: readonly string[],
  records: readonly CsvRecord[],
  options: CopyOptions,
): FileRows {
  const good: CsvRecord[] = [];
  for (const record of records) {
    if (record.fields.length === header.length) good.push(record);
    else if (!options.skipBadRecords) {
      const why = `line ${record.line} has ${record.fields.length} fields, ${header.length} are expected`;
      throw badFile(file.location, `${why}; skip_bad_records = 'true' leaves such lines out`);
    }
  }
  const columns = names.map((name) => {
    const at = header.indexOf(name);
    return at < 0 ? undefined : { type: STRING, values: good.map((record): Scalar => record.fields[at]) };
  });
  return { rowCount: good.length, columns, placeOf: (row) => `line ${good[row]?.line ?? 0}` };
}

/** @param hasOneColumn whether that is known before the first record */
async function* recordsOf(file: OpenFile, options: CopyOptions, pace: Pace, hasOneColumn: boolean): AsyncGenerator<readonly CsvRecord[]> {
  const reader = new CsvReader(options.delimiter, hasOneColumn);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for await (const bytes of bytesOf(file, options, pace)) {
      yield reader.push(decoder.decode(bytes, { stream: true }));
    }
    yield reader.push(decoder.decode());
    yield reader.finish();
  } catch (thrown) {
    if (thrown instanceof CsvError) throw badFile(file.location, `line ${thrown.line}: ${thrown.message}`, thrown);
    if (thrown instanceof TypeError) throw badFile(file.location, "it is not UTF-8 text", thrown);
    throw thrown;
  }
}

/** The columns of a CSV file and the narrowest types that hold the values of its first records. */
export async function csvColumns(file: OpenFile, options: CopyOptions, pace: Pace): Promise<readonly FoundColumn[]> {
  let names: readonly string[] | undefined;
  const guesses: TypeGuess[] = [];
  let count = 0;
  for await (const records of recordsOf(file, options, pace, false)) {
    for (const { fields } of records) {
      if (names === undefined) {
        names = options.hasHeader ? fields.map((field) => field ?? "") : fields.map((_, i) => `column_${i + 1}`);
        if (options.hasHeader) continue;
      }
      for (let i = 0; i < names.length; i++) {
        const field = fields[i];
        if (field !== undefined) guesses[i] = wider(guesses[i], field);
      }
      if (++count >= options.inferRecordsMax) return found(names, guesses);
    }
  }
  if (names === undefined) throw badFile(file.location, "it is empty, so that its columns are not known; name them");
  return found(names, guesses);
}

function found(names: readonly string[], guesses: readonly TypeGuess[]): readonly FoundColumn[] {
  return names.map((name, i) => ({ name, type: typeOfGuess(guesses[i]) }));
}
