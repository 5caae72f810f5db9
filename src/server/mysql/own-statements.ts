/**
 * Statements that the server answers itself, since they are about the connection and not about what is stored: those with a canned answer
 * (`canned-answers.ts`), USE, KILL by the id of a connection, that id, SHOW WARNINGS, LOAD DATA. Everything else is the database's.
 */
import { INT64, STRING, UINT16 } from "../../column/data-type.ts";
import type { StatementResult } from "../../query/statement-result.ts";
import { databaseExists, databaseOf } from "../common/database-name.ts";
import { type CannedRows, cannedAnswer, transactionAfter } from "./canned-answers.ts";
import { WireFailure } from "./errors.ts";
import { type LoadStatement, parseLoad } from "./load/load-syntax.ts";
import { resultOf } from "./results.ts";
import type { Talk } from "./talk.ts";

/** See the file header. */
export type OwnStatement =
  | { readonly kind: "canned"; readonly answer: "done" | CannedRows; readonly isInTransaction?: boolean | undefined }
  | { readonly kind: "use"; readonly database: string }
  | { readonly kind: "kill"; readonly id: number; readonly what: "query" | "connection" }
  | { readonly kind: "show-warnings" }
  | { readonly kind: "autocommit"; readonly isOn: boolean }
  | LoadStatement;

const USE = /^use\s+(?:`([^`]+)`|"([^"]+)"|([^\s;]+))\s*$/i;
const KILL = /^kill\s+(?:(query|connection)\s+)?(\d{1,10})\s*$/i;
/** Alone it names its column as it is written, which some clients look for. */
const CONNECTION_ID = /^select\s+(connection_id\(\s*\))\s*$/i;
const SHOW_WARNINGS = /^show\s+warnings\b/i;
const WARNING_CODE = 1000;
/** There are no transactions: drivers look for what they have set. */
const AUTOCOMMIT = /^set\s(?:[^']*[\s,.@])?autocommit\s*:?=\s*(0|1|on|off|true|false|default)\b/i;

/** What a statement is, if it is one of these. @param text without comments before it @throws WireFailure */
export function ownStatement(text: string, talk: Talk): OwnStatement | undefined {
  const use = USE.exec(text);
  if (use !== null) return { kind: "use", database: use[1] ?? use[2] ?? use[3] ?? "" };
  const kill = KILL.exec(text);
  if (kill !== null) return { kind: "kill", id: Number(kill[2]), what: kill[1]?.toLowerCase() === "query" ? "query" : "connection" };
  const ownId = CONNECTION_ID.exec(text);
  if (ownId !== null) {
    const headers = [{ name: ownId[1] ?? "", type: INT64 }];
    return { kind: "canned", answer: { headers, rows: [[talk.id]] } };
  }
  if (SHOW_WARNINGS.test(text)) return { kind: "show-warnings" };
  const load = parseLoad(text);
  if (load !== undefined) return load;
  const answer = cannedAnswer(text, talk);
  const autocommit = answer === "done" ? AUTOCOMMIT.exec(text)?.[1] : undefined;
  if (autocommit !== undefined) return { kind: "autocommit", isOn: /^(?:1|on|true|default)$/i.test(autocommit) };
  return answer === undefined ? undefined : { kind: "canned", answer, isInTransaction: transactionAfter(text) };
}

/** A statement that is answered at once. */
export type PlainStatement = Exclude<OwnStatement, LoadStatement>;

/** Does what a statement says. @throws WireFailure, DbError */
export function answerOwn(statement: PlainStatement, talk: Talk): StatementResult {
  switch (statement.kind) {
    case "use":
      useDatabase(statement.database, talk);
      return DONE;
    case "kill": {
      const isThere = talk.parts.connections.kill(statement.id, statement.what, talk.user);
      return { kind: "affected", rowCount: isThere ? 1 : 0 };
    }
    case "show-warnings":
      return warnings(talk);
    case "autocommit":
      talk.isAutocommit = statement.isOn;
      return DONE;
    case "canned":
      talk.isInTransaction = statement.isInTransaction ?? talk.isInTransaction;
      return statement.answer === "done" ? DONE : resultOf(statement.answer);
  }
}

const DONE: StatementResult = { kind: "affected", rowCount: 0 };

/** Makes a database the current one. @throws WireFailure */
export function useDatabase(text: string, talk: Talk): void {
  const name = databaseOf(text, talk.parts.db);
  if (!databaseExists(name, talk.parts.db)) throw unknownDatabase(text);
  talk.session.database = name;
}

/** Says that there is no such database. */
export function unknownDatabase(text: string): WireFailure {
  return new WireFailure(1102, "42000", `Unknown database '${text.slice(0, 80)}'`);
}

function warnings({ session }: Talk): StatementResult {
  const headers = [
    { name: "Level", type: STRING },
    { name: "Code", type: UINT16 },
    { name: "Message", type: STRING },
  ];
  return resultOf({ headers, rows: session.connection.warnings.map((text) => ["Warning", WARNING_CODE, text]) });
}
