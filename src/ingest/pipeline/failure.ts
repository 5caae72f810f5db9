/** Errors of pipelines in the words of the contract. */
import { DbError } from "../../base/error.ts";
import { ERROR_QUOTE_CHARACTERS_MAX } from "../../base/limits.ts";
import { StatusCode } from "../../base/status-code.ts";
import { jsonText } from "./json/json-text.ts";
import type { PipelineValue } from "../common/value.ts";

/** A definition or a row that is refused. @param reason the message without the words before it, where somebody asks for that */
export function failure(message: string, reason?: string): DbError {
  return new DbError(StatusCode.InvalidArguments, message, reason === undefined ? {} : { details: { reason } });
}

/** A value as messages quote it: its JSON, cut. */
export function quoted(value: PipelineValue): string {
  const text = typeof value === "string" ? value : jsonText(value);
  return text.length > ERROR_QUOTE_CHARACTERS_MAX ? `${text.slice(0, ERROR_QUOTE_CHARACTERS_MAX)}…` : text;
}
