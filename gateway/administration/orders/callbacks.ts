/**
 * Callbacks: list them, show every attempt, send one again, and renew the secret that signs them.
 * Sending again makes a callback due in the database, and the gateway's nodes send it.
 */
import {
  oldSecretUntil,
  renewSecret,
  retireOldSecret,
  secretNames,
} from "../../callbacks/message.ts";
import { type DeliveryFilter, filteredStates, resentMax } from "../../portal-api/reads.ts";
import {
  type CallbackEntry,
  findAttempts,
  findCallbacks,
  makeResend,
} from "../../storage/callbacks/callback-journal.ts";
import type { MerchantId } from "../../values/ids.ts";
import { Problem } from "../../values/problem.ts";
import { asInstant } from "../../values/time.ts";
import { type Action, action, type FindOwner } from "../action.ts";
import { flag, type Given, lastWord, option, word } from "../field.ts";
import {
  findEndpoint,
  findLimitFault,
  findMerchant,
  findOrder,
  lastOrder,
  ofEndpoint,
  ofMerchant,
  onEndpoint,
  order,
  ownerByEndpoint,
  ownerByLogin,
  ownerByOrder,
  queriesOf,
} from "../find.ts";
import { readInstant } from "../readers.ts";
import { openVault, Report, readConfiguration, type Session } from "../session.ts";

const listedMax = 1_000;

const sequence = lastWord("whole", "sequence", [
  "the number of the transaction in its order",
  "die Nummer der Transaktion in ihrer Zahlung",
]);

const filters = {
  merchant: ofMerchant,
  endpoint: ofEndpoint,
  host: option("text", "host", [
    "only those to this host, with its port or without",
    "nur die an diesen Host, mit seinem Port oder ohne",
  ]),
  since: option("moment", "moment", [
    "only of results from this moment on, like 2030-01-31T09:30:00Z",
    "nur die von Ergebnissen ab da, wie 2030-01-31T09:30:00Z",
  ]),
  until: option("moment", "moment", [
    "only of results up to this moment",
    "nur die von Ergebnissen bis dahin",
  ]),
  state: option(filteredStates, "state", [
    "only these: due, delivered, stopped or given_up; failing are due after a failed attempt",
    "nur diese: due, delivered, stopped oder given_up; failing sind nach einem Fehler due",
  ]),
};

export const callbackActions: readonly Action[] = [
  action("look", "see_orders", {
    name: "callback list",
    does: ["list callbacks, the latest first"],
    commandLineOnly: "the portal shows callbacks on a screen of its own",
    fields: {
      order: option("text", "orderid", ["only those of one order"]),
      ...filters,
    },
    async perform(session, choice) {
      const chosen = await choose(session, choice);
      if (chosen instanceof Problem) return chosen;
      const lines = describe(session, await findAll(session, chosen));
      if (lines.length === listedMax) {
        session.warn(`These are the latest ${listedMax}; there may be more.`);
      }
      return lines.length > 0 ? lines : new Report(lines, "There is no such callback.");
    },
  }),
  action("look", "see_orders", {
    name: "callback show",
    does: ["show the callbacks of an order with every attempt"],
    commandLineOnly: "the portal shows a callback on a screen of its own",
    fields: { order, sequence },
    async perform(session, named) {
      const chosen = await choose(session, named);
      if (chosen instanceof Problem) return chosen;
      const callbacks = describe(session, await findAll(session, chosen));
      if (callbacks.length === 0) return nothingFor(named.order);
      const { printDate } = session;
      const made = await queriesOf(session).each((query) => findAttempts(query, chosen));
      const attempts = made.flat().map((attempt) => ({ ...attempt, at: printDate(attempt.at) }));
      const lines = attempts.map((attempt) => {
        const {
          sequence: number,
          at,
          node,
          ms,
          status,
          failure,
          answer,
          method,
          url,
          body,
        } = attempt;
        const outcome = status ?? failure;
        return {
          sequence: number,
          at,
          outcome,
          ms,
          node,
          answer,
          method,
          url,
          ...(body === "" ? {} : { body }),
        };
      });
      return new Report({ callbacks, attempts }, callbacks, lines);
    },
  }),
  action("record", "resend_callbacks", {
    name: "callback resend",
    does: [
      "send again: one, all of an order, or those of a range of time",
      "erneut senden: einen, alle einer Zahlung oder die eines Zeitraums",
    ],
    findOwner: ownerOfCallbacks,
    fields: {
      order: lastOrder,
      sequence,
      ...filters,
      limit: option("whole", "n", [
        "how many at most, the oldest first",
        "wie viele höchstens, die ältesten zuerst",
      ]),
    },
    async perform(session, { limit, ...choice }) {
      const { order, since } = choice;
      if (order === undefined && since === undefined) {
        return new Problem("Name an order, or a time with since.", "invalid_input");
      }
      const fault = findLimitFault(limit);
      if (fault !== undefined) return fault;
      const chosen = await choose(session, choice);
      if (chosen instanceof Problem) return chosen;
      const now = session.node?.now() ?? (await session.now());
      const wanted = limit === undefined ? undefined : Number(limit);
      const most = session.user === undefined ? wanted : Math.min(wanted ?? resentMax, resentMax);
      const resend = makeResend(chosen, { now, by: session.actor.who, most });
      const { merchantId } = chosen;
      const sent = await (merchantId === undefined
        ? queriesOf(session).each(resend)
        : queriesOf(session).call(merchantId, resend));
      const resent = sent.flat();
      if (order !== undefined && resent.length === 0) return nothingFor(order);
      const earlier = resent.filter(({ asked }) => !asked).length;
      const note = earlier === 0 ? {} : { "of these earlier ones, which go first": earlier };
      return { [resentCount]: resent.length, ...note };
    },
  }),
  action("record", "reveal_secrets", {
    name: "callback secret",
    does: [
      "print the secret with which a merchant verifies the signatures of forms",
      "das Geheimnis zeigen, mit dem ein Händler die Signaturen von Formularen prüft",
    ],
    findOwner: ownerByEndpoint,
    fields: {
      endpoint: word("endpoint", "endpointid", ["the endpoint", "der Endpunkt"]),
      renew: flag([
        "make a new one; for a day forms are signed with both",
        "ein neues anlegen; einen Tag lang wird mit beiden signiert",
      ]),
      retire: flag([
        "stop signing with the old one now",
        "mit dem alten ab sofort nicht mehr signieren",
      ]),
    },
    perform: onEndpoint(async (endpoint, session, { renew = false, retire = false }) => {
      const { id, enabled } = endpoint;
      const now = await session.now();
      const renewed = renew ? renewSecret(endpoint.settings, now) : endpoint.settings;
      const settings = retire ? retireOldSecret(renewed) : renewed;
      if (renew || retire) await session.administration.setEndpoint(id, settings, enabled);
      const { secretFor } = await openVault(session);
      const [name = ""] = secretNames({ id, settings }, now);
      const secret = `whsec_${secretFor(name).toString("base64")}`;
      const oldUntil = oldSecretUntil(settings) ?? 0;
      if (oldUntil <= now) return { endpoint: id, secret };
      return { endpoint: id, secret, "old one until": session.printDate(asInstant(oldUntil)) };
    }),
  }),
];

async function ownerOfCallbacks(
  opened: Parameters<FindOwner>[0],
  { order, merchant }: Pick<Choice, "order" | "merchant">,
): Promise<MerchantId | undefined> {
  if (order !== undefined) return ownerByOrder(opened, { order });
  return merchant === undefined ? undefined : ownerByLogin(opened, { login: merchant });
}

type Choice = Given<typeof filters> & {
  readonly order?: string | undefined;
  readonly sequence?: string | undefined;
};

async function findAll(session: Session, chosen: DeliveryFilter) {
  const found = await queriesOf(session).each((query) => findCallbacks(query, chosen, listedMax));
  return found
    .flat()
    .toSorted((one, other) => other.made - one.made)
    .slice(0, listedMax);
}

const resentCount = "to be sent again";

async function choose(session: Session, choice: Choice): Promise<DeliveryFilter | Problem> {
  const { merchant: login, endpoint: endpointId, order: id, sequence: text } = choice;
  const [since, until] = [readInstant(choice.since), readInstant(choice.until)];
  if (since instanceof Problem) return since;
  if (until instanceof Problem) return until;
  const order = id === undefined ? undefined : await findOrder(session, id);
  if (order instanceof Problem) return order;
  if (text !== undefined && !/^[1-9]\d{0,5}$/.test(text)) {
    return new Problem(`${text} is no sequence number of a transaction in its order.`);
  }
  const configuration = await readConfiguration(session);
  const merchant = login === undefined ? undefined : findMerchant(configuration, login);
  if (merchant instanceof Problem) return merchant;
  const endpoint = endpointId === undefined ? undefined : findEndpoint(configuration, endpointId);
  if (endpoint instanceof Problem) return endpoint;
  return {
    since,
    until,
    state: choice.state,
    merchantId: order?.merchantId ?? merchant?.id,
    orderId: order?.id,
    sequence: text === undefined ? undefined : Number(text),
    endpointId: endpoint?.id,
    host: choice.host?.trim().toLowerCase() || undefined,
  };
}

function nothingFor(order: string): Problem {
  return new Problem(`Order ${order} has no such callback.`, "nothing_found");
}

function describe({ printDate }: Session, found: readonly CallbackEntry[]) {
  return found.map(({ order, sequence, serial, state, tries, made, next, ended, url }) => ({
    order,
    sequence,
    state,
    tries,
    made: printDate(made),
    next: next === null ? "" : printDate(next),
    ended: ended === null ? "" : printDate(ended),
    "serial-number": serial,
    url,
  }));
}
