/**
 * Bodies of the HTTP event collector to rows by table (contract ingest.md 7.2). `/event` takes JSON objects and arrays of them one after
 * the other; `/raw` takes text. One bad event refuses the request, since senders send the whole batch again or none of it.
 */
import { DbError } from "../../base/error.ts";
import { FIELD_TEXT_BYTES_MAX } from "../../base/limits.ts";
import { eachJson } from "../common/json-sequence.ts";
import { fieldOf, intValue, isObject, PipelineTime, type PipelineObject, type PipelineValue, setField } from "../common/value.ts";
import { eventNanos } from "./event-time.ts";
import { EVENT_TABLES_MAX, EVENT_TAGS_MAX, RAW_PIECES_MAX } from "./limits.ts";
import { EVENT_BLANK, EVENT_REQUIRED, INVALID_FORMAT, INVALID_INDEX, invalidFormat, NO_DATA } from "./refusals.ts";
import type { EventOptions, Events, RawOptions, Refusal } from "./types.ts";

/** Tags of every event, in the order of the primary key. */
const EVENT_TAGS: readonly string[] = ["host", "source", "sourcetype"];
/** Keys of an event that are no columns. */
const ENVELOPE: ReadonlySet<string> = new Set(["time", "index", "fields"]);

/** Reads the body of `/event`. */
export function decodeEvents(text: string, options: EventOptions): Events | Refusal {
  const items: PipelineValue[] = [];
  try {
    eachJson(text, (value) => {
      if (Array.isArray(value)) for (const item of value as readonly PipelineValue[]) items.push(item);
      else items.push(value);
    });
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    return invalidFormat(error.message);
  }
  if (items.length === 0) return NO_DATA;
  const batch = new EventBatch(options);
  for (const item of items) {
    if (!isObject(item)) continue;
    const refusal = batch.add(item);
    if (refusal !== undefined) return refusal;
  }
  return batch.isEmpty ? INVALID_FORMAT : batch.events();
}

/** Reads the body of `/raw`. */
export function decodeRaw(text: string, options: RawOptions): Events | Refusal {
  const { lineBreaker, time } = options;
  const pieces = lineBreaker === undefined || lineBreaker === "" ? [text] : text.split(lineBreaker, RAW_PIECES_MAX + 1);
  if (pieces.length > RAW_PIECES_MAX) return invalidFormat(`more than ${RAW_PIECES_MAX} events in one request`);
  const messages = pieces.filter((piece) => piece.trim() !== "");
  if (messages.length === 0) return NO_DATA;
  if (messages.some(isTooLong)) return invalidFormat(`an event has more than ${FIELD_TEXT_BYTES_MAX} bytes; name a linebreaker, or cut it`);
  const nanos = time === undefined || time === "" ? options.nowNanos : eventNanos(time);
  if (nanos === undefined) return INVALID_FORMAT;
  const named = EVENT_TAGS.map((name) => [name, options[name as "host" | "source" | "sourcetype"]] as const);
  const tags = named.filter(([, value]) => value !== undefined && value !== "");
  const rows = messages.map((message): PipelineObject => {
    return { message, ...Object.fromEntries(tags), [options.timeColumn]: timeValue(nanos, options) };
  });
  return { kind: "events", tables: [{ table: options.table, rows }], tags: tags.map(([name]) => name) };
}

/** Rows by table while events come. */
class EventBatch {
  private readonly options: EventOptions;
  private readonly tables = new Map<string, PipelineObject[]>();
  private readonly tags = new Set<string>(EVENT_TAGS);

  constructor(options: EventOptions) {
    this.options = options;
  }

  get isEmpty(): boolean {
    return this.tables.size === 0;
  }

  events(): Events {
    return { kind: "events", tables: [...this.tables].map(([table, rows]) => ({ table, rows })), tags: [...this.tags] };
  }

  /** Keeps an event, or says why not. */
  add(item: PipelineObject): Refusal | undefined {
    const event = fieldOf(item, "event");
    if (event === undefined || event === null) return EVENT_REQUIRED;
    if (typeof event === "string" && event.trim() === "") return EVENT_BLANK;
    const time = fieldOf(item, "time");
    const nanos = time === undefined || time === null ? this.options.nowNanos : eventNanos(time);
    if (nanos === undefined) return INVALID_FORMAT;
    const table = this.tableOf(fieldOf(item, "index"));
    if (table === undefined) return INVALID_INDEX;
    const row: PipelineObject = {};
    if (!this.addFields(fieldOf(item, "fields"), row)) return INVALID_FORMAT;
    for (const name of Object.keys(item)) if (!ENVELOPE.has(name)) setField(row, name, item[name]);
    setField(row, this.options.timeColumn, timeValue(nanos, this.options));
    const rows = this.tables.get(table);
    if (rows === undefined) this.tables.set(table, [row]);
    else rows.push(row);
    return this.tables.size > EVENT_TABLES_MAX ? invalidFormat(`more than ${EVENT_TABLES_MAX} indexes in one request`) : undefined;
  }

  /** Whether `fields` is a flat object of few names. */
  private addFields(fields: PipelineValue, row: PipelineObject): boolean {
    if (fields === undefined || fields === null) return true;
    if (!isObject(fields)) return false;
    for (const name of Object.keys(fields)) {
      const value = fields[name];
      if (isObject(value)) return false;
      if (value === null || value === undefined) continue;
      this.tags.add(name);
      setField(row, name, value);
    }
    return this.tags.size <= EVENT_TAGS_MAX;
  }

  private tableOf(index: PipelineValue): string | undefined {
    if (index === undefined || index === null || index === "") return this.options.table;
    return typeof index === "string" ? tableName(index) : undefined;
  }
}

/** An index as a table's name: what it may not hold becomes `_`. */
export function tableName(index: string): string {
  const name = index.replace(/[^a-zA-Z0-9_:\-.@#]/g, "_");
  return /^[a-zA-Z_:-]/.test(name) ? name : `_${name}`;
}

function isTooLong(message: string): boolean {
  return message.length > FIELD_TEXT_BYTES_MAX / 3 && Buffer.byteLength(message) > FIELD_TEXT_BYTES_MAX;
}

function timeValue(nanos: bigint, options: EventOptions): PipelineValue {
  return options.isTimeNumber ? intValue(nanos) : new PipelineTime(nanos, "nanosecond");
}
