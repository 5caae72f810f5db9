/** What headers say of OTLP's logs (contract ingest.md 4.4). */

/** What tables of logs say of themselves. */
export const LOG_SEMANTICS = { "greptime.semantic.signal_type": "log", "greptime.semantic.source": "opentelemetry" } as const;

/** The first of two headers that is there and not empty; the older one is looked at first. */
export function eitherLogHeader(headers: Headers, name: string): string | undefined {
  return headers.get(`x-greptime-log-${name}`)?.trim() || headers.get(`x-greptime-${name}`)?.trim() || undefined;
}

/** The pipeline that a request of logs names. */
export function otlpPipelineOf(headers: Headers): string | undefined {
  return eitherLogHeader(headers, "pipeline-name");
}
