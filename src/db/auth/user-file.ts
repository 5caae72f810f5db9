/**
 * An account file: one account a line, blank lines and lines that start with `#` skipped, malformed lines skipped with a warning that never
 * shows the line. Source: contract http.md 5.2; specification 5.1.
 */
import { readFileSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { type DbError, errorText, invalidArguments } from "../../base/error.ts";
import { printHumanSize } from "../../base/text/human-size.ts";
import { USER_FILE_BYTES_MAX } from "../../base/limits.ts";
import type { Logger } from "../../base/log.ts";
import { type Parsed, parsed, refused } from "../../base/text/parsed.ts";
import { utf8Document } from "../../base/bytes/utf8.ts";
import { type Account, parseCredentialLine } from "./credential-line.ts";

const LINE_FEED = 0x0a;

/** Most skipped lines that one warning names. */
const SKIPPED_LINES_MAX = 20;

/** What a file said. */
export interface UserFile {
  /** In the order of the file, names may repeat. */
  readonly accounts: readonly Account[];
  /** Numbers of malformed lines, from 1. */
  readonly malformed: readonly number[];
  /** Number of the line that is not UTF-8, at which reading ended. */
  readonly brokenAt: number | undefined;
}

/** Reads the bytes of a file. */
export function parseUserFile(bytes: Uint8Array): UserFile {
  const accounts: Account[] = [];
  const malformed: number[] = [];
  let line = 1;
  for (let at = 0; at < bytes.length; line++) {
    const feed = bytes.indexOf(LINE_FEED, at);
    const end = feed < 0 ? bytes.length : feed;
    const text = utf8Document(bytes.subarray(at, end));
    if (text === undefined) return { accounts, malformed, brokenAt: line };
    at = end + 1;
    const trimmed = text.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const account = parseCredentialLine(trimmed);
    if (account === undefined) malformed.push(line);
    else accounts.push(account);
  }
  return { accounts, malformed, brokenAt: undefined };
}

/** Says which lines of a file were not used, and never what is in them. */
export function logSkippedLines(file: UserFile, path: string, logger: Logger): void {
  if (file.malformed.length > 0) {
    const lines = file.malformed.slice(0, SKIPPED_LINES_MAX);
    logger.warn(
      { path, lines, count: file.malformed.length },
      "skipped malformed lines of the account file; want <user>[:ro|wo|rw]=<password>",
    );
  }
  if (file.brokenAt !== undefined) {
    logger.warn({ path, line: file.brokenAt }, "stopped reading the account file at a line that is not UTF-8");
  }
}

/**
 * Reads the file of a provider that starts.
 *
 * @throws DbError InvalidArguments: it is missing, no file, too large, unreadable, or has no valid line
 */
export function readUserFile(path: string, logger: Logger): { readonly bytes: Uint8Array; readonly accounts: readonly Account[] } {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw invalidProvider(path, "UserProvider file must exist");
  if (!stat.isFile()) throw invalidProvider(path, "UserProvider file must be a file");
  if (stat.size > USER_FILE_BYTES_MAX) throw invalidProvider(path, tooLarge());
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    throw invalidProvider(path, `UserProvider file must be readable: ${errorText(cause)}`, cause);
  }
  const file = parseUserFile(bytes);
  logSkippedLines(file, path, logger);
  if (file.accounts.length === 0) throw invalidProvider(path, "UserProvider's file must contains at least one valid credential");
  return { bytes, accounts: file.accounts };
}

/** Reads a file that may be missing or half replaced, without blocking. */
export async function rereadUserFile(path: string): Promise<Parsed<Uint8Array>> {
  try {
    const handle = await open(path, "r");
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) return refused("it is not a file");
      if (stat.size > USER_FILE_BYTES_MAX) return refused(tooLarge());
      return parsed(await handle.readFile());
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    return refused(errorText(thrown));
  }
}

/** A failure of the provider string. `value` must hold no password. */
export function invalidProvider(value: string, message: string, cause?: unknown): DbError {
  return invalidArguments(`Invalid config value: ${value}, ${message}`, cause);
}

function tooLarge(): string {
  return `UserProvider file must not be larger than ${printHumanSize(USER_FILE_BYTES_MAX)}`;
}
