/**
 * Tables as files of COPY DATABASE. A name may hold anything but control characters; a file's name holds no separator, does not begin with
 * a dot, and is short enough for every file system.
 *
 *   a/b        a%2Fb        ..      %2E.        50%      50%25
 *   1,024 bytes             its first characters, %~ and 32 digits of its SHA-256: such a file is found by the tables that there are
 */

/** Bytes of a file's name before its ending. Reason: file systems take 255, ending and what a store appends included. */
const STEM_BYTES_MAX = 200;
/** Characters that are left of a long name: 3 bytes each at most. */
const KEPT_CHARACTERS = 40;
const DIGEST_DIGITS = 32;

/** Name of a table's file without its ending. */
export function fileStemOf(table: string): string {
  const stem = escaped(table);
  if (Buffer.byteLength(stem) <= STEM_BYTES_MAX) return stem;
  const digest = new Bun.CryptoHasher("sha256").update(table).digest("hex").slice(0, DIGEST_DIGITS);
  return `${escaped(table.slice(0, KEPT_CHARACTERS).toWellFormed())}%~${digest}`;
}

/** The table of a file's name; of a long name only what is left of it. */
export function tableNameOf(stem: string): string {
  return stem.replace(/%(2F|5C|25|00|2E)/g, (code) => decodeURIComponent(code));
}

function escaped(table: string): string {
  return table.replace(/[/\\%\0]|^\./g, (character) => encodeURIComponent(character).replace(/^\.$/, "%2E"));
}
