/**
 * Statements that the server answers itself, since they are about the connection and not about what is stored (contract query.md 4.2):
 * transactions, which there are none of, settings, and what other servers have for sessions. Everything else is the database's.
 *
 *   BEGIN, START TRANSACTION            COMMIT, END        ROLLBACK, ABORT      SAVEPOINT, RELEASE, ROLLBACK TO
 *   SET of what has no effect           SHOW name          RESET, DISCARD       DEALLOCATE, CLOSE ALL
 *   LISTEN, NOTIFY: refused             UNLISTEN: done     COPY … STDIN, STDOUT (copy/copy-syntax.ts)
 *   PREPARE … AS, EXECUTE: refused, since contract query.md 2.9 has them in MySQL's protocol alone; drivers prepare by Parse
 */
import { postgresSetting } from "../../query/postgres-settings.ts";
import { firstWords } from "../wire/split-statements.ts";
import { type CopyStatement, parseCopy } from "./copy/copy-syntax.ts";
import { WireFailure } from "./errors.ts";

/** See the file header. */
export type OwnStatement =
  | { readonly kind: "begin"; readonly tag: "BEGIN" | "START TRANSACTION" }
  | { readonly kind: "commit" }
  | { readonly kind: "rollback" }
  | { readonly kind: "savepoint"; readonly tag: "SAVEPOINT" | "RELEASE" | "ROLLBACK" }
  /** Done by saying so. */
  | { readonly kind: "done"; readonly tag: string }
  /** A setting that is kept and has no effect; an absent value is its default. */
  | { readonly kind: "keep"; readonly name: string; readonly value: string | undefined }
  /** Shows a setting; `ALL` shows all. */
  | { readonly kind: "show"; readonly name: string }
  /** Runs another text in its stead. */
  | { readonly kind: "instead"; readonly text: string; readonly tag?: string }
  | { readonly kind: "reset-all"; readonly tag: "RESET" | "DISCARD ALL" }
  | { readonly kind: "deallocate"; readonly name: string | undefined }
  | { readonly kind: "close-all" }
  | CopyStatement;

/** Settings that `SET` of the grammar knows. */
const WITH_EFFECT: ReadonlySet<string> = new Set([
  "timezone",
  "time_zone",
  "bytea_output",
  "datestyle",
  "intervalstyle",
  "client_encoding",
  "statement_timeout",
  "search_path",
  "read_preference",
  "allow_query_fallback",
]);

const NAME = String.raw`([A-Za-z_][\w.]*|"[^"]+")`;
const SET = new RegExp(String.raw`^set\s+(?:session\s+|local\s+)?${NAME}\s*(?:=|\bto\b)\s*(\S[\s\S]*?)\s*$`, "i");
const SHOW = new RegExp(String.raw`^show\s+${NAME}\s*$`, "i");
const RESET = new RegExp(String.raw`^reset\s+${NAME}\s*$`, "i");
/** Words of cursors that mean nothing here: all are read forwards, and end with their connection. */
const DECLARE = new RegExp(
  String.raw`^declare\s+${NAME}\s+(?:(?:binary|insensitive|asensitive|(?:no\s+)?scroll)\s+)*cursor\s+(?:with(?:out)?\s+hold\s+)?for\b`,
  "i",
);
const FETCH = new RegExp(String.raw`^fetch\s+(?:forward\s+)?(?:(\d+|all|next)\s+)?(?:(?:from|in)\s+)?${NAME}\s*$`, "i");
/** More rows than there are. */
const ALL_ROWS = String(2 ** 53 - 1);
const DEALLOCATE = new RegExp(String.raw`^deallocate\s+(?:prepare\s+)?${NAME}\s*$`, "i");

/** Names that SHOW and RESET have words of their own for. */
const SPELLED: Readonly<Record<string, string>> = {
  "time zone": "TimeZone",
  "transaction isolation level": "transaction_isolation",
  "session authorization": "session_authorization",
};

/**
 * What a statement is, if it is one of these; undefined for one that is the database's.
 *
 * @param text without comments before it
 * @throws WireFailure for what is refused
 */
export function ownStatement(text: string): OwnStatement | undefined {
  const [first, second, third] = firstWords(text, 3);
  switch (first) {
    case "BEGIN":
      return { kind: "begin", tag: "BEGIN" };
    case "START":
      return second === "TRANSACTION" ? { kind: "begin", tag: "START TRANSACTION" } : undefined;
    case "COMMIT":
    case "END":
      return second === "PREPARED" ? refused("prepared transactions") : { kind: "commit" };
    case "ROLLBACK":
    case "ABORT": {
      if (second === "PREPARED") return refused("prepared transactions");
      const isTo = second === "TO" || ((second === "WORK" || second === "TRANSACTION") && third === "TO");
      return isTo ? { kind: "savepoint", tag: "ROLLBACK" } : { kind: "rollback" };
    }
    case "ALTER":
    case "CREATE":
    case "DROP":
      if (second !== "USER" && second !== "ROLE") return undefined;
      return refused(`${first} ${second}: accounts and their passwords stand in the file of --user-provider`);
    case "SAVEPOINT":
    case "RELEASE":
      return { kind: "savepoint", tag: first };
    case "SET":
      return setStatement(text, second, third);
    case "SHOW":
      return showStatement(text);
    case "RESET":
      return resetStatement(text, second);
    case "DISCARD":
      return second === "ALL" ? { kind: "reset-all", tag: "DISCARD ALL" } : { kind: "done", tag: `DISCARD ${second ?? ""}`.trimEnd() };
    case "DEALLOCATE": {
      const name = nameOf(DEALLOCATE.exec(text)?.[1]);
      return { kind: "deallocate", name: name === "all" ? undefined : name };
    }
    case "PREPARE":
    case "EXECUTE":
      return refused(`${first}: statements are prepared by the extended protocol (Parse, Bind), as drivers do, or psql's \\bind`);
    case "DECLARE":
      return instead(text, DECLARE, "DECLARE $1 CURSOR FOR");
    case "FETCH":
    case "MOVE":
      return fetchStatement(text);
    case "CLOSE":
      return second === "ALL" ? { kind: "close-all" } : undefined;
    case "LISTEN":
    case "NOTIFY":
      return refused(`${first}: there are no notifications between sessions`);
    case "UNLISTEN":
      return { kind: "done", tag: "UNLISTEN" };
    case "COPY":
      return parseCopy(text);
    default:
      return undefined;
  }
}

/** A statement in the words of the grammar; undefined where it has those already, or is none. */
function instead(text: string, pattern: RegExp, words: string): OwnStatement | undefined {
  const said = text.replace(pattern, words);
  return said === text ? undefined : { kind: "instead", text: said };
}

function fetchStatement(text: string): OwnStatement | undefined {
  const [, count = "next", name] = FETCH.exec(text) ?? [];
  if (name === undefined) return undefined;
  const rows = /^all$/i.test(count) ? ALL_ROWS : /^next$/i.test(count) ? "1" : count;
  return { kind: "instead", text: `FETCH ${rows} FROM ${name}` };
}

function refused(what: string): never {
  throw new WireFailure("0A000", `SQL statement is not supported, keyword: ${what}`);
}

/** A name as it is looked up: in small letters unless it is quoted. */
function nameOf(text: string | undefined): string | undefined {
  return text?.startsWith('"') === true ? text.slice(1, -1) : text?.toLowerCase();
}

function setStatement(text: string, second: string | undefined, third: string | undefined): OwnStatement | undefined {
  const isOfTransaction = second === "TRANSACTION" || second === "CONSTRAINTS" || (second === "SESSION" && third === "CHARACTERISTICS");
  const isOfAccount = second === "ROLE" || (second === "SESSION" && third === "AUTHORIZATION");
  if (isOfTransaction) return { kind: "done", tag: "SET" };
  if (isOfAccount) return refused("SET ROLE: an account has no roles");
  if (second === "NAMES") return { kind: "instead", text: text.replace(/^set\s+names\s*/i, "SET client_encoding = "), tag: "SET" };
  const [, quoted, value] = SET.exec(text) ?? [];
  const name = nameOf(quoted);
  if (name === undefined || value === undefined || WITH_EFFECT.has(name.toLowerCase())) return undefined;
  const known = postgresSetting(name);
  if (known === undefined && !name.includes(".")) return undefined;
  if (known?.isFixed === true) throw new WireFailure("55P02", `parameter "${known.name}" cannot be changed`);
  const isDefault = /^default$/i.test(value);
  return { kind: "keep", name: known?.name ?? name, value: isDefault ? undefined : plainValue(value) };
}

/** A value without its quotes. */
function plainValue(value: string): string {
  const [, text] = /^'((?:[^']|'')*)'$/.exec(value) ?? [];
  return text === undefined ? value.replace(/^"([^"]*)"$/, "$1") : text.replaceAll("''", "'");
}

function spelledName(text: string, word: RegExp): string | undefined {
  return SPELLED[text.replace(word, "").trim().replace(/\s+/g, " ").toLowerCase()];
}

function showStatement(text: string): OwnStatement | undefined {
  const name = nameOf(SHOW.exec(text)?.[1]) ?? spelledName(text, /^show/i);
  if (name === undefined) return undefined;
  if (name === "all") return { kind: "show", name };
  return postgresSetting(name) !== undefined || name.includes(".") ? { kind: "show", name } : undefined;
}

function resetStatement(text: string, second: string | undefined): OwnStatement | undefined {
  if (second === "ALL") return { kind: "reset-all", tag: "RESET" };
  const name = nameOf(RESET.exec(text)?.[1]) ?? spelledName(text, /^reset/i);
  if (name === undefined) return undefined;
  if (WITH_EFFECT.has(name.toLowerCase())) return { kind: "instead", text: `SET ${name} = DEFAULT`, tag: "RESET" };
  return { kind: "keep", name: postgresSetting(name)?.name ?? name, value: undefined };
}
