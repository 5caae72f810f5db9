/**
 * Resources and instrumentation scopes, with what stands around them. Fields of a message may come in any order, so what belongs to all
 * records of a list is read before the list.
 */
import { field, type ProtoReader, Wire } from "../../format/proto/reader.ts";
import { Attributes } from "./any-value.ts";
import { eachField } from "./each-field.ts";

const MESSAGE = field(1, Wire.bytes);
const RECORDS = field(2, Wire.bytes);
const SCHEMA_URL = field(3, Wire.bytes);
const NAME = field(1, Wire.bytes);
const VERSION = field(2, Wire.bytes);
const SCOPE_ATTRIBUTES = field(3, Wire.bytes);

/** A resource or a scope. Positions are of the body; `start === end` where there is none. */
export class Scope {
  /** Whether the message is there at all. */
  isSet = false;
  readonly attributes: Attributes = new Attributes();
  nameStart = 0;
  nameEnd = 0;
  versionStart = 0;
  versionEnd = 0;
  urlStart = 0;
  urlEnd = 0;

  /** Reads the head of a `Resource…` or `Scope…` list at `[start, end)`. @throws ProtoError */
  read(reader: ProtoReader, start: number, end: number, isScope: boolean): void {
    this.isSet = false;
    this.attributes.count = 0;
    this.nameStart = this.nameEnd = this.versionStart = this.versionEnd = this.urlStart = this.urlEnd = 0;
    reader.at = start;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === MESSAGE) {
        const stop = reader.lengthEnd(end);
        this.isSet = true;
        this.readMessage(reader, stop, isScope);
      } else if (tag === SCHEMA_URL) {
        this.urlEnd = reader.lengthEnd(end);
        this.urlStart = reader.at;
        reader.at = this.urlEnd;
      } else reader.skip(tag, end);
    }
  }

  private readMessage(reader: ProtoReader, end: number, isScope: boolean): void {
    const attributes = isScope ? SCOPE_ATTRIBUTES : MESSAGE;
    while (reader.at < end) {
      const tag = reader.tag(end);
      if (tag === attributes) this.attributes.push(reader, end);
      else if (isScope && (tag === NAME || tag === VERSION)) {
        const stop = reader.lengthEnd(end);
        if (tag === NAME) {
          this.nameStart = reader.at;
          this.nameEnd = stop;
        } else {
          this.versionStart = reader.at;
          this.versionEnd = stop;
        }
        reader.at = stop;
      } else reader.skip(tag, end);
    }
  }
}

/** What a request is made of: called at the start of each resource, of each scope, and for each record. */
export interface Visitor {
  resource(scope: Scope): void;
  scope(scope: Scope): void;
  /** The record, span or metric at `[start, end)`. */
  record(start: number, end: number): void;
}

/** Walks an `Export…ServiceRequest`; logs, traces and metrics number their fields alike. @throws ProtoError */
export class RequestWalk {
  private readonly reader: ProtoReader;
  private readonly resource: Scope = new Scope();
  private readonly scope: Scope = new Scope();

  constructor(reader: ProtoReader) {
    this.reader = reader;
  }

  /** Walks the message that the reader has open. */
  walk(visitor: Visitor): void {
    const { reader } = this;
    eachField(reader, 0, reader.bytes.length, MESSAGE, (start, end) => {
      this.resource.read(reader, start, end, false);
      visitor.resource(this.resource);
      eachField(reader, start, end, RECORDS, (scopeStart, scopeEnd) => {
        this.scope.read(reader, scopeStart, scopeEnd, true);
        visitor.scope(this.scope);
        eachField(reader, scopeStart, scopeEnd, RECORDS, (recordStart, recordEnd) => visitor.record(recordStart, recordEnd));
      });
    });
  }
}
