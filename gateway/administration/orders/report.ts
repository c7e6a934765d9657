/**
 * `gw report` writes a merchant's transaction report to standard output, with the columns and
 * filters of the merchant's own request for it, and without a bound on its span.
 */
import type { Endpoint } from "../../orders/merchant.ts";
import type { ReportQuery } from "../../report/read-page.ts";
import { makeTransactionReport, reportStatuses, reportTypes } from "../../report/report.ts";
import type { Configuration } from "../../storage/configuration/configuration.ts";
import { makeFindBegun } from "../../storage/orders/begun-transactions.ts";
import { unpackBegun } from "../../storage/orders/order-row.ts";
import type { EndpointId } from "../../values/ids.ts";
import { Problem } from "../../values/problem.ts";
import { type Action, action } from "../action.ts";
import { type Given, list, required } from "../field.ts";
import { findMerchant, login, ownerByLogin } from "../find.ts";
import { readInstant } from "../readers.ts";
import { Rows, readConfiguration, type Session } from "../session.ts";

const fields = {
  login,
  since: required("moment", "moment", ["the earliest beginning, like 2030-01-31T09:30:00Z"]),
  until: required("moment", "moment", ["before which the latest has begun"]),
  type: list("text", "type", [`only of this type: ${reportTypes.join(", ")}`]),
  status: list("text", "status", [`only with this status: ${reportStatuses.join(", ")}`]),
  endpoint: list("endpoint", "id", ["only of this endpoint"]),
};

export const reportActions: readonly Action[] = [
  action("look", "see_orders", {
    name: "report",
    duration: "minutes",
    commandLineOnly: "the portal has a screen for the report",
    fields,
    findOwner: ownerByLogin,
    async perform(session, given) {
      const configuration = await readConfiguration(session);
      const merchant = findMerchant(configuration, given.login);
      if (merchant instanceof Problem) return merchant;
      const chosen = readFilters(given);
      if (chosen instanceof Problem) return chosen;
      const { config, cells } = session;
      const { names, rows } = makeTransactionReport({
        findBegun: makeFindBegun(cells),
        unpack: unpackBegun,
        settingsOf: (endpoint) => getEndpoint(configuration, endpoint).settings,
        zone: config.zone,
        fieldWord: config.fieldWord,
      });
      const { login: _, ...after } = given;
      await session.audit.write({ action: "report", subject: `merchant ${given.login}`, after });
      return new Rows(counted(session, rows({ merchantId: merchant.id, ...chosen })), names);
    },
  }),
];

function getEndpoint({ endpoints }: Configuration, id: EndpointId): Endpoint {
  const found = endpoints.get(id);
  if (found === undefined) throw new Error(`no endpoint ${id}`);
  return found;
}

async function* counted<Row>(session: Session, rows: AsyncIterable<Row>): AsyncGenerator<Row> {
  const progress = session.progress("transactions");
  let count = 0;
  for await (const row of rows) {
    yield row;
    progress(++count);
  }
  session.report(`${count} transactions`);
}

function readFilters(given: Given<typeof fields>): Omit<ReportQuery, "merchantId"> | Problem {
  const { type: types, status: statuses, endpoint: endpoints } = given;
  const [from, until] = [readInstant(given.since), readInstant(given.until)];
  if (from instanceof Problem) return from;
  if (until instanceof Problem) return until;
  if (from === undefined || until === undefined) return new Problem("Say --since and --until.");
  const unknown =
    types?.find((type) => !reportTypes.includes(type)) ??
    statuses?.find((status) => !reportStatuses.some((each) => each === status));
  if (unknown !== undefined) return new Problem(`There is no type or status ${unknown}.`);
  return { from, until, types, statuses, endpoints };
}
