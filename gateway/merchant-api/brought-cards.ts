/**
 * Cards that the operator brings from another gateway in a file. Its lines are those of
 * create-recurring-payments, and the code of a merchant's own request registers each.
 */
import { randomUUIDv7 } from "node:crypto";
import type { Profiles } from "../engine/profiles.ts";
import type { Endpoint } from "../orders/merchant.ts";
import { Failure } from "../values/failure.ts";
import { asSerialNumber } from "../values/ids.ts";
import type { Instant } from "../values/time.ts";
import type { CalledParts } from "./operation.ts";
import { cardColumns, createRecurringPayment } from "./operations/profiles.ts";
import { answerEntry } from "./pipeline.ts";
import * as payload from "./profile-payload.ts";
import { openForBrought, scheduleNames } from "./profiles.ts";

// No file has card verification values: no gateway may keep them.
const { cvv2: _, ...fields } = createRecurringPayment.request;

/** The columns of the file. Those of ids are ignored: the former gateway has given these ids. */
export const broughtColumns: readonly string[] = [
  ...payload.columnsOf(fields).filter((name) => !scheduleNames.includes(name.replaceAll("-", "_"))),
  ...cardColumns,
];

/** The longest description has 65,536 characters of up to four bytes. */
const recordBytesMax = 300_000;

export function readBroughtCards(chunks: AsyncIterable<Uint8Array>) {
  return payload.readLines(chunks, fields, { ignored: cardColumns, recordBytesMax });
}

export type BroughtLine = payload.PayloadEntry | payload.Unread;

export function makeRegisterCard(endpoint: Endpoint, profiles: Profiles, receivedAt: Instant) {
  const { id, merchant } = endpoint;
  const context = {
    entryPoint: { id, merchant, endpoints: [openForBrought(endpoint)] },
    serialNumber: asSerialNumber(randomUUIDv7()),
    receivedAt,
    // Without a verification, a registration calls no other part.
    services: { profiles } as CalledParts,
  };
  return async (line: BroughtLine): Promise<payload.Answered> => {
    if ("why" in line) return unread(line);
    return { ...line, answer: await answerEntry(createRecurringPayment, line.sent, context) };
  };
}

export function unread({ line, why }: Pick<payload.Unread, "line" | "why">): payload.Answered {
  return { line, sent: new Map(), answer: new Failure("invalid_parameter", why) };
}

/** The report of an import says what became of each line, without any number of a card. */
export const reportHead = payload.writeHead(cardColumns);

export function writeResult(result: payload.Answered): string {
  return payload.writeAnswer(result, cardColumns);
}
