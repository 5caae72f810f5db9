/**
 * COM_QUERY: a text of one statement, or of several where the client allows that, each answered in turn, up to the first that fails.
 * Statements between two that the server answers itself are parsed together, so that a flaw in one is told before any of them has run.
 */
import { utf8Text } from "../../base/bytes/utf8.ts";
import { DbError } from "../../base/error.ts";
import { Pace, paced } from "../../base/scheduler/pace.ts";
import { StatusCode } from "../../base/status-code.ts";
import { splitStatements, type StatementText } from "../wire/split-statements.ts";
import { grammarText } from "./backslash-escapes.ts";
import { WireFailure } from "./errors.ts";
import type { KnownForms } from "./known-forms.ts";
import { loadData } from "./load/load-data.ts";
import { answerOwn, ownStatement } from "./own-statements.ts";
import { Capability } from "./packets.ts";
import { sendResult } from "./results.ts";
import type { Talk } from "./talk.ts";

/** Characters of a statement in which one that the server answers itself is looked for. */
const OWN_CHARACTERS_MAX: number = 16 * 1024;

/** Runs a text. Never rejects: failures are told. */
export async function runQuery(text: Uint8Array, talk: Talk): Promise<void> {
  const began = talk.parts.clock.monotonicMillis();
  const { database } = talk.session;
  try {
    await runAll(await statementsOf(text, talk), talk);
  } catch (thrown) {
    talk.failed(thrown);
  }
  const seconds = (talk.parts.clock.monotonicMillis() - began) / 1000;
  talk.metrics.querySeconds.observe({ subprotocol: "textquery", db: database }, seconds);
}

/**
 * Answers a text of one small query whose plan is known, without a promise; false: it is for `runQuery`, and nothing was told.
 *
 * What is looked for first elsewhere is not here: only texts of a shape that went to the database are known, and in this one nothing stands
 * for something else.
 */
export function runQueryAtOnce(sent: Uint8Array, talk: Talk, forms: KnownForms): boolean {
  const { session, parts, metrics, packets } = talk;
  if (packets.sequence !== 1) return false;
  const text = utf8Text(sent);
  if (text === undefined || text.includes("\\") || text.includes("_binary")) return false;
  const began = parts.clock.monotonicMillis();
  const { database: db } = session;
  const answer = parts.db.sqlAtOnce(text, session);
  if (answer === undefined) return false;
  try {
    forms.send(answer, false);
  } catch (thrown) {
    talk.failed(thrown);
  }
  metrics.querySeconds.observe({ subprotocol: "textquery", db }, (parts.clock.monotonicMillis() - began) / 1000);
  return true;
}

/** A text as the grammar reads it, and its statements. */
interface QueryText {
  readonly text: string;
  readonly statements: readonly StatementText[];
}

/**
 * Of what a client sent; no statements for one of comments alone, which dumps are full of.
 *
 * @throws DbError for one that is empty; MalformedPacket for bytes that are no UTF-8
 */
export async function statementsOf(sent: Uint8Array, talk: Talk): Promise<QueryText> {
  const pace = new Pace(talk.parts.scheduler);
  const text = await paced(grammarText(sent), pace);
  const found = await paced(splitStatements(text), pace);
  const known = inKnownWords(text, found);
  if (known !== text) return { text: known, statements: await paced(splitStatements(known), pace) };
  const statements = found;
  if (statements.length === 0 && !/\/\*|--/.test(text))
    throw new DbError(StatusCode.InvalidArguments, "Invalid SQL, error: empty statements");
  return { text, statements };
}

/** Statements of MySQL that the grammar knows by other words. */
const OTHER_WORDS: readonly (readonly [RegExp, string])[] = [
  [/^show\s+(?:global|session)\s+status\s*$/i, "SHOW STATUS"],
  [
    /^show\s+(?:storage\s+)?engines\s*$/i,
    'SELECT engine AS "Engine", support AS "Support", comment AS "Comment", transactions AS "Transactions", xa AS "XA", ' +
      'savepoints AS "Savepoints" FROM information_schema.engines',
  ],
];
const OTHER_WORDS_CHARACTERS_MAX = 80;

/** The text with such statements in words of the grammar. */
function inKnownWords(text: string, statements: readonly StatementText[]): string {
  let known = text;
  for (const { start, end } of statements.toReversed()) {
    if (end - start > OTHER_WORDS_CHARACTERS_MAX) continue;
    const statement = text.slice(start, end);
    const [, instead] = OTHER_WORDS.find(([pattern]) => pattern.test(statement)) ?? [];
    if (instead !== undefined) known = known.slice(0, start) + instead + known.slice(end);
  }
  return known;
}

async function runAll({ text, statements }: QueryText, talk: Talk): Promise<void> {
  if (statements.length === 0) return talk.ok();
  if (statements.length > 1 && !talk.has(Capability.MultiStatements)) {
    const instead = "the client did not ask for several statements at once; switch that on in its options, or send them one by one";
    throw new WireFailure(1149, "42000", `(InvalidSyntax): ${statements.length} statements in one text: ${instead}`);
  }
  let sent = 0;
  let others: StatementText[] = [];
  const runOthers = async (): Promise<void> => {
    const together = others;
    others = [];
    const [first] = together;
    if (first === undefined) return;
    const part = text.slice(first.start, together.at(-1)?.end);
    sent = await runTogether(part, talk, { sent, last: sent + together.length, count: statements.length });
  };
  for (const { start, end } of statements) {
    const statement = text.slice(start, Math.min(end, start + OWN_CHARACTERS_MAX)).trimEnd();
    if (ownStatement(statement, talk) === undefined) {
      others.push({ start, end });
      continue;
    }
    await runOthers();
    const own = ownStatement(statement, talk); // Again: what it shows may be what one before it has set.
    if (own === undefined) throw new WireFailure(1105, "HY000", "a statement of the server's own is none any more");
    if (own.kind !== "show-warnings") talk.session.connection.warnings.length = 0;
    sent += 1;
    const hasMore = sent < statements.length;
    if (own.kind === "load") {
      const rowCount = await loadData(own, statement, talk);
      const warnings = talk.session.connection.warnings.length;
      talk.ok({ rowCount, hasMore, info: `Records: ${rowCount}  Deleted: 0  Skipped: 0  Warnings: ${warnings}` });
      continue;
    }
    const { signal } = new AbortController();
    await sendResult(talk, answerOwn(own, talk), { isBinary: false, hasMore, signal });
  }
  await runOthers();
}

/** Results of a text: those that were sent, up to which its next statements reach, and how many there will be. */
interface Progress {
  readonly sent: number;
  readonly last: number;
  readonly count: number;
}

/** Runs statements of the database. @returns how many results were sent with theirs */
async function runTogether(text: string, talk: Talk, progress: Progress): Promise<number> {
  const { session, parts } = talk;
  const { last, count } = progress;
  let { sent } = progress;
  const run = session.begin();
  session.connection.warnings.length = 0;
  try {
    for await (const result of parts.db.sql(text, session)) {
      sent += 1;
      await sendResult(talk, result, { isBinary: false, hasMore: sent < count, signal: run.signal });
      if (sent < last) session.connection.warnings.length = 0; // Those of the last one are for SHOW WARNINGS.
    }
  } finally {
    run.pause();
  }
  return sent;
}
