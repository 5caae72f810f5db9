/** Files of one JSON object a line → rows. */
import { exactInteger } from "../../column/exact-integer.ts";
import { BOOLEAN, FLOAT64, INT64, STRING } from "../../column/data-type.ts";
import type { Scalar } from "../../column/vector.ts";
import type { OpenFile } from "../../table/file-access.ts";
import type { CopyOptions } from "./copy-options.ts";
import { badFile, bytesOf, type FileRows, type FoundColumn } from "./file-rows.ts";
import { together, type TypeGuess, typeOfGuess } from "./infer-type.ts";
import { JSON_LINE_BYTES_MAX } from "./limits.ts";

/** An object and its line. */
interface Parsed {
  readonly line: number;
  readonly object: Readonly<Record<string, unknown>>;
}

/** Numbers of so many digits do not fit a double. */
const LONG_NUMBER = /\d{16}/;

/** The rows of a JSON file. @throws DbError InvalidArguments with the line */
export async function* jsonRows(file: OpenFile, names: readonly string[], options: CopyOptions): AsyncGenerator<FileRows> {
  for await (const objects of objectsOf(file, options)) {
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

/** The JSON text of a list or object, in which long numbers are bigints. */
function documentText(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `[${value.map(documentText).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}:${documentText(inner)}`)
    .join(",")}}`;
}

async function* objectsOf(file: OpenFile, options: CopyOptions): AsyncGenerator<readonly Parsed[]> {
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
    for await (const bytes of bytesOf(file, options)) {
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
    const value: unknown = LONG_NUMBER.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
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

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whole numbers beyond 2^53 keep all their digits. */
function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== "number" || source === undefined || !/^-?\d{16,}$/.test(source)) return value;
  return exactInteger(BigInt(source));
}

/** The columns of a JSON file, in the order in which its first records name them. */
export async function jsonColumns(file: OpenFile, options: CopyOptions): Promise<readonly FoundColumn[]> {
  const guesses = new Map<string, TypeGuess>();
  let count = 0;
  const found = (): readonly FoundColumn[] => [...guesses].map(([name, guess]) => ({ name, type: typeOfGuess(guess) }));
  for await (const objects of objectsOf(file, options)) {
    for (const { object } of objects) {
      for (const [name, value] of Object.entries(object)) guesses.set(name, together(guesses.get(name), guessOf(value)));
      if (++count >= options.inferRecordsMax) return found();
    }
  }
  if (guesses.size === 0) throw badFile(file.location, "it holds no object, so that its columns are not known; name them");
  return found();
}

function guessOf(value: unknown): TypeGuess {
  switch (typeof value) {
    case "boolean":
      return "boolean";
    case "number":
      return Number.isSafeInteger(value) ? "int" : "float";
    case "bigint":
      return value === BigInt.asIntN(64, value) ? "int" : "float";
    default:
      return value === null ? undefined : "string";
  }
}

/** The type that a JSON value comes with. */
export function typeOfValue(value: Scalar): typeof STRING {
  if (typeof value === "boolean") return BOOLEAN;
  if (typeof value === "bigint") return INT64;
  return typeof value === "number" ? (Number.isInteger(value) ? INT64 : FLOAT64) : STRING;
}
