/** Settings from a TOML file. */
import { parse, TomlError } from "smol-toml";
import { CONFIG_FILE_BYTES_MAX } from "../base/limits.ts";
import { utf8Document } from "../base/bytes/utf8.ts";
import { ConfigError } from "./config-error.ts";
import { classOfKey, inertWarning, unknownWarning } from "./known-key.ts";
import { keepRaw, type Layer, type RawSetting } from "./layer.ts";
import type { Role } from "./role.ts";

/** Reads a file's bytes; throws what the file system throws. */
export type ReadFile = (path: string) => Uint8Array;

type Table = Readonly<Record<string, unknown>>;

/**
 * Reads a file. Messages never quote its lines, which may hold passwords.
 *
 * @throws ConfigError: missing, unreadable, too large, not UTF-8, not TOML (with line and column), a key that must not be ignored
 */
export function readConfigFile(path: string, readFile: ReadFile, role: Role): Layer {
  const values = new Map<string, RawSetting>();
  const warnings: string[] = [];
  walk(parseToml(path, readText(path, readFile)), "");
  return { values, warnings };

  function walk(table: Table, prefix: string): void {
    for (const [name, value] of Object.entries(table)) {
      const key = prefix + name;
      const kind = classOfKey(key, role);
      if (kind === "knob") {
        keepRaw(values, key, { source: path, form: "toml", value }, role);
      } else if (kind === "inert") {
        warn(inertWarning(key, value, path, role));
      } else if (kind === "unknown") {
        warn(unknownWarning(key, path, isTable(value) ? "section" : "key"));
      } else if (isTable(value)) {
        walk(value, `${key}.`);
      } else {
        throw new ConfigError(`cannot use \`${key}\` from ${path}: want a table [${key}]`);
      }
    }
  }

  function warn(line: string | undefined): void {
    if (line !== undefined) warnings.push(line);
  }
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function readText(path: string, readFile: ReadFile): string {
  let bytes: Uint8Array;
  try {
    bytes = readFile(path);
  } catch (cause) {
    throw new ConfigError(`cannot read config file ${path}: ${fileReason(cause)}`, undefined, { cause });
  }
  if (bytes.length > CONFIG_FILE_BYTES_MAX) {
    throw new ConfigError(`cannot read config file ${path}: it is larger than ${CONFIG_FILE_BYTES_MAX} bytes`);
  }
  const text = utf8Document(bytes);
  if (text === undefined) throw new ConfigError(`cannot read config file ${path}: it is not UTF-8`);
  return text;
}

function parseToml(path: string, text: string): Table {
  try {
    return parse(text, { integersAsBigInt: "asNeeded" });
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    // The first line says what is wrong; the rest quotes the file. The cause is left out for the same reason.
    const what = cause.message.split("\n", 1)[0]?.replace("Invalid TOML document: ", "") ?? "invalid TOML";
    throw new ConfigError(`cannot read config file ${path}: line ${cause.line}, column ${cause.column}: ${what}`);
  }
}

const FILE_REASONS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  EACCES: "permission denied",
  EISDIR: "it is a folder",
};

/** Why a file cannot be read: a phrase. */
export function fileReason(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const code = "code" in thrown ? String(thrown.code) : "";
  return FILE_REASONS[code] ?? thrown.message;
}
