/** SQL texts for people who work on them: their trees as JSON, and the texts printed anew. Nothing runs, and no table is looked at. */
import { DbError, invalidArguments } from "../../base/error.ts";
import { throwIfCancelled } from "../../base/scheduler/cancel.ts";
import { Pace, paced } from "../../base/scheduler/pace.ts";
import type { Scheduler } from "../../base/scheduler/scheduler.ts";
import { parseInTurns } from "../../query/sql/parse-in-turns.ts";
import { printStatement } from "../../query/sql/print/print-statement.ts";
import { maskSyntaxError } from "../../query/sql/print/secret-text.ts";
import type { Statement } from "../../query/sql/syntax/statement-ast.ts";
import { treesJson } from "./tree-json.ts";

/** Longest text. Reason: a statement is printed at once, 200 KiB in 170 ms; its tree is twenty times as long. Error: InvalidArguments. */
export const SYNTAX_CHARACTERS_MAX: number = 64 * 1024;
/** Characters of JSON that are given at once. */
const PIECE_CHARACTERS = 16 * 1024;

/** What work on a text goes by. */
export interface SyntaxWork {
  readonly scheduler: Scheduler;
  readonly signal: AbortSignal;
}

/** The statements of a text as a JSON list, in pieces. @throws DbError InvalidSyntax, Unsupported, InvalidArguments for a long text */
export async function* parsedJson(text: string, work: SyntaxWork): AsyncGenerator<string> {
  const pace = paceOf(work);
  let held = "";
  for (const piece of treesJson(await statementsOf(text, pace))) {
    held += piece;
    if (held.length < PIECE_CHARACTERS) continue;
    yield held;
    held = "";
    await pace.turn();
  }
  yield held;
}

/**
 * Each statement on a line of its own, keywords in upper case, without comments and with `;` behind it. Secrets in options are masked.
 *
 * @throws DbError InvalidSyntax, Unsupported, InvalidArguments for a long text
 */
export async function formattedSql(text: string, work: SyntaxWork): Promise<string> {
  const pace = paceOf(work);
  const lines: string[] = [];
  for (const statement of await statementsOf(text, pace)) {
    lines.push(`${printStatement(statement)};`);
    await pace.turn();
  }
  return lines.join("\n");
}

async function statementsOf(text: string, pace: Pace): Promise<readonly Statement[]> {
  if (text.length > SYNTAX_CHARACTERS_MAX)
    throw invalidArguments(`cannot read a text of ${text.length} characters: ${SYNTAX_CHARACTERS_MAX} are the most`);
  try {
    return (await parseInTurns(text, pace)).statements;
  } catch (thrown) {
    if (!(thrown instanceof DbError)) throw thrown;
    const masked = await paced(maskSyntaxError(thrown.message, text), pace);
    throw masked === undefined ? thrown : new DbError(thrown.code, masked);
  }
}

function paceOf({ scheduler, signal }: SyntaxWork): Pace {
  return new Pace(scheduler, () => throwIfCancelled(signal));
}
