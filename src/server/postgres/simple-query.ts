/**
 * The simple protocol: a text of several statements, each answered in turn, up to the first that fails. Statements between two that the
 * server answers itself are parsed together, so that a flaw in one of them is told before any has run.
 */
import { Pace, paced } from "../../base/scheduler/pace.ts";
import type { StatementResult } from "../../query/statement-result.ts";
import { splitStatements, type StatementText } from "../wire/split-statements.ts";
import { withHexLiterals } from "./bytea-literals.ts";
import { tell, tellText } from "./codec.ts";
import { affectedTag, rowsTag } from "./command-tag.ts";
import { copyIn, type CopyInput } from "./copy/copy-in.ts";
import { copyOut } from "./copy/copy-out.ts";
import { answerOwn, type Deallocating, endsTransaction, type OwnAnswer } from "./own-answers.ts";
import { type OwnStatement, ownStatement } from "./own-statements.ts";
import { Tell, TransactionState } from "./packets.ts";
import { describeRows, type Format, rowsAs, rowStream, writeRowsAtOnce } from "./results.ts";
import type { Talk } from "./talk.ts";

/** What a simple query needs of its connection. */
export interface SimpleParts extends Deallocating {
  /** Where messages of COPY come from. */
  readonly input: CopyInput;
}

/** Runs a text. Never rejects: failures are told. */
export async function runSimple(sent: string, talk: Talk, parts: SimpleParts): Promise<void> {
  const began = talk.parts.clock.monotonicMillis();
  const { database } = talk.session;
  let text = sent;
  try {
    const pace = new Pace(talk.parts.scheduler);
    text = await paced(withHexLiterals(sent), pace);
    const statements = await paced(splitStatements(text), pace);
    if (statements.length === 0) tell(talk.outgoing, Tell.EmptyQuery);
    await runAll(text, statements, talk, parts);
  } catch (thrown) {
    talk.failed(thrown, text);
  }
  talk.metrics.querySeconds.observe({ subprotocol: "simple", db: database }, (talk.parts.clock.monotonicMillis() - began) / 1000);
  talk.ready();
}

/**
 * Answers a text of one small query whose plan is known, without a promise; false: it is for `runSimple`, and nothing was told.
 *
 * What is looked for first elsewhere is not here: only texts of a shape that went to the database are known, and a backslash may be a
 * literal of bytes.
 */
export function runSimpleAtOnce(sent: string, talk: Talk): boolean {
  if (talk.transaction === TransactionState.Failed || sent.includes("\\")) return false;
  const { outgoing, session, parts, metrics } = talk;
  const { database: db } = session;
  const began = parts.clock.monotonicMillis();
  const answer = parts.db.sqlAtOnce(sent.endsWith(";") ? sent.slice(0, -1) : sent, session);
  if (answer === undefined) return false;
  const { headers, batch } = answer;
  try {
    const form = talk.forms.of(headers, NO_FORMATS, session.settings, outgoing);
    outgoing.raw(form.description);
    writeRowsAtOnce(batch, form, outgoing);
    tellText(outgoing, Tell.CommandComplete, `SELECT ${batch.rowCount}`);
  } catch (thrown) {
    talk.failed(thrown, sent);
  }
  metrics.querySeconds.observe({ subprotocol: "simple", db }, (parts.clock.monotonicMillis() - began) / 1000);
  talk.ready();
  return true;
}

const NO_FORMATS: readonly Format[] = [];

async function runAll(text: string, statements: readonly StatementText[], talk: Talk, parts: SimpleParts): Promise<void> {
  let others: StatementText[] = [];
  const runOthers = async (): Promise<void> => {
    const together = others;
    others = [];
    if (together.length > 0) await runTogether(text, together, talk);
  };
  for (const statement of statements) {
    const own = ownStatement(text.slice(statement.start, Math.min(statement.end, statement.start + OWN_CHARACTERS_MAX)));
    if (own === undefined) {
      others.push(statement);
      continue;
    }
    await runOthers();
    talk.checkTransaction(endsTransaction(own));
    await runOwn(own, text.slice(statement.start, statement.end), talk, parts);
  }
  await runOthers();
}

/** Characters of a statement that the server answers itself; a longer COPY of a query is a text of files. */
const OWN_CHARACTERS_MAX: number = 256 * 1024;

async function runOwn(own: OwnStatement, text: string, talk: Talk, parts: SimpleParts): Promise<void> {
  switch (own.kind) {
    case "copy":
      return own.direction === "to" ? copyOut(own, talk) : copyIn(own, text, talk, parts.input);
    case "instead":
      return runTogether(own.text, [{ start: 0, end: own.text.length }], talk, own.tag);
    default:
      return tellOwn(await answerOwn(own, talk, parts), text, talk);
  }
}

async function tellOwn(answer: OwnAnswer, text: string, talk: Talk): Promise<void> {
  talk.notices();
  if (answer.kind === "tag") tellText(talk.outgoing, Tell.CommandComplete, answer.tag);
  else await tellResult(answer, text, talk, new AbortController().signal, answer.tag);
}

/** Runs statements of the database, from the first to the last of these. */
async function runTogether(text: string, statements: readonly StatementText[], talk: Talk, tag?: string): Promise<void> {
  talk.checkTransaction(false);
  const { session, parts } = talk;
  const from = statements[0]?.start ?? 0;
  // Text before it stays as blank lines and columns, so that places in errors are those of the whole text.
  const part = text.slice(from, statements.at(-1)?.end ?? text.length);
  const run = session.begin();
  let at = 0;
  try {
    for await (const result of parts.db.sql(from === 0 ? part : blanked(text, from) + part, session)) {
      const { start, end } = statements[Math.min(at++, statements.length - 1)] ?? { start: 0, end: 0 };
      await tellResult(result, text.slice(start, Math.min(end, start + TAG_CHARACTERS)), talk, run.signal, tag);
    }
  } finally {
    run.pause();
  }
}

/** Characters of a statement in which its first words are looked for. */
const TAG_CHARACTERS = 4096;

/** A text's beginning as blanks of the same lines and columns. */
function blanked(text: string, end: number): string {
  return text.slice(0, end).replace(/[^\n\r]/g, " ");
}

/** Sends one result and what goes with it. */
async function tellResult(result: StatementResult, text: string, talk: Talk, signal: AbortSignal, tag?: string): Promise<void> {
  const { outgoing, session, parts } = talk;
  if (result.kind === "affected") {
    talk.notices();
    tellText(outgoing, Tell.CommandComplete, tag ?? affectedTag(text, result.rowCount));
    return;
  }
  describeRows(outgoing, result.headers, []);
  const rows = rowStream(result, [], session.settings);
  try {
    const { rowCount } = await rows.send({ outgoing, scheduler: parts.scheduler }, signal, 0, rowsAs(Tell.DataRow));
    talk.notices();
    tellText(outgoing, Tell.CommandComplete, tag ?? rowsTag(text, rowCount));
  } finally {
    await rows.close();
  }
}
