/** Every text of the portal in each language. The labels of settings come from the gateway. */
import {
  choiceLabels,
  disputeAnswers,
  disputeMeanings,
  fieldLabels,
  inLanguage,
} from "@tollgate/gateway/labels";
import { configuration } from "./configuration.ts";
import { frame } from "./frame.ts";
import { money } from "./money-states.ts";
import { order } from "./order.ts";
import { reasons } from "./reasons.ts";
import { requests } from "./requests.ts";
import { type LanguageCode, readRows } from "./rows.ts";
import { sandbox } from "./sandbox.ts";
import { team } from "./team.ts";
import { timeline } from "./timeline.ts";

/** The tables are merged into one, so a test checks that no two of them use the same name. */
export const areas = [
  ...[frame, money, order, team, sandbox, requests, timeline, reasons, configuration],
] as const;

const table = {
  ...frame,
  ...money,
  ...order,
  ...team,
  ...sandbox,
  ...requests,
  ...timeline,
  ...reasons,
  ...configuration,
};

function messagesIn(code: LanguageCode) {
  return {
    ...readRows(table, code),
    choices: inLanguage(choiceLabels, code),
    fields: inLanguage(fieldLabels, code),
    disputeMeanings: inLanguage(disputeMeanings, code),
    disputeAnswers: inLanguage(disputeAnswers, code),
  };
}

export const messages = { en: messagesIn("en"), de: messagesIn("de") } as const;
export const { en: english, de: german } = messages;
export type Messages = typeof english;
