/**
 * `gw generate orders` makes many orders in a staging installation, to test screens and statements
 * with them. The orders are copies of the latest approved and the latest declined sale.
 */

import { preset } from "../administration/field.ts";
import { describeOrder, figuresOf } from "../portal-api/order-index.ts";
import { addOrders, findTemplates, indexFrom } from "../storage/orders/generated-orders.ts";
import { makeOrderIndex } from "../storage/portal/order-index.ts";
import { Problem } from "../values/problem.ts";
import { systemClock } from "../values/time.ts";
import { installed } from "./machine-command.ts";
import { makeProgress } from "./terminal.ts";

const portionOrders = 10_000;
const indexedTogether = 2_000;
/** One in this many generated orders is declined, and the others are approved. */
const declinedEvery = 8;
const approvedRests = Array.from({ length: declinedEvery - 1 }, (_, rest) => rest);

export const generateCommands = [
  installed("record", "operate", {
    name: "generate orders",
    does: ["make many orders from the latest sales; in staging"],
    showsProgress: true,
    fields: {
      count: preset("whole", "n", "100000", ["how many"]),
      days: preset("whole", "n", "365", ["over how many days until now"]),
    },
    async perform({ config, database }, given) {
      if (config.environment === "production") {
        return new Problem("Orders are generated in staging only.");
      }
      if (!/^[1-9]\d{0,7}$/.test(given.count) || !/^[1-9]\d{0,3}$/.test(given.days)) {
        return new Problem("--count and --days are numbers from 1.");
      }
      const [count, days] = [Number(given.count), Number(given.days)];
      const { templates, next } = await findTemplates(database.query);
      const approved = templates.find(({ stage }) => stage === "approved");
      if (approved === undefined) {
        return new Problem("There is no approved sale to copy: pay once, with `gw pay`.");
      }
      const declined = templates.find(({ stage }) => stage === "declined") ?? approved;
      const report = makeProgress("orders");
      for (let made = 0; made < count; made += portionOrders) {
        const portion = {
          from: next + made,
          days,
          total: next + count,
          count: Math.min(portionOrders, count - made),
        };
        for (const [{ template, merchant }, among] of [
          [approved, approvedRests],
          [declined, [declinedEvery - 1]],
        ] as const) {
          const rests = { of: declinedEvery, among };
          await addOrders(database.query, { ...portion, template, merchant, rests });
        }
        report(made + portionOrders);
      }
      await database.query("analyze orders");
      await indexFrom(database.query, next);
      const { now } = systemClock;
      const { walk } = makeOrderIndex(database, {
        describe: (order) => describeOrder(order, config.zone),
        figuresOf,
        now,
        pageSize: indexedTogether,
      });
      const indexed = makeProgress("indexed orders");
      let walked = 0;
      for (let page = await walk(); page > 0; page = await walk()) {
        walked += page;
        indexed(walked);
      }
      return { orders: count, indexed: walked };
    },
  }),
];
