/**
 * What a server tells of the statements that it ran: metrics of all of them, and one line in the log for each that was slow.
 *
 * The line holds what it takes to ask why: the text (its beginning, without secrets), who sent it, how long it worked and how long it
 * waited for its reader, the rows it gave, the most memory it held and the bytes it put on disk. `EXPLAIN ANALYZE` says the rest.
 * Questions of Prometheus' API are statements of the kinds "promql", "promql_series" and "promql_labels"; the line of a query has its
 * moments.
 */
import { type Counter, Gauge, type Histogram } from "prom-client";
import type { Logger } from "../base/log.ts";
import type { MetricRegistry } from "../base/metrics.ts";
import { StatusCode, statusNameOf } from "../base/status-code.ts";
import { type TraceContext, traceContextInComment } from "../base/trace/trace-context.ts";
import type { EndedWork, Tracer } from "../base/trace/tracer.ts";
import type { ReadTimes } from "./read-permit.ts";
import type { Session } from "./session.ts";
import type { RunningStatements } from "./running-statements.ts";

/** The catalog of all statements, as the contract's metrics name it. */
const CATALOG = { catalog: "greptime" } as const;
/** Kind of a text that is no statement, or of none. */
const UNPARSED = "unparsed";

/** A statement that has ended. */
export interface EndedStatement {
  /** What it was, e.g. "select". */
  readonly kind: string;
  readonly database: string;
  /** The text of its request as SHOW PROCESSLIST shows it: its beginning, without secrets. */
  readonly query: string;
  /** Address of who sent it; "" when nobody says. */
  readonly client: string;
  readonly code: StatusCode;
  /** Milliseconds from its begin to its end, and those of work among them. */
  readonly millis: number;
  readonly workedMillis: number;
  /** Rows given or changed. */
  readonly rows: number;
  /** Most memory that it held, as far as operators count it, and bytes that it put on disk. */
  readonly memoryBytes: number;
  readonly spilledBytes: number;
  /** Of a PromQL query that is no SQL. */
  readonly times?: ReadTimes;
  /** The span that it is part of. */
  readonly trace?: TraceContext | undefined;
}

/** Which statements are logged. */
export interface SlowStatements {
  /** Infinity: none. */
  readonly thresholdMillis: number;
  /** Part of them that is logged, 0 to 1. */
  readonly sampleRatio: number;
}

/** See the file header. One a registry. */
export class StatementWatch {
  private readonly slow: SlowStatements;
  private readonly logger: Logger;
  private readonly statements: Counter<"kind" | "code">;
  private readonly seconds: Histogram<"kind">;
  private readonly rows: Counter;
  private readonly slowOnes: Counter;
  private readonly kills: Counter<"catalog">;
  /** Counts up with each slow statement; one is logged whenever it reaches the next whole number. */
  private share = 0;
  /** Is told of each slow statement that is logged. */
  onSlow: (statement: EndedStatement) => void = () => undefined;
  private readonly tracer: Tracer | undefined;

  /** @param tracer records each statement; absent: nobody does */
  constructor(metrics: MetricRegistry, logger: Logger, slow: SlowStatements, tracer?: Tracer) {
    this.slow = slow;
    this.logger = logger;
    this.tracer = tracer;
    this.statements = metrics.counter(
      "varve_statements_total",
      "statements that ended, by what they were and how they ended; texts that do not parse are of kind unparsed",
      "kind",
      "code",
    );
    this.seconds = metrics.seconds(
      "varve_statement_seconds",
      "seconds that statements worked, without the wait for readers of their rows",
      "kind",
    );
    this.rows = metrics.counter("varve_statement_rows_total", "rows that statements gave or changed");
    this.slowOnes = metrics.counter("varve_slow_statements_total", "statements over slow_query.threshold");
    this.kills = metrics.counter("greptime_process_kill_count", "statements ended by KILL", "catalog");
  }

  /** Shows how many statements run. Call once. */
  showRunning(running: RunningStatements, metrics: MetricRegistry): void {
    const gauge: Gauge<"catalog"> = new Gauge({
      name: "greptime_process_list_count",
      help: "statements that run",
      labelNames: ["catalog"],
      registers: [metrics.registry],
      collect: () => gauge.set(CATALOG, running.size),
    });
  }

  /** The span that a statement is part of: its session's, else what a comment of it says; undefined: none, or nothing is traced. */
  traceOf(text: string, { trace }: Pick<Session, "trace">): TraceContext | undefined {
    return trace ?? (this.tracer?.isOn === true ? traceContextInComment(text) : undefined);
  }

  /** Counts a text that did not parse. */
  unparsed(code: StatusCode): void {
    this.statements.inc({ kind: UNPARSED, code: statusNameOf(code) });
  }

  /** Counts a statement that was killed. */
  killed(): void {
    this.kills.inc(CATALOG);
  }

  /** Counts a statement that ended, and logs it when it was slow. */
  ended(statement: EndedStatement): void {
    const { kind, code, workedMillis, rows } = statement;
    this.statements.inc({ kind, code: statusNameOf(code) });
    this.seconds.observe({ kind }, workedMillis / 1000);
    if (rows > 0) this.rows.inc(rows);
    if (this.tracer?.isOn === true) this.tracer.record(workOf(statement));
    if (workedMillis >= this.slow.thresholdMillis) this.tellSlow(statement);
  }

  private tellSlow(statement: EndedStatement): void {
    this.slowOnes.inc();
    this.share += this.slow.sampleRatio;
    if (this.share < 1) return;
    this.share -= 1;
    this.onSlow(statement);
    const { code, millis, workedMillis, times: asked, trace: _, ...rest } = statement;
    const times = { millis: Math.round(workedMillis), waitedForReaderMillis: Math.round(millis - workedMillis) };
    this.logger.warn({ ...times, code: statusNameOf(code), ...rest, ...asked }, "a statement was slow");
  }
}

/** A statement as a span shows it. Source of the names: OpenTelemetry's semantic conventions for databases. */
function workOf({ kind, database, query, code, millis, workedMillis, rows, memoryBytes, spilledBytes, trace }: EndedStatement): EndedWork {
  const attributes = {
    "db.system.name": "varve",
    "db.namespace": database,
    "db.operation.name": kind,
    "db.query.text": query,
    "db.response.returned_rows": rows,
    "varve.worked_ms": Math.round(workedMillis * 1000) / 1000,
    "varve.memory_bytes": memoryBytes,
    "varve.spilled_bytes": spilledBytes,
  };
  const failure = code === StatusCode.Success ? undefined : statusNameOf(code);
  return { name: kind, parent: trace, millis, attributes, failure };
}
