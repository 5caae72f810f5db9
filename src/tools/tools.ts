/** The tools of the command line, in the order of the help. A tool is loaded when it is asked for: help and the server's start cost nothing. */
import type { Tool } from "./tool.ts";

export const TOOLS: readonly Tool[] = [];
