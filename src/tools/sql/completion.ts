/**
 * What Tab offers: backslash commands, keywords, tables of the database, their columns. Names come from the server's catalogue, which is
 * asked at most every few seconds, and never while one waits: the first Tab may offer keywords alone.
 */
import { type Clock, systemClock } from "../../base/clock.ts";
import { languageWords } from "../../query/language-facts.ts";
import type { Client } from "../common/client.ts";
import { COMMAND_NAMES } from "./commands.ts";
import { FORMATS } from "./session.ts";

/** How long names are taken for what they were. */
const KEPT_MILLIS = 10_000;
/** Names that are kept at most. Reason: a server of metrics has a hundred thousand tables. */
const NAMES_MAX = 50_000;
/** Names that Tab shows. */
const SHOWN_MAX = 100;

/** Columns by table, of one database. */
export type Names = ReadonlyMap<string, readonly string[]>;

/** The names of a server, as they are known. */
export class KnownNames {
  private names: Names = new Map();
  private database = "";
  private askedAt = Number.NEGATIVE_INFINITY;
  private readonly client: Client;
  private readonly clock: Clock;

  constructor(client: Client, clock: Clock = systemClock) {
    this.client = client;
    this.clock = clock;
  }

  /** What is known now; begins to ask where that is old. */
  now(): Names {
    const { client } = this;
    const isOther = client.database !== this.database;
    if (isOther) this.names = new Map();
    // Nobody waits for it: where it fails, names stay as they were.
    if (isOther || this.clock.monotonicMillis() - this.askedAt > KEPT_MILLIS) void this.ask(client.database);
    return this.names;
  }

  /** Asks the server. Never rejects. */
  async ask(database: string): Promise<void> {
    this.askedAt = this.clock.monotonicMillis();
    this.database = database;
    const where = `table_schema = '${database.replaceAll("'", "''")}'`;
    try {
      const rows = await this.client.rows(
        `SELECT table_name, column_name FROM information_schema.columns WHERE ${where} ORDER BY 1, ordinal_position LIMIT ${NAMES_MAX}`,
      );
      const names = new Map<string, string[]>();
      for (const [table, column] of rows) {
        const columns = names.get(String(table));
        if (columns === undefined) names.set(String(table), [String(column)]);
        else columns.push(String(column));
      }
      if (this.database === database) this.names = names;
    } catch {
      // A server that does not answer, or a user who may not look: Tab offers keywords then.
      this.askedAt = this.clock.monotonicMillis();
    }
  }
}

/** Words behind which a table's name stands. */
const BEFORE_TABLE = /\b(?:from|join|into|update|table|describe|desc|truncate|view|\\d)\s+$/i;

/**
 * What may stand where the cursor is, and the part of the word that is there.
 *
 * @param before the statement up to the line
 * @param line up to the cursor
 */
export function completions(before: string, line: string, names: Names): readonly [offered: string[], part: string] {
  if (line.startsWith("\\") && !line.includes(" ")) return [COMMAND_NAMES.filter((name) => name.startsWith(line)), line];
  const part = /[\w"]*$/.exec(line)?.[0] ?? "";
  const ahead = line.slice(0, line.length - part.length);
  if (/^\\format\s+$/.test(ahead)) return [FORMATS.filter((format) => format.startsWith(part)), part];
  if (isInText(before + line)) return [[], part];
  const lower = part.toLowerCase().replace(/^"/, "");
  const matching = (all: Iterable<string>): string[] => {
    const found = new Set<string>();
    for (const name of all) if (name.toLowerCase().startsWith(lower)) found.add(written(name));
    return [...found].sort().slice(0, SHOWN_MAX);
  };
  const qualifier = /([\w]+|"[^"]+")\.$/.exec(ahead)?.[1]?.replaceAll('"', "");
  if (qualifier !== undefined) return [matching(names.get(qualifier) ?? columnsOfAlias(before + line, qualifier, names)), part];
  if (BEFORE_TABLE.test(ahead)) return [matching(names.keys()), part];
  const mentioned = [...names].filter(([table]) => mentions(before + line, table)).flatMap(([, columns]) => columns);
  const isUpper = part !== "" && part === part.toUpperCase() && /[A-Z]/.test(part);
  const keywords = part === "" ? [] : languageWords().filter((word) => word.startsWith(lower.toUpperCase()));
  const offered = [...matching(mentioned), ...matching(names.keys()), ...keywords.map((word) => (isUpper ? word : word.toLowerCase()))];
  return [[...new Set(offered)].slice(0, SHOWN_MAX), part];
}

/** Whether the cursor is inside a text or a comment of a line: an odd number of quotes stands before it. */
function isInText(text: string): boolean {
  const open = text.replace(/'(?:[^']|'')*'/g, "");
  return open.includes("'") || /--[^\n]*$/.test(open);
}

function mentions(text: string, table: string): boolean {
  const lower = text.toLowerCase();
  const at = lower.indexOf(table.toLowerCase());
  return at >= 0 && !/\w/.test(lower.charAt(at - 1)) && !/\w/.test(lower.charAt(at + table.length));
}

function columnsOfAlias(text: string, alias: string, names: Names): readonly string[] {
  const found = new RegExp(`([\\w]+|"[^"]+")\\s+(?:as\\s+)?${alias}\\b`, "i").exec(text)?.[1]?.replaceAll('"', "");
  return found === undefined ? [] : (names.get(found) ?? []);
}

/** A name as it is written: in quotes where it needs them. */
function written(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
