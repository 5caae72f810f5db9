/** Answers of the statements that the server answers itself (`own-statements.ts`), COPY apart. */
import type { ColumnHeader } from "../../column/batch.ts";
import { STRING } from "../../column/data-type.ts";
import type { Scalar } from "../../column/vector.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import { closeCursors } from "../../query/connection.ts";
import type { StatementResult } from "../../query/statement-result.ts";
import type { CopyStatement } from "./copy/copy-syntax.ts";
import type { OwnStatement } from "./own-statements.ts";
import { TransactionState } from "./packets.ts";
import type { Talk } from "./talk.ts";

/** Those that are answered here. */
export type PlainStatement = Exclude<OwnStatement, CopyStatement | { kind: "instead" }>;

/** Says that the words of transactions are taken and mean nothing (contract query.md 4.2). */
const NO_TRANSACTIONS = "Please note transaction is not supported in GreptimeDB.";

/** What prepared statements of the extended protocol a DEALLOCATE may end. */
export interface Deallocating {
  deallocate(name: string | undefined): Promise<void>;
}

/** A tag, or rows with one. */
export type OwnAnswer =
  | { readonly kind: "tag"; readonly tag: string }
  | (Extract<StatementResult, { kind: "rows" }> & { readonly tag: string });

/** The columns that a statement gives; undefined: none. */
export function columnsOf(statement: PlainStatement): readonly ColumnHeader[] | undefined {
  if (statement.kind !== "show") return undefined;
  if (statement.name === "all") return ["name", "setting", "description"].map((name) => ({ name, type: STRING }));
  return [{ name: statement.name.toLowerCase(), type: STRING }];
}

/** Does what a statement says. @throws WireFailure, DbError */
export async function answerOwn(statement: PlainStatement, talk: Talk, prepared: Deallocating): Promise<OwnAnswer> {
  const { settings, session } = talk;
  switch (statement.kind) {
    case "begin":
      if (talk.transaction === TransactionState.Idle) talk.transaction = TransactionState.Open;
      talk.warn(NO_TRANSACTIONS);
      return { kind: "tag", tag: statement.tag };
    case "commit": {
      const tag = talk.transaction === TransactionState.Failed ? "ROLLBACK" : "COMMIT";
      talk.transaction = TransactionState.Idle;
      return { kind: "tag", tag };
    }
    case "rollback":
      talk.transaction = TransactionState.Idle;
      return { kind: "tag", tag: "ROLLBACK" };
    case "savepoint":
      if (statement.tag === "ROLLBACK" && talk.transaction === TransactionState.Failed) talk.transaction = TransactionState.Open;
      return { kind: "tag", tag: statement.tag };
    case "done":
      return { kind: "tag", tag: statement.tag };
    case "keep":
      settings.keep(statement.name, statement.value);
      return { kind: "tag", tag: statement.value === undefined ? "RESET" : "SET" };
    case "show":
      return show(statement, talk);
    case "reset-all":
      settings.reset();
      if (statement.tag === "DISCARD ALL") await prepared.deallocate(undefined);
      await session.reset();
      return { kind: "tag", tag: statement.tag };
    case "deallocate":
      await prepared.deallocate(statement.name);
      return { kind: "tag", tag: statement.name === undefined ? "DEALLOCATE ALL" : "DEALLOCATE" };
    case "close-all":
      await closeCursors(session.connection);
      return { kind: "tag", tag: "CLOSE CURSOR ALL" };
  }
}

/** Whether a statement may come in a transaction that has failed. */
export function endsTransaction({ kind }: OwnStatement): boolean {
  return kind === "commit" || kind === "rollback" || kind === "savepoint";
}

function show(statement: Extract<PlainStatement, { kind: "show" }>, { settings, session }: Talk): OwnAnswer {
  const headers = columnsOf(statement) ?? [];
  const rows = statement.name === "all" ? settings.all(session) : [[settings.show(statement.name, session).value]];
  const vectors = headers.map((_, i) =>
    vectorOf(
      STRING,
      rows.map((row): Scalar => row[i]),
    ),
  );
  const batch = { rowCount: rows.length, vectors };
  return { kind: "rows", headers, batches: once(batch), tag: "SHOW" };
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}
