/** Checks that the events of a timeline show what a message has found out. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventKind } from "../orders/events.ts";
import { shownEventOf } from "./timeline.ts";

// biome-ignore format: a table
const shown: readonly (readonly [kind: EventKind, cause: string, event: string])[] = [
  ["charge_not_found",    "not_found",         "charge_not_found"],
  ["charge_not_found",    "not_sent",          "inquiry_not_sent"],
  ["charge_not_found",    "cannot be asked",   "inquiry_not_sent"],
  ["charge_not_found",    "timeout",           "inquiry_unanswered"],
  ["charge_not_found",    "link_lost",         "inquiry_unanswered"],
  ["charge_not_found",    "unreadable_answer", "inquiry_unanswered"],
  ["charge_not_found",    "answered 12",       "charge_not_confirmed"],
  ["reversal_unanswered", "not_sent",          "reversal_not_sent"],
  ["reversal_unanswered", "gate_unavailable",  "reversal_not_sent"],
  ["reversal_unanswered", "timeout",           "reversal_unanswered"],
  ["repeat_unanswered",   "gate_unavailable",  "repeat_not_sent"],
  ["repeat_unanswered",   "timeout",           "repeat_unanswered"],
  ["outcome_unknown",     "not_sent",          "outcome_unknown"],
  ["authorized",          "",                  "authorized"],
];

for (const [kind, cause, event] of shown) {
  test(`${kind} because of “${cause}” is shown as ${event}`, () => {
    assert.equal(shownEventOf(kind, cause), event);
  });
}
