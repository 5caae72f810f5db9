/**
 * Small queries whose plans are known, answered within one turn of the thread (`query/operator/answer-at-once.ts`). What a statement is
 * otherwise surrounded by stays: the database exists, the permission, what is counted of it, its line in the log where it was slow. It is
 * on no list of those that run, takes no timer, no signal and no account of memory, since nobody could look, and its rows are few.
 *
 * A statement that fails here is run again as others are, so that errors are told in one place.
 */
import type { Clock } from "../base/clock.ts";
import { DbError } from "../base/error.ts";
import { StatusCode } from "../base/status-code.ts";
import { needsOf } from "../query/execute.ts";
import type { KnownPlans, PlanContext, QuickPlan } from "../query/known-plans/known-plans.ts";
import { answerAtOnce } from "../query/operator/answer-at-once.ts";
import type { ParameterValue, PreparedQuery } from "../query/prepared-query.ts";
import { placeholdersOf } from "../query/statement/prepare-query.ts";
import type { Catalog } from "../table/catalog.ts";
import { authorizeStatement } from "./authorize.ts";
import type { RowsAtOnce } from "./db.ts";
import { shownText } from "./running-statements.ts";
import type { Session } from "./session.ts";
import type { StatementWatch } from "./statement-watch.ts";

/** What it works with. */
export interface AtOnceParts {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly plans: KnownPlans;
  readonly watch: StatementWatch | undefined;
}

/** See the file header. */
export class AtOnce {
  private readonly parts: AtOnceParts;

  constructor(parts: AtOnceParts) {
    this.parts = parts;
  }

  /** The rows of a text. @param asked it as the grammar reads it */
  ofText(asked: string, text: string, session: Session): RowsAtOnce | undefined {
    return this.answer(text, session, (context) => this.parts.plans.quickOfText(asked, context));
  }

  /** The rows of a prepared statement. */
  ofPrepared(query: PreparedQuery, values: readonly ParameterValue[], session: Session): RowsAtOnce | undefined {
    if (query.statement.kind !== "select" || values.length === 0) return undefined;
    return this.answer(query.text, session, (context) => {
      const placeholders = placeholdersOf(query, values, session.timeZone);
      return this.parts.plans.quickOfPrepared(query, values, { ...context, variables: { ...session, placeholders } });
    });
  }

  private answer(text: string, session: Session, find: (context: PlanContext) => QuickPlan | undefined): RowsAtOnce | undefined {
    const { catalog, clock } = this.parts;
    if (catalog.database(session.database) === undefined || session.signal.aborted) return undefined;
    const began = clock.monotonicMillis();
    try {
      const quick = find({ catalog, clock, variables: session });
      if (quick === undefined) return undefined;
      authorizeStatement(session, () => needsOf(quick.statement, session.connection));
      const batch = answerAtOnce(quick.plan);
      quick.answered(batch !== undefined);
      if (batch === undefined) return undefined;
      session.connection?.warnings.splice(0);
      this.note(text, session, batch.rowCount, clock.monotonicMillis() - began);
      return { headers: quick.plan.columns, batch };
    } catch (thrown) {
      if (thrown instanceof DbError) return undefined; // It is told by whoever runs it again.
      throw thrown;
    }
  }

  private note(text: string, session: Session, rows: number, millis: number): void {
    const { watch } = this.parts;
    const { database, client = "" } = session;
    const trace = watch?.traceOf(text, session);
    watch?.ended({
      kind: "select",
      database,
      client,
      trace,
      get query() {
        return shownText(text); // Asked for where it was slow.
      },
      code: StatusCode.Success,
      millis,
      workedMillis: millis,
      rows,
      memoryBytes: 0,
      spilledBytes: 0,
    });
  }
}
