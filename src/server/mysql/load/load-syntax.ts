/**
 * LOAD DATA as MySQL has it, as far as it can be served:
 *
 *   LOAD DATA [LOW_PRIORITY | CONCURRENT] LOCAL INFILE 'file' [REPLACE] INTO TABLE t [CHARACTER SET utf8mb4]
 *     [FIELDS | COLUMNS  [TERMINATED BY 't'] [[OPTIONALLY] ENCLOSED BY 'c'] [ESCAPED BY 'c']]
 *     [LINES [TERMINATED BY 't']] [IGNORE n LINES | ROWS] [(column | @variable, …)]
 *
 * There are no locks for the first two words to mean anything, and a row takes the place of one with the same key and time, which is
 * REPLACE. A value whose place has a @variable is left out. Texts come without backslashes (`backslash-escapes.ts`).
 */
import { WireFailure } from "../errors.ts";

/** A LOAD DATA of a client's file. */
export interface LoadStatement {
  readonly kind: "load";
  /** As the client is asked for it. */
  readonly file: string;
  /** With its database or without. */
  readonly table: readonly string[];
  /** Of each value of a row its column, undefined for one that is left out; undefined: all columns of the table. */
  readonly columns: readonly (string | undefined)[] | undefined;
  readonly fieldEnd: string;
  readonly lineEnd: string;
  /** A character each; empty: there is none. */
  readonly quote: string;
  readonly escape: string;
  /** Lines before the rows. */
  readonly ignoredLines: number;
}

const TOKEN = /\s+|--[^\n]*|\/\*[^]*?\*\/|#[^\n]*|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|@[\w$.]*|[\p{L}\p{N}_$]+|[^]/uy;
const CHARSETS: ReadonlySet<string> = new Set(["utf8", "utf8mb3", "utf8mb4", "binary", "ascii"]);
const IGNORED_LINES_MAX = 2 ** 31 - 1;

const syntax = (why: string): WireFailure => new WireFailure(1149, "42000", `(InvalidSyntax): Invalid SQL syntax: LOAD DATA: ${why}`);
const unsupported = (what: string): WireFailure => new WireFailure(1235, "42000", `(Unsupported): Not supported: ${what}`);

class Tokens {
  private readonly images: readonly string[];
  private at = 0;

  constructor(text: string) {
    this.images = (text.match(new RegExp(TOKEN.source, "gu")) ?? []).filter((image) => !/^(?:\s|--|\/\*|#)/.test(image));
  }

  get next(): string {
    return this.images[this.at] ?? "";
  }

  take(): string {
    const { next } = this;
    this.at++;
    return next;
  }

  takeIf(...words: readonly string[]): boolean {
    const matches = words.every((word, i) => this.images[this.at + i]?.toUpperCase() === word);
    if (matches) this.at += words.length;
    return matches;
  }

  expect(...words: readonly string[]): void {
    if (!this.takeIf(...words)) throw syntax(`found ${this.shown}, expected ${words.join(" ")}`);
  }

  /** What stands next, for errors. */
  get shown(): string {
    return this.next === "" ? "the end of the statement" : `'${this.next.slice(0, 40)}'`;
  }

  text(): string {
    const { next } = this;
    if (!/^['"]/.test(next)) throw syntax(`found ${this.shown}, expected a text in quotes`);
    return unquoted(this.take());
  }

  name(): string {
    const { next } = this;
    if (!/^[`"\p{L}_$]/u.test(next) || next === "`" || next === '"') throw syntax(`found ${this.shown}, expected a name`);
    const image = this.take();
    return /^[`"]/.test(image) ? unquoted(image) : image.toLowerCase();
  }
}

function unquoted(image: string): string {
  const quote = image.charAt(0);
  return image.slice(1, -1).replaceAll(quote + quote, quote);
}

/** The LOAD DATA that a text is; undefined for other statements. @throws WireFailure for one that cannot be served */
export function parseLoad(text: string): LoadStatement | undefined {
  if (!/^load\s+(?:data|xml)\b/i.test(text)) return undefined;
  const tokens = new Tokens(text);
  tokens.take(); // LOAD
  if (tokens.takeIf("XML")) throw unsupported("LOAD XML; convert the file to CSV and use LOAD DATA");
  tokens.take(); // DATA
  if (!tokens.takeIf("LOW_PRIORITY")) tokens.takeIf("CONCURRENT");
  if (!tokens.takeIf("LOCAL"))
    throw unsupported("LOAD DATA of a file of the server; say LOAD DATA LOCAL INFILE for one of the client, or COPY … FROM");
  tokens.expect("INFILE");
  const file = tokens.text();
  if (tokens.next.toUpperCase() === "IGNORE") throw unsupported("IGNORE: a row takes the place of one with the same key and time");
  tokens.takeIf("REPLACE");
  tokens.expect("INTO", "TABLE");
  const table = [tokens.name()];
  while (tokens.takeIf(".")) table.push(tokens.name());
  if (tokens.next.toUpperCase() === "PARTITION") throw unsupported("PARTITION in LOAD DATA; leave it out");
  readCharset(tokens);
  const form = { ...readFields(tokens), lineEnd: readLines(tokens), ignoredLines: readIgnored(tokens) };
  const columns = tokens.takeIf("(") ? readColumns(tokens) : undefined;
  if (tokens.next.toUpperCase() === "SET") throw unsupported("SET in LOAD DATA; load into another table, and INSERT … SELECT from it");
  if (tokens.next !== "") throw syntax(`found ${tokens.shown}, expected the end of the statement`);
  checkForm(form);
  return { kind: "load", file, table, columns, ...form };
}

function readCharset(tokens: Tokens): void {
  if (!tokens.takeIf("CHARACTER", "SET") && !tokens.takeIf("CHARSET")) return;
  const charset = /^['"]/.test(tokens.next) ? tokens.text() : tokens.name();
  if (!CHARSETS.has(charset.toLowerCase())) throw unsupported(`the character set ${charset.slice(0, 40)}; convert the file to UTF-8`);
}

function readFields(tokens: Tokens): Pick<LoadStatement, "fieldEnd" | "quote" | "escape"> {
  let form = { fieldEnd: "\t", quote: "", escape: "\\" };
  if (!tokens.takeIf("FIELDS") && !tokens.takeIf("COLUMNS")) return form;
  for (let count = 0; ; count++) {
    if (tokens.takeIf("TERMINATED", "BY")) form = { ...form, fieldEnd: tokens.text() };
    else if (tokens.takeIf("OPTIONALLY", "ENCLOSED", "BY") || tokens.takeIf("ENCLOSED", "BY")) form = { ...form, quote: tokens.text() };
    else if (tokens.takeIf("ESCAPED", "BY")) form = { ...form, escape: tokens.text() };
    else if (count > 0) return form;
    else throw syntax(`found ${tokens.shown}, expected TERMINATED, ENCLOSED or ESCAPED BY`);
  }
}

function readLines(tokens: Tokens): string {
  if (!tokens.takeIf("LINES")) return "\n";
  if (tokens.next.toUpperCase() === "STARTING") throw unsupported("LINES STARTING BY; cut the lines before");
  tokens.expect("TERMINATED", "BY");
  return tokens.text();
}

function readIgnored(tokens: Tokens): number {
  if (!tokens.takeIf("IGNORE")) return 0;
  const count = Number(/^\d{1,10}$/.test(tokens.next) ? tokens.take() : Number.NaN);
  if (!(count <= IGNORED_LINES_MAX)) throw syntax(`found ${tokens.shown}, expected the number of lines to ignore`);
  if (!tokens.takeIf("LINES")) tokens.expect("ROWS");
  return count;
}

function readColumns(tokens: Tokens): readonly (string | undefined)[] {
  const columns: (string | undefined)[] = [];
  if (tokens.takeIf(")")) throw syntax("the list of columns is empty");
  do {
    if (tokens.next.startsWith("@")) {
      tokens.take();
      columns.push(undefined);
    } else columns.push(tokens.name());
  } while (tokens.takeIf(","));
  tokens.expect(")");
  if (columns.every((column) => column === undefined)) throw syntax("the list has no column to load");
  return columns;
}

function checkForm({ fieldEnd, lineEnd, quote, escape }: Pick<LoadStatement, "fieldEnd" | "lineEnd" | "quote" | "escape">): void {
  const isByte = (text: string): boolean => text === "" || (text.length === 1 && text <= "\x7f");
  if (fieldEnd === "") throw unsupported("rows of fixed width; name what FIELDS are TERMINATED BY");
  if (lineEnd === "") throw unsupported("lines without an end; name what LINES are TERMINATED BY");
  if (!isByte(quote)) throw syntax("ENCLOSED BY takes one character of ASCII, or none");
  if (!isByte(escape)) throw syntax("ESCAPED BY takes one character of ASCII, or none");
  if (fieldEnd === lineEnd) throw syntax("FIELDS and LINES must end differently");
  for (const end of [fieldEnd, lineEnd])
    if (end.startsWith(quote === "" ? "\0" : quote) || end.startsWith(escape === "" ? "\0" : escape))
      throw syntax("what fields and lines end by must not begin with what encloses or escapes");
}
