/** Files of one JSON object a line → rows. */
import type { Pace } from "../../base/scheduler/pace.ts";
import { BOOLEAN, type DataType, FLOAT64, INT64, STRING } from "../../column/data-type.ts";
import type { Scalar } from "../../column/vector.ts";
import type { OpenFile } from "../../table/file-access.ts";
import type { CopyOptions } from "./copy-options.ts";
import { isObject } from "./json-reader.ts";
import { badFile, bytesOf, type FileRows, type FoundColumn } from "./file-rows.ts";
import { type JsonGuess, jsonGuess, togetherInJson, typeOfJsonGuess } from "./infer-json.ts";
import { documentText, parseDocument } from "./json-document.ts";
import { JSON_LINE_BYTES_MAX } from "./limits.ts";

/** An object and its line. */
interface Parsed {
  readonly line: number;
  readonly object: Readonly<Record<string, unknown>>;
}

/** The rows of a JSON file. @throws DbError InvalidArguments with the line */
export async function* jsonRows(file: OpenFile, names: readonly string[], options: CopyOptions, pace: Pace): AsyncGenerator<FileRows> {
  for await (const objects of objectsOf(file, options, pace)) {
    if (objects.length === 0) continue;
    const columns = names.map((name) => ({
      type: undefined,
      values: objects.map(({ object }): Scalar => (Object.hasOwn(object, name) ? scalarOf(object[name]) : undefined)),
      isAbsent: (row: number) => !Object.hasOwn(objects[row]?.object ?? {}, name),
    }));
    yield { rowCount: objects.length, columns, placeOf: (row) => `line ${objects[row]?.line ?? 0}` };
  }
}

/** Lists and objects are their text. */
function scalarOf(value: unknown): Scalar {
  if (value === null || value === undefined) return undefined;
  if (typeof value === "number" || typeof value === "string" || typeof value === "boolean" || typeof value === "bigint") return value;
  return documentText(value);
}

async function* objectsOf(file: OpenFile, options: CopyOptions, pace: Pace): AsyncGenerator<readonly Parsed[]> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  let line = 0;
  const take = (text: string): readonly Parsed[] => {
    const objects: Parsed[] = [];
    for (const one of text.split("\n")) {
      line++;
      if (one.trim() === "") continue;
      const object = parsed(file, one, line, options);
      if (object !== undefined) objects.push({ line, object });
    }
    return objects;
  };
  try {
    for await (const bytes of bytesOf(file, options, pace)) {
      rest += decoder.decode(bytes, { stream: true });
      const end = rest.lastIndexOf("\n");
      if (end < 0 && rest.length > JSON_LINE_BYTES_MAX) {
        throw badFile(file.location, `line ${line + 1} is longer than ${JSON_LINE_BYTES_MAX} characters`);
      }
      if (end < 0) continue;
      yield take(rest.slice(0, end));
      rest = rest.slice(end + 1);
    }
    rest += decoder.decode();
  } catch (thrown) {
    if (thrown instanceof TypeError) throw badFile(file.location, "it is not UTF-8 text", thrown);
    throw thrown;
  }
  if (rest !== "") yield take(rest);
}

function parsed(file: OpenFile, text: string, line: number, options: CopyOptions): Readonly<Record<string, unknown>> | undefined {
  let why: string;
  try {
    const value = parseDocument(text);
    if (isObject(value)) return value;
    why = "it holds no object";
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
    why = thrown.message;
  }
  if (options.skipBadRecords) return undefined;
  const advice = "a JSON file has one object a line; skip_bad_records = 'true' leaves other lines out";
  throw badFile(file.location, `line ${line}: ${why}: '${text.slice(0, 80)}'; ${advice}`);
}

/** The columns of a JSON file, in the order in which its first records name them. */
export async function jsonColumns(file: OpenFile, options: CopyOptions, pace: Pace): Promise<readonly FoundColumn[]> {
  const guesses = new Map<string, JsonGuess>();
  let count = 0;
  const found = (): readonly FoundColumn[] => [...guesses].map(([name, guess]) => ({ name, type: typeOfJsonGuess(guess) }));
  for await (const objects of objectsOf(file, options, pace)) {
    for (const { object } of objects) {
      for (const [name, value] of Object.entries(object)) guesses.set(name, togetherInJson(guesses.get(name), jsonGuess(value)));
      if (++count >= options.inferRecordsMax) return found();
    }
  }
  if (guesses.size === 0) throw badFile(file.location, "it holds no object, so that its columns are not known; name them");
  return found();
}

/** The type that a JSON value comes with. */
export function typeOfValue(value: Scalar): DataType {
  if (typeof value === "boolean") return BOOLEAN;
  if (typeof value === "bigint") return INT64;
  return typeof value === "number" ? (Number.isInteger(value) ? INT64 : FLOAT64) : STRING;
}
